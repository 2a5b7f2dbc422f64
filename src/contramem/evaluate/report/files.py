"""Reports and tables as files. A file appears when it is complete; a failure leaves what was there before."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from contramem.errors import UsageError
from contramem.evaluate.report.page import Page, as_html
from contramem.evaluate.report.table import Table
from contramem.evaluate.report.text import in_latex, in_markdown


def write_html(page: Page, path: Path) -> None:
    write_text(as_html(page), path)


def write_tables(tables: Sequence[Table], folder: Path, verdict: str = "") -> None:
    """`tables.md` and `tables.tex` hold all of them under the verdict; each is a CSV file of its own, by its label."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    said = [f"{in_markdown(verdict)}\n"] if verdict else []
    write_text("\n".join([*said, *(table.as_markdown() for table in tables)]), folder / "tables.md")
    opening = "% Needs \\usepackage{booktabs}." + (f"\n% {in_latex(verdict)}" if verdict else "") + "\n"
    write_text("\n".join([opening, *(table.as_latex() for table in tables)]), folder / "tables.tex")
    for table in tables:
        write_text(table.as_csv(), folder / f"{table.label}.csv")


def write_text(text: str, path: Path) -> None:
    """All or nothing."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)  # noqa: PTH105  (Path.replace would name the temporary file in its error)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
