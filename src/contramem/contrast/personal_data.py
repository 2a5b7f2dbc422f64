"""What a text reveals about a person, a machine or an account by its form alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from contramem.contrast.english import FUNCTION_WORDS, ORDINARY_STEMS, stem
from contramem.contrast.values import EMAIL_PATTERN, IBAN_PATTERN, TIME_PATTERN, is_card_number, is_iban, is_phone
from contramem.traces.identifying import PAPER
from contramem.traces.secrets import ISSUED, secrets_in_prose

MIN_IDENTIFIER_CHARS = 9
MIN_IDENTIFIER_DIGITS = 3
MIN_SECRET_CHARS = 20
MIN_NAMED_SECRET_CHARS = 6
MIN_SECRET_BITS = 3.5
"""Shannon entropy per character. Function names stay below it because they are made of words."""

_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)
_EMAIL = re.compile(EMAIL_PATTERN)
_URL = re.compile(
    r"\b(?:[a-z][a-z0-9+.\-]{1,12}://|www\.)[\w\-]+(?:\.[\w\-]+)*|\b[a-z][a-z0-9\-]*(?:\.[a-z][a-z0-9\-]*){2,}/\w",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\+?\(?\d[\d\s().\-]{5,22}\d(?!\w)")
_DECIMAL = re.compile(r"(?<![\d.\-])\d{1,7}\.\d{1,2}(?![\d.\-])")
"""`123.45`: an amount. Followed by another number, it would look like a telephone number."""
_IBAN = re.compile(IBAN_PATTERN)
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,?\s(?P<name>(?:[A-Z][\w'’.\-]*\s){1,3})(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|"
    r"blvd|square|way|court|ct|place|pl|highway|hwy|rue|platz|straße|strasse)\b"
    r"|\b(?P<name_before_number>(?:[A-Z]\w+\s){1,3})(?:Street|Avenue|Road|Lane)\s\d+",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_\-]*[A-Za-z0-9])?")
_FORM = re.compile(r"[9Aa\-]*A[9Aa\-]*")
"""`A99-99999` says how references are written, and is none."""
_NO_WORD = re.compile(r"[\d!#$%&*+=@^~]")


def find_personal_data(text: str) -> Iterator[str]:
    """What a text reveals by its form alone, in words."""
    if _EMAIL.search(text):
        yield "an e-mail address"
    if _URL.search(text):
        yield "a link with its host"
    if ISSUED.search(text) or PAPER.search(text) or _names_a_secret(text):
        yield "a secret"
    if any(_names_a_street(match) for match in _STREET.finditer(text)):
        yield "a street address"
    if any(is_iban(match.group()) for match in _IBAN.finditer(text)):
        yield "an account number"
    timeless = _TIME.sub(" ", text)
    numbers = [match.group().strip() for match in _NUMBER.finditer(_DECIMAL.sub("<>", timeless))]
    if any(is_card_number(number) for number in numbers):
        yield "a card number"
    elif any(is_phone(number) for number in numbers):
        yield "a telephone number"
    if any(_is_identifier(match.group()) for match in _IDENTIFIER.finditer(timeless)):
        yield "a long identifier"


def _names_a_secret(text: str) -> bool:
    """`password=hunter2`: a label that says secret, followed by something other than a word."""
    return any(len(value) >= MIN_NAMED_SECRET_CHARS and _NO_WORD.search(value) for value in secrets_in_prose(text))


def _names_a_street(match: re.Match[str]) -> bool:
    """`1 free lane` and `2 items in place` are plain words; `12 Free Lane` and `10 downing street` are addresses."""
    words = (match["name"] or match["name_before_number"]).split()
    if not all(word.islower() for word in words):
        return True
    return FUNCTION_WORDS.isdisjoint(words) and not all(stem(word) in ORDINARY_STEMS for word in words)


def _is_identifier(token: str) -> bool:
    if len(token) < 7 or _FORM.fullmatch(token):
        return False
    digits = sum(char.isdigit() for char in token)
    if digits == len(token):
        return True
    if len(token) >= MIN_SECRET_CHARS and digits and _bits(token) >= MIN_SECRET_BITS:
        return True
    return len(token) >= MIN_IDENTIFIER_CHARS and digits >= MIN_IDENTIFIER_DIGITS


def _bits(token: str) -> float:
    """Shannon entropy per character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())
