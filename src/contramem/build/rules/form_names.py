"""Forms: how values are written, in the usual terms. `2026-W05` is an ISO week, YYYY-Www."""

from __future__ import annotations

import re
from collections.abc import Collection

from contramem.guards.values import is_written_like

MIN_VALUES = 2
"""How many different values must share a form: a single value has any number of forms."""
MAX_CHARS = 20
"""Maximum length of a form that is described character by character."""

_KNOWN = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\d{4}-W\d{2}", "an ISO week, YYYY-Www"),
        (r"\d{4}-W\d{2}-\d", "a day of an ISO week, YYYY-Www-D"),
        (r"\d{4}-Q[1-4]", "a quarter, YYYY-Qn"),
        (r"\d{4}-(0[1-9]|1[0-2])", "a month, YYYY-MM"),
        (r"(0[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])\.\d{4}", "a date, DD.MM.YYYY"),
        (r"\d{4}-\d{2}-\d{2}", "a date without a time, YYYY-MM-DD"),
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", "a date and time, YYYY-MM-DD HH:MM"),
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}", "a date and time, YYYY-MM-DD HH:MM:SS"),
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}", "a date and time, YYYY-MM-DDTHH:MM"),
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", "a date and time, YYYY-MM-DDTHH:MM:SS"),
        (r"([01]\d|2[0-3]):[0-5]\d", "a time, HH:MM"),
        (r"[a-z]+\.[a-z]+@[\w.-]+\.\w+", "an e-mail address, name.surname@domain"),
        (r"[^\s@]+@[\w.-]+\.\w+", "an e-mail address"),
        (r"\+\d{6,15}", "a telephone number with its country code, + and digits"),
        (r"https?://\S+", "a web address"),
    )
)
_SIGNS = (("N", str.isdecimal, "a digit"), ("X", str.isupper, "a capital letter"), ("x", str.islower, "a small letter"))
_LETTERS = (("9", "digits"), ("Aa", "a capitalized word"), ("A", "capitals"), ("a", "small letters"))


def name_form(values: Collection[str]) -> str:
    """The form of the values, with the usual notation; empty if they share no form that has a name."""
    different = set(values)
    if len(different) < MIN_VALUES:
        return ""
    names = (words for pattern, words in _KNOWN if all(pattern.fullmatch(value) for value in different))
    return next(names, "") or _tell_zeros(different) or _spell_out(sorted(different))


def _tell_zeros(values: Collection[str]) -> str:
    """`5 digits, filled up with zeros in front`; empty if the values are not all written so."""
    lengths = {len(value) for value in values}
    if len(lengths) > 1 or not all(map(str.isdecimal, values)) or not any(value.startswith("0") for value in values):
        return ""
    return f"{lengths.pop()} digits, filled up with zeros in front"


def _spell_out(values: list[str]) -> str:
    """Character by character: `XX-NNN (X: a capital letter, N: a digit)`; empty if lengths or characters differ."""
    if len({len(value) for value in values}) > 1 or len(values[0]) > MAX_CHARS:
        return ""
    signs = [_sign(column) for column in zip(*values, strict=True)]
    if not all(signs):
        return ""
    used = [f"{letter}: {words}" for letter, _, words in _SIGNS if letter in signs]
    return f"`{''.join(signs)}` ({', '.join(used)})" if used else ""


def _sign(column: tuple[str, ...]) -> str:
    for letter, is_so, _ in _SIGNS:
        if all(map(is_so, column)):
            return letter
    return column[0] if len(set(column)) == 1 else ""


def describe_shape(shape: str) -> str:
    """A shape in guard syntax, with what its letters stand for: `9-A (9: digits, A: capitals)`."""
    parts = re.findall(r"Aa|[9Aa]", shape)
    used = [f"{letter}: {words}" for letter, words in _LETTERS if letter in parts]
    return f"`{shape}` ({', '.join(used)})" if used else f"`{shape}`"


def has_shape(value: object, shape: str) -> bool:
    """Is the value written so?"""
    return isinstance(value, str) and is_written_like(value, shape)
