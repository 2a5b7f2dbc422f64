"""Where a text contains something that looks like a value: an address, a number, a name, a date.

This runs over every message of every run, so it looks closely only at tokens that may be more than a plain word.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from contramem.contrast.values import (
    ADDRESS_PATTERN,
    AMOUNT_PATTERN,
    EMAIL_PATTERN,
    FILE_PATTERN,
    IBAN_PATTERN,
    ID_PATTERN,
    MEASURE_PATTERN,
    MONTH_PATTERN,
    NUMBER_PATTERN,
    PHONE_PATTERN,
    TIME_PATTERN,
    URL_PATTERN,
    is_card_number,
    is_iban,
    is_phone,
)

Span: TypeAlias = tuple[int, int, str]
"""Start and end of a stretch of text, and what it looks like: a ValueKind, TIME, or OPENING (capitalised words at the
start of a sentence, which are a name, perhaps without the first word). A plain tuple because so many are made."""


def spans(text: str) -> list[Span]:
    """All such stretches, names first. They may overlap; the caller prefers the longer one."""
    return _names(text) + _specials(text)


# Names

# Letters of the scripts that have capitals: Latin with accents, Greek, Cyrillic, Armenian.
_LETTERS = [chr(code) for code in (*range(0xC0, 0x590), *range(0x1E00, 0x2000))]
_UPPER = f"[A-Z{''.join(filter(str.isupper, _LETTERS))}]"
_LOWER = f"[a-z{''.join(filter(str.islower, _LETTERS))}]"
_REST = rf"(?:['’]?{_UPPER})?{_LOWER}(?:[^\W\d_]|['’\-](?!s\b)(?=[^\W\d_]))*+(?![\d_])"
_MORE = rf"[ ](?:(?:van|von|der|den|de|da|di|du|del|la|le|bin|ibn|al)[ ]){{0,2}}(?:{_UPPER}(?<!\w.){_REST}|[A-Z]\.)"
_INSIDE = r"(?<=[\w,;:][ ].)|(?<=[\w,;:][ ][\"'(“‘*`].)"
# Anchored at the first letter, so that the search can skip to the next capital.
_NAME = re.compile(rf"{_UPPER}(?<!\w.)(?:(?:{_INSIDE}){_REST}(?:{_MORE})*+|{_REST}(?:{_MORE})++)")
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n|>])[\s*_#>\-•\"'“‘(\d.)]*\Z")
_ACRONYM = re.compile(r"[A-Z]{2,}s")

# Words that open a sentence or a greeting, and words of the calendar: capitalised, but not names.
OPENERS = frozenset(
    """a about after again all also although am an and any are as at based because been before best but by can check
    could currently dear did do does each either error every everything file finally find first for from get give given
    great had has have he hello her here hey hi his how however i id if in is it its just last let made make may maybe
    me more most my next no none not note nothing now of ok okay on once one only or order other our perhaps please re
    regards remember second send she should since so some someone something sorry sure thank thanks that the their then
    there these they this those to today tomorrow total two unfortunately unless until us was we were what when where
    whether which while who whose why will with within without would yes yesterday you your api url
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov
    dec""".split()
)


def _names(text: str) -> list[Span]:
    """Capitalised words are a name if there are several, or one in the middle of a sentence."""
    names = []
    for match in _NAME.finditer(text):
        first, last = match.span()
        start, end = _without_openers(text, first, last) if " " in match.group() else (first, last)
        name = text[start:end]
        if " " in name:
            opens = start == first and _SENTENCE_START.search(text, max(0, start - 12), start)
            names.append((start, end, "OPENING" if opens else "NAME"))
        elif name and not _is_no_name(name):
            names.append((start, end, "NAME"))
    return names


def _is_no_name(word: str) -> bool:
    return word.lower() in OPENERS or _ACRONYM.fullmatch(word) is not None


def _without_openers(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the name really begins and ends: `Hi Emma` is about Emma, `The Best` about nobody."""
    while start < end:
        word_end = text.find(" ", start, end)
        word_end = end if word_end < 0 else word_end
        if text[start:word_end].lower() not in OPENERS:
            break
        start = min(word_end + 1, end)
    while start < end:
        word_start = text.rfind(" ", start, end) + 1 or start
        if text[word_start:end].lower() not in OPENERS:
            break
        end = max(word_start - 1, start)
    return start, end


# Everything else

