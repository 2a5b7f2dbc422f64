"""Chosen records: what was true of the one that a call is about, of all that an earlier call listed.

A list of fees shows some that were paid in cash. What decides is whether the one that is paid back was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from contramem.contrast.form import is_field
from contramem.monitor.comparison import plain_text
from contramem.monitor.results import count_items, list_records
from contramem.study.recorded_actions import RecordedAction

MAX_RECORDS = 40
"""Of one result."""
MIN_DISTINCT = 3
"""Characters of a value that does not name a record by chance."""


class ChosenField(NamedTuple):
    """A field of the record that an argument of a call names."""

    function: str
    argument: str
    lister: str
    """The function that listed the record."""
    name: str

    @property
    def key(self) -> str:
        """The same for every function that listed the record."""
        return f"{self.function}[{self.argument} picks {self.name}]"

    def write(self, relation: str) -> str:
        """The condition on a run that asks for this relation."""
        return f"{self.function}[{self.argument} picks {self.name} {relation} of {self.lister}]"


def find_chosen(calls: Sequence[RecordedAction]) -> Iterator[tuple[ChosenField, Any]]:
    """The fields of the records that changes are about, with their values."""
    listed = defaultdict[str, dict[str, dict[str, Any]]](dict)
    for call in calls:
        if not call.worked:
            continue
        if call.effect != "read":
            for argument, value in call.arguments.items():
                if _can_name(value):
                    yield from _find_fields(call.function, argument, value, listed)
        elif count_items(result := call.result()):
            for record in list_records(result)[:MAX_RECORDS]:
                for value in record.values():
                    if _can_name(value):
                        listed[plain_text(value)][call.function] = record


def _can_name(value: Any) -> bool:
    """Can the value name a record? Yes and no cannot."""
    return isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= MIN_DISTINCT


def _find_fields(
    function: str, argument: str, value: Any, listed: dict[str, dict[str, dict[str, Any]]]
) -> Iterator[tuple[ChosenField, Any]]:
    for lister, record in listed.get(plain_text(value), {}).items():
        for name, own in record.items():
            if is_field(name) and isinstance(own, (str, int, float)) and plain_text(own) != plain_text(value):
                yield ChosenField(function, argument, lister, name), own
