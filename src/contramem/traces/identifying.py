"""What identifies a person, an account or a machine by its form alone: numbers of papers, addresses, what was drawn.

Names and labels are read by people and by models, so nothing of this kind may be part of one. Decided by form, because
whoever writes a trace chooses the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PAPER = re.compile(
    r"(?<![\w.-])(?:\d{3}-\d{2}-\d{4}|\d{3}\.\d{3}\.\d{3}-\d{2}|[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d{4}[\dX]"
    r"|[A-CEGHJ-PR-TW-Z][A-NP-Z] ?\d\d ?\d\d ?\d\d ?[A-D]|756\.\d{4}\.\d{4}\.\d\d"
    r"|(?!20\d\d )(?<!\d )[2-9]\d{3} \d{4} \d{4}(?! \d)|[12] \d\d (?:0[1-9]|1[0-2]) \d[\dAB] \d{3} \d{3}(?: \d\d)?"
    r"|[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]|[XYZ\d]\d{7}[A-HJ-NP-TV-Z]|[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]"
    r"|(?:[0-2]\d|3[01])(?:0\d|1[0-2])\d\d[-+A-F]\d{3}[\dA-Y]|\d\d(?:0\d|1[0-2])[0-3]\d-[1-8]\d{6}"
    r"|(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d-\d{4}"
    r"|(?=[A-Z-]*\d)[A-Z\d]{5}(?:-[A-Z\d]{5}){3,4})(?![\w-])"
)
"""Numbers that a state gives a person and that tell themselves by their form (of the US, Brazil, China, the UK,
Switzerland, India, France, Italy, Spain, Finland, Korea and Sweden), and keys of licences."""
_MAY_HOLD_PAPER = re.compile(r"[A-Z\d][A-Z\d .+-]{8,}")
"""Only of these characters are such numbers made, and most texts have few of them in a row."""
_MACHINE = re.compile(
    r"/home/|/Users/|(?<![\w/])~[A-Za-z]\w*/|[A-Za-z]:\\|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|[\w.+-]+@[\w-]+\.\w|://"
    r"|(?<!\w)(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?!\w)|(?<!\w)\+\d[\d ().-]{6,}\d|\(\d{3}\) ?\d{3}"
    r"|(?<!\w)[A-Z]{2}\d\d(?: [A-Z\d]{4}){2}|(?<![A-Za-z\d])[A-Z]{2}\d\d[A-Z\d]{11,30}(?![A-Za-z\d])"
    r"|[^\d\s] \d{9,}"
    r"|(?<![\w:])[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,}:[0-9a-f]{1,4}(?!\w)"
    r"|[ _.-](?:at[ _.-]\w+[ _.-]dot[ _.-]|(?:dot|punto|punkt)[ _.-](?:com|org|io)(?![A-Za-z]))"
    r"|[a-z]Dot(?:Com|Org|Io)(?![a-z])|\w\.[\w-]+\.(?:internal|intranet|local|lan|corp)(?!\w)"
)
"""What tells on a person or a machine: home folders, addresses, also in words (`bob_at_site_dot_com`), passwords in
links, telephones, accounts in groups."""
_DRAWN = re.compile(
    r"(?<![A-Z\d])(?=[A-Z-]*\d)[A-Z\d]{4,6}(?:-[A-Z\d]{4,6}){3,}(?![A-Z\d])"
    r"|(?<![A-Za-z\d])(?=(?:[A-Z]*\d){5}|[A-Z]+\d+[A-Z])(?=(?:\d*[A-Z]){6})(?!\w*20[123]\d[01]\d)[A-Z\d]{15,}(?![A-Za-z\d])"
    r"|\s(?=\S*\d)(?=\S*[A-Za-z])[\w-]{12,}|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{28,}"
)
"""What was drawn and not named: a key of a licence, a long word of capitals and digits (driving licences, numbers of
vehicles), a word of letters and digits after a space, a very long word."""
_PASSPORT = re.compile(r"\s[A-Z]{1,3}\d{6,}(?!\w)")
_ADDRESS = re.compile(
    r"(?<!\d)\d{1,5} [A-Za-z]+(?: [A-Za-z]+)? (?:Road|Rd|Street|St|Avenue|Ave|Lane|Drive)(?!\w)"
    r"|(?<![A-Za-z])[A-Z] Users (?=\w)"
)
"""Of a house, or of somebody's folder on a disk."""
_CARD = re.compile(r"(?<!\d)\d{13,19}(?!\d)")
_TOKEN = re.compile(r"[A-Za-z\d]{12,}")
_CHANGE = re.compile(r"(?<=[a-z])\d|(?<=[A-Z])\d|(?<=[a-z])[A-Z](?![a-z])|(?<=\d)(?:[a-z]|[A-Z](?![a-z]))")
"""From one kind of character to another, except to the capital that a word begins with."""
MIN_CHANGES = 5
CHARS_PER_CHANGE = 4
"""`ZUOPGJ68R18H501M` changes more often than names of programs and models do."""
_PART = re.compile(r"[A-Za-z\d]+")
_HEX_ID = re.compile(
    r"(?<![^\W_])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,32})(?![^\W_])"
)
"""Ids of runs, sessions and commits."""
_DATE = re.compile(
    r"(?<!\d)20(?:1[5-9]|[23]\d)([-_./]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
    r"(?:[-_T ]?[0-2]\d[-_:.]?[0-5]\d[-_:.]?[0-5]\d)?(?!\d)"
)
"""A day on which a model, a run or a release was made."""
_NUMBER = re.compile(r"\d+(?:[ ./:-]\d+)*")


