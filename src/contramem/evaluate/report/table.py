"""ReportTable: rows under a header, rendered for a terminal, a web page, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from contramem.evaluate.report.cells import NOT_KNOWN, Cell, Tone
from contramem.evaluate.report.text import in_csv, in_latex, in_markdown, plain

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Row: TypeAlias = Sequence[Cell | str]
_STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "dim": "dim", "strong": "bold"}


@dataclass(frozen=True)
class ReportTable:
    """A table. Texts may come from traces, so each output format escapes them."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[Row]
    """Rows shorter than the header are filled with empty cells."""
    align: str = ""
    """`l` or `r` for each column, as in LaTeX. By default the first is left-aligned and the others right-aligned."""
    notes: tuple[str, ...] = ()
    """Notes below the table."""
    strong: frozenset[int] = field(default_factory=frozenset)
    """Numbers of the rows set in bold, such as totals."""
    sections: frozenset[int] = field(default_factory=frozenset)
    """Numbers of the rows above which a line is drawn."""
    label: str = ""
    """The LaTeX label, and the name of the CSV file."""

    def __post_init__(self) -> None:
        assert not self.align or len(self.align) == len(self.header), "an alignment for each column"
        assert all(len(row) <= len(self.header) for row in self.rows), "no more cells than columns"

    @property
    def alignment(self) -> str:
        return self.align or "l" + "r" * (len(self.header) - 1)

    def cells(self) -> Iterator[tuple[Cell, ...]]:
        """The rows, padded to the header, with every text on one line and control characters escaped."""
        for row in self.rows:
            full = (*row, *[""] * (len(self.header) - len(row)))
            yield tuple(_cell(cell) for cell in full)

    def as_rich(self) -> RichTable:
        """For a terminal."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=box.SIMPLE_HEAD, header_style="dim", padding=(0, 1, 0, 0))
        for title, side in zip(self.header, self.alignment, strict=True):
            table.add_column(title, justify="right" if side == "r" else "left", no_wrap=True)
        for number, row in enumerate(self.cells()):
            if number in self.sections:
                table.add_section()
            styled = (Text(cell.text, style=_STYLES[cell.tone]) for cell in row)
            table.add_row(*styled, style="bold" if number in self.strong else "")
        return table

    def as_markdown(self) -> str:
        """A pipe table under its title."""
        lines = [_pipes(map(in_markdown, self.header)), _pipes("---:" if s == "r" else ":---" for s in self.alignment)]
        for row, strong in self._rows_with_weight():
            lines.append(_pipes(_wrap(in_markdown(cell.text), "**", "**", strong(cell)) for cell in row))
        notes = (f"*{in_markdown(note)}*" for note in self.notes)
        return "\n\n".join([f"**{in_markdown(self.title)}**", "\n".join(lines), *notes]) + "\n"

    def as_latex(self) -> str:
        """A floating table. Needs only the `booktabs` package."""
        header = (_wrap(in_latex(title), r"\textbf{", "}") for title in self.header)
        lines = [r"\begin{table}[t]", r"\centering", rf"\begin{{tabular}}{{{self.alignment}}}", r"\toprule"]
        lines += [_ampersands(header), r"\midrule"]
        for number, (row, strong) in enumerate(self._rows_with_weight()):
            lines += [r"\midrule"] if number in self.sections else []
            lines.append(_ampersands(_wrap(in_latex(cell.text), r"\textbf{", "}", strong(cell)) for cell in row))
        caption = in_latex(" ".join([f"{self.title.rstrip('.')}.", *self.notes]))
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}"]
        lines += [rf"\label{{tab:{self.label}}}"] if self.label else []
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def as_csv(self) -> str:
        """The unrounded numbers, in the unit that the header names. Unknown numbers are empty."""
        rows = list(self.cells())
        wide = [any(isinstance(row[place].value, tuple) for row in rows) for place in range(len(self.header))]
        written = io.StringIO()
        out = csv.writer(written, lineterminator="\n")
        columns = zip(self.header, wide, strict=True)
        out.writerow(
            [in_csv(name) for title, two in columns for name in ([f"{title} low", f"{title} high"] if two else [title])]
        )
        for row in rows:
            out.writerow([entry for cell, two in zip(row, wide, strict=True) for entry in _entries(cell, two)])
        return written.getvalue()

    def _rows_with_weight(self) -> Iterator[tuple[tuple[Cell, ...], Callable[[Cell], bool]]]:
        """Each row with a predicate for its bold cells; all cells of a `strong` row are bold."""
        for number, row in enumerate(self.cells()):
            yield row, partial(_is_strong, number in self.strong)


def _is_strong(row: bool, cell: Cell) -> bool:
    return row or cell.tone == "strong"


def _cell(cell: Cell | str) -> Cell:
    return Cell(plain(cell)) if isinstance(cell, str) else Cell(plain(cell.text), cell.value, cell.tone)


def _wrap(text: str, before: str, after: str, really: bool = True) -> str:
    return f"{before}{text}{after}" if text and really else text


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ampersands(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _entries(cell: Cell, two: bool) -> tuple[object, ...]:
    if isinstance(cell.value, tuple):
        return tuple(map(_number, cell.value))
    if two:
        return "", ""
    if cell.value is not None:
        return (_number(cell.value),)
    return ("" if cell.text == NOT_KNOWN else in_csv(cell.text),)


def _number(value: float) -> str:
    """A number without floating-point noise in its last digits."""
    return f"{value:.12g}"
