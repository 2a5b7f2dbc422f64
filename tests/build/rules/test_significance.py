"""A guard is accepted for what outcomes show only when dealing the outcomes at random would rarely show it."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from tests.made_runs import call, packet, run

from contramem.build.rules.mine import count_outcomes, highest_chance, mine
from contramem.build.rules.significance import FALSE_SHARE, bar
from contramem.chance import chance
from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Trajectory


def test_the_bar_is_that_of_benjamini_and_hochberg() -> None:
    assert bar([0.001, 0.02, 0.03, 0.5], tried=4, false_share=0.1) == 0.03
    assert bar([0.001, 0.02, 0.03, 0.5], tried=40, false_share=0.1) == 0.001
    assert bar([0.2], tried=1, false_share=0.1) == 0.0
    assert bar([], tried=0) == 0.0


def warehouse(task: str, source: str, passed: bool, counts_first: bool, checks: bool) -> Trajectory:
    """Ship a parcel: some runs ask for the shelf first, some look at the parcel afterwards."""
    shelf, parcel = f"shelf-{task}-77", f"parcel-{task}-31"
    steps = [call("Depot.find_shelf", {"goods": "lamps"}, {"shelf_id": shelf})] if counts_first else []
    steps.append(call("Depot.take_from", {"shelf_id": shelf}, {"parcel_id": parcel}))
    steps += [call("Depot.inspect_parcel", {"parcel_id": parcel}, "sealed")] if checks else []
    return run(source, passed, *steps, "Done.", task="Send out the lamps.", task_id=task)


def shuffled(rng: Random) -> list[Packet]:
    """Twelve tasks, six runs each, whose habits have nothing to do with how they ended."""
    packets = []
    for number in range(12):
        outcomes = rng.sample([True] * 3 + [False] * 3, 6)
        habits = [(rng.random() < 0.6, rng.random() < 0.5) for _ in outcomes]
        runs = [warehouse(f"t{number}", f"s{i}", ok, *habits[i]) for i, ok in enumerate(outcomes)]
        packets.append(packet(*runs))
    return packets


def accepted(packets: list[Packet]) -> set[str]:
    limit = highest_chance(packets)
    found = {one.guard for each in packets for one in mine(each)}
    return {str(guard) for guard in found if chance(count_outcomes(guard, packets)) <= limit}


@pytest.mark.slow
def test_of_shuffled_outcomes_hardly_any_guard_is_accepted() -> None:
    # Where nothing is true, every accepted guard is false: the promised share bounds how often there is one at all.
    worlds = [accepted(shuffled(Random(seed))) for seed in range(25)]
    assert sum(map(bool, worlds)) <= 25 * FALSE_SHARE + 4  # two standard deviations and a half


def test_what_does_decide_is_accepted_among_what_does_not() -> None:
    rng = Random(7)
    packets = []
    for number in range(12):
        outcomes = rng.sample([True] * 3 + [False] * 3, 6)
        runs = [
            warehouse(f"t{number}", f"s{i}", ok, ok or rng.random() < 0.2, rng.random() < 0.5)
            for i, ok in enumerate(outcomes)
        ]
        packets.append(packet(*runs))
    assert accepted(packets) == {"known_value(Depot.take_from.shelf_id)"}


def test_outcomes_are_dealt_within_tasks_only() -> None:
    """In easy tasks all runs keep it and pass, in hard ones all break it and fail: that says nothing about the rule."""
    easy = packet(*(warehouse("easy", f"s{i}", True, True, True) for i in range(4)))
    hard = packet(*(warehouse("hard", f"s{i}", False, False, True) for i in range(4)))
    guard = mine(packet(warehouse("x", "a", True, True, True), warehouse("x", "b", False, False, True)))[0].guard
    assert chance(count_outcomes(guard, [easy, hard])) == 1.0
    assert msgspec.json.encode([t._asdict() for t in count_outcomes(guard, [easy, hard])]) == b"[]"