_BETWEEN_DIGITS = re.compile(r"(?<=\d)_+(?=\d)")
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d_[01]\d_[0-3]\d(?!\d)")
_BIRTHDAY = re.compile(
    r"(?<!\d)(?:\d{1,2}([-./])\d{1,2}\1(?:19\d\d|200\d|201[0-4])|(?:19\d\d|200\d|201[0-4])([-./])\d{1,2}\2\d{1,2})(?!\d)"
)
"""A day before there were agents."""


def _read_joints(text: str) -> Iterator[str]:
    """The text as it may be meant: in a name, `_` between digits stands for any sign (`server_81_62_167_126`)."""
    yield text
    if _BETWEEN_DIGITS.search(text):
        yield from (_BETWEEN_DIGITS.sub(sign, text) for sign in (".", "-", ""))


def identifies(text: str, max_digits: int, max_grouped: int) -> bool:
    """Is part of the text something that identifies? Besides dates and ids of runs, a number in it may have up to
    `max_digits`, and up to `max_grouped` if signs or spaces divide it."""
    spaced = text.replace("_", " ")
    if _ADDRESS.search(spaced) or _PASSPORT.search(spaced) or PAPER.search(spaced):
        return True
    if _identifies(text, max_digits, max_grouped):
        return True
    without_days = _DAY.sub(" ", text)  # those of versions: `describe_instances_2014_10_31`
    return any(_identifies(reading, max_digits, max_grouped) for reading in _read_joints(without_days))


def is_birthday(text: str) -> bool:
    """Is part of the text a day before there were agents? In the name of a field it may be a day of a table."""
    return any(map(_BIRTHDAY.search, _read_joints(text)))


def _identifies(text: str, max_digits: int, max_grouped: int) -> bool:
    if _MACHINE.search(text) or _DRAWN.search(text) or PAPER.search(text):
        return True
    if any(map(PAPER.fullmatch, _PART.findall(text))):
        return True
    if any(is_drawn(token) for token in _TOKEN.findall(text)) or any(map(is_payment_card, _CARD.findall(text))):
        return True
    numbers = _NUMBER.findall(_DATE.sub(" ", _HEX_ID.sub(" ", text)))
    return any(sum(map(str.isdigit, number)) > (max_digits if number.isdigit() else max_grouped) for number in numbers)


def may_hold_paper(text: str) -> bool:
    """A quick look: if it finds nothing, there is no number of papers in the text."""
    return _MAY_HOLD_PAPER.search(text) is not None


def papers_in(text: str) -> Iterator[str]:
    """The numbers of papers in a text."""
    for part in _MAY_HOLD_PAPER.finditer(text):
        for number in PAPER.finditer(text, part.start(), part.end() + 1):  # what follows decides too
            yield number[0]


def is_drawn(token: str) -> bool:
    """Does a word of letters and digits look like a key that was drawn?"""
    changes = len(_CHANGE.findall(token))
    has_digits = any(map(str.isdigit, token))
    return has_digits and changes >= max(MIN_CHANGES, len(token) / CHARS_PER_CHANGE) and not _HEX_ID.fullmatch(token)


def is_payment_card(digits: str) -> bool:
    """Does the check digit of a payment card fit (Luhn)?"""
    doubled = (2 * int(digit) if place % 2 else int(digit) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0
