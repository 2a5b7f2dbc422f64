"""What names a person, an account, a machine or a place by its form, and by its check digits where it has some.

However many runs share such a value, it is never public.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import phonenumbers

Kind: TypeAlias = Literal["EMAIL", "URL", "ACCOUNT", "PHONE", "PERSON", "ADDRESS", "HOST"]


class Found(NamedTuple):
    """A part of a text that names somebody or something."""

    start: int
    end: int
    kind: Kind


class _Form(NamedTuple):
    kind: Kind
    pattern: str
    is_valid: Callable[[str], bool] = lambda text: True


def is_card_number(text: str) -> bool:
    """A payment card (ISO/IEC 7812): its last digit is right by Luhn's rule."""
    digits = [int(char) for char in text if char.isdecimal()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """An account number (ISO 13616): its check digits are right, mod 97."""
    text = text.replace(" ", "").upper()
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


@lru_cache(maxsize=4096)
def is_phone(text: str) -> bool:
    """A telephone number that is valid in some country, according to Google's library. One without a country is read
    as American; digits alone are no telephone number."""
    if text.isdecimal():
        return False
    try:
        parsed = phonenumbers.parse(text, None if text.lstrip().startswith("+") else "US")
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(parsed)


def _weighted(weights: str, modulus: int, rest: int = 0) -> Callable[[str], bool]:
    """The sum of the digits, each by its weight, leaves this rest. `X` and `a` count ten."""
    numbers = [int(weight, 36) for weight in weights]

    def is_valid(text: str) -> bool:
        digits = [10 if char in "Xx" else int(char) for char in text if char.isdecimal() or char in "Xx"]
        return sum(digit * weight for digit, weight in zip(digits, numbers, strict=True)) % modulus == rest

    return is_valid


def _is_cpf(text: str) -> bool:
    digits = [int(char) for char in text if char.isdecimal()]
    checks = [sum(d * (n + 1 - i) for i, d in enumerate(digits[:n])) * 10 % 11 % 10 for n in (9, 10)]
    return checks == digits[9:] and len(set(digits)) > 1


def _is_dni(text: str) -> bool:
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def _is_nir(text: str) -> bool:
    digits = "".join(char for char in text if char.isdecimal())
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def _is_hetu(text: str) -> bool:
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(text[:6] + text[7:10]) % 31] == text[10]


_HOSTS = "com|org|net|edu|gov|io|ai|app|dev|info|biz|co|eu|uk|de|fr|ch|at|nl|es|it|pl|ru|cn|jp|br|au|ca|us"
_STREETS = "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Boulevard|Blvd|Square|Court|Place|Highway"
EMAIL_PATTERN = r"[\w.+%\-']{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"
IBAN_PATTERN = r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b"
_TO_END = r"[^\s<>\"'`)\]]"
URL_PATTERN = (
    rf"\b[a-z][a-z\d+.\-]{{1,12}}://{_TO_END}+"
    rf"|\bwww\.[\w.\-]+\w(?:/{_TO_END}*)?|\b(?:[a-z\d\-]{{1,63}}\.){{1,4}}(?:{_HOSTS})\b(?![\w@.\-])(?:/{_TO_END}*)?"
)
_FORMS = (
    _Form("EMAIL", EMAIL_PATTERN),
    _Form("URL", URL_PATTERN),
    _Form("ACCOUNT", IBAN_PATTERN, is_iban),
    _Form("ACCOUNT", r"(?<![\d.\-])\d(?:[ \-]?\d){12,18}(?![\d.\-])", is_card_number),
    _Form("PERSON", r"(?<![\d\-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d\-])"),  # US
    _Form("PERSON", r"\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-NP-Z] ?\d\d ?\d\d ?\d\d ?[A-D]\b"),  # UK
    _Form("PERSON", r"\b756\.?\d{4}\.?\d{4}\.?\d\d\b", _weighted("1313131313131", 10)),  # Switzerland
    _Form("PERSON", r"\b\d{3}\.\d{3}\.\d{3}-\d\d\b", _is_cpf),  # Brazil
    _Form("PERSON", r"\b\d{17}[\dX]\b", _weighted("79a584216379a58421", 11, 1)),  # China
    _Form("PERSON", r"\b[XYZ\d]\d{7}[A-Z]\b", _is_dni),  # Spain
    _Form("PERSON", r"\b[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d\d ?\d{3} ?\d{3} ?\d\d\b", _is_nir),  # France
    _Form("PERSON", r"\b[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]\b"),  # Italy
    _Form("PERSON", r"\b(?:[0-2]\d|3[01])(?:0\d|1[0-2])\d\d[-+A]\d{3}[\dA-Y]\b", _is_hetu),  # Finland
    _Form("HOST", r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\.?\d)"),
    _Form("HOST", r"/(?:home|Users)/[\w.-]+|[A-Z]:\\+Users\\+[\w.-]+"),
    _Form("HOST", r"(?<!\w)(?:[\da-fA-F]{2}:){5}[\da-fA-F]{2}(?!\w)"),
    _Form("PHONE", r"(?<!\w)\+\d(?:[ .\-()]{0,2}\d){6,14}(?!\w)"
        r"|(?<![\w.\-])(?:\(\d{3}\) ?|\d{3}[ .\-])?\d{3}[.\-]\d{4}(?![\w\-])", is_phone),
    _Form("ADDRESS", rf"\b\d{{1,5}}[A-Za-z]?,? (?:[A-Z][\w'’.]* ){{1,3}}(?:{_STREETS})\b"),
)  # fmt: skip
_PATTERNS = [(form, re.compile(form.pattern)) for form in _FORMS]
_DATE = re.compile(
    r"(?:19|20)\d\d[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|(?:19|20)\d\d[ -]\d{2,4}"
)
_POSSIBLE = re.compile(r"\d.*?\d|@|://|\.[a-z]{2}|Users|/home")
"""A text without any of this names nobody by its form."""


def find_personal(text: str) -> Iterator[Found]:
    """What in a text names somebody or something by its form; parts may overlap."""
    if not _POSSIBLE.search(text):
        return
    for form, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if form.is_valid(match[0]) and not _DATE.match(match[0]):
                yield Found(match.start(), match.end(), form.kind)


@lru_cache(maxsize=1 << 14)
def kind_of_person(value: str) -> Kind | None:
    """The kind of a value that is nothing but such a form."""
    value = value.strip()
    return next((found.kind for found in find_personal(value) if (found.start, found.end) == (0, len(value))), None)
