"""Chosen records: what was true of the one that a call is about, of all that an earlier call listed.

A list of fees shows some that were paid in cash. What decides is whether the one that is paid back was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.results import count_items, list_records
from contramem.guards.values import plain_text

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


Records: TypeAlias = dict[str, dict[str, Any]]
"""By what names them."""


def find_chosen(calls: Sequence[Action]) -> Iterator[tuple[ChosenField, Any]]:
    """The fields of the records that changes are about, with their values."""
    listed: list[tuple[str, Records]] = []
    for call in calls:
        if not call.worked:
            continue
        if call.effect == "read":
            if records := _records_of(call):
                listed.append((call.function, records))
            continue
        for argument, value in call.arguments.items() if listed else ():
            if _can_name(value):
                yield from _find_fields(call.function, argument, value, listed)


def _records_of(call: Action) -> Records:
    content = call.content
    return _read_text(content) if isinstance(content, str) else _index_records(call.result())


@lru_cache(maxsize=4096)  # the runs of a task list the same records
def _read_text(text: str) -> Records:
    return _index_records(decode_result(text))


def _index_records(result: Any) -> Records:
    if not count_items(result):
        return {}
    records = list_records(result)[:MAX_RECORDS]
    return {plain_text(value): record for record in records for value in record.values() if _can_name(value)}


def _can_name(value: Any) -> bool:
    """Can the value name a record? Yes and no cannot."""
    return isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= MIN_DISTINCT


def _find_fields(
    function: str, argument: str, value: Any, listed: Sequence[tuple[str, Records]]
) -> Iterator[tuple[ChosenField, Any]]:
    named = plain_text(value)
    by_lister = {lister: records[named] for lister, records in listed if named in records}
    for lister, record in by_lister.items():
        for name, own in record.items():
            if is_field(name) and isinstance(own, (str, int, float)) and plain_text(own) != named:
                yield ChosenField(function, argument, lister, name), own
