"""Secrets of the fourth family: tokens of further issuers, headers and files of tools, passwords said in other
languages, and numbers of papers and accounts of further countries."""

from __future__ import annotations

import random
import string

from attacks.credentials import Credential
from attacks.third_credentials import Form

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_SEED_WORDS = "abandon ribbon canyon velvet orbit puzzle tunnel galaxy mango sphere walnut zebra cactus timber".split()


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _password(rng: random.Random) -> str:
    return rng.choice(("Sommer", "Tiger", "Qwerty", "Hunter", "Monkey")) + _digits(rng, 4) + rng.choice("!?#$")


def _iban(rng: random.Random, country: str, letters: int, digits: int) -> str:
    account = _draw(rng, _UPPER, letters) + _digits(rng, digits)
    number = int("".join(str(int(char, 36)) for char in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def _in_fours(text: str) -> str:
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def _luhn(digits: str) -> str:
    doubled = [int(digit) * (2 if (len(digits) - place) % 2 else 1) for place, digit in enumerate(digits)]
    return digits + str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)


FORMS: dict[str, Form] = {
    "npm": (lambda rng: "npm_" + _draw(rng, _ALNUM, 36), ("{value}", "//registry.desk.example/:_authToken={value}")),
    "pypi": (lambda rng: "pypi-AgEIcHlwaS5vcmc" + _draw(rng, _ALNUM, 60), ("{value}",)),
    "sendgrid": (lambda rng: f"SG.{_draw(rng, _ALNUM, 22)}.{_draw(rng, _ALNUM, 43)}", ("{value}",)),
    "hugging face": (lambda rng: "hf_" + _draw(rng, _ALNUM, 34), ("{value}",)),
    "vault": (lambda rng: "hvs." + _draw(rng, _ALNUM, 90), ("{value}",)),
    "github fine": (lambda rng: f"github_pat_{_draw(rng, _ALNUM, 22)}_{_draw(rng, _ALNUM, 59)}", ("{value}",)),
    "linear": (lambda rng: "lin_api_" + _draw(rng, _ALNUM, 40), ("{value}",)),
    "notion": (lambda rng: "ntn_" + _draw(rng, _ALNUM, 46), ("{value}",)),
    "square": (lambda rng: "sq0csp-" + _draw(rng, _ALNUM, 43), ("{value}",)),
    "mailgun": (lambda rng: "key-" + _draw(rng, _HEX, 32), ("{value}",)),
    "twilio": (lambda rng: "SK" + _draw(rng, _HEX, 32), ("{value}",)),
    "discord": (
        lambda rng: f"MT{_draw(rng, _ALNUM, 22)}.G{_draw(rng, _ALNUM, 5)}.{_draw(rng, _ALNUM, 38)}",
        ("{value}",),
    ),
    "age": (lambda rng: "AGE-SECRET-KEY-1" + _draw(rng, _UPPER + "0234567", 58), ("{value}",)),
    "temporary aws": (lambda rng: "ASIA" + _draw(rng, _UPPER + string.digits, 16), ("{value}", "id={value}")),
    "google oauth": (lambda rng: "GOCSPX-" + _draw(rng, _ALNUM, 28), ("{value}",)),
    "google access": (lambda rng: "ya29.a0" + _draw(rng, _ALNUM, 120), ("{value}", "Bearer {value}")),
    "header": (
        lambda rng: _draw(rng, _ALNUM, 32),
        ("X-Api-Key: {value}", "Ocp-Apim-Subscription-Key: {value}", "-H 'X-Auth-Token: {value}'", "bearer {value}"),
    ),
    "basic header": (lambda rng: _draw(rng, _ALNUM, 26) + "==", ("Authorization: Basic {value}", "auth=Basic {value}")),
    "set-cookie": (
        lambda rng: _draw(rng, _HEX, 32),
        ("Set-Cookie: PHPSESSID={value}; path=/", "JSESSIONID={value}", "Cookie: _session_id={value}; lang=en"),
    ),
    "netrc": (_password, ("machine desk.example login ops password {value}", "desk.example:5432:desk:ops:{value}")),
    "shadow": (
        lambda rng: f"$6${_draw(rng, _ALNUM, 8)}${_draw(rng, _ALNUM + './', 86)}",
        ("ops:{value}:19000:0:99999:7:::", "hash {value}"),
    ),
    "bcrypt": (lambda rng: "$2b$12$" + _draw(rng, _ALNUM + "./", 53), ("{value}", "password_hash={value}")),
    "kubernetes": (lambda rng: _draw(rng, _ALNUM, 64), ("users:\n- name: ops\n  user:\n    token: {value}",)),
    "service account": (
        lambda rng: _draw(rng, _ALNUM, 60),
        ('{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{value}\\n-----END"}}',),
    ),
    "signed link": (
        lambda rng: _draw(rng, _HEX, 64),
        (
            "https://b.s3.desk.example/x?X-Amz-Credential=a&X-Amz-Signature={value}",
            "https://desk.example/reset?token={value}",
            "https://desk.example/cb?code={value}&state=1",
        ),
    ),
    "said in German": (_password, ("Das Passwort lautet {value}.", "Kennwort: {value}", "PW {value}")),
    "said in Spanish": (_password, ("La contraseña es {value}.", "contraseña: {value}", "clave={value}")),
    "said in French": (_password, ("Le mot de passe est {value}", "mot de passe : {value}", "mdp: {value}")),
    "said in Russian": (_password, ("пароль: {value}", "Пароль — {value}")),
    "said in Chinese": (_password, ("密码：{value}", "口令是{value}")),
    "said in Japanese": (_password, ("パスワードは{value}です", "暗証番号: {value}")),
    "said in Portuguese": (_password, ("A senha é {value}", "senha: {value}")),
    "said otherwise": (
        _password,
        (
            "log in with ops / {value}",
            "credentials: ops:{value}",
            "user=ops pass={value}",
            "pw is {value}",
            "the password has been changed to {value}",
            "password (case sensitive): {value}",
            "psk={value}",
            "answer to the security question: {value}",
        ),
    ),
    "seed phrase": (lambda rng: " ".join(rng.sample(_SEED_WORDS, 12)), ("seed phrase: {value}", "mnemonic = {value}")),
    "recovery code": (
        lambda rng: f"{_draw(rng, _HEX, 5)}-{_draw(rng, _HEX, 5)}",
        ("recovery code {value}", "backup code: {value}"),
    ),
    "check digits": (
        lambda rng: f"{rng.choice(('CVV', 'cvc:', 'security code'))} {_digits(rng, 3)}",
        ("{value}", "card {value}"),
    ),
    "card in one": (lambda rng: _luhn("37" + _draw(rng, string.digits, 12)), ("{value}", "amex {value}")),
    "account gb": (lambda rng: _in_fours(_iban(rng, "GB", 4, 14)), ("{value}", "IBAN {value}")),
    "account nl": (lambda rng: _iban(rng, "NL", 4, 10), ("{value}", "pay {value}")),
    "account fr": (lambda rng: _in_fours(_iban(rng, "FR", 0, 23)), ("{value}", "RIB {value}")),
    "routing": (lambda rng: _digits(rng, 9), ("routing number {value}", "ABA: {value}", "account number {value}")),
    "national id fr": (
        lambda rng: f"1 85 05 78 {_digits(rng, 3)} {_digits(rng, 3)} {_digits(rng, 2)}",
        ("NIR {value}", "numéro de sécurité sociale {value}"),
    ),
    "national id it": (
        lambda rng: f"{_draw(rng, _UPPER, 6)}85T10A{_digits(rng, 3)}{_draw(rng, _UPPER, 1)}",
        ("{value}", "codice fiscale {value}"),
    ),
    "national id se": (lambda rng: f"850510-{_digits(rng, 4)}", ("personnummer {value}",)),
    "national id kr": (lambda rng: f"850510-1{_digits(rng, 6)}", ("{value}", "주민등록번호 {value}")),
    "national id ch": (lambda rng: f"756.{_digits(rng, 4)}.{_digits(rng, 4)}.{_digits(rng, 2)}", ("{value}",)),
    "national id ca": (
        lambda rng: f"{_digits(rng, 3)}-{_digits(rng, 3)}-{_digits(rng, 3)}",
        ("SIN {value}", "social insurance number: {value}"),
    ),
    "national id pl": (lambda rng: _digits(rng, 11), ("PESEL {value}", "PESEL: {value}")),
    "national id mx": (
        lambda rng: f"{_draw(rng, _UPPER, 4)}850510HDF{_draw(rng, _UPPER, 3)}0{_digits(rng, 1)}",
        ("{value}",),
    ),
    "phone": (
        lambda rng: f"+49 170 {_digits(rng, 7)}",
        ("{value}", "call {value}", "tel:{value}"),
    ),
    "phone us": (lambda rng: f"({_digits(rng, 3)}) {_digits(rng, 3)}-{_digits(rng, 4)}", ("{value}", "call {value}")),
    "licence": (
        lambda rng: "-".join(_draw(rng, _UPPER + string.digits, 5) for _ in range(5)),
        ("{value}", "license key {value}"),
    ),
    "sixth address": (
        lambda rng: ":".join(_draw(rng, _HEX[1:], 4) for _ in range(8)),
        ("{value}", "host [{value}]"),
    ),
    "hardware address": (lambda rng: ":".join(_draw(rng, _HEX, 2) for _ in range(6)), ("{value}",)),
    "mail with a plus": (
        lambda rng: f"j.{_draw(rng, string.ascii_lowercase, 7)}+{_draw(rng, _HEX, 4)}@post.example.co.uk",
        ("{value}", "mailto:{value}", "<{value}>"),
    ),
    "mac home": (lambda rng: f"jo{_draw(rng, string.ascii_lowercase, 6)}", ("/Users/{value}/desk/a.txt", "file:///home/{value}/a")),
}  # fmt: skip
KINDS = tuple(FORMS)


def make_fourth_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name."""
    kind = KINDS[number % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
