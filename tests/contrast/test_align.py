"""Runs side by side: each in its own order, beside the shortest that passed."""

from __future__ import annotations

import pytest
from tests.made_runs import call, packet, run

from contramem.contrast.align import align, best_cites, nearest, partings, rank_signals, reference_first

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


A, B, C = (call("Shop.count", {"sku": sku, "store": "North"}, 3) for sku in ("SKU-1001", "SKU-2002", "SKU-3003"))
ORDER = [call("Shop.order", {"sku": "SKU-1001", "quantity": quantity}, "ok") for quantity in (5, 9)]


def test_a_run_parts_with_another_argument_and_rejoins_where_both_do_the_same_again() -> None:
    made = packet(run("a", True, A, ORDER[0], B, "Done."), run("b", False, A, ORDER[1], B, "Done."))
    (parting,) = partings(made.runs[1], made.runs[0])
    (changed,) = parting.changed
    assert (parting.run, changed.name, parting.rejoins) == ("B", "quantity", made.runs[1].actions[2])
    assert str(parting).endswith(f"rejoins at {made.runs[1].actions[2].position}")


def test_what_a_run_does_besides_or_leaves_out_is_said_so() -> None:
    made = packet(run("a", True, A, B, "Done."), run("b", False, A, C, B), run("c", False, B, "Done."))
    besides, stopped = partings(made.runs[1], made.runs[0])
    assert str(besides).startswith("Shop.count besides; rejoins at")
    assert str(stopped) == "without final answer; doesn't rejoin"
    (left_out,) = partings(made.runs[2], made.runs[0])
    assert str(left_out).startswith("without Shop.count")


def test_the_call_that_all_passing_runs_make_and_no_failing_run_does_comes_first() -> None:
    """Both sides count stock; the passing runs count both articles of the order, the failing ones either."""
    made = packet(
        run("a", True, A, B, ORDER[0], "Done."), run("b", True, B, A, ORDER[0], "Done."),
        run("c", False, A, ORDER[0], "Done."), run("d", False, B, ORDER[0], "Done."),
    )  # fmt: skip
    best = rank_signals(made)[0]
    assert best.signal.statement.startswith("2 different calls of Shop.count are made by 2 of 2 passing and 0 of 2")
    assert (best.separation, best.failing) == (1.0, ())
    assert {cite.run for cite in best_cites(rank_signals(made))} == {"A", "B"}


def test_a_signal_says_how_many_passing_runs_show_it_too() -> None:
    made = packet(
        run("a", True, A, B, "Done."), run("b", True, C, A, B, "Done."), run("c", False, C, B, "Done."),
    )  # fmt: skip
    parted = [each for each in rank_signals(made) if each.signal.kind == "first divergence"]
    assert [(each.passing, each.failing) for each in parted] == [(("B",), ("C",))]
