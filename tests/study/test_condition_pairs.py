"""Pairs of conditions: exceptions to a rule, where each half of the condition looks like chance."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.study.atoms import Atom
from contramem.study.condition_pairs import find_pairs
from contramem.study.explain import explain
from contramem.study.masks import GuardMasks
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def permit_office() -> Iterator[Trajectory]:
    """Applications for listed plots go to the board, repairs excepted. `careful` knows, the others approve or refer."""
    cases = [(listed, kind) for kind in ("repair", "extension", "sign", "repair") for listed in (True, False, True)]
    for number, (listed, kind) in enumerate(cases):
        look = call("Town.get", {"application": f"AP-{number}77"}, {"listed": listed, "kind": kind, "ward": number % 5})
        goes_to_board = listed and kind != "repair"
        for source, refers in (("careful", goes_to_board), ("eager", False), ("shy", True)):
            act = call("Town.refer" if refers else "Town.approve", {"application": f"AP-{number}77"})
            passed = refers == goes_to_board
            yield run(source, passed, look, act, "Done.", task=f"See AP-{number}77 through.", task_id=f"{number}")


def test_an_exception_to_a_condition_is_found_with_both() -> None:
    runs = RunSet.of(permit_office())
    guards = [str(difference.guard) for difference in explain(runs.select(), runs).differences]
    assert "absence(Town.approve) when Town.get.listed = true and Town.get.kind != repair" in guards


def test_a_pair_needs_both_of_its_conditions() -> None:
    """Runs 0 and 1 fail by breaking the guard, 2 and 3 pass by keeping it; 4 to 7 pass in breaking it."""
    steps = [call("Town.approve", {"application": "AP-1"})]
    made = [run(str(place), place > 1, *steps, "Done.", task_id=str(place)) for place in range(8)]
    runs = RunSet.of(made)
    masks = RunMasks(runs.select(), runs)
    guard = GuardMasks(kept=0b1100, broken=0b11110011)
    listed = Atom("T.get.listed = true", 0b111111, slot="T.get.listed")
    small = Atom("T.get.size <= 9", 0b11001111, slot="T.get.size", is_threshold=True)
    alone = Atom("T.get.ward = 3", 0b1111, slot="T.get.ward")
    (pair, *others) = find_pairs(guard, [listed, small, alone], masks, max_wrong=0.0)
    assert pair.atoms == (listed, small)
    assert not others, "what is enough alone is no part of a pair"
    assert not find_pairs(guard, [listed, small._replace(slot="T.get.listed")], masks, max_wrong=0.0), "one slot"
