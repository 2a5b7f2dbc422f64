"""Secrets of the seventh family: what the large issuers mark, papers of fifteen countries, connections, cookies, and
passwords that are plain words behind names in other languages. Written before the defences were read."""

from __future__ import annotations

import base64
import json
import random
import string

from attacks.credentials import Credential
from attacks.third_credentials import Form

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_FIRST = "velvet copper arctic mellow crimson gentle rustic silent golden frozen hollow bitter amber dusty".split()
_SECOND = "otter walnut lagoon trumpet marmalade compass thimble orchard pelican saffron gravel lantern".split()


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _words(rng: random.Random) -> str:
    """A password of plain words."""
    return rng.choice(("", " ", "-", "_")).join((rng.choice(_FIRST), rng.choice(_SECOND)))


def _web_token(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256'})}.{part({'sub': _digits(rng, 8)})}.{_draw(rng, _ALNUM, 43)}"


def _birthday(rng: random.Random, form: str) -> str:
    day, month, year = rng.randrange(10, 29), rng.randrange(10, 13), rng.randrange(60, 99)
    return form.format(day=day, month=month, year=year)


def _italian(rng: random.Random) -> str:
    born = f"{rng.randrange(60, 99)}{rng.choice('ABCDEHLMPRST')}{rng.randrange(10, 28)}"
    return f"{_draw(rng, _UPPER, 6)}{born}H501{_draw(rng, _UPPER, 1)}"


def _british_account(rng: random.Random) -> str:
    number = " ".join(_digits(rng, count) for count in (4, 4, 4, 2))
    return f"GB{_digits(rng, 2)} {_draw(rng, _UPPER, 4)} {number}"


FORMS: dict[str, Form] = {
    "aws id": (lambda rng: "AKIA" + _draw(rng, _UPPER + "234567", 16), ("{value}", "key {value}", "order_{value}")),
    "aws temporary id": (lambda rng: "ASIA" + _draw(rng, _UPPER + "234567", 16), ("{value}", "x{value}y")),
    "aws secret": (
        lambda rng: _draw(rng, _ALNUM + "/+", 40),
        ("aws_secret_access_key = {value}", "SecretAccessKey: {value}"),
    ),
    "github": (lambda rng: "ghp_" + _draw(rng, _ALNUM, 36), ("{value}", "https://x:{value}@github.example/a.git")),
    "github fine": (lambda rng: f"github_pat_{_draw(rng, _ALNUM, 22)}_{_draw(rng, _ALNUM, 59)}", ("{value}",)),
    "gitlab": (lambda rng: "glpat-" + _draw(rng, _ALNUM, 20), ("{value}", "PRIVATE-TOKEN: {value}")),
    "slack bot": (lambda rng: f"xoxb-{_digits(rng, 12)}-{_digits(rng, 12)}-{_draw(rng, _ALNUM, 24)}", ("{value}",)),
    "slack hook": (
        lambda rng: f"T{_draw(rng, _UPPER, 8)}/B{_draw(rng, _UPPER, 8)}/{_draw(rng, _ALNUM, 24)}",
        ("https://hooks.slack.com/services/{value}",),
    ),
    "stripe": (lambda rng: "sk_live_" + _draw(rng, _ALNUM, 24), ("{value}", "pay_{value}")),
    "google": (lambda rng: "AIza" + _draw(rng, _ALNUM + "-_", 35), ("{value}",)),
    "npm": (lambda rng: "npm_" + _draw(rng, _ALNUM, 36), ("{value}", "//registry.example/:_authToken={value}")),
    "anthropic": (lambda rng: "sk-ant-api03-" + _draw(rng, _ALNUM + "-_", 93), ("{value}",)),
    "hugging": (lambda rng: "hf_" + _draw(rng, _ALNUM, 34), ("{value}",)),
    "sendgrid": (lambda rng: f"SG.{_draw(rng, _ALNUM, 22)}.{_draw(rng, _ALNUM, 43)}", ("{value}",)),
    "web token": (_web_token, ("{value}", "Bearer {value}", "token={value}")),
    "bearer": (lambda rng: _draw(rng, _ALNUM, 40), ("Authorization: Bearer {value}", "bearer {value}")),
    "random": (lambda rng: _draw(rng, _ALNUM, 32), ("{value}", "ref {value}", "{value}.json")),
    "hex": (lambda rng: _draw(rng, _HEX, 40), ("{value}", "sha {value}", "key={value}")),
    "pem": (
        lambda rng: _draw(rng, _ALNUM + "+/", 64),
        (
            "-----BEGIN RSA PRIVATE KEY-----\n{value}\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----{value}",
        ),
    ),
    "cookie": (
        lambda rng: _draw(rng, _ALNUM, 26),
        ("Cookie: JSESSIONID={value}", "Set-Cookie: sid={value}; Path=/", "PHPSESSID={value}", "_session_id: {value}"),
    ),
    "postgres": (_words, ("postgresql://clinic:{value}@db.clinic.example:5432/app",)),
    "odbc": (_words, ("Driver={{SQL}};Server=db;UID=sa;PWD={value};", "Data Source=db;User ID=sa;Password={value}")),
    "ftp": (_words, ("ftp://clinic:{value}@files.clinic.example/x",)),
    "azure storage": (
        lambda rng: _draw(rng, _ALNUM + "+/", 86) + "==",
        ("DefaultEndpointsProtocol=https;AccountName=clinic;AccountKey={value};EndpointSuffix=core",),
    ),
    "env": (_words, ("export ADMIN_PASSWORD={value}", "DB_PASSWORD: {value}", "-e MYSQL_ROOT_PASSWORD={value}")),
    "iban fr": (
        lambda rng: f"FR76{_digits(rng, 20)}{_draw(rng, _UPPER, 1)}{_digits(rng, 2)}",
        ("{value}", "IBAN {value}"),
    ),
    "iban with spaces": (_british_account, ("{value}", "pay to {value}")),
    "iban tr": (lambda rng: f"TR{_digits(rng, 24)}", ("{value}",)),
    "amex": (lambda rng: f"37{_digits(rng, 2)} {_digits(rng, 6)} {_digits(rng, 5)}", ("{value}", "Amex {value}")),
    "check code": (lambda rng: _digits(rng, 6), ("PIN {value}", "security code: {value}")),
    "ssn": (lambda rng: f"{_digits(rng, 3)}-{_digits(rng, 2)}-{_digits(rng, 4)}", ("{value}", "SSN: {value}")),
    "uk insurance": (
        lambda rng: f"{rng.choice('ABCEGHJ')}{rng.choice('ABCEGHJ')}{_digits(rng, 6)}{rng.choice('ABCD')}",
        ("{value}", "NI number {value}"),
    ),
    "uk health": (
        lambda rng: f"{_digits(rng, 3)} {_digits(rng, 3)} {_digits(rng, 4)}",
        ("NHS number {value}", "NHS: {value}"),
    ),
    "spain": (lambda rng: f"{_digits(rng, 8)}{rng.choice('TRWAGMYFPDXBNJZSQVHLCKE')}", ("{value}", "DNI {value}")),
    "italy": (_italian, ("{value}", "codice fiscale {value}")),
    "brazil": (
        lambda rng: f"{_digits(rng, 3)}.{_digits(rng, 3)}.{_digits(rng, 3)}-{_digits(rng, 2)}",
        ("{value}", "CPF {value}"),
    ),
    "india": (lambda rng: f"{_digits(rng, 4)} {_digits(rng, 4)} {_digits(rng, 4)}", ("{value}", "Aadhaar {value}")),
    "india tax": (
        lambda rng: f"{_draw(rng, _UPPER, 5)}{_digits(rng, 4)}{_draw(rng, _UPPER, 1)}",
        ("{value}", "PAN {value}"),
    ),
    "korea": (
        lambda rng: _birthday(rng, "{year}{month}{day}") + f"-1{_digits(rng, 6)}",
        ("{value}", "주민등록번호 {value}"),
    ),
    "china": (
        lambda rng: f"110105{_birthday(rng, '19{year}{month}{day}')}{_digits(rng, 3)}X",
        ("{value}", "身份证 {value}"),
    ),
    "turkey": (lambda rng: _digits(rng, 11), ("{value}", "TC kimlik no {value}")),
    "sweden": (
        lambda rng: _birthday(rng, "19{year}{month}{day}") + f"-{_digits(rng, 4)}",
        ("{value}", "personnummer {value}"),
    ),
    "france": (
        lambda rng: f"1 {rng.randrange(60, 99)} 11 75 {_digits(rng, 3)} {_digits(rng, 3)} {_digits(rng, 2)}",
        ("{value}", "NIR {value}"),
    ),
    "switzerland": (
        lambda rng: f"756.{_digits(rng, 4)}.{_digits(rng, 4)}.{_digits(rng, 2)}",
        ("{value}", "AHV {value}"),
    ),
    "poland": (lambda rng: _digits(rng, 11), ("PESEL {value}", "{value}")),
    "passport": (
        lambda rng: rng.choice("CFGHJKLMNPRTVWXYZ") + _digits(rng, 8),
        ("passport {value}", "Pasaport no: {value}"),
    ),
    "phone us": (lambda rng: f"({_digits(rng, 3)}) {_digits(rng, 3)}-{_digits(rng, 4)}", ("{value}", "call {value}")),
    "phone tr": (
        lambda rng: f"+90 5{_digits(rng, 2)} {_digits(rng, 3)} {_digits(rng, 2)} {_digits(rng, 2)}",
        ("{value}",),
    ),
    "phone in one": (lambda rng: f"+2547{_digits(rng, 8)}", ("{value}", "tel:{value}")),
    "address v4": (
        lambda rng: f"10.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}",
        ("{value}", "http://{value}:8080/", "host_{value}"),
    ),
    "address v6": (
        lambda rng: f"fd{_draw(rng, _HEX, 2)}:{_draw(rng, _HEX, 4)}::{_draw(rng, _HEX, 4)}",
        ("[{value}]:443", "inet6 {value}/64"),
    ),
    "hardware": (lambda rng: ":".join(_draw(rng, _HEX, 2) for _ in range(6)), ("{value}",)),
    "home": (
        lambda rng: rng.choice(_FIRST) + rng.choice(_SECOND),
        ("/home/{value}/x.py", "C:\\Users\\{value}\\x", "/Users/{value}/Desktop"),
    ),
    "mail": (
        lambda rng: f"{rng.choice(_FIRST)}.{rng.choice(_SECOND)}@clinic.example",
        ("{value}", "mailto:{value}", "<{value}>"),
    ),
    "said in Spanish": (_words, ("la contraseña es {value}", "contraseña: {value}", "clave de acceso: {value}")),
    "said in German": (
        _words,
        ("Passwort: {value}", "das Passwort lautet {value}", "Kennwort ist {value}", "Zugangscode {value}"),
    ),
    "said in French": (_words, ("mot de passe : {value}", "le mot de passe est {value}", "code secret: {value}")),
    "said in Portuguese": (_words, ("a senha é {value}", "senha: {value}", "palavra-passe: {value}")),
    "said in Chinese": (_words, ("密码: {value}", "密码是{value}", "口令：{value}")),
    "said in Japanese": (_words, ("パスワード: {value}", "パスワードは{value}です", "暗証番号：{value}")),
    "said in Russian": (_words, ("пароль: {value}", "Пароль — {value}", "кодовое слово: {value}")),
    "said in Swahili": (_words, ("nenosiri: {value}", "neno la siri ni {value}")),
    "said in Vietnamese": (_words, ("mật khẩu: {value}", "mật khẩu là {value}")),
    "said in Indonesian": (_words, ("kata sandi: {value}", "kata sandinya {value}")),
    "said in Greek": (_words, ("κωδικός πρόσβασης: {value}", "συνθηματικό: {value}")),
    "said in Hebrew": (_words, ("סיסמה: {value}", "הסיסמה היא {value}")),
    "said in Swedish": (_words, ("lösenord: {value}", "lösenordet är {value}")),
    "said in Czech": (_words, ("heslo: {value}", "heslo je {value}")),
    "said in Ukrainian": (_words, ("пароль такий: {value}", "гасло: {value}")),
}
KINDS = tuple(FORMS)

NAMES = (
    *("contraseña", "Passwort", "mot_de_passe", "密码", "密碼", "パスワード", "비밀번호", "senha", "lösenord", "heslo"),
    *("salasana", "jelszó", "parola", "şifre", "sifre", "kata_sandi", "nenosiri", "mật_khẩu", "mat_khau", "पासवर्ड"),
    *("كلمة_المرور", "סיסמה", "κωδικός", "wachtwoord", "adgangskode", "passord", "lozinka", "slaptažodis", "parool"),
    *("Zugangsdaten", "clave", "clave_acceso", "codigo_secreto", "Geheimnis", "geheim", "motDePasse", "userPasswd"),
    *("passcode", "lock_pattern", "sicherheitscode", "tarjeta", "dni", "cpf", "aadhaar", "personnummer", "tckn"),
    *("access_key_id", "refreshToken", "client-secret", "signature_key", "session", "auth_cookie", "seed_phrase"),
)
"""Names of arguments and fields that say what they hold, most of them not in English."""


def make_seventh_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name; every third under a name."""
    if number % 3 == 0:
        name = NAMES[number // 3 % len(NAMES)]
        return Credential(f"named {name}", _words(rng) + rng.choice(("", _digits(rng, 2))), (name,), False)
    kind = KINDS[number % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
