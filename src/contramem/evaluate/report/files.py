"""Writes reports and tables to files, atomically."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contramem.errors import UsageError
from contramem.evaluate.report.page import Page, as_html
from contramem.evaluate.report.table import ReportTable
from contramem.evaluate.report.text import in_latex, in_markdown
from contramem.whole_file import replacing

MAX_ROWS = 45
"""A longer table does not fit on a page or into a comment, so it is written as CSV only."""


def write_html(page: Page, path: Path) -> None:
    write_text(as_html(page), path)


def write_tables(tables: Sequence[ReportTable], folder: Path, verdict: str = "") -> None:
    """Write all tables with the verdict to `tables.md` and `tables.tex`, and each to a CSV file named by its label."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    short = [table for table in tables if len(table.rows) <= MAX_ROWS]
    long = [f"{table.title}: {len(table.rows):,} rows, in {table.label}.csv" for table in tables if table not in short]
    lines = [*([verdict] if verdict else []), *long]
    paragraphs = [f"{in_markdown(line)}\n" for line in lines]
    write_text("\n".join([*paragraphs, *(table.as_markdown() for table in short)]), folder / "tables.md")
    opening = [r"% Needs \usepackage{booktabs}.", *(f"% {in_latex(line)}" for line in lines), ""]
    write_text("\n".join([*opening, *(table.as_latex() for table in short)]), folder / "tables.tex")
    for table in tables:
        write_text(table.as_csv(), folder / f"{table.label}.csv")


def write_text(text: str, path: Path) -> None:
    """Write a file atomically."""
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
