"""What `contramem author query` prints."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.shipped import contramem
from tests.study.office import write_office

from contramem.cli.author import lay_out
from contramem.study.tables import QueryAnswer

LETTER = "Your application is refused: it exceeds the permitted area.\nObjections go to the town clerk within 28 days."
ANSWER = QueryAnswer(("function", "body"), [("Office.send_letter", LETTER), ("Office.close", None)], True)


def printed(*, is_terminal: bool) -> str:
    console = Console(file=StringIO(), force_terminal=is_terminal, width=60, color_system=None)
    parts = list(lay_out(ANSWER, is_terminal=is_terminal))
    if not is_terminal:
        return "\n".join(map(str, parts))
    console.print(*parts)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_outside_a_terminal_each_row_is_a_line_with_whole_cells() -> None:
    header, letter, close = printed(is_terminal=False).splitlines()
    assert header == "function\tbody"
    assert letter == f"Office.send_letter\t{' '.join(LETTER.split())}"
    assert close == "Office.close\t"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_that_rows_are_missing_is_said_beside_the_rows(tmp_path: Path, options: tuple[str, ...]) -> None:
    told = contramem("author", "query", write_office(tmp_path), "SELECT * FROM range(10001)", *options)
    assert told.stderr.startswith("Only the first 10,000 rows are shown, and there are more. Count or group")
    assert "9999" in told.stdout and "10000" not in told.stdout


def test_a_terminal_gets_a_table_of_its_width() -> None:
    lines = printed(is_terminal=True).splitlines()
    assert max(map(len, lines)) <= 60
    assert "28 days" not in " ".join(lines)
