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
    assert Vocabulary(tasks).conventions.keeps("Desk.assign", "owner", "finance") == is_convention


def test_what_one_source_or_two_tasks_or_failing_runs_share_is_no_convention() -> None:
    for tasks in (
        [task(number, "a") for number in range(3)],
        [task(number, "a", "b") for number in range(2)],
        [task(number, "a", "b", passed=False) for number in range(3)],
    ):
        assert not Vocabulary(tasks).conventions.keeps("Desk.assign", "owner", "finance-lead")


def test_a_long_number_in_groups_is_no_convention() -> None:
    tasks = [task(number, "a", "b", owner="combination 18-86-35") for number in range(4)]
    assert list(Vocabulary(tasks).conventions.values()) == []


def test_a_value_that_the_request_gives_is_no_convention() -> None:
    tasks = [task(number, "a", "b", owner=f"CN-60{number}7") for number in range(4)]
    assert list(Vocabulary(tasks).conventions.values()) == []


_OF_PERSONS = (
    ("contact_phone", False),
    ("bank_account", False),
    ("routing_number", False),
    ("ledger_account", True),
)


def test_the_one_value_of_an_argument_whose_name_nobody_can_read_is_never_shown() -> None:
    for name, is_shown in (("desk", True), ("გასაღები", False), ("wachtwurd", False), *_OF_PERSONS):
        give = call("Desk.assign", {"record": "CN-6", name: "quiver-glacier"})
        tasks = [
            [run(source, True, give, "Done.", task=f"Task {number}", task_id=f"t{number}") for source in "ab"]
            for number in range(5)
        ]
        assert Vocabulary(tasks).keeps("Desk.assign", name, "quiver-glacier") is is_shown


def test_an_argument_in_another_language_keeps_its_choices() -> None:
    tasks = [
        [run("a", True, call("Desk.assign", {"zustand": value}), "Ok.", task=f"Task {number}", task_id=f"t{number}")]
        for number, value in enumerate(("offen", "zu", "offen", "zu"))
    ]
    assert Vocabulary(tasks).keeps("Desk.assign", "zustand", "offen")


@pytest.mark.parametrize("line", ["the_gate_opens_with_185397", "git ~hazel/docks", "su hazel"])
def test_what_was_typed_into_a_shell_is_never_shown_however_many_tasks_share_it(line: str) -> None:
    type_it = call("shell.git", {"command": line})
    tasks = [
        [run(source, True, type_it, "Done.", task=f"Task {number}.", task_id=f"t{number}") for source in "ab"]
        for number in range(4)
    ]
    assert not Vocabulary(tasks).keeps("shell.git", "command", line)


def test_the_command_of_a_tool_that_is_no_shell_stays_a_word_of_its_interface() -> None:
    edit = call("Editor.edit", {"command": "view"})
    tasks = [
        [run(source, True, edit, "Done.", task=f"Task {number}.", task_id=f"t{number}") for source in "ab"]
        for number in range(4)
    ]
    assert Vocabulary(tasks).keeps("Editor.edit", "command", "view")


def test_a_value_that_brings_its_own_name_is_never_shown() -> None:
    for value, is_shown in (("pass: cactus_canyon", False), ("first pet = newt", False), ("ratio:16", True)):
        tasks = [task(number, "a", "b", owner=value) for number in range(3)]
        assert Vocabulary(tasks).conventions.keeps("Desk.assign", "owner", value) == is_shown


@pytest.mark.parametrize(
    ("argument", "value", "is_shown"),
    [
        ("refresh", "3261", False),
        ("refresh", 3261, False),
        ("lot_size", 2500, True),
        ("cost_center", "4107", True),
        ("refresh", "90", True),
    ],
)
def test_a_long_number_is_a_convention_if_it_is_round_or_its_name_says_what_it_sorts(argument, value, is_shown) -> None:
    order = call("Desk.order", {argument: value})
    tasks = [
        [run(source, True, order, "Done.", task=f"Task {number}.", task_id=f"t{number}") for source in "ab"]
        for number in range(4)
    ]
    assert Vocabulary(tasks).keeps("Desk.order", argument, value) == is_shown


def test_the_only_value_of_an_argument_is_made_of_words_that_we_know_unless_its_name_says_what_it_sorts() -> None:
    strange = [task(number, "a", "b", owner="zanmelk-opal") for number in range(4)]
    assert not Vocabulary(strange).conventions.keeps("Desk.assign", "owner", "zanmelk-opal")
    others = [task(number, "a", "b", owner="night-shift") for number in range(4, 8)]
    assert Vocabulary([*strange, *others]).conventions.keeps("Desk.assign", "owner", "zanmelk-opal")
    desks = [
        [run(source, True, call("Desk.assign", {"desk": "zanmelk-opal"}), "Done.", task_id=f"t{n}") for source in "ab"]
        for n in range(4)
    ]
    assert Vocabulary(desks).conventions.keeps("Desk.assign", "desk", "zanmelk-opal")
