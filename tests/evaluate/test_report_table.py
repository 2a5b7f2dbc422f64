"""Tables in every form they are pasted into."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.evaluate.report import Cell, ReportTable, between, difference_cell, number, percent, points, unknown

TABLE = ReportTable(
    "Success by ability",
    ("Ability", "Base %", "Points", "95 % interval"),
    [
        ["search_all", percent(0.406), points(0.281), between((0.156, 0.406))],
        ["time & space", percent(None), points(-0.05), between(None)],
        ["All", Cell("68.8", 68.75, "strong"), points(0.0)],
    ],
    notes=("Too little data gives n/a.",),
    strong=frozenset({2}),
    sections=frozenset({2}),
    label="success",
)


def test_markdown_aligns_numbers_and_sets_sums_in_bold():
    assert TABLE.as_markdown() == (
        "**Success by ability**\n\n"
        "| Ability | Base % | Points | 95 % interval |\n"
        "| :--- | ---: | ---: | ---: |\n"
        "| search_all | 40.6 | +28.1 | +15.6 to +40.6 |\n"
        "| time &amp; space | n/a | −5.0 | n/a |\n"
        "| **All** | **68.8** | **0.0** |  |\n\n"
        "*Too little data gives n/a.*\n"
    )


def test_latex_has_booktabs_rules_and_escapes():
    assert TABLE.as_latex() == (
        "\\begin{table}[t]\n\\centering\n\\begin{tabular}{lrrr}\n\\toprule\n"
        "\\textbf{Ability} & \\textbf{Base \\%} & \\textbf{Points} & \\textbf{95 \\% interval} \\\\\n\\midrule\n"
        "search\\_all & 40.6 & +28.1 & +15.6 to +40.6 \\\\\n"
        "time \\& space & n/a & $-$5.0 & n/a \\\\\n\\midrule\n"
        "\\textbf{All} & \\textbf{68.8} & \\textbf{0.0} &  \\\\\n\\bottomrule\n\\end{tabular}\n"
        "\\caption{Success by ability. Too little data gives n/a.}\n\\label{tab:success}\n\\end{table}\n"
    )


def test_csv_has_the_numbers_unrounded_and_an_interval_in_two_columns():
    assert list(csv.reader(io.StringIO(TABLE.as_csv()))) == [
        ["Ability", "Base %", "Points", "95 % interval low", "95 % interval high"],
        ["search_all", "40.6", "28.1", "15.6", "40.6"],
        ["time & space", "", "-5", "", ""],
        ["All", "68.75", "0", "", ""],
    ]


def test_a_terminal_shows_every_row(capsys):
    from rich.console import Console

    Console(width=100, force_terminal=False).print(TABLE.as_rich())
    shown = capsys.readouterr().out
    assert [word in shown for word in ("search_all", "−5.0", "+15.6 to +40.6", "68.8")] == [True] * 4


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (number(1234567.0), "1,234,567"),
        (number(None, 2), "n/a"),
        (number(-3), "−3"),
        (difference_cell(0.04, 1), "0.0"),
        (difference_cell(-12.5, 1), "−12.5"),
        (unknown(), "n/a"),
        (between((0.5, 0.75), scale=1, digits=2, sign=False), "0.50 to 0.75"),
    ],
)
def test_numbers_as_people_read_them(cell, text):
    assert cell.text == text


def test_text_that_looks_like_a_formula_is_escaped_in_csv():
    rows = [["=HYPERLINK(1)"], ["+cmd"], ["-5"], ["@x"], ["plain"]]
    found = [row[0] for row in csv.reader(io.StringIO(ReportTable("t", ("a",), rows).as_csv()))][1:]
    assert found == ["'=HYPERLINK(1)", "'+cmd", "-5", "'@x", "plain"]


NASTY = st.text(st.sampled_from("ab_|*`<>[]&$%#{}~^\\\"'\n\t\r\x1b\u202e\ud800日=+-@ "), max_size=12)


@given(NASTY)
def test_no_text_breaks_out_of_its_cell(text):
    table = ReportTable("t", ("a", "b"), [[text, "end"]])
    row = table.as_markdown().splitlines()[4]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert not re.search(r"(?<!\\)(?:\\\\)*<", row)
    latex = table.as_latex().splitlines()
    assert latex[6].endswith(r"& end \\")
    bare = re.sub(r"\\text\w+\{\}|\\[{}$&#%_]|\{\[\}|\{\]\}|\$-\$", "", latex[6].removesuffix(r"& end \\"))
    assert not re.search(r"[\\{}$&#%_^~<>|\[\]]", bare)
    assert len(list(csv.reader(io.StringIO(table.as_csv())))[1]) == 2


def test_a_row_longer_than_the_header_is_an_assertion_error():
    with pytest.raises(AssertionError, match="no more cells than columns"):
        ReportTable("t", ("a",), [["1", "2"]])
