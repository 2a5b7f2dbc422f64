"""ReportTable: rows under a header, rendered for a terminal, a web page, Markdown, LaTeX or CSV.

An unknown number is `n/a`, never 0. Text from traces is made safe to display, and escaped for each format."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.bank.show import visible

if TYPE_CHECKING:
    from rich.table import Table as RichTable


# Cells

Tone: TypeAlias = Literal["", "good", "bad", "dim", "strong"]
"""What a cell means. Each format renders it in its own way: a terminal in colour, LaTeX `strong` in bold, CSV not."""

NOT_KNOWN = "n/a"


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    value: float | tuple[float, float] | None = None
    """The unrounded number in the same unit, for CSV. An interval fills two columns there."""
    tone: Tone = ""

    def __str__(self) -> str:
        return self.text


def unknown() -> Cell:
    """A value that was not measured, or that there is too little data for. Empty in CSV."""
    return Cell(NOT_KNOWN, tone="dim")


def number(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """A number with thousands separators: `1,234.5`."""
    return unknown() if value is None else Cell(_minus(f"{value:,.{digits}f}"), value, tone)


def percent(share: float | None, tone: Tone = "") -> Cell:
    """A share in percent, without the percent sign (`40.6`), which belongs in the header."""
    return unknown() if share is None else Cell(_minus(f"{100 * share:.1f}"), 100 * share, tone)


def difference_cell(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """A difference with its sign; zero has none."""
    return unknown() if value is None else Cell(with_sign(value, digits), value, tone)


def points(share: float | None, *, good: Literal["up", "down", ""] = "up") -> Cell:
    """A difference of shares in percentage points. `good` says which direction is better, if any."""
    return unknown() if share is None else Cell(with_sign(100 * share, 1), 100 * share, better(share, good))


def between(interval: tuple[float, float] | None, *, scale: float = 100, digits: int = 1, sign: bool = True) -> Cell:
    """An interval: `−30.0 to +30.0`."""
    if interval is None:
        return unknown()
    low, high = (scale * end for end in interval)
    written = (with_sign(end, digits) if sign else _minus(f"{end:,.{digits}f}") for end in (low, high))
    return Cell(" to ".join(written), (low, high))


def better(difference: float, good: Literal["up", "down", ""]) -> Tone:
    """The tone of a difference: good, bad or neutral."""
    if not good or not difference:
        return ""
    return "good" if (difference > 0) == (good == "up") else "bad"


def with_sign(value: float, digits: int = 0) -> str:
    """A number with its sign and a typographic minus; zero has no sign."""
    text = f"{value:+,.{digits}f}"
    return _minus(text) if text.strip("+-0.,") else text[1:]


def _minus(text: str) -> str:
    return text.replace("-", "−")


# Tables

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


# Text

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---", "Δ": r"$\Delta$", "→": r"$\to$",
    "²": r"$^2$", "χ": r"$\chi$", "…": r"\dots{}",
    "[": "{[}", "]": "{]}",  # at the start of a row, a bracket would be read as an option of the previous line
}  # fmt: skip


def plain(text: str) -> str:
    """`text` on one line, without characters that move the cursor, hide text or change its direction."""
    line = re.sub(r"\s*[\n\t\r\u2028\u2029]\s*", " ", visible(text))
    return line.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded


def in_markdown(text: str) -> str:
    """Escape the text of a cell: Markdown, HTML and column separators."""
    escaped = re.sub(r"[\\`*|<>\[\]$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", plain(text))
    return escaped.replace("&", "&amp;")


def in_latex(text: str) -> str:
    """Escape running text. Non-Latin scripts need an engine that supports them, such as LuaLaTeX."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def in_csv(text: str) -> str:
    """Prefix text that a spreadsheet would read as a formula with an apostrophe."""
    line = plain(text)
    return f"'{line}" if re.match(r"[=+\-@](?![\d.,]+$)", line) else line


def width(text: str, size: float = 12) -> float:
    """The estimated width of `text` in pixels, in an unknown sans-serif font of `size` pixels."""
    return size * sum(_em(character) for character in text)


def fit(text: str, pixels: float, size: float = 12) -> str:
    """`text`, shortened in the middle if it is too wide, because task names differ at both ends."""
    text = plain(text)
    if width(text, size) <= pixels + 0.5:
        return text
    for kept in range(len(text) - 1, 1, -1):
        cut = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
        if width(cut, size) <= pixels:
            return cut
    return f"{text[:1]}…"


def _em(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "iIljtf.,:;'|!()[] ":
        return 0.36
    return 0.72 if character.isupper() or character in "mw%@" else 0.6
