"""A change that is due for every item that a result lists."""

from __future__ import annotations

from tests.made_runs import Call, call, packet, run

from contramem.build.rules.kinds.every_item import EveryItem
from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Trajectory

STORIES = (("a", True), ("b", True), ("c", False))
"""Two runs pass, one fails."""


def shelf(
    number: int, write: str, source: str, passed: bool, done: int, other: bool = False, listed: int = 3
) -> Trajectory:
    bins = [f"bin-{number}{index}-77" for index in range(listed)]
    changed = [*bins[:done], *(["bin-99-13"] if other else [])]
    steps: list[Call | str] = [call("Depot.list_bins", {}, [{"bin_id": bin_id} for bin_id in bins])]
    steps += [call(f"Depot.{write}", {"bin_id": bin_id}) for bin_id in changed]
    return run(source, passed, *steps, "All done.", task=f"Tidy the north aisle, {number}.", task_id=f"aisle-{number}")


def aisle(number: int, write: str) -> Packet:
    runs = [("a", True, 3), ("b", True, 3), ("c", False, 1), ("d", False, 2)]
    return packet(*(shelf(number, write, source, passed, done) for source, passed, done in runs))


def test_a_run_that_changed_something_else_did_not_stop_before_the_last() -> None:
    done = [("a", True, 3, False), ("b", True, 3, False), ("c", False, 0, True), ("d", False, 1, True)]
    story = packet(*(shelf(1, "lock_bin", source, passed, count, other) for source, passed, count, other in done))
    assert list(EveryItem.find([story])) == []


def test_if_only_some_of_the_listed_are_changed_the_request_says_which() -> None:
    def titles(listed: int) -> list[str]:
        done = [("a", True, 3), ("b", True, 3), ("c", False, 1), ("d", False, 2)]
        runs = [shelf(1, "lock_bin", source, passed, count, listed=listed) for source, passed, count in done]
        return [shared.lesson.text.title for shared in EveryItem.find([packet(*runs)])]

    assert titles(listed=3) == ["lock_bin for every bin_id that list_bins lists"]
    assert titles(listed=4) == []


def test_one_run_that_stops_early_teaches_nothing_and_one_in_each_of_two_tasks_does() -> None:
    def hurried(number: int) -> Packet:
        return packet(*(shelf(number, "lock_bin", source, passed, 3 if passed else 1) for source, passed in STORIES))

    assert list(EveryItem.find([hurried(1)])) == []
    (shared,) = EveryItem.find([hurried(1), hurried(2)])
    assert [shown.packet.task_key for shown in shared.also] == [hurried(2).task_key]
