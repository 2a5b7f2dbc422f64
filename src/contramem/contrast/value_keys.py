"""Keys: when are two texts the same value? Case, spacing and accents do not count; numbers include what they count."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from contramem.contrast.placeholder_types import ValueKind, names_where
from contramem.contrast.values import kind_of_number, kind_of_text

_DIFFERS_BY_ROLE = names_where(lambda type_: type_.differs_by_role)
_IGNORES_PUNCTUATION = names_where(lambda type_: type_.ignores_punctuation)


class Key(NamedTuple):
    """What makes two texts the same value: case and spacing do not count; numbers include what they count."""

    text: str
    numeric: ValueKind | None


def classify_value(value: object, role: str) -> tuple[Key | None, ValueKind]:
    """The key and kind of a value. Without a key the value stays readable: a date, a time, an empty text, not a
    scalar."""
    if isinstance(value, str):
        return _classify_short_text(value, role) if len(value) <= 200 else _classify_text(value, role)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        kind = kind_of_number(role)
        return (None, "NUMBER") if kind is None else (span_key(str(value), kind), kind)
    return None, "TEXT"


def _classify_text(value: str, role: str) -> tuple[Key | None, ValueKind]:
    kind = kind_of_text(value, role)
    return (None, "TEXT") if kind is None else (span_key(compose_accents(value), kind), kind)


_classify_short_text = lru_cache(maxsize=1 << 14)(_classify_text)  # runs of one task share most of their values


def span_key(text: str, kind: str) -> Key:
    if kind in _DIFFERS_BY_ROLE:
        if digits := digits_of(text):
            return Key(digits if kind == "ID" else plain_number(digits), kind)
    elif kind in _IGNORES_PUNCTUATION:
        return Key("".join(filter(str.isalnum, text)).lower(), None)
    return Key(fold_text(" ".join(text.split())), None)


short_key = lru_cache(maxsize=1 << 14)(span_key)  # numbers and names recur

_CURRENCY = r"(?:[$€£¥₹]|dollars?|euros?|pounds?|USD|EUR|GBP|CHF|JPY|INR)"
_PLAIN_NUMBER = re.compile(rf"{_CURRENCY}?\s?(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s?{_CURRENCY})?", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)
def digits_of(text: str) -> str:
    """The number in `$1,200.50` or `1200.5 EUR` as `1200.50`; empty if the text is more than a number."""
    match = _PLAIN_NUMBER.fullmatch(text.strip())
    return match.group(1).replace(",", "") if match else ""


def plain_number(digits: str) -> str:
    """`1200`, `1200.0` and `01200` are the same number; only an identifier keeps its zeros."""
    if "." in digits and "e" not in digits:
        digits = digits.rstrip("0").rstrip(".")
    sign = "-" if digits.startswith("-") else ""
    return sign + (digits.lstrip("-").lstrip("0") or "0")


def keys_of_number(digits: str) -> tuple[Key, ...]:
    """Every key that a number in prose may be known by."""
    plain = plain_number(digits)
    return Key(plain, "AMOUNT"), Key(digits, "ID"), Key(plain, "NUMBER"), Key(digits, None)


def compose_accents(text: str) -> str:
    """Letters with accents as single characters, so that a value is found however it was typed."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def fold_text(text: str) -> str:
    """Lower case of equal length, so that positions also apply to the original."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    if len(lowered) != len(text):  # a few letters become two, such as İ
        lowered = "".join([char if len(lower := char.lower()) > 1 else lower for char in text])
    return lowered.replace("ς", "σ")


def searchable(text: str) -> str:
    """Folded, with any white space as a blank: a value may be broken across two lines."""
    folded = fold_text(text).replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return folded if folded.isascii() else folded.replace("\u00a0", " ").replace("\u202f", " ")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Is it more than part of a word? `Ann` does not stand alone in `Annual`."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after
