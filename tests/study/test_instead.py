"""Instead: what passing runs do in the place of what a guard forbids."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.guards.guard import parse_guard
from contramem.study.instead import find_instead
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.trajectory import Trajectory


def _notices() -> list[Trajectory]:
    """`careful` writes to the owner of the account; `hasty` to the contact, and once more to the owner."""
    runs = []
    for number, name in enumerate(("adler", "brandt", "corvin", "dahl")):
        owner, contact = f"{name}@owner.example", f"{name}@contact.example"
        find = call("Desk.find", {"id": number}, {"owner": owner, "email": contact})
        right, wrong = call("Desk.send", {"to": owner}), call("Desk.send", {"to": contact})
        for source, steps in (("careful", [find, right]), ("hasty", [find, wrong, right])):
            task = f"Tell customer {number} about it."
            runs.append(run(source, source == "careful", *steps, "Done.", task=task, task_id=f"notice-{number}"))
    return runs


def _releases() -> list[Trajectory]:
    """Orders of late payers: `careful` hands them to the credit desk, `hasty` releases them."""
    runs = []
    for number in range(4):
        look = call("Desk.list", {"id": number}, {"status": "overdue"})
        assign = call("Desk.assign_owner", {"id": number, "owner": "credit-desk"})
        release = call("Desk.release_order", {"id": number})
        for source, step in (("careful", assign), ("hasty", release)):
            task = f"Release order {number}."
            runs.append(run(source, source == "careful", look, step, "Done.", task=task, task_id=f"order-{number}"))
    return runs


def _evidence(runs: list[Trajectory]) -> tuple[StudyRun, ...]:
    return RunSet.of(runs).select()


def test_a_wrong_source_is_answered_by_the_right_one() -> None:
    guard = parse_guard("absence(Desk.send[to from Desk.find.email]) when Desk.send")
    assert find_instead(guard, _evidence(_notices())) == "Desk.send[to from Desk.find.owner]"


def test_a_forbidden_call_is_answered_by_the_call_that_passing_runs_share() -> None:
    guard = parse_guard("absence(Desk.release_order) when Desk.list.status = overdue")
    assert find_instead(guard, _evidence(_releases())) == "Desk.assign_owner[owner = credit-desk]"


def test_a_guard_that_forbids_nothing_needs_no_answer() -> None:
    assert find_instead(parse_guard("existence(Desk.send)"), _evidence(_notices())) == ""
