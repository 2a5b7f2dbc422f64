"""Secrets of the eighth family: keys of further issuers, connections, one-time codes, words to recover a wallet, papers
and accounts of further countries, and passwords behind names and sentences that the other families do not have. Written
before the defences were read."""

from __future__ import annotations

import base64
import random
import string

from attacks.credentials import Credential
from attacks.third_credentials import Form

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_FIRST = "walrus tundra velour cactus mosaic pepper quiver ribbon sherpa timber urchin violin wombat yonder".split()
_SECOND = (
    "bracket canyon dimple embargo fennel glacier hammock igloo jigsaw kernel lobster magnet nectar oyster".split()
)
_SEEDS = (
    "abandon legal winner thank year wave sausage worth useful letter advice cage absurd amount doctor acoustic".split()
)


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _word(rng: random.Random) -> str:
    return rng.choice(_FIRST) + rng.choice(_SECOND)


def _phrase(rng: random.Random) -> str:
    """A password of plain words."""
    return rng.choice((" ", "-", ".", "_", "")).join((rng.choice(_FIRST), rng.choice(_SECOND)))


def _password(rng: random.Random) -> str:
    """A password as people make them."""
    return rng.choice(_FIRST).title() + rng.choice("!#%&*") + _digits(rng, 3)


def _seed(rng: random.Random) -> str:
    return " ".join(rng.sample(_SEEDS, 12))


def _groups(rng: random.Random, alphabet: str, *counts: int, joint: str = "-") -> str:
    return joint.join(_draw(rng, alphabet, count) for count in counts)


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"mechanic:{_password(rng)}".encode()).decode()


def _dates(rng: random.Random) -> str:
    return f"{rng.randrange(60, 99)}{rng.randrange(10, 13)}{rng.randrange(10, 28)}"


