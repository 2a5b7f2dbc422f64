"""Permitted values: a tool that refuses a call often lists the values it accepts ("must be one of 'bar', 'line'").

Such a list is a closed vocabulary in the tool's own words, including values that no run has tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from contramem.traces.effects import words

MAX_PERMITTED = 20
"""Longer lists do not fit on a card."""

_OPENING = re.compile(
    r"(?:\b(?:one|any) of|\b(?:valid|allowed|permitted|possible|supported|available|accepted|acceptable|legal|known)"
    r"(?: \w+){1,2}?(?: (?:are|is|include))?|\bchoose from|\beither|\b(?:expected|should be|must be)(?: in)?)"
    r"(?:(?: the following| these)(?: \w+s)?)?\s*[:=]?\s*[\[({<]?\s*",
    re.IGNORECASE,
)
# Every text can be split in one way only: with several, a long list in a trace would take for ever.
_SEPARATOR = r"(?:\s*,(?:\s*(?:or|and)\s)?|\s*[|/;]|\s+(?:or|and)\s)\s*"
_QUOTED_ITEM = r"(?:'[^'\"\n]{1,32}'|\"[^'\"\n]{1,32}\"|`[^`\n]{1,32}`)"
_BARE_ITEM = r"[A-Za-z][\w\-]{0,31}"
_QUOTED_LIST = re.compile(rf"{_QUOTED_ITEM}(?:{_SEPARATOR}{_QUOTED_ITEM}){{1,{MAX_PERMITTED - 1}}}")
# Words without quotes could be anything: they are a list only if it ends with its sentence or a bracket.
_BARE_LIST = re.compile(rf"{_BARE_ITEM}(?:{_SEPARATOR}{_BARE_ITEM}){{1,{MAX_PERMITTED - 1}}}(?=\s*(?:[\])}}>.;\n]|$))")
_NAMES_VALUES = re.compile(
    r"of|valid|allowed|permitted|possible|supported|accepted|acceptable|legal|choose|either", re.I
)
_ITEM = re.compile(rf"{_QUOTED_ITEM}|{_BARE_ITEM}")
_JOINING = frozenset({"or", "and"})
_DOCUMENTED_LIST = re.compile(
    rf"(?:^|[:(\[])\s*({_QUOTED_ITEM}(?:{_SEPARATOR}{_QUOTED_ITEM}){{1,{MAX_PERMITTED - 1}}}"
    rf"|{_BARE_ITEM}(?:{_SEPARATOR}{_BARE_ITEM}){{1,{MAX_PERMITTED - 1}}})(?=\s*(?:[\])}}>.;\n]|$))"
)
_GENERIC = frozenset("id name value type number field code key".split())
"""Words of arguments that say nothing about which one is meant."""
_EXAMPLES = re.compile(r"\be\.? ?g\b|\bexamples?\b|\bfor instance\b|\bsuch as\b|\blike\b", re.IGNORECASE)


class AllowedValues(NamedTuple):
    """A list of permitted values in a refusal."""

    values: tuple[str, ...]
    start: int
    """Start and end of the list in the text."""
    end: int


def find_allowed_values(refusal: str) -> AllowedValues | None:
    """The first list of accepted values in a refusal. None: there is no list."""
    for opening in _OPENING.finditer(refusal):
        match = _QUOTED_LIST.match(refusal, opening.end())
        if match is None and _NAMES_VALUES.search(opening[0]):
            match = _BARE_LIST.match(refusal, opening.end())
        if match is not None:
            items = [item.strip("'\"`") for item in _ITEM.findall(match[0])]
            values = tuple(dict.fromkeys(item for item in items if item not in _JOINING))
            if len(values) > 1:
                return AllowedValues(values, match.start(), match.end())
    return None


@lru_cache(maxsize=4096)
def find_documented_values(description: str) -> tuple[str, ...]:
    """The values that the documentation of an argument lists ("open, held or closed", "the kind (Default, Van)"). Empty
    if it lists none, or examples, which may be anything."""
    if _EXAMPLES.search(description):
        return ()
    if (allowed := find_allowed_values(description)) is not None:
        return allowed.values
    match = _DOCUMENTED_LIST.search(description)
    items = [item.strip("'\"`") for item in _ITEM.findall(match[1])] if match else []
    return tuple(dict.fromkeys(item for item in items if item not in _JOINING))


def role_of(refusal: str, permitted: AllowedValues, slots: Sequence[tuple[str, Any]]) -> str | None:
    """The role of the (role, value) slot that the list is for: one the text names before the list, one whose value it
    refuses, or the only one that shares a word with it (`List not valid` is about `list_name`)."""
    before = refusal[: permitted.start]
    spoken = set(words(before))
    named = [role for role, _ in slots if words(role) and spoken.issuperset(words(role))]
    if named:
        return max(named, key=lambda role: (len(words(role)), role))
    outside = before + " " + refusal[permitted.end :]
    refused = {role for role, value in slots if isinstance(value, str) and value and _stands_in(value, outside)}
    if len(refused) == 1:
        return refused.pop()
    alike = {role for role, _ in slots if not spoken.isdisjoint(set(words(role)) - _GENERIC)}
    return alike.pop() if len(alike) == 1 else None


def _stands_in(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
