"""Dates on cards: a date of one task says nothing about the next, but how it is written does.

Dates stay readable in packets because procedures depend on them. On a card, each becomes its form.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, TypeVar

from contramem.bank.card import SkillDelta

Text = TypeVar("Text", bound=SkillDelta)
# Only months and their usual abbreviations: `Separate 2 calls` and `Mark 3 tasks` are no dates.
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_CLOCK = r"(?P<clock>(?:[ T]|, | at )\d{1,2}:\d{2}(?P<second>:\d{2}(?:\.\d+)?)?)?(?P<zone>Z|[+-]\d{2}:\d{2})?"
_FORMS = tuple(
    (re.compile(rf"(?<![\w-]){day}{_CLOCK}(?![\w-])"), form)
    for day, form in (
        (r"\d{4}-\d{2}-\d{2}", "YYYY-MM-DD"),
        (r"\d{4}/\d{2}/\d{2}", "YYYY/MM/DD"),
        (r"\d{1,2}\.\d{1,2}\.\d{4}", "DD.MM.YYYY"),
        (r"\d{1,2}/\d{1,2}/\d{4}", "DD/MM/YYYY or MM/DD/YYYY"),
        (rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}", "Month D, YYYY"),
        (rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH},? \d{{4}}", "D Month YYYY"),
        (rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?", "Month D"),
        (rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}", "D Month"),
        (r"\d{4}-W\d{2}", "YYYY-Www"),
    )
)
_DIGIT = re.compile(r"\d")
_NAMES = frozenset({"guards", "functions_used", "card_id"})
"""Fields that programs read."""


def write_dates_as_forms(text: Text) -> Text:
    """A lesson without dates of particular tasks. Guards stay: they are checked as written."""
    if not _DIGIT.search(str(text)):
        return text
    fields: dict[str, Any] = text.model_dump()
    general = {name: value if name in _NAMES else _generalize(value) for name, value in fields.items()}
    return text if general == fields else type(text).model_validate(general)


def _generalize(value: Any) -> Any:
    if isinstance(value, str):
        for pattern, form in _FORMS if _DIGIT.search(value) else ():
            value = pattern.sub(partial(_form_of, form), value)
        return value
    if isinstance(value, dict):
        return {name: _generalize(child) for name, child in value.items()}
    return tuple(map(_generalize, value)) if isinstance(value, (list, tuple)) else value


def _form_of(day: str, match: re.Match[str]) -> str:
    if not match["clock"]:
        return day
    between = re.match(r" at |, |[ T]", match["clock"])
    return f"{day}{between[0] if between else ' '}HH:MM{':SS' if match['second'] else ''}"
