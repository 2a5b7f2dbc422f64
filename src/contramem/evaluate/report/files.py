"""Reports and tables as files. A file appears when it is complete; a failure leaves what was there before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contramem.errors import UsageError
from contramem.evaluate.report.page import Page, as_html
from contramem.evaluate.report.table import ReportTable
from contramem.evaluate.report.text import in_latex, in_markdown
from contramem.whole_file import replacing

MOST_ROWS = 45
"""A table that is longer fits on no page and into no comment: it is written as CSV alone."""


def write_html(page: Page, path: Path) -> None:
    write_text(as_html(page), path)


def write_tables(tables: Sequence[ReportTable], folder: Path, verdict: str = "") -> None:
    """`tables.md` and `tables.tex` hold all of them under the verdict; each is a CSV file of its own, by its label."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    short = [table for table in tables if len(table.rows) <= MOST_ROWS]
    long = [f"{table.title}: {len(table.rows):,} rows, in {table.label}.csv" for table in tables if table not in short]
    lines = [*([verdict] if verdict else []), *long]
    paragraphs = [f"{in_markdown(line)}\n" for line in lines]
    write_text("\n".join([*paragraphs, *(table.as_markdown() for table in short)]), folder / "tables.md")
    opening = [r"% Needs \usepackage{booktabs}.", *(f"% {in_latex(line)}" for line in lines), ""]
    write_text("\n".join([*opening, *(table.as_latex() for table in short)]), folder / "tables.tex")
    for table in tables:
        write_text(table.as_csv(), folder / f"{table.label}.csv")


def write_text(text: str, path: Path) -> None:
    """All or nothing."""
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
