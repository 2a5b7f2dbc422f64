"""A function that changes what others read is a write, whatever it is called."""

from __future__ import annotations

import msgspec
import pytest
from tests.made_runs import Call, call, run

from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Trajectory


def look(length: int) -> Call:
    return call("Desk.list_cases", {"desk": "north"}, {"cases": length})


def take(number: int, *, changes: bool = True) -> Trajectory:
    """An agent looks at the list, calls `get_next_case`, and looks again: one case fewer."""
    taken = call("Desk.get_next_case", {"desk": "north"}, {"case": f"c{number}"})
    after = number - 1 if changes else number
    return run(f"take{number}", True, look(number), taken, look(after), "Done.", task_id=f"t{number}")


def idle(number: int, *, changes: bool = False) -> Trajectory:
    """An agent looks twice, with nothing in between."""
    return run(f"idle{number}", True, look(number), look(number + changes), "Done.", task_id=f"t{number}")


def effects(*runs: Trajectory) -> set[str]:
    """Of the calls of `get_next_case`, as packets show them."""
    with Collection(runs) as pool:
        steps = [step for packet in contrast(pool) for each in packet.runs for step in each.steps]
    return {step.effect for step in steps if step.function not in ("", "Desk.list_cases")}


def test_what_changes_a_later_read_in_several_tasks_is_a_write() -> None:
    assert effects(take(5), take(7), idle(8), idle(9)) == {"write"}


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([take(5), idle(8), idle(9)], id="one-task"),
        pytest.param([take(5), take(7)], id="the-read-was-never-seen-to-stay-the-same"),
        pytest.param([take(5), take(7), idle(8), idle(9), idle(3, changes=True)], id="the-read-changes-by-itself"),
        pytest.param([take(5, changes=False), take(7, changes=False), idle(8), idle(9)], id="nothing-changed"),
    ],
)
def test_otherwise_the_name_decides(runs: list[Trajectory]) -> None:
    assert effects(*runs) == {"read"}


def test_what_the_trace_or_the_user_says_stands() -> None:
    def given(made: Trajectory) -> Trajectory:
        events = tuple(msgspec.structs.replace(event, effect_given=bool(event.function)) for event in made.events)
        return msgspec.structs.replace(made, events=events)

    assert effects(given(take(5)), given(take(7)), idle(8), idle(9)) == {"read"}


def test_a_change_by_the_user_in_between_is_not_the_agents() -> None:
    def answered(number: int) -> Trajectory:
        taken = call("Desk.get_next_case", {"desk": "north"}, {"case": f"c{number}"})
        return run("a", True, look(number), taken, ("user", "I closed one."), look(number - 1), task_id=f"t{number}")

    assert effects(answered(5), answered(7), idle(8), idle(9)) == {"read"}


def test_vocabularies_of_parts_merge_into_that_of_all_runs() -> None:
    runs = [take(5), take(7), idle(8), idle(9)]
    parts = [Vocabulary([[each]]) for each in runs]
    assert Vocabulary.combine(parts).writers == Vocabulary([[each] for each in runs]).writers == {"Desk.get_next_case"}
