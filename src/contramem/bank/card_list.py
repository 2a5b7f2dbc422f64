"""The cards of a bank for a terminal of any width: functions by app, then skills by ability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contramem.bank.bank import BankEntry
from contramem.bank.card import Card, FunctionCard
from contramem.bank.render import visible

LEAST_TEXT = 48
"""Columns that what a card says needs beside its name; with fewer it stands below the name."""


class CardListing:
    """What `print` shows of these cards. A name is never cut: `contramem cards show NAME` takes it."""

    def __init__(self, entries: Iterable[BankEntry]) -> None:
        self._entries = sorted(entries, key=lambda entry: (*_group(entry.card), entry.card.card_id))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        longest = max((len(_name(entry.card)) for entry in self._entries), default=0)
        is_wide = options.max_width >= longest + LEAST_TEXT + len("  ") + len("  99 tasks")
        for (_, group), entries in groupby(self._entries, key=lambda entry: _group(entry.card)):
            listed = list(entries)
            kind = "Function Card" if isinstance(listed[0].card, FunctionCard) else "Skill Card"
            count = f"{len(listed)} {kind}{'' if len(listed) == 1 else 's'}"
            yield Text.assemble((visible(group), "bold"), (f"  {count}", "dim"))
            yield _beside(listed, longest) if is_wide else _below(listed)

    def as_json(self) -> list[dict[str, Any]]:
        """The cards and how many tasks and sources support each. A list is passed on to others, so it does not name
        them; `contramem cards show` does."""
        return [
            {
                "card": entry.card.model_dump(mode="json"),
                "status": entry.status,
                "reviewed": entry.reviewed,
                "grade": entry.support.grade,
                "tasks": len(entry.support.tasks),
                "sources": len(entry.support.sources),
                "contradicted_by": len(entry.support.contradicted_by),
            }
            for entry in self._entries
        ]


def _beside(entries: Sequence[BankEntry], name_width: int) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, min_width=name_width)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, style="dim")
    for entry in entries:
        table.add_row(_style_name(entry), Text(visible(saying(entry.card))), _standing(entry))
    return Padding(table, (0, 0, 0, 2))


def _below(entries: Sequence[BankEntry]) -> RenderableType:
    table = Table.grid(expand=True)
    for entry in entries:
        table.add_row(Padding(Text.assemble(_style_name(entry), (f"  {_standing(entry)}", "dim")), (0, 0, 0, 2)))
        table.add_row(Padding(Text(visible(saying(entry.card))), (0, 0, 0, 4)))
    return table


def _group(card: Card) -> tuple[bool, str]:
    return (False, card.app) if isinstance(card, FunctionCard) else (True, card.ability)


def _name(card: Card) -> str:
    return visible(card.function if isinstance(card, FunctionCard) else card.card_id.removeprefix("skill::"))


def _style_name(entry: BankEntry) -> Text:
    return Text(_name(entry.card), style="blue" if isinstance(entry.card, FunctionCard) else "green")


def _standing(entry: BankEntry) -> str:
    """Its grade, the tasks behind it, and its status where that is no matter of course."""
    tasks = len(entry.support.tasks)
    parts = [
        entry.support.grade or "",
        f"{tasks} task{'' if tasks == 1 else 's'}" if tasks else "",
        "" if entry.status == "active" else entry.status,
    ]
    return ", ".join(filter(None, parts))


def saying(card: Card) -> str:
    """What a card is about, in a line."""
    return card.what_it_does if isinstance(card, FunctionCard) else card.title
