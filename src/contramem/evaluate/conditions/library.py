"""A library: entries by ability, all of which an agent of that ability is shown at task start. AWM and ACE have one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from contramem.counting import count_tokens
from contramem.evaluate.conditions.shown import render_entries
from contramem.retrieve.hit import Query


class Entry(Protocol):
    """A workflow, a bullet."""

    @property
    def text(self) -> str:
        """As it is shown."""

    @property
    def taught_by(self) -> frozenset[str]:
        """Digests of the tasks that it was learned from: those never get it."""


class Library:
    """Writes the whole library of an ability, without what the task itself taught. Without a label, all of them."""

    def __init__(self, title: str, by_ability: Mapping[str, Sequence[Entry]], *, parted: bool) -> None:
        """`parted`: entries stand apart. If not they are lines of one list."""
        self._title, self._by_ability, self._parted = title, by_ability, parted

    def __call__(self, query: Query) -> str:
        labels = [query.ability] if query.ability else sorted(self._by_ability)
        entries = [entry for label in labels for entry in self._by_ability.get(label, ())]
        return self._text(entry for entry in entries if query.own.isdisjoint(entry.taught_by))

    def __len__(self) -> int:
        return sum(map(len, self._by_ability.values()))

    @property
    def tokens(self) -> int:
        """Of the libraries of all abilities."""
        return sum(count_tokens(self._text(entries)) for entries in self._by_ability.values())

    def _text(self, entries: Iterable[Entry]) -> str:
        texts = [entry.text for entry in entries]
        return render_entries(self._title, texts if self._parted or not texts else ["\n".join(texts)])
