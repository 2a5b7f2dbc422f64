"""The output of `contramem query`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from contramem.study.tables import QueryAnswer

MAX_CELL = 80


def show_answer(answer: QueryAnswer, console: Console) -> None:
    """A table as wide as a terminal; elsewhere one line a row, with cells whole and between tabs, for programs and
    agents to read."""
    if not console.is_terminal:
        console.file.writelines(f"{line}\n" for line in _list_lines(answer))
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*("" if value is None else str(value)[:MAX_CELL] for value in row))
    console.print(table)


def _list_lines(answer: QueryAnswer) -> Iterator[str]:
    yield "\t".join(answer.columns)
    for row in answer.rows:
        yield "\t".join("" if value is None else " ".join(str(value).split()) for value in row)


def tell_cut(answer: QueryAnswer) -> str:
    """That rows are missing, and what to do about it."""
    shown = len(answer.rows)
    return (
        f"Only the first {shown:,} rows are shown, and there are more. Count or group them, or ask for the next with "
        f"ORDER BY ... LIMIT {shown} OFFSET {shown}."
    )
