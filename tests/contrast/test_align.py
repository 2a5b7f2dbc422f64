"""Runs side by side: each in its own order, beside the shortest that passed."""

from __future__ import annotations

import pytest
from tests.made_runs import call, packet, run

from contramem.contrast.align import align, nearest, reference_first

SEARCH = call("Mail.search", {"query": "newsletter"}, [{"id": "m-4711", "from": "ada@example.org"}])


DELETE = call("Mail.delete", {"id": "m-4711"})


def test_alignment_keeps_the_order_of_every_run() -> None:
    made = packet(
        run("a", True, SEARCH, DELETE, "Done."), run("b", False, DELETE, SEARCH, "Done."), run("c", False, "Done.")
    )
    rows = align(reference_first(made.runs))
    for one in made.runs:
        aligned = [row.steps[one.letter].position for row in rows if one.letter in row.steps]
        assert aligned == [step.position for step in one.actions]


def test_the_reference_is_the_shortest_run_that_passed() -> None:
    made = packet(run("a", True, SEARCH, SEARCH, DELETE, "Done."), run("b", True, DELETE, "Done."), run("c", False))
    assert reference_first(made.runs)[0].letter == "B"
    assert nearest(made.runs[2], made.passing).letter == "B"


def test_of_many_runs_only_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    made = packet(run("a", True, SEARCH, SEARCH, DELETE, "Done."), run("b", True, DELETE, "Done."), run("c", False))
    monkeypatch.setattr("contramem.contrast.align.MAX_COMPARED_RUNS", 1)
    assert nearest(made.runs[2], made.passing).letter == "A"
