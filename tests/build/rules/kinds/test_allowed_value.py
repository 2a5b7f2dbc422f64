"""Allowed value: a tool refuses a value and lists those that it takes. Stories from a notice board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, run

from contramem.build.rules.kinds.allowed_value import AllowedValue
from contramem.build.rules.rule import load_rule
from contramem.contrast.packet import Packet, packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Trajectory

REFUSED = "List not valid. Please choose from: 'Backlog', 'In Progress', 'Completed'."


def pin(list_name: Any, error: str | None = None) -> Call:
    return call("Board.pin", {"title": "tidy up", "list_name": list_name}, error=error)


def board(number: int, *wrong: Any) -> list[Trajectory]:
    """Three runs pin a note at once, a fourth is refused first."""
    task = {"task": f"Pin note {number}.", "task_id": f"note {number}"}
    right = pin("Backlog" if number % 2 else "Completed")
    good = [run(source, True, right, "Pinned.", **task) for source in "abc"]
    return [*good, run("d", True, *(pin(value, REFUSED) for value in wrong), right, "Pinned.", **task)]


def packets(*tasks: list[Trajectory]) -> list[Packet]:
    vocabulary = Vocabulary(tasks)
    return [packet_of(task, vocabulary) for task in tasks]


def rules(*tasks: list[Trajectory]) -> list[AllowedValue]:
    found = [shared.lesson.rule for shared in AllowedValue.find(packets(*tasks))]
    return [rule for rule in found if isinstance(rule, AllowedValue)]


def test_the_list_of_a_refusal_becomes_a_card(tmp_path: Path) -> None:
    tasks = [board(number, "To do") for number in (1, 2, 3)]
    rule = rules(*tasks)[0]
    assert (rule.argument, rule.values) == ("list_name", ("Backlog", "In Progress", "Completed"))
    assert "one of “Backlog”, “In Progress” or “Completed”, spelled exactly so" in rule.words().core_rule
    (entry,) = build_skills(tmp_path, *packets(*tasks)).entries
    assert entry.served
    assert len(entry.support.tasks) == 3


def test_several_values_at_once_are_warned_against() -> None:
    rule = rules(*(board(number, ["Backlog", "Completed"]) for number in (1, 2, 3)))[0]
    assert "a single one in each call" in rule.words().core_rule


def test_a_list_that_changes_from_call_to_call_contains_things() -> None:
    other = "List not valid. Please choose from: 'Monday', 'Tuesday'."
    task = {"task": "Pin note 9.", "task_id": "note 9"}
    odd = [run("a", True, pin("x", other), pin("Backlog"), "Pinned.", **task)]
    assert rules(*(board(number, "To do") for number in (1, 2, 3)), odd) == []


def test_a_tool_that_refuses_what_it_lists_teaches_nothing() -> None:
    assert rules(*(board(number, "To do", "In Progress") for number in (1, 2, 3))) == []


def test_a_tool_that_takes_what_it_does_not_list_teaches_nothing() -> None:
    task = {"task": "Pin note 9.", "task_id": "note 9"}
    other = [run("a", True, pin("backlog_list"), "Pinned.", **task)]
    assert rules(*(board(number, "To do") for number in (1, 2, 3)), other) == []


def test_what_is_never_refused_needs_no_card() -> None:
    assert rules(*(board(number) for number in (1, 2, 3))) == []


def test_the_rule_survives_the_store() -> None:
    rule = rules(*(board(number, "To do") for number in (1, 2, 3)))[0]
    assert load_rule(rule.store()) == rule
