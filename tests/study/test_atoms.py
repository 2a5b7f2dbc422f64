"""Atoms: which facts of runs can be the condition of a guard."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.study.atoms import collect_atoms, is_category
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def desk() -> Iterator[Trajectory]:
    """Eight tasks. Everybody pays in EUR; two runs misspell a name and find nobody; two tasks have no open bill."""
    for number in range(8):
        bills = [{"bill": f"B{number}"}] if number > 1 else []
        for source in ("careful", "hasty"):
            steps = [
                call("Desk.find", {"name": "Ann"}, {"people": [{"person": f"P{number}"}], "currency": "EUR"}),
                call("Desk.list_bills", {"person": f"P{number}"}, {"bills": bills}),
                call("Desk.look", {}, {"state": "on display" if number % 2 else "closed"}),
            ]
            if source == "hasty" and number > 5:
                steps.insert(0, call("Desk.find", {"name": "An"}, {"people": [], "currency": "EUR"}))
            yield run(source, source == "careful", *steps, "Done.", task="Write to Ann.", task_id=str(number))


def list_texts() -> set[str]:
    return {atom.text for atom in collect_atoms(RunSet.of(desk()).select())}


def test_words_that_tell_tasks_apart_are_conditions() -> None:
    assert {"Desk.look.state = on display", "Desk.look.state = closed"} <= list_texts()


def test_a_value_that_every_call_returns_is_no_condition() -> None:
    assert not [text for text in list_texts() if "currency" in text]


def test_finding_nothing_is_a_condition_unless_another_run_of_the_task_found_something() -> None:
    assert "Desk.list_bills has none" in list_texts()
    assert "Desk.find has none" not in list_texts()


def test_what_somebody_called_a_thing_is_no_category() -> None:
    assert is_category("on display", "state") and is_category("Backlog", "list_name")
    assert not is_category("team meeting", "event_name")