FORMS: dict[str, Form] = {
    "openai": (lambda rng: "sk-" + _draw(rng, _ALNUM, 48), ("{value}", "repair_{value}")),
    "google oauth": (lambda rng: "GOCSPX-" + _draw(rng, _ALNUM, 28), ("{value}",)),
    "refresh": (lambda rng: "1//0" + _draw(rng, _ALNUM + "-_", 60), ("{value}", "refresh {value}")),
    "circleci": (lambda rng: "CCIPAT_" + _draw(rng, _ALNUM, 22) + "_" + _draw(rng, _HEX, 40), ("{value}",)),
    "docker hub": (lambda rng: "dckr_pat_" + _draw(rng, _ALNUM, 27), ("{value}", "docker login -p {value}")),
    "rubygems": (lambda rng: "rubygems_" + _draw(rng, _HEX, 48), ("{value}",)),
    "crates": (lambda rng: "cio" + _draw(rng, _ALNUM, 32), ("{value}", "cargo login {value}")),
    "mailchimp": (lambda rng: _draw(rng, _HEX, 32) + "-us12", ("{value}",)),
    "algolia": (lambda rng: _draw(rng, _HEX, 32), ("X-Algolia-API-Key: {value}", "{value}")),
    "datadog": (lambda rng: _draw(rng, _HEX, 32), ("DD_API_KEY={value}", "DD-API-KEY: {value}")),
    "mapbox": (lambda rng: f"sk.eyJ1{_draw(rng, _ALNUM, 40)}.{_draw(rng, _ALNUM, 22)}", ("{value}",)),
    "facebook": (lambda rng: "EAACEdEose0cBA" + _draw(rng, _ALNUM, 40), ("{value}",)),
    "paypal": (
        lambda rng: "access_token$production$" + _draw(rng, _HEX, 16) + "$" + _draw(rng, _HEX, 32),
        ("{value}",),
    ),
    "tailscale": (lambda rng: f"tskey-auth-{_draw(rng, _ALNUM, 12)}-{_draw(rng, _ALNUM, 32)}", ("{value}",)),
    "cohere": (lambda rng: _draw(rng, _ALNUM, 40), ("COHERE_API_KEY={value}", "api key {value}")),
    "pgp": (
        lambda rng: _draw(rng, _ALNUM + "+/", 64),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{value}\n-----END PGP PRIVATE KEY BLOCK-----",),
    ),
    "putty": (
        lambda rng: _draw(rng, _ALNUM + "+/", 64),
        ("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{value}",),
    ),
    "certificate": (
        lambda rng: "MII" + _draw(rng, _ALNUM + "+/", 80),
        ("-----BEGIN EC PRIVATE KEY-----\\n{value}\\n-----END EC PRIVATE KEY-----", "{value}"),
    ),
    "signature": (
        lambda rng: _draw(rng, _HEX, 64),
        ("https://garage.s3.example/a?X-Amz-Signature={value}&X-Amz-Expires=60", "X-Hub-Signature-256: sha256={value}"),
    ),
    "basic in a link": (_basic, ("Authorization: Basic {value}", "Proxy-Authorization: Basic {value}")),
    "sql server": (_password, ("Server=tcp:db,1433;User ID=sa;Password={value};Encrypt=True",)),
    "ldap": (_password, ("ldap://cn=admin:{value}@dir.garage.example", "bindpw {value}")),
    "smtp": (_phrase, ("smtp://garage:{value}@mail.garage.example:587", "smtp_pass = {value}")),
    "rabbit": (_word, ("amqps://garage:{value}@mq.garage.example/%2f",)),
    "curl": (
        _phrase,
        ("curl -u garage:{value} https://garage.example", "wget --password={value} ftp://garage.example"),
    ),
    "mysql": (_word, ("mysql -uroot -p{value} garage", "mysqldump --password={value} garage")),
    "sshpass": (_word, ("sshpass -p {value} ssh garage@host", "sshpass -p '{value}' scp a b")),
    "htpasswd": (lambda rng: "$apr1$" + _draw(rng, _ALNUM, 8) + "$" + _draw(rng, _ALNUM, 22), ("mechanic:{value}",)),
    "argon": (
        lambda rng: "$argon2id$v=19$m=65536,t=3,p=4$" + _draw(rng, _ALNUM, 22) + "$" + _draw(rng, _ALNUM, 43),
        ("{value}", "hash {value}"),
    ),
    "one-time link": (
        lambda rng: _draw(rng, _ALNUM, 40),
        ("https://garage.example/reset?token={value}", "/magic/{value}"),
    ),
    "one-time words": (_phrase, ("Your one-time code is {value}.", "confirmation code {value}")),
    "authenticator": (
        lambda rng: _draw(rng, _UPPER + "234567", 32),
        ("otpauth://totp/garage?secret={value}", "TOTP secret {value}"),
    ),
    "code in groups": (
        lambda rng: _digits(rng, 3) + " " + _digits(rng, 3),
        ("verification code: {value}", "OTP {value}"),
    ),
    "backup codes": (lambda rng: _groups(rng, string.digits, 4, 4), ("backup codes: {value}", "Recovery code {value}")),
    "seed phrase": (_seed, ("{value}", "seed: {value}", "wallet words: {value}")),
    "wallet key": (lambda rng: "5" + _draw(rng, "HJK", 1) + _draw(rng, _ALNUM, 49), ("{value}", "WIF {value}")),
    "ether key": (lambda rng: "0x" + _draw(rng, _HEX, 64), ("{value}", "private key {value}")),
    "extended key": (lambda rng: "xprv9" + _draw(rng, _ALNUM, 106), ("{value}",)),
    "bitcoin": (lambda rng: "bc1q" + _draw(rng, "023456789acdefghjklmnpqrstuvwxyz", 38), ("{value}", "pay to {value}")),
    "iban ch": (lambda rng: f"CH{_digits(rng, 19)}", ("{value}", "IBAN: {value}")),
    "iban pl": (
        lambda rng: f"PL{_digits(rng, 2)} " + _groups(rng, string.digits, 4, 4, 4, 4, 4, 4, joint=" "),
        ("{value}",),
    ),
    "clabe": (lambda rng: _digits(rng, 18), ("CLABE {value}", "{value}")),
    "ifsc": (lambda rng: _digits(rng, 14), ("account {value} IFSC HDFC0001234", "A/C no. {value}")),
    "card with dots": (lambda rng: "4" + _groups(rng, string.digits, 3, 4, 4, 4, joint="."), ("{value}",)),
    "card in words": (lambda rng: "5" + _digits(rng, 15), ("card {value} exp 09/28", "Karte {value}", "{value}")),
    "national id be": (
        lambda rng: (
            f"{_digits(rng, 2)}.{rng.randrange(10, 13)}.{rng.randrange(10, 28)}-{_digits(rng, 3)}.{_digits(rng, 2)}"
        ),
        ("{value}", "rijksregisternummer {value}"),
    ),
    "national id de": (lambda rng: _digits(rng, 11), ("Steuer-ID {value}", "{value}")),
    "national id ar": (
        lambda rng: f"{_digits(rng, 2)}.{_digits(rng, 3)}.{_digits(rng, 3)}",
        ("DNI {value}", "{value}"),
    ),
    "national id cl": (
        lambda rng: f"{_digits(rng, 2)}.{_digits(rng, 3)}.{_digits(rng, 3)}-K",
        ("RUT {value}", "{value}"),
    ),
    "national id ro": (lambda rng: f"1{_dates(rng)}{_digits(rng, 6)}", ("CNP {value}", "{value}")),
    "national id bg": (lambda rng: f"{_dates(rng)}{_digits(rng, 4)}", ("ЕГН {value}", "{value}")),
    "national id no": (lambda rng: f"{_dates(rng)}{_digits(rng, 5)}", ("fødselsnummer {value}", "{value}")),
    "national id my": (lambda rng: f"{_dates(rng)}-14-{_digits(rng, 4)}", ("MyKad {value}", "{value}")),
    "national id th": (
        lambda rng: f"{_digits(rng, 1)}-{_digits(rng, 4)}-{_digits(rng, 5)}-{_digits(rng, 2)}-{_digits(rng, 1)}",
        ("{value}",),
    ),
    "national id il": (lambda rng: _digits(rng, 9), ("תעודת זהות {value}", "{value}")),
    "national id id": (lambda rng: _digits(rng, 16), ("NIK {value}", "{value}")),
    "vehicle": (lambda rng: "WBA" + _draw(rng, "ABCDEFGHJKLMNPRSTUVWXYZ0123456789", 14), ("VIN {value}", "{value}")),
    "device": (lambda rng: _digits(rng, 15), ("IMEI {value}", "{value}")),
    "licence key": (
        lambda rng: _groups(rng, _UPPER + string.digits, 5, 5, 5, 5, 5),
        ("{value}", "product key {value}"),
    ),
    "phone br": (lambda rng: f"+55 11 9{_digits(rng, 4)}-{_digits(rng, 4)}", ("{value}", "WhatsApp {value}")),
    "phone cn": (lambda rng: f"138{_digits(rng, 8)}", ("手机 {value}", "{value}")),
    "phone fr": (lambda rng: "06 " + _groups(rng, "123456789", 2, 2, 2, 2, joint=" "), ("{value}", "tél. {value}")),
    "mail in angle brackets": (lambda rng: f"{_word(rng)}@garage.example", ("Mechanic <{value}>", "cc:{value};")),
    "mail of the world": (lambda rng: f"{_word(rng)}@пример.рф", ("{value}",)),
    "share": (
        _word,
        ("\\\\server\\{value}\\docs", "file:///home/{value}/a.txt", "~{value}/notes", "/var/home/{value}/b"),
    ),
    "user of a link": (
        _word,
        ("https://{value}@git.garage.example/a", "ssh://{value}@host/a", "scp a {value}@10.0.0.8:"),
    ),
    "whispered": (
        _phrase,
        ("(pw {value})", "pass: {value}", "pwd={value}", "the magic word is {value}", "PIN: {value}"),
    ),
    "answer of a call": (
        _phrase,
        ("unlock with {value} as password", "use {value} to sign in", "log in using {value}"),
    ),
    "said in Bulgarian": (_phrase, ("паролата е {value}", "парола: {value}")),
    "said in Serbian": (_phrase, ("лозинка: {value}", "šifra je {value}")),
    "said in Persian": (_phrase, ("رمز عبور: {value}", "گذرواژه {value}")),
    "said in Urdu": (_phrase, ("پاس ورڈ: {value}", "خفیہ لفظ {value}")),
    "said in Thai": (_phrase, ("รหัสผ่าน: {value}", "รหัสผ่านคือ {value}")),
    "said in Tagalog": (_phrase, ("ang password ay {value}", "lihim na salita: {value}")),
    "said in Finnish": (_phrase, ("salasana on {value}", "tunnusluku: {value}")),
    "said in Hungarian": (_phrase, ("a jelszó {value}", "jelszava: {value}")),
    "said in Danish": (_phrase, ("adgangskoden er {value}", "kodeord: {value}")),
    "said in Catalan": (_phrase, ("la contrasenya és {value}", "mot de pas: {value}")),
    "said in Bengali": (_phrase, ("পাসওয়ার্ড: {value}", "গোপন শব্দ {value}")),
}
KINDS = tuple(FORMS)

