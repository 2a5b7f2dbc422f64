"""Secrets of the fifth family: further issuers, keys in files, links that let one in, passwords in free text and under
unusual names, and numbers of papers and accounts. Written before the defences were read."""

from __future__ import annotations

import random
import string

from attacks.credentials import Credential
from attacks.third_credentials import Form

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_BASE64 = _ALNUM + "+/"
_SEEDS = (
    "apology bracket cushion dolphin elevator fiction garlic hybrid injury jungle kidney leopard mammal napkin".split()
)
_STEMS = ("Frühling", "Dragon", "Sunshine", "Football", "Liverpool", "Charlie", "Bananas")


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _password(rng: random.Random) -> str:
    return rng.choice(_STEMS) + rng.choice(".-_*+") + _digits(rng, 3)


def _word(rng: random.Random) -> str:
    return _draw(rng, "bcdfgklmnprst", 1) + _draw(rng, "aeiou", 1) + _draw(rng, string.ascii_lowercase, 6)


def _uuid(rng: random.Random) -> str:
    return "-".join(_draw(rng, _HEX, count) for count in (8, 4, 4, 4, 12))


def _check_iban(rng: random.Random, country: str, digits: int) -> str:
    account = _digits(rng, digits)
    number = int("".join(str(int(char, 36)) for char in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def _luhn(digits: str) -> str:
    doubled = [int(digit) * (2 if (len(digits) - place) % 2 else 1) for place, digit in enumerate(digits)]
    return digits + str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)


def _card(rng: random.Random, joint: str) -> str:
    number = _luhn("5" + rng.choice("12345") + _draw(rng, string.digits, 13))
    return joint.join(number[start : start + 4] for start in range(0, 16, 4))


FORMS: dict[str, Form] = {
    "groq": (lambda rng: "gsk_" + _draw(rng, _ALNUM, 52), ("{value}",)),
    "replicate": (lambda rng: "r8_" + _draw(rng, _ALNUM, 37), ("{value}",)),
    "perplexity": (lambda rng: "pplx-" + _draw(rng, _ALNUM, 48), ("{value}",)),
    "openrouter": (lambda rng: "sk-or-v1-" + _draw(rng, _HEX, 64), ("{value}",)),
    "supabase": (lambda rng: "sbp_" + _draw(rng, _HEX, 40), ("{value}",)),
    "planetscale": (lambda rng: "pscale_tkn_" + _draw(rng, _ALNUM, 43), ("{value}",)),
    "fly": (lambda rng: "fo1_" + _draw(rng, _ALNUM, 43), ("{value}", "FlyV1 {value}")),
    "doppler": (lambda rng: "dp.pt." + _draw(rng, _ALNUM, 43), ("{value}",)),
    "postman": (lambda rng: f"PMAK-{_draw(rng, _HEX, 24)}-{_draw(rng, _HEX, 34)}", ("{value}",)),
    "grafana": (lambda rng: f"glsa_{_draw(rng, _ALNUM, 32)}_{_draw(rng, _HEX, 8)}", ("{value}",)),
    "pulumi": (lambda rng: "pul-" + _draw(rng, _HEX, 40), ("{value}",)),
    "terraform": (lambda rng: f"{_draw(rng, _ALNUM, 14)}.atlasv1.{_draw(rng, _ALNUM, 64)}", ("{value}",)),
    "atlassian": (lambda rng: "ATATT3xFfGF0" + _draw(rng, _ALNUM, 60), ("{value}",)),
    "bitbucket": (lambda rng: "ATBB" + _draw(rng, _ALNUM, 32), ("{value}",)),
    "figma": (lambda rng: "figd_" + _draw(rng, _ALNUM, 40), ("{value}",)),
    "dropbox": (lambda rng: "sl." + _draw(rng, _ALNUM, 130), ("{value}",)),
    "new relic": (lambda rng: "NRAK-" + _draw(rng, _UPPER + string.digits, 27), ("{value}",)),
    "azure client": (lambda rng: f"{_draw(rng, _ALNUM, 3)}8Q~{_draw(rng, _ALNUM, 34)}", ("{value}",)),
    "airtable": (lambda rng: f"pat{_draw(rng, _ALNUM, 14)}.{_draw(rng, _HEX, 64)}", ("{value}",)),
    "sentry dsn": (lambda rng: _draw(rng, _HEX, 32), ("https://{value}@o17.ingest.depot.example/42",)),
    "discord hook": (
        lambda rng: _draw(rng, _ALNUM, 68),
        ("https://discord.com/api/webhooks/112233445566778899/{value}",),
    ),
    "teams hook": (
        lambda rng: _draw(rng, _HEX, 32),
        ("https://depot.webhook.office.com/webhookb2/{value}/IncomingWebhook/x",),
    ),
    "shared access": (
        lambda rng: _draw(rng, _ALNUM, 43) + "%3D",
        ("https://depot.blob.core.example/x?sv=2023&sp=r&sig={value}",),
    ),
    "magic link": (
        lambda rng: _draw(rng, _ALNUM, 40),
        (
            "https://depot.example/magic/{value}",
            "https://depot.example/login/verify?t={value}",
            "https://depot.example/invite?key={value}",
        ),
    ),
    "redis": (_password, ("redis://:{value}@cache.depot.example:6379/0",)),
    "amqp": (_password, ("amqp://ops:{value}@queue.depot.example/v",)),
    "jdbc": (_password, ("jdbc:sqlserver://db:1433;user=ops;password={value};", "Server=db;Uid=ops;Pwd={value};")),
    "mongo": (lambda rng: _draw(rng, _ALNUM, 14), ("mongodb+srv://ops:{value}@c0.depot.example/?retryWrites=true",)),
    "ssh key": (
        lambda rng: _draw(rng, _BASE64, 70),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n{value}\n-----END OPENSSH PRIVATE KEY-----",),
    ),
    "key without its end": (lambda rng: _draw(rng, _BASE64, 64), ("-----BEGIN EC PRIVATE KEY-----\n{value}",)),
    "wireguard": (
        lambda rng: _draw(rng, _BASE64, 43) + "=",
        ("[Interface]\nPrivateKey = {value}\nAddress = 10.0.0.2/32",),
    ),
    "web key": (lambda rng: _draw(rng, _ALNUM + "-_", 43), ('{{"kty": "EC", "crv": "P-256", "d": "{value}"}}',)),
    "wallet": (lambda rng: _draw(rng, _HEX, 64), ("private key 0x{value}", "PRIVATE_KEY=0x{value}")),
    "otpauth": (
        lambda rng: _draw(rng, _UPPER + "234567", 32),
        ("otpauth://totp/Depot:ops?secret={value}&issuer=Depot", "TOTP seed {value}"),
    ),
    "code by text": (
        lambda rng: _digits(rng, 6),
        (
            "Your verification code is {value}.",
            "{value} is your login code",
            "Use code {value} to sign in",
            "OTP {value}",
        ),
    ),
    "heroku": (_uuid, ("HEROKU_API_KEY={value}", "api key {value}")),
    "session": (
        lambda rng: _draw(rng, _ALNUM, 30),
        ("connect.sid={value}", "sessionid={value}; HttpOnly", "csrftoken={value}", "laravel_session={value}"),
    ),
    "said": (
        _password,
        (
            "my password is {value}",
            "I use {value} as my password",
            "the password: {value}",
            "password - {value}",
            "use password {value} for the gate",
            "passwords are {value} for everyone",
        ),
    ),
    "said, a plain word": (
        _word,
        ("my password is {value}", "the passphrase is {value}", "the password is '{value}'", "secret word: {value}"),
    ),
    "gate": (
        lambda rng: _digits(rng, 5),
        (
            "the door code is {value}",
            "PIN {value}",
            "gate code: {value}",
            "alarm code {value}",
            "access code = {value}",
        ),
    ),
    "question": (_word, ("mother's maiden name: {value}", "security answer: {value}", "memorable word is {value}")),
    "said in Italian": (_password, ("La password è {value}", "parola d'ordine: {value}")),
    "said in Turkish": (_password, ("şifre: {value}", "parola {value}")),
    "said in Korean": (_password, ("비밀번호: {value}", "비밀번호는 {value} 입니다")),
    "said in Arabic": (_password, ("كلمة المرور: {value}",)),
    "said in Polish": (_password, ("hasło: {value}", "Hasło to {value}")),
    "said in Dutch": (_password, ("wachtwoord: {value}", "het wachtwoord is {value}")),
    "said in Hindi": (_password, ("पासवर्ड: {value}",)),
    "words to recover": (
        lambda rng: " ".join(rng.sample(_SEEDS, 12)),
        ("recovery phrase: {value}", "my wallet words are {value}", "{value}"),
    ),
    "command line": (
        _password,
        (
            "mysql -u ops -p{value}",
            "sshpass -p {value} ssh ops",
            "curl -u ops:{value} depot",
            "net use Z: /user:ops {value}",
            "PGPASSWORD={value} psql",
        ),
    ),
    "card with dashes": (lambda rng: _card(rng, "-"), ("{value}", "Mastercard {value} exp 04/29")),
    "card with spaces": (lambda rng: _card(rng, " "), ("{value}", "paid with {value}")),
    "expiry and check": (lambda rng: f"{rng.randrange(1, 13):02d}/29 {_digits(rng, 3)}", ("card valid {value}",)),
    "iban de": (lambda rng: _check_iban(rng, "DE", 18), ("{value}", "Konto {value}")),
    "iban es": (lambda rng: _check_iban(rng, "ES", 20), ("{value}",)),
    "sort code": (
        lambda rng: f"{_digits(rng, 2)}-{_digits(rng, 2)}-{_digits(rng, 2)} {_digits(rng, 8)}",
        ("sort code and account {value}",),
    ),
    "ssn in one": (lambda rng: _digits(rng, 9), ("SSN {value}", "social security no. {value}", "ssn={value}")),
    "tax number": (lambda rng: _digits(rng, 11), ("Steuer-ID {value}", "tax id: {value}", "TIN {value}")),
    "national id nl": (lambda rng: _digits(rng, 9), ("BSN {value}", "burgerservicenummer: {value}")),
    "national id fi": (lambda rng: f"{rng.randrange(10, 28)}0585-{_digits(rng, 3)}T", ("{value}", "hetu {value}")),
    "national id za": (
        lambda rng: _luhn(f"8505{rng.randrange(10, 28)}{_digits(rng, 4)}08"),
        ("South African ID {value}", "identity number {value}"),
    ),
    "driving licence": (
        lambda rng: f"{_draw(rng, _UPPER, 5)}8{_digits(rng, 5)}{_draw(rng, _UPPER, 2)}9{_draw(rng, _UPPER, 2)}",
        ("driving licence {value}", "driver's license: {value}"),
    ),
    "passport number": (
        lambda rng: _draw(rng, _UPPER, 2) + _digits(rng, 7),
        ("passport {value}", "passport no. {value}", "Reisepass {value}"),
    ),
    "insurance": (
        lambda rng: _draw(rng, _UPPER, 1) + _digits(rng, 9),
        ("health insurance number {value}", "policy holder id {value}"),
    ),
    "serial": (
        lambda rng: "-".join(_draw(rng, _UPPER + string.digits, 4) for _ in range(4)),
        ("product key {value}", "activation key: {value}", "{value}"),
    ),
    "mail in words": (lambda rng: f"{_word(rng)} (at) {_word(rng)} (dot) example", ("{value}", "write to {value}")),
    "mail": (
        lambda rng: f"{_word(rng)}_{_word(rng)}@mail.{_word(rng)}.example",
        ("{value}", "contact={value}", '"{value}"'),
    ),
    "phone jp": (lambda rng: f"+81 90-{_digits(rng, 4)}-{_digits(rng, 4)}", ("{value}", "tel {value}")),
    "phone in dots": (lambda rng: f"{_digits(rng, 3)}.{_digits(rng, 3)}.{_digits(rng, 4)}", ("{value}", "fax {value}")),
    "profile folder": (
        _word,
        (
            "/var/home/{value}/.ssh/id_ed25519",
            "C:/Users/{value}/AppData/x.log",
            "\\\\fileserver\\home\\{value}\\x.doc",
            "/Users/{value}/Library",
            "~{value}/notes",
        ),
    ),
    "inner address": (
        lambda rng: f"172.{rng.randrange(16, 31)}.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}",
        ("{value}", "connect to {value}:5432", "http://{value}/x"),
    ),
    "inner name": (_word, ("{value}.corp.internal", "ssh ops@{value}.prod.local")),
    "position": (lambda rng: f"48.{_digits(rng, 6)}, 11.{_digits(rng, 6)}", ("lat/lon {value}", "{value}")),
}
KINDS = tuple(FORMS)

UNUSUAL_NAMES = (
    *("pw", "pwd2", "kennwort", "mdp", "contrasena", "senha", "creds", "auth", "unlock_code", "gate_code"),
    *("memorable_word", "secretAnswer", "wifi_key", "psk", "bearer", "sessionid", "xApiKey", "otp_code", "cvv2"),
    *("csrf", "signing_key", "private", "master_pass", "sudo_pw", "hasło", "пароль", "密码", "PASSWD_HASH", "dbPass"),
)
"""Names of arguments and fields that say what they hold in an unusual way."""


def make_fifth_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name; every seventh under a name."""
    if number % 7 == 0:
        name = UNUSUAL_NAMES[number // 7 % len(UNUSUAL_NAMES)]
        return Credential(f"named {name}", rng.choice((_password, _word))(rng), (name,), False)
    kind = KINDS[number % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
