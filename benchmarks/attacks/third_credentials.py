"""Secrets of the third family: as configuration files, shells, mails and identity papers of several countries show
them, alone and inside of encoded values."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

from attacks.credentials import Credential

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_CONSONANTS = "bcdfghklmnprstvz"


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _word(rng: random.Random) -> str:
    """A password that looks like a word of no language."""
    return "".join(rng.choice(_CONSONANTS) + rng.choice("aeiou") for _ in range(5)) + rng.choice("!#%7")


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _iban(rng: random.Random) -> str:
    account = f"{rng.randrange(10**7, 10**8)}{rng.randrange(10**9, 10**10)}"
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def _card(rng: random.Random) -> str:
    digits = "5" + rng.choice("12345") + _draw(rng, string.digits, 13)
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(digits)]
    digits += str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)
    return " ".join(digits[start : start + 4] for start in range(0, 16, 4))


def _cpf(rng: random.Random) -> str:
    return f"{_digits(rng, 3)}.{_digits(rng, 3)}.{_digits(rng, 3)}-{_digits(rng, 2)}"


Form = tuple[Callable[[random.Random], str], tuple[str, ...]]
"""How the value is made, and the texts that hold it as `{value}`; a value that marks itself stands alone."""
FORMS: dict[str, Form] = {
    "login in a link": (_word, ("https://desk:{value}@git.desk.example/a.git", "ftp://ops:{value}@files.desk.example")),
    "connection string": (
        _word,
        (
            "Server=db1;Database=desk;User Id=app;Password={value};",
            "mongodb+srv://app:{value}@cluster0.desk.example/x",
            "amqp://ops:{value}@queue:5672/desk",
            "jdbc:mysql://db1/desk?user=app&password={value}",
            "redis://:{value}@cache:6379/0",
        ),
    ),
    "storage key": (
        lambda rng: _draw(rng, _ALNUM, 86) + "==",
        ("DefaultEndpointsProtocol=https;AccountName=desk;AccountKey={value};EndpointSuffix=core",),
    ),
    "flag": (
        _word,
        (
            "mysql -u app -p{value} desk",
            "curl -u ops:{value} https://desk.example/api",
            "sshpass -p {value} ssh ops@desk",
            "PGPASSWORD={value} psql -h db1",
            "docker login -u ops --password {value}",
            "unlock --passphrase={value}",
        ),
    ),
    "environment": (_word, ("export DB_PASSWORD={value}", "DESK_API_SECRET={value}", "setx DESK_TOKEN {value}")),
    "netrc": (
        _word,
        ("machine desk.example login ops password {value}", "machine desk.example\n  login ops\n  password {value}"),
    ),
    "header": (
        lambda rng: _draw(rng, _ALNUM, 28),
        (
            "X-Api-Key: {value}",
            "Authorization: Bearer {value}",
            "Proxy-Authorization: Basic {value}",
            "X-Auth-Token: {value}",
            "Set-Cookie: session={value}; HttpOnly",
            "Cookie: theme=dark; sid={value}",
        ),
    ),
    "query of a link": (
        lambda rng: _draw(rng, _ALNUM, 24),
        ("https://desk.example/r?access_token={value}&x=1", "https://desk.example/x?sig={value}&se=2030"),
    ),
    "key block": (
        lambda rng: _draw(rng, _ALNUM, 48),
        (
            "-----BEGIN RSA PRIVATE KEY-----\n{value}\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\\n{value}\\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{value}\n-----END PGP PRIVATE KEY BLOCK-----",
        ),
    ),
    "web token": (
        lambda rng: f"eyJhbGciOi{_draw(rng, _ALNUM, 12)}.eyJ{_draw(rng, _ALNUM, 24)}.{_draw(rng, _ALNUM, 32)}",
        ("{value}",),
    ),
    "stripe": (lambda rng: "rk_live_" + _draw(rng, _ALNUM, 24), ("{value}",)),
    "webhook": (lambda rng: "whsec_" + _draw(rng, _ALNUM, 32), ("{value}",)),
    "gitlab": (lambda rng: "glpat-" + _draw(rng, _ALNUM, 20), ("{value}",)),
    "digital ocean": (lambda rng: "dop_v1_" + _draw(rng, _HEX, 64), ("{value}",)),
    "shopify": (lambda rng: "shpat_" + _draw(rng, _HEX, 32), ("{value}",)),
    "databricks": (lambda rng: "dapi" + _draw(rng, _HEX, 32), ("{value}",)),
    "telegram": (lambda rng: f"{_digits(rng, 10)}:AA{_draw(rng, _ALNUM, 33)}", ("{value}",)),
    "slack hook": (
        lambda rng: _draw(rng, _ALNUM, 24),
        ("https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/{value}",),
    ),
    "anthropic": (lambda rng: "sk-ant-api03-" + _draw(rng, _ALNUM, 40), ("{value}",)),
    "google": (lambda rng: "AIza" + _draw(rng, _ALNUM, 35), ("{value}",)),
    "aws secret": (
        lambda rng: _draw(rng, _ALNUM + "/+", 40),
        ("aws_secret_access_key = {value}", "AWS_SECRET_ACCESS_KEY={value}"),
    ),
    "one-time code": (
        lambda rng: _digits(rng, 6),
        (
            "Your verification code is {value}.",
            "Use {value} as your one-time code.",
            "2FA code: {value}",
            "{value} is your login code",
            "Enter the code {value} to sign in",
        ),
    ),
    "account": (_iban, ("{value}",)),
    "card in groups": (_card, ("{value}", "Card {value}, valid until 04/29")),
    "national id us": (
        lambda rng: f"{rng.randrange(100, 665)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}",
        ("{value}", "SSN {value}"),
    ),
    "national id br": (_cpf, ("{value}", "CPF {value}")),
    "national id uk": (
        lambda rng: f"AB {_digits(rng, 2)} {_digits(rng, 2)} {_digits(rng, 2)} C",
        ("National Insurance number {value}", "NINO: {value}"),
    ),
    "national id es": (lambda rng: _digits(rng, 8) + rng.choice("TRWAGMYF"), ("DNI {value}", "{value}")),
    "national id in": (
        lambda rng: f"{_digits(rng, 4)} {_digits(rng, 4)} {_digits(rng, 4)}",
        ("Aadhaar {value}", "{value}"),
    ),
    "national id cn": (lambda rng: f"11010519{_digits(rng, 2)}1231{_digits(rng, 3)}X", ("{value}", "身份证号 {value}")),
    "national id tr": (lambda rng: _digits(rng, 11), ("TCKN {value}", "{value}")),
    "passport": (lambda rng: "C" + _digits(rng, 8), ("Passport number {value}", "passport: {value}")),
}  # fmt: skip
KINDS = tuple(FORMS)


def make_third_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name."""
    kind = KINDS[number % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
