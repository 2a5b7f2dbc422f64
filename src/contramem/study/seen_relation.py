"""SeenRelation: what is true of one argument of one call, in the parts in which a guard states it."""

from __future__ import annotations

from typing import NamedTuple

from contramem.guards.arguments import Test
from contramem.guards.dates import DAYS, MONTH_ENDS

_DAYS = frozenset(f"on {day}" for day in (*(day.capitalize() for day in DAYS), "weekday", "weekend", *MONTH_ENDS))
_OPPOSITE = {"lowest": "highest", "highest": "lowest", "first": "last", "last": "first"}


class SeenRelation(NamedTuple):
    """What is true of an argument."""

    test: Test
    operand: str = ""
    """As guards write it."""
    where: str = ""
    """The condition on the records that `operand` is about: `status = open, total > 500`."""
    then: str = ""
    """What is done with the number: `rounded up to 1000`."""

    def __str__(self) -> str:
        where = f"where {self.where}" if self.where else ""
        return " ".join(part for part in (self.test, self.operand, where, self.then) if part)

    @property
    def names_a_day(self) -> bool:
        """Whether it is about the day of the week or of the month, rather than the distance to another date."""
        return self.test == "falls" and self.operand in _DAYS

    def reverse(self) -> SeenRelation | None:
        """The choice of the record at the other end: the highest instead of the lowest; None if there is no such."""
        way, _, rest = self.operand.partition(" ")
        return self._replace(operand=f"{_OPPOSITE[way]} {rest}") if self.test == "picks" and way in _OPPOSITE else None

    @property
    def is_calculated(self) -> bool:
        return self.test == "equals"


GIVEN = SeenRelation("given")
