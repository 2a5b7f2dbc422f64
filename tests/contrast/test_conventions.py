"""What passing runs of several tasks share, though nothing shows it, stays readable; a value of one task does not."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.contrast.packet import packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Trajectory


def task(number: int, *sources: str, owner: str = "finance-lead", passed: bool = True) -> list[Trajectory]:
    """A credit note is handed to an owner that no request names."""
    assign = call("Desk.assign", {"record": f"CN-60{number}7", "owner": owner})
    text = f"Credit note CN-60{number}7 needs an owner."
    return [run(source, passed, assign, "Done.", task=text, task_id=f"t{number}") for source in sources]


def test_a_value_that_passing_runs_of_three_tasks_share_is_shown_with_how_many_share_it() -> None:
    tasks = [task(number, "a", "b") for number in range(3)]
    packet = packet_of(tasks[0], Vocabulary(tasks))
    (step,) = (step for step in packet.runs[0].steps if step.function)
    assert step.arguments["owner"] == "finance-lead"
    assert step.arguments["record"].startswith("<ID")
    ((convention),) = packet.conventions
    assert (convention.value, convention.tasks, convention.sources) == ("finance-lead", 3, 2)


@pytest.mark.parametrize(
    ("shown", "is_convention"),
    [("Give it to finance.", False), ("See finance-2 or my.finance", True), ("(FINANCE), they say", False), ("", True)],
)
def test_a_value_is_shown_where_it_stands_as_a_word_of_its_own(shown: str, is_convention: bool) -> None:
    assign = call("Desk.assign", {"owner": "finance"})
    tasks = [
        [run(source, True, assign, "Done.", task=f"Task {number}. {shown}", task_id=f"t{number}") for source in "ab"]
        for number in range(3)
    ]
    assert bool(Vocabulary(tasks).shared("Desk.assign", "owner", "finance")) == is_convention


def test_what_one_source_or_two_tasks_or_failing_runs_share_is_no_convention() -> None:
    for tasks in (
        [task(number, "a") for number in range(3)],
        [task(number, "a", "b") for number in range(2)],
        [task(number, "a", "b", passed=False) for number in range(3)],
    ):
        assert not Vocabulary(tasks).shared("Desk.assign", "owner", "finance-lead")


def test_a_value_that_the_request_gives_is_no_convention() -> None:
    tasks = [task(number, "a", "b", owner=f"CN-60{number}7") for number in range(4)]
    assert not any(Vocabulary(tasks).shared("Desk.assign", "owner", f"CN-60{number}7") for number in range(4))


_OF_PERSONS = (
    ("contact_phone", False),
    ("bank_account", False),
    ("routing_number", False),
    ("ledger_account", True),
)


def test_the_command_of_a_tool_that_is_no_shell_stays_a_word_of_its_interface() -> None:
    edit = call("Editor.edit", {"command": "view"})
    tasks = [
        [run(source, True, edit, "Done.", task=f"Task {number}.", task_id=f"t{number}") for source in "ab"]
        for number in range(4)
    ]
    assert Vocabulary(tasks).keeps("Editor.edit", "command", "view")
