"""Ways to choose: how the record that a call names, or takes an amount from, may have been chosen among others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.choices import rank_key
from contramem.guards.values import plain_text, write_value
from contramem.study.atoms import is_category, write_word
from contramem.study.seen_fields import SeenChoice, SeenFields
from contramem.study.seen_relation import SeenRelation

MIN_DISTINCT = 3
"""Length from which a value cannot match a field by chance."""
MAX_FILTERS = 4
"""Words of a chosen record: perhaps it was chosen among the records that share them."""

_HAS_ORDER = re.compile(r"[-+]?\d")
_NOTHING = (0, 0.0, "")
"""The `rank_key` of 0: places, seats or stock that are used up."""


def find_ways(choice: SeenChoice, value: Any, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """How the record may have been chosen among those beside it. `value` is what it is known by."""
    function, chosen, records = choice
    if function == call.function:
        return
    yield from _rankings(chosen, value, records, function, "")
    by_word: list[tuple[list[dict[str, Any]], str]] = []
    for field, own in chosen.items():
        if not is_field(field) or isinstance(own, (dict, list)):
            continue
        if is_category(own, field):
            yield SeenRelation("picks", f"{field} = {write_value(str(own))} of {function}")
        some = [record for record in records if record.get(field) == own]
        if is_category(own, field) and len(by_word) < MAX_FILTERS:
            by_word.append((some, f"{field} = {write_value(write_word(own))}"))
        for place in _same_elsewhere(field, own, call, function, seen) if len(some) < len(records) else ():
            if len(str(own)) >= MIN_DISTINCT:
                yield SeenRelation("picks", f"{field} = {place} of {function}")
            yield from _rankings(chosen, value, some, function, f"{field} = {place}")
    for some, test in (*by_word, *join_pairs(by_word)):
        yield from _rankings(chosen, value, some, function, test)


def join_pairs(
    by_word: Sequence[tuple[list[dict[str, Any]], str]],
) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that share two words, if those are fewer than share either."""
    for (some, test), (others, other) in combinations(by_word, 2):
        both = [record for record in some if any(record is each for each in others)]
        if both and len(both) < min(len(some), len(others)):
            yield both, f"{test}, {other}"


def _same_elsewhere(field: str, own: Any, call: Action, function: str, seen: SeenFields) -> Iterator[str]:
    """The fields of other results that have the same value: the climate that the object needs. A short value stands in
    many fields, so there the name has to be the same."""
    for other, place in seen.fields_with_text(plain_text(own)):
        if other not in (function, call.function) and (len(str(own)) >= MIN_DISTINCT or place == field):
            yield f"{other}.{place}"


def _rankings(
    chosen: dict[str, Any], value: Any, records: Sequence[dict[str, Any]], function: str, where: str
) -> Iterator[SeenRelation]:
    """Whether the chosen record is the first or last, by order or by a field with numbers or dates. The field that
    identifies the record is no reason to choose it."""
    if not where and chosen is records[0]:  # among some of the records, a position is an accident
        yield SeenRelation("picks", f"first of {function}")
    if not where and chosen is records[-1]:
        yield SeenRelation("picks", f"last of {function}")
    for field, own in chosen.items():
        if not is_field(field) or isinstance(own, (dict, list, bool)) or own == value or not _HAS_ORDER.match(str(own)):
            continue
        keys = [key for record in records if (key := rank_key(record, field)) is not None]
        if len(set(keys)) > 1 and (key := rank_key(chosen, field)) is not None:
            if key == min(keys):
                yield SeenRelation("picks", f"lowest {field} of {function}", where)
            elif min(keys) == _NOTHING and key == min(other for other in keys if other != _NOTHING):
                yield SeenRelation(
                    "picks", f"lowest {field} of {function}", f"{where}{', ' if where else ''}{field} > 0"
                )
            if key == max(keys):
                yield SeenRelation("picks", f"highest {field} of {function}", where)
