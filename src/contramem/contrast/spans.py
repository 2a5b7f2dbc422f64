"""Where in a text something stands that looks like a value: an address, a number, a name, a date.

This runs over every message of every run, so it looks closely only at tokens that could be more than a plain word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contramem.contrast.values import (
    AMOUNT_PATTERN,
    EMAIL_PATTERN,
    FILE_PATTERN,
    IBAN_PATTERN,
    ID_PATTERN,
    MONTH_PATTERN,
    NUMBER_PATTERN,
    PHONE_PATTERN,
    TIME_PATTERN,
    URL_PATTERN,
    is_card_number,
    is_phone,
)


class Span(NamedTuple):
    """A stretch of text and what it looks like: a ValueKind, or TIME."""

    start: int
    end: int
    kind: str


# A capitalised word is a name when others follow it, or in the middle of a sentence.
_CAPITALISED = r"[A-ZÀ-Þ][A-Za-zÀ-ÿ]*[a-zß-ÿ][A-Za-zÀ-ÿ]*"
_NAME = re.compile(rf"{_CAPITALISED}(?:[ ](?:{_CAPITALISED}|[A-Z]\.))+|(?<=[a-z0-9,;:] ){_CAPITALISED}\b")
# Everything else that looks like a value has one of these in it; most words of a text do not.
_SPECIAL_TOKEN = re.compile(r"(?<!\S)[^\s\d@/#$€£¥<]*[\d@/#$€£¥<]\S*|\bwww\.\S+")
_STEP = re.compile(r"\w+[^\w$€£¥+(#<\s]*|\W")
_FROM_LETTER = re.compile(
    rf"(?P<PLACEHOLDER><[A-Z|_\d]+>)|(?P<URL>{URL_PATTERN})|(?P<EMAIL>{EMAIL_PATTERN})|(?P<TIME>(?i:{TIME_PATTERN}))"
    rf"|(?P<ACCOUNT>{IBAN_PATTERN})|(?P<FILE>{FILE_PATTERN})|(?P<ID>{ID_PATTERN})"
)
_FROM_DIGIT = re.compile(
    rf"(?P<TIME>(?i:{TIME_PATTERN}))|(?P<AMOUNT>{AMOUNT_PATTERN})|(?P<PHONE>{PHONE_PATTERN})|(?P<EMAIL>{EMAIL_PATTERN})"
    rf"|(?P<FILE>{FILE_PATTERN})|(?P<ID>{ID_PATTERN})|(?P<NUMBER>{NUMBER_PATTERN})"
)
_MONTH_BEFORE = re.compile(rf"(?i:\b(?:{MONTH_PATTERN}))\s\Z")

# Words that open a sentence or a greeting, and words of the calendar: a capital makes them no name.
_OPENERS = frozenset(
    """a an and are as at based best but can check could dear did do does file find first for from get give given
    hello here hey hi how i if in is it its just let made make my next no not note now of on once or our please re
    regards send so sorry sure thank thanks that the then there these this to total unfortunately we what when where
    which who why will with would yes you your ok okay id url api
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december""".split()
)


def spans(text: str) -> list[Span]:
    """Left to right. A name may overlap what else stands there: whoever replaces takes the longer one."""
    return sorted([*_names(text), *_specials(text)])


def _names(text: str) -> Iterator[Span]:
    for match in _NAME.finditer(text):
        start, end = match.span()
        start = _after_openers(text, start, end)
        if start < end:
            yield Span(start, end, "NAME")


def _after_openers(text: str, start: int, end: int) -> int:
    """Where the name really begins: `Hi Emma` is about Emma, `The Best` about nobody."""
    while start < end:
        word_end = text.find(" ", start, end)
        word_end = end if word_end < 0 else word_end
        if text[start:word_end].lower() not in _OPENERS:
            break
        start = word_end + 1
    return min(start, end)


def _specials(text: str) -> Iterator[Span]:
    done = 0
    for token in _SPECIAL_TOKEN.finditer(text):
        position, end = token.span()
        position = max(position, done)
        while position < end:
            match = _match(text, position)
            if match is None:
                position = _STEP.match(text, position).end()  # type: ignore[union-attr]  # it matches any character
            else:
                position = done = match.end()
                if match.lastgroup != "PLACEHOLDER":
                    yield _told_apart(match)


def _match(text: str, position: int) -> re.Match[str] | None:
    char = text[position]
    if char.isdigit() or char in "$€£¥+(-":
        return _FROM_DIGIT.match(text, position)
    return _FROM_LETTER.match(text, position) if char.isalpha() or char in "#<_./" else None


def _told_apart(match: re.Match[str]) -> Span:
    """What the patterns alone cannot tell: a telephone from a long number, the day of a month from a number."""
    kind = match.lastgroup or ""
    start, end = match.span()
    if kind == "PHONE":
        found = match.group()
        kind = "ACCOUNT" if is_card_number(found) else "PHONE" if is_phone(found) else "NUMBER"
    elif kind == "NUMBER" and _MONTH_BEFORE.search(match.string, max(0, start - 12), start):
        kind = "TIME"
    return Span(start, end, kind)
