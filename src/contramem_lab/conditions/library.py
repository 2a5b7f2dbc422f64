"""Library: entries by ability, all of which are shown to an agent at task start. Used by AWM and ACE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from contramem.counting import count_tokens
from contramem.retrieve.hit import Query
from contramem_lab.conditions.shown import render_entries


class Entry(Protocol):
    """A workflow or a bullet."""

    @property
    def text(self) -> str:
        """The text shown to agents."""

    @property
    def taught_by(self) -> frozenset[str]:
        """Digests of the tasks that it was learned from, which never get it."""


class Library:
    """Renders the library of an ability, or of all if there is no label, without entries learned from the task."""

    def __init__(self, title: str, by_ability: Mapping[str, Sequence[Entry]], *, separate: bool) -> None:
        """`separate` puts each entry in a paragraph of its own; otherwise entries are lines of one list."""
        self._title, self._by_ability, self._separate = title, by_ability, separate

    def __call__(self, query: Query) -> str:
        labels = [query.ability] if query.ability else sorted(self._by_ability)
        entries = [entry for label in labels for entry in self._by_ability.get(label, ())]
        return self._text(entry for entry in entries if query.own.isdisjoint(entry.taught_by))

    def __len__(self) -> int:
        return sum(map(len, self._by_ability.values()))

    @property
    def tokens(self) -> int:
        """The size of the libraries of all abilities."""
        return sum(count_tokens(self._text(entries)) for entries in self._by_ability.values())

    def _text(self, entries: Iterable[Entry]) -> str:
        texts = [entry.text for entry in entries]
        return render_entries(self._title, texts if self._separate or not texts else ["\n".join(texts)])