# Anything other than names and plain words contains one of these characters; most words of a text do not.
_SPECIAL = re.compile(r"[\d@/#$€£¥₹<+]|\.(?=[^\s.])")
_SPECIAL_TO_END = re.compile(rf"(?:{_SPECIAL.pattern})\S*+")
_STEP = re.compile(r"\w+[^\w$€£¥₹+(#<~/.\s]*|\W")
_PLACEHOLDER = re.compile(r"(?P<PLACEHOLDER><[A-Z|_\d]+>)")
_FROM_LETTER = re.compile(
    rf"(?P<EMAIL>{EMAIL_PATTERN})|(?P<URL>{URL_PATTERN})"
    rf"|(?P<ACCOUNT>{IBAN_PATTERN})|(?P<FILE>{FILE_PATTERN})|(?P<ID>{ID_PATTERN})"
)
_NO_PHONE = (
    rf"(?P<EMAIL>{EMAIL_PATTERN})|(?P<FILE>{FILE_PATTERN})|(?P<URL>{URL_PATTERN})|(?P<MEASURE>{MEASURE_PATTERN})"
    rf"|(?P<ID>{ID_PATTERN})|(?P<NUMBER>{NUMBER_PATTERN})"
)
_FROM_DIGIT = re.compile(
    rf"(?P<TIME>(?i:{TIME_PATTERN}))|(?P<AMOUNT>{AMOUNT_PATTERN})|(?P<ADDRESS>{ADDRESS_PATTERN})"
    rf"|(?P<PHONE>{PHONE_PATTERN})|{_NO_PHONE}"
)
# Nothing follows that could extend it, so its kind is decided without trying the other patterns.
_LONE_NUMBER = re.compile(r"(?P<NUMBER>(?<![\w.])\d{1,12})(?=[.,;:)\]}'\"*]+(?:\s|\Z)|\n|\Z)")
_FROM_DIGIT_NO_PHONE = re.compile(_NO_PHONE)
_MONTH_BEFORE = re.compile(rf"(?i:\b(?:{MONTH_PATTERN}))\s\Z")
_REST_OF_DATE = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?(?:\s?[-–]\s?\d{1,2}(?:st|nd|rd|th)?)?(?:,?\s\d{4})?(?!\w)|\d{4}(?!\w)"
)
# A card or telephone number may also be described as `ending in 2024`.
_YEAR_BEFORE = re.compile(r"(?i:\b(?:(?<!ending )(?<!ends )in|since|until|year|during|early|late|mid))\s\Z")
_YEAR = re.compile(r"(?:19|20)\d\d(?!\w|[\-/:.,]\d)")


def _specials(text: str) -> list[Span]:
    specials = []
    done = 0
    for token in _SPECIAL_TO_END.finditer(text):
        position, end = token.span()
        while position > done and not text[position - 1].isspace():  # back up to the start of the token
            position -= 1
        position = max(position, done)
        while position < end and _SPECIAL.search(text, position, end):
            span = _special_at(text, position)
            if span is None:
                position = _STEP.match(text, position).end()  # type: ignore[union-attr]  # it matches any character
            else:
                position = done = span[1]
                if span[2] != "PLACEHOLDER":
                    specials.append(span)
    return specials


def _special_at(text: str, position: int) -> Span | None:
    char = text[position]
    if char.isdecimal():
        if (date := _date_after_month(text, position)) is not None:
            return date
        match = _LONE_NUMBER.match(text, position) or _FROM_DIGIT.match(text, position)
    elif char.isalpha() or char in "#_./~":
        match = _FROM_LETTER.match(text, position)
    elif char in "$€£¥₹+(-":
        match = _FROM_DIGIT.match(text, position)
    elif char == "<":
        match = _PLACEHOLDER.match(text, position)
    else:
        return None
    return None if match is None else _decide_kind(text, match)


def _date_after_month(text: str, position: int) -> Span | None:
    """The `5, 2024` of `May 5, 2024`, or a number introduced as a year: dates stay whole."""
    if text[position - 1 : position] != " " or not (text[position - 2].isalpha() or text[position - 2] == "."):
        return None
    before = max(0, position - 14)
    if _MONTH_BEFORE.search(text, before, position):
        match = _REST_OF_DATE.match(text, position)
    else:
        match = _YEAR_BEFORE.search(text, before, position) and _YEAR.match(text, position)
    if not match or text[match.end() : match.end() + 1].isalnum():
        return None
    return position, match.end(), "TIME"


def _decide_kind(text: str, match: re.Match[str]) -> Span | None:
    """Decide what patterns alone cannot: a telephone number or just a long number, an account or an identifier."""
    start, end = match.span()
    kind = match.lastgroup or ""
    if kind == "PHONE":
        digits = match.group()
        if is_card_number(digits):
            kind = "ACCOUNT"
        elif not is_phone(digits):
            again = _FROM_DIGIT_NO_PHONE.match(text, start)
            return None if again is None else _decide_kind(text, again)
    elif kind == "ACCOUNT" and not is_iban(match.group()):
        kind = "ID"
    elif kind == "NUMBER" and end - start > 12 and is_card_number(match.group()):
        kind = "ACCOUNT"
    elif kind == "MEASURE":
        kind = "AMOUNT"
    return start, end, kind
