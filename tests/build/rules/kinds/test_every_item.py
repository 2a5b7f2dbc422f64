"""A change that is due for every item that a result lists."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.build.rules.mine import find_lessons
from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Trajectory


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


def test_one_change_for_every_item_and_another_are_one_rule(tmp_path: Path) -> None:
    packets = [aisle(1, "lock_bin"), aisle(2, "tag_bin"), aisle(3, "lock_bin")]
    (card,) = build_skills(tmp_path, *packets).cards
    assert card.title == "The same change for every bin_id that list_bins lists"
    assert card.functions_used == ("Depot.list_bins", "Depot.lock_bin", "Depot.tag_bin")


def test_a_run_that_changed_something_else_did_not_stop_before_the_last() -> None:
    story = packet(
        shelf(1, "lock_bin", "a", True, 3),
        shelf(1, "lock_bin", "b", True, 3),
        shelf(1, "lock_bin", "c", False, 0, other=True),
    )
    assert not any("for every" in lesson.text.title for lesson in find_lessons(story))


def test_if_only_some_of_the_listed_are_changed_the_request_says_which() -> None:
    def titles(listed: int) -> list[str]:
        done = [("a", True, 3), ("b", True, 3), ("c", False, 1)]
        runs = [shelf(1, "lock_bin", source, passed, count, listed=listed) for source, passed, count in done]
        return [lesson.text.title for lesson in find_lessons(packet(*runs))]

    assert "lock_bin for every bin_id that list_bins lists" in titles(listed=3)
    assert not any("for every" in title for title in titles(listed=4))
