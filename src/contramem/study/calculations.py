"""Calculations: what a number that a call passes may be calculated from."""

from __future__ import annotations

from collections.abc import Iterator

from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.values import is_near, read_number, take_number, write_number
from contramem.study.atoms import names_an_amount
from contramem.study.record_ways import find_ways
from contramem.study.seen_fields import SeenChoice, SeenFields
from contramem.study.seen_relation import SeenRelation

FACTORS = (0.01, 0.1, 10, 100, 1000)
"""Factors between units: cents, percent, thousands."""
ROUNDED_TO = (5, 10, 50, 100, 500, 1000)
MAX_ADDED = 1000
"""The largest amount that a rule adds to another one; larger differences are chance."""
MAX_SHARE = 3
"""The largest multiple, in steps of a hundredth, that is taken for a surcharge or a share."""


def find_calculations(value: float, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """Is it an amount that was seen, rounded or with something added, a share of it, or the product of such an amount
    and another argument?"""
    numbers = ((name, take_number(own)) for name, own in call.arguments.items())
    given = [(name, number) for name, number in numbers if number is not None and number != value]
    amounts = list(seen.single_amounts(call.function))
    for place, base in (*amounts, *given):
        yield from _from_one(value, place, base)
    for name, number in given:
        for place, base in amounts if number not in (0, 1) else ():
            if is_near(value, number * base):
                yield SeenRelation("equals", f"{name} times {place}")
    for function, records in seen.latest_records():
        for record in records:
            yield from _from_record(value, SeenChoice(function, record, records), call, seen)


def _from_one(value: float, place: str, base: float) -> Iterator[SeenRelation]:
    yield from (SeenRelation("equals", place, then=rounded) for rounded in _roundings(value, base))
    added, share = round(value - base, 6), value / base if base else 0.0
    if added and abs(added) <= MAX_ADDED and added == round(added, 2):
        sign = "plus" if added > 0 else "minus"
        yield SeenRelation("equals", place, then=f"{sign} {write_number(abs(added))}")
    if 0 < share <= MAX_SHARE and share not in (1, *FACTORS) and is_near(100 * share, round(100 * share)):
        yield SeenRelation("equals", f"{write_number(round(share, 2))} times {place}")


def _from_record(value: float, choice: SeenChoice, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """Is it an amount of the record, rounded? Then how the record may have been chosen."""
    for field, own in choice.record.items():
        amount = read_number(own) if is_field(field) and names_an_amount(field) else None
        for rounded in _roundings(value, amount) if amount else ():
            for way in find_ways(choice, own, call, seen):
                yield SeenRelation("equals", f"{field} of {way.operand}", way.where, rounded)


def _roundings(value: float, base: float) -> Iterator[str]:
    """Is the value the next multiple of a round number above or below the other?"""
    for step in ROUNDED_TO if value and value != base else ():
        if value % step == 0 and abs(value - base) < step:
            yield f"rounded {'up' if value > base else 'down'} to {step}"
