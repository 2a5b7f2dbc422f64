"""A count is refused only where the runs contradict it."""

from __future__ import annotations

import pytest

from contramem.validate.counts import Sides, contradictions

SEARCH = {"Mail.search"}
RUNS = Sides(("A", "B"), ("C", "D", "E"), {"A": SEARCH, "B": SEARCH, "C": SEARCH, "D": set(), "E": set()})


@pytest.mark.parametrize(
    "text",
    [
        "2 of 2 passing runs call `search`.",
        "2 of 3 failing runs never call Mail.search.",
        "1 of 2 passing runs called search twice.",
        "2 of the 3 failing runs gave up.",
        "4 of 5 runs asked first.",
        "It read 3 of 40 items.",
        "16 of 17 pages were empty.",
        "All 3 failing runs alike.",
        "2 passing runs and 3 failing runs show it.",
        "Stop after 4 failed attempts.",
    ],
)
def test_a_count_that_the_runs_allow_passes(text: str) -> None:
    assert list(contradictions(text, RUNS)) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("3 of 2 runs did.", "3 of 2, which is more than all."),
        ("5 of 5 passing runs did.", "5 of 5, but there are 2 passing runs."),
        ("4 of 6 runs did.", "4 of 6, but there are 5 runs."),
        ("All 4 failing runs alike.", "4, but there are 3 failing runs."),
        ("3 passing runs and 2 failing runs show it.", "3, but there are 2 passing runs."),
        ("1 of 2 passing runs call `Mail.search`.", "1 of 2, but 2 of them do."),
        ("3 of 3 failing runs never call search.", "3 of 3, but 2 of them do."),
    ],
)
def test_a_count_that_the_runs_contradict_is_refused(text: str, complaint: str) -> None:
    assert list(contradictions(text, RUNS)) == [complaint]
