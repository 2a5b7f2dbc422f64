"""Names that say that something is a secret, in many languages: of arguments and fields, and in running text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from ahocorasick_rs import AhoCorasick, MatchKind

from contramem.traces.effects import words

_ALONE = frozenset(
    """password passwd pwd passphrase passcode secret secrets credential credentials authorization cookie cookies otp
    cvv cvc cvv2 ssn apikey bearer jwt totp mfa pincode mdp creds csrf xsrf psk pw passwords sessionid mnemonic dni cpf
    curp tckn pesel bsn hetu aadhaar personnummer salt hmac sessid phpsessid jsessionid iban clabe imei privkey parol
    seedwords puk""".split()
)
_ENDINGS = (
    "password",
    "passwort",
    "kennwort",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "masterkey",
    "privatekey",
    "pw",
)
"""Of names that are one word: `dbpassword`, `Kundenkennwort`."""
_PASSWORDS = frozenset("passwords passwd pwd mdp creds credentials puk mnemonic bearer psk cvv cvc".split())
_LAST = frozenset({"token", "pin"})
_NOT_SECRET_TOKENS = frozenset("page next prev previous continuation cursor sync max min count stop start".split())
_IN_NAMES_AND_PROSE = frozenset(
    {(first, "key") for first in "api access private secret encryption signing master ssh license service auth".split()}
    | {(first, "key") for first in "recovery app subscription consumer client shared storage wallet product".split()}
    | {(first, "key") for first in "licence activation signature session account deploy preshared".split()}
    | {(first, "pass") for first in "db user master admin root sudo smtp imap ftp mail login proxy wifi".split()}
    | {(first, "pass") for first in "ssh become vpn sql mysql postgres redis ldap bind keystore store server".split()}
    | {("webhook", "url"), ("connection", "string"), ("lock", "pattern"), ("unlock", "pattern")}
    | {
        (first, "code")
        for first in "door gate alarm unlock lock access entry mfa otp sms login pin security auth".split()
    }
    | {(first, "code") for first in "verification recovery backup secret activation locker safe vault entrance".split()}
    | {(first, "codes") for first in "recovery backup".split()}
    | {(first, "word") for first in "memorable secret magic safe pass".split()}
    | {(first, "answer") for first in "security secret memorable".split()}
    | {("passport", "number"), ("passport", "no"), ("tax", "id"), ("national", "id"), ("maiden", "name")}
    | {("card", "number"), ("security", "number"), ("insurance", "number"), ("session", "cookie")}
    | {("seed", "phrase"), ("seed", "words")}
)
"""Of several words, in names and in running text. Any word may stand before them: `national insurance number`."""
_PAIRS = _IN_NAMES_AND_PROSE | {("two", "factor")}
"""In a text, a setting follows some of them: `two-factor: enabled`."""
_IN_NAMES_ONLY = frozenset({"salt", "cookies", "iban", "clabe", "imei"})
"""In a text they season a dish, or say where to send money or which telephone is meant: values that calls need."""
_JOINED = frozenset("".join(pair) for pair in _IN_NAMES_AND_PROSE if pair[-1] != "pass")
"""`AccountKey`, `doorcode`."""
IN_PROSE = sorted(
    (_ALONE - _IN_NAMES_ONLY)
    | _JOINED
    | {"token", "pin", "passport", "nino", "2fa code", "one time code"}
    | {" ".join(phrase) for phrase in _IN_NAMES_AND_PROSE if phrase[-1] != "pass"}
)
"""What may call the next word of a text a secret. `wifi pass` would hide the longer word in `wifi password`."""
_PLAIN_KEY = re.compile(r"[a-z][a-z_.\-]{0,31}|[A-Z][A-Z_]{0,31}")

_SPACED = (
    "contraseña,contrasena,contrasenya,contrasinal,clave,codigo secreto,código secreto,passwort,kennwort,zugangscode,"
    "zugangsdaten,geheim,sicherheitscode,türcode,losungswort,passwuert,mot de passe,motdepasse,mot de pas,"
    "code secret,phrase secrète,code d'accès,senha,palavra-passe,palavra passe,código de acesso,parola,parolă,"
    "codice segreto,codice di accesso,codice fiscale,wachtwoord,wachtwurd,toegangscode,burgerservicenummer,"
    "lösenord,losenord,"
    "adgangskode,kodeord,passord,salasana,tunnusluku,henkilötunnus,lykilorð,aðgangsorð,hasło,haslo,heslo,jelszó,jelszo,"
    "jelszav,"
    "парол,кодовое слово,секретное слово,гасло,құпия сөз,құпиясөз,нууц үг,лозинк,lozinka,šifra,šifru,geslo,slaptažod,"
    "slaptazod,parool,salasõna,fjalëkalim,fjalekalim,κωδικ,συνθηματικ,şifre,sifre,şifrə,kimlik no,mật khẩu,mat khau,"
    "kata sandi,kata laluan,kontrasenyas,nenosiri,neno la siri,nywila,kalmar sirri,iphasiwedi,erayga sirta,pasahitz,"
    "facal faire,facalfaire,lihim na salita,"
    "cyfrinair,pasfhocal,focal faire,pasvorto,סיסמ,كلمة المرور,كلمة السر,الرقم السري,رمز الدخول,رمز عبور,"
    "گذرواژه,کلمه عبور,خفیہ لفظ,پاس ورڈ,पासवर्ड,कूटशब्द,পাসওয়ার্ড,গোপন শব্দ,கடவுச்சொல்,పాస్‌వర్డ్,పాస్వర్డ్,પાસવર્ડ,ਪਾਸਵਰਡ,ಪಾಸ್‌ವರ್ಡ್,ಪಾಸ್ವರ್ಡ್,"
    "പാസ്‌വേഡ്,പാസ്വേഡ്,මුරපදය,የይለፍ ቃል,პაროლი,գաղտնաբառ"
)
_UNSPACED = (
    "密码,密碼,口令,密钥,密鑰,身份证,パスワード,暗証番号,合言葉,マイナンバー,비밀번호,암호,주민등록번호,"
    "รหัสผ่าน,ລະຫັດຜ່ານ,ពាក្យសម្ងាត់,စကားဝှက်"
)
"""Of scripts that are written without spaces."""
_FOREIGN = [*_SPACED.split(","), *_UNSPACED.split(",")]
_WITHOUT_SPACES = frozenset(_UNSPACED.split(","))
_FIND_FOREIGN = AhoCorasick(_FOREIGN, matchkind=MatchKind.LeftmostLongest)
_JOINTS = str.maketrans("_-.", "   ")
_REST = re.compile(
    r"[^\W\d_]{0,8}(?:[_-][^\W\d_]{1,20}){0,2}[\s\"'`“«:=：—–]+([^\n,;，；<>]{1,80}?)(?=[.!?。]?(?:[\s\"'”»]*$|[.!?。]\s)|[\n,;，；<>])"
)
"""What follows in the same clause: `Passwort lautet ...`, `mật khẩu là ...`."""
_LATIN = re.compile(r"[!-~]+(?: [!-~]+)?")
_NO_LETTER = re.compile(r"[\d_!@#$%^&*+=~-]")
_AROUND_VALUE = "\"'`“”«» ()[]{}"
_QUOTE = re.compile('["`“”«»]')
MIN_QUOTED_CHARS = 3
MAX_WORDS_AFTER = 6


def is_secret_name(name: str, value: object = None) -> bool:
    """Does the name of an argument or field say that its value is a secret? A bare `key` or `pass` does unless `value`
    is a plain word, as the keys of a settings tool and the passes of a museum are."""
    if isinstance(value, bool) or value is None:
        return False
    if _split_name(name) in (("key",), ("pass",)):
        return not (isinstance(value, str) and _PLAIN_KEY.fullmatch(value))
    return _always_names_a_secret(name)


@lru_cache(maxsize=8192)  # the same few names stand in every run
def _always_names_a_secret(name: str) -> bool:
    return name.lower() in _ALONE or _names_a_secret(_split_name(name)) or _names_it_in_another_language(name)


@lru_cache(maxsize=8192)
def _split_name(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(name)) or (name.lower(),)


def _names_a_secret(named: tuple[str, ...]) -> bool:
    if not _ALONE.isdisjoint(named) and named[-1] not in ("id", "name", "count", "length", "type", "hint", "policy"):
        return True
    if any(pair in _PAIRS and (named[-1] != "name" or pair[1] == "name") for pair in pairwise(named)):
        return True
    if named[-1].endswith(_ENDINGS) or any("".join(pair) in _ALONE for pair in pairwise(named)):  # `pass_phrase`
        return True
    return named[-1] in _JOINED or (named[-1] in _LAST and _NOT_SECRET_TOKENS.isdisjoint(named))


def _names_it_in_another_language(name: str) -> bool:
    written = name.lower().translate(_JOINTS)
    return any(True for _ in _find_foreign(written)) or any(True for _ in _find_foreign(" ".join(_split_name(name))))


def are_secret_name(before: str, word: str) -> bool:
    """Does a word, alone or with the one before it, name a secret: `token`, `security code`?"""
    if is_secret_name(word, "any"):
        return True
    return bool(before) and not is_secret_name(before, "any") and is_secret_name(f"{before}_{word}", "any")


@lru_cache(maxsize=8192)
def names_a_password(name: str) -> bool:
    """Is it a word for a password, in any language? Tokens, cookies and keys are often things that a task is about."""
    return name.lower().endswith(_ENDINGS) or name.lower() in _PASSWORDS or _names_it_in_another_language(name)


def _find_foreign(lowered: str) -> Iterator[tuple[str, int, int]]:
    """Words for a secret that are not English, where they begin and end. They may have an ending."""
    for number, start, end in _FIND_FOREIGN.find_matches_as_indexes(lowered):
        word = _FOREIGN[number]
        if word in _WITHOUT_SPACES or not (start and lowered[start - 1].isalpha() and word[0].isascii()):
            yield word, start, end


def secrets_after_foreign_words(text: str, lowered: str) -> Iterator[str]:
    """What a text calls a secret in another language than English. The words between name and value are not known, so
    the rest of the clause is the secret, and so is each part of it that is no plain word."""
    for word, _, end in _find_foreign(lowered):
        if word in _WITHOUT_SPACES:
            clause = re.split(r"[\n,;，；。<>]", text[end : end + 80])[0]
            yield from filter(None, (latin.strip("\"'.:= ") for latin in _LATIN.findall(clause)))
        elif match := _REST.match(text, end):
            rest = match[1].strip(_AROUND_VALUE).split()[:MAX_WORDS_AFTER]
            if rest:
                yield " ".join(rest)
            if len(rest) > 2:
                yield " ".join(rest[1:])  # after a word for `is`
            pieces = _QUOTE.split(match[1])
            yield from (piece.strip() for piece in pieces if len(pieces) > 1 and len(piece) > MIN_QUOTED_CHARS)
            yield from (token.strip(_AROUND_VALUE) for token in rest if _NO_LETTER.search(token))
