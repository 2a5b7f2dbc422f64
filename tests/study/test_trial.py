"""A guard on all runs: who kept it, who broke it, and whom it says nothing about."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.guards.guard import parse_guard
from contramem.study.run_set import RunSet
from contramem.study.trial import try_guard

REPAIR = call("Office.get_case", {}, {"kind": "repair"})
FENCE = call("Office.get_case", {}, {"kind": "fence"})
REFER = call("Office.refer", {"id": "7"})


def test_a_guard_with_an_exception_alone_is_tried_on_all_runs_but_the_excepted() -> None:
    run_set = RunSet.of(
        [
            run("a", True, FENCE, REFER, task_id="t1"),
            run("b", False, FENCE, task_id="t1"),
            run("a", True, REPAIR, task_id="t2"),
            run("b", False, REFER, task_id="t2"),
            run("a", False, "Nothing was looked up.", task_id="t3"),
        ]
    )
    guard = parse_guard("existence(Office.refer) unless Office.get_case.kind = repair")
    trial = try_guard(guard, run_set.runs, run_set)
    assert trial.counts == (1, 0, 0, 2)
    assert trial.vacuous == 2