NAMES = (
    *("contrasenya", "pasahitza", "facalfaire", "cyfrinair", "lykilorð", "fjalëkalimi", "пароль_доступа", "лозинка"),
    *("гасло", "құпия_сөз", "parol", "şifrə", "გასაღები", "գաղտնաբառ", "รหัสผ่าน", "ລະຫັດຜ່ານ", "পাসওয়ার্ড", "கடவுச்சொல்"),
    *("pass", "pw", "passwd2", "db_pass", "smtpPass", "rootpw", "unlock_code", "door_code", "gateCode", "alarm_code"),
    *("otp", "totp", "mfa_code", "two_factor", "verificationCode", "recovery_key", "mnemonic", "seedWords", "privkey"),
    *("bearer", "jwt", "id_token", "csrf", "xsrf_token", "sessid", "sid", "webhook_secret", "signing_secret", "hmac"),
    *("consumer_secret", "app_key", "apikey", "X-Api-Key", "subscription-key", "license_key", "encryption_key", "salt"),
    *("cvv", "cvc2", "iban", "account_number", "routing_number", "ssn", "tax_id", "passport_no", "mothers_maiden_name"),
)
"""Names of arguments and fields that say what they hold."""


def make_eighth_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name; every third under a name."""
    if number % 3 == 0:
        name = NAMES[number // 3 % len(NAMES)]
        return Credential(f"named {name}", rng.choice((_phrase, _password))(rng), (name,), False)
    kind = KINDS[number * 2 // 3 % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
