"""The output of `contramem query`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from contramem.study.tables import QueryAnswer

MAX_CELL = 80


def show_answer(answer: QueryAnswer, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*("" if value is None else str(value)[:MAX_CELL] for value in row))
    console.print(table)
    if answer.is_cut:
        console.print(f"[dim]Only the first {len(answer.rows):,} rows are shown. Ask for a sum, or use LIMIT.[/]")
