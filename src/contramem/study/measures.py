"""Measures: quantities of an argument that can be too large or too small: its number, the length of its text, its
items, and the days between it and a date that was seen."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any, Literal, NamedTuple, TypeAlias

from contramem.guards.actions import Action
from contramem.guards.values import plain_text, read_number, write_number
from contramem.study.atoms import names_an_amount
from contramem.study.relations import find_distances, is_text
from contramem.study.seen_fields import SeenFields
from contramem.study.seen_relation import SeenRelation

Unit: TypeAlias = Literal["number", "characters", "items", "days after", "days before"]
_SIDES = {"days after": "after", "days before": "before"}


class Measure(NamedTuple):
    """A quantity that a call passes."""

    unit: Unit
    place: str = ""
    """For a number of days: the date they are counted from."""

    @property
    def is_length(self) -> bool:
        """Whether it is the length of a text."""
        return self.unit == "characters"

    def above(self, boundary: float) -> SeenRelation:
        """The guard condition for an argument above the boundary."""
        if self.unit == "number":
            return SeenRelation(">", write_number(boundary))
        return self._relate("at least", floor(boundary) + 1)

    def up_to(self, boundary: float) -> SeenRelation:
        """The guard condition for an argument up to the boundary."""
        if self.unit == "number":
            return SeenRelation("<=", write_number(boundary))
        return self._relate("at most", floor(boundary))

    def _relate(self, bound: str, count: int) -> SeenRelation:
        if self.unit in _SIDES:
            days = f"{count} day{'' if count == 1 else 's'}"
            return SeenRelation("falls", f"{bound} {days} {_SIDES[self.unit]} {self.place}")
        return SeenRelation("has", f"{bound} {count} {self.unit}")


def find_measures(value: Any, argument: str, call: Action, seen: SeenFields) -> Iterator[tuple[Measure, float]]:
    """What can be measured about the value, and how much it is."""
    if isinstance(value, list):
        yield Measure("items"), len(value)
    elif is_text(value):
        if plain_text(value) in call.history.plain_task:
            return  # a text that the request gives is as long as the request has it
        yield Measure("characters"), len(value)
    elif names_an_amount(argument) and (number := read_number(value)) is not None:
        yield Measure("number"), number
    else:
        for place, days in find_distances(value, call, seen):
            yield Measure("days after" if days >= 0 else "days before", place), abs(days)
