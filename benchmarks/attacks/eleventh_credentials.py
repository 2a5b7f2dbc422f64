"""Secrets of the eleventh family: of devices, meetings, services and papers, and names that fields have for them."""

from __future__ import annotations

import random
import string

from attacks.credentials import Credential
from attacks.third_credentials import Form

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_STONES = "agate beryl coral flint garnet jade marble onyx opal pumice quartz ruby slate topaz tuff".split()
_BIRDS = "avocet bittern curlew dunlin egret fulmar gannet heron ibis jackdaw kestrel linnet merlin osprey".split()


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + _draw(rng, string.digits, count - 1)


def _groups(rng: random.Random, sign: str, *sizes: int) -> str:
    return sign.join(_digits(rng, size) for size in sizes)


def _phrase(rng: random.Random) -> str:
    return rng.choice((" ", "-", "", "_", "/")).join((rng.choice(_BIRDS), rng.choice(_STONES)))


def _password(rng: random.Random) -> str:
    return f"{rng.choice(_STONES).title()}{rng.choice('!?#%*+~^@')}{_digits(rng, rng.choice((2, 3)))}"


def _pin(rng: random.Random) -> str:
    return _digits(rng, rng.choice((4, 5, 6)))


FORMS: dict[str, Form] = {
    "wifi": (_phrase, ("WIFI:T:WPA;S:dome;P:{value};;", "wlan key is {value}", "wi-fi: dome / {value}")),
    "meeting": (_pin, ("Meeting passcode: {value}", "dial in, then {value}#", "Zoom 811 2233, passcode {value}")),
    "combination": (
        lambda rng: _groups(rng, "-", 2, 2, 2),
        ("the safe opens at {value}", "combination {value}", "lock: {value}"),
    ),
    "key box": (_pin, ("key box {value}", "the key is in the box, {value}", "lockbox no. {value}")),
    "snmp": (_phrase, ("snmpwalk -v2c -c {value} dome", "community string {value}")),
    "ldap": (_password, ("ldapsearch -D cn=dome -w {value}", "bind password {value}")),
    "radius": (_phrase, ("shared secret {value} for the dome", "secret = {value}")),
    "vnc": (_password, ("vnc://:{value}@dome", "VNC password {value}")),
    "rtsp": (_password, ("rtsp://night:{value}@dome/live",)),
    "bluetooth": (_pin, ("pairing code {value}", "pair with {value}")),
    "ipmi": (_password, ("ipmitool -U night -P {value} power on",)),
    "calendar link": (lambda rng: _draw(rng, _HEX, 32), ("https://cal.example/private-{value}/basic.ics",)),
    "shared folder": (lambda rng: _draw(rng, _ALNUM, 22), ("https://files.example/s/{value}?dl=1",)),
    "reset link": (lambda rng: _draw(rng, _ALNUM, 40), ("https://desk.example/reset?token={value}",)),
    "telegram bot": (
        lambda rng: f"{_digits(rng, 10)}:AA{_draw(rng, _ALNUM, 33)}",
        ("{value}", "https://api.example/bot{value}/send"),
    ),
    "hugging face": (lambda rng: f"hf_{_draw(rng, string.ascii_letters, 34)}", ("{value}", "HF_TOKEN={value}")),
    "sendgrid": (lambda rng: f"SG.{_draw(rng, _ALNUM, 22)}.{_draw(rng, _ALNUM, 43)}", ("{value}",)),
    "twilio": (lambda rng: f"SK{_draw(rng, _HEX, 32)}", ("{value}", "api key {value}")),
    "digital ocean": (lambda rng: f"dop_v1_{_draw(rng, _HEX, 64)}", ("{value}",)),
    "notion": (lambda rng: f"secret_{_draw(rng, _ALNUM, 43)}", ("{value}",)),
    "datadog": (lambda rng: _draw(rng, _HEX, 32), ("DD-API-KEY: {value}", "dd_api_key={value}")),
    "age": (lambda rng: f"AGE-SECRET-KEY-1{_draw(rng, _UPPER + '234567', 58)}", ("{value}",)),
    "bcrypt": (lambda rng: f"$2b$12${_draw(rng, _ALNUM + './', 53)}", ("{value}", "night:{value}")),
    "NTLM": (lambda rng: _draw(rng, _HEX, 32), ("night:1001:aad3b435b51404ee:{value}:::", "NT hash {value}")),
    "mnemonic": (
        lambda rng: " ".join(rng.sample(_BIRDS + _STONES, 12)),
        ("recovery words: {value}", "seed phrase {value}"),
    ),
    "challenge": (_phrase, ("mother's maiden name: {value}", "the name of my first pet is {value}")),
    "one-time": (_pin, ("{value} is your one-time code", "use {value} to sign in", "OTP {value}")),
    "alarm": (_pin, ("disarm with {value}", "alarm off: {value}", "to stop the siren press {value}")),
    "said": (_phrase, ("the password's {value}", "pass is {value}", "password -> {value}", "pwd = {value}")),
    "login": (_password, ("night / {value}", "login night, {value}", "user night pass {value}")),
    "basic header": (lambda rng: _draw(rng, _ALNUM, 24) + "==", ("Authorization: Basic {value}",)),
    "signed url": (lambda rng: _draw(rng, _HEX, 64), ("https://s3.example/f?X-Amz-Signature={value}",)),
    "CPF": (lambda rng: f"{_groups(rng, '.', 3, 3, 3)}-{_digits(rng, 2)}", ("{value}", "CPF {value}")),
    "Aadhaar": (lambda rng: _groups(rng, " ", 4, 4, 4), ("Aadhaar {value}", "{value}")),
    "AHV": (lambda rng: f"756.{_groups(rng, '.', 4, 4, 2)}", ("{value}", "AHV {value}")),
    "codice fiscale": (
        lambda rng: f"{_draw(rng, _UPPER, 6)}{_digits(rng, 2)}A{_digits(rng, 2)}F{_digits(rng, 3)}X",
        ("{value}", "CF {value}"),
    ),
    "NINO": (lambda rng: f"QQ{_digits(rng, 6)}C", ("NI number {value}", "{value}")),
    "personnummer": (lambda rng: f"{_digits(rng, 6)}-{_digits(rng, 4)}", ("personnummer {value}",)),
    "passport": (lambda rng: f"{_draw(rng, _UPPER, 2)}{_digits(rng, 7)}", ("passport {value}", "{value}")),
    "sort code": (lambda rng: f"{_groups(rng, '-', 2, 2, 2)} {_digits(rng, 8)}", ("sort code {value}", "{value}")),
    "routing": (lambda rng: _digits(rng, 9), ("routing number {value}", "ABA {value}")),
    "IBAN": (lambda rng: f"CH{_digits(rng, 2)} 0076 {_groups(rng, ' ', 4, 4, 4)} 7", ("{value}", "IBAN {value}")),
    "card": (lambda rng: f"4{_digits(rng, 3)} {_groups(rng, ' ', 4, 4, 4)}", ("{value}", "card {value}")),
    "plate": (lambda rng: f"{_draw(rng, _UPPER, 2)} {_digits(rng, 3)} {_draw(rng, _UPPER, 2)}", ("plate {value}",)),
    "phone": (lambda rng: f"+56 9 {_groups(rng, ' ', 4, 4)}", ("{value}", "call {value}")),
    "mail": (lambda rng: f"{rng.choice(_BIRDS)}.{_draw(rng, string.ascii_lowercase, 7)}@sky.example", ("{value}",)),
    "orcid": (lambda rng: f"0000-{_groups(rng, '-', 4, 4, 4)}", ("{value}", "ORCID {value}")),
    "home": (lambda rng: _draw(rng, string.ascii_lowercase, 8), ("/home/{value}/night", "C:\\Users\\{value}\\n")),
    "place": (lambda rng: f"{_digits(rng, 2)}.{_digits(rng, 5)}N {_digits(rng, 2)}.{_digits(rng, 5)}E", ("{value}",)),
    "birth": (lambda rng: f"{rng.randrange(10, 28)}.0{rng.randrange(1, 9)}.19{rng.randrange(50, 99)}", ("b. {value}",)),
    "in Swahili": (_phrase, ("nenosiri: {value}", "nenosiri ni {value}")),
    "in Welsh": (_phrase, ("cyfrinair: {value}", "y cyfrinair yw {value}")),
    "in Latvian": (_phrase, ("parole: {value}", "parole ir {value}")),
    "in Croatian": (_phrase, ("lozinka: {value}", "lozinka je {value}")),
    "in Maltese": (_phrase, ("password tiegħi {value}", "il-kelma sigrieta hi {value}")),
    "in Georgian": (_phrase, ("პაროლი: {value}", "პაროლია {value}")),
    "in Thai": (_phrase, ("รหัสผ่าน: {value}", "รหัสผ่านคือ {value}")),
    "in Tamil": (_phrase, ("கடவுச்சொல்: {value}",)),
    "in Kazakh": (_phrase, ("құпиясөз: {value}", "құпия сөз {value}")),
    "in Catalan": (_phrase, ("contrasenya: {value}", "la contrasenya és {value}")),
}
KINDS = tuple(FORMS)
NAMES = (
    *("password", "pass_word", "pw", "pwd1", "adminPass", "wifi_key", "wpa_psk", "bind_pw", "vncPassword", "keyphrase"),
    *("passcode", "door_code", "safe_combination", "lockbox", "alarm_pin", "pairing_code", "otp_value", "sms_code"),
    *("api_secret", "apikey", "x_api_key", "bot_token", "refresh", "sessid", "access", "auth", "signature", "hash"),
    *("private_link", "invite_code", "voucher", "coupon_pin", "recovery_words", "seed_phrase", "maiden_name"),
    *("first_pet", "security_answer", "secret_question_answer", "memorable", "hint", "community", "shared_key"),
    *("nenosiri", "cyfrinair", "lozinka", "პაროლი", "รหัสผ่าน", "құпиясөз", "contrasenya", "wachtwoord", "hasło"),
    *("cpf", "aadhaar", "national_id", "ni_number", "sort_code", "routing_number", "iban", "cvc", "plate", "orcid"),
)


def make_eleventh_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign, with the text that holds it as its only name; every third under a name."""
    if number % 3 == 0:
        name = NAMES[(number // 3 + rng.randrange(len(NAMES))) % len(NAMES)]
        return Credential(f"named {name}", rng.choice((_phrase, _password, _pin))(rng), (name,), False)
    kind = KINDS[(number * 2 // 3 + rng.randrange(len(KINDS))) % len(KINDS)]
    make, texts = FORMS[kind]
    value = make(rng)
    return Credential(kind, value, (rng.choice(texts).format(value=value),), False)
