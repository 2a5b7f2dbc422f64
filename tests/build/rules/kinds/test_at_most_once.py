"""A write that is not repeated."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.rules.mine import find_lessons
from contramem.traces.trajectory import Trajectory


def order(number: int, source: str, passed: bool, times: int, to: str = "dock-5-q") -> Trajectory:
    look = call("Depot.find_dock", {}, {"dock": "dock-5-q"})
    ship = call("Depot.place_pallet", {"dock": to, "pallet": f"pl-{number}-8"})
    return run(source, passed, look, *[ship] * times, "Shipped.", task=f"Send pallet {number}.", task_id=f"s-{number}")


def test_repeating_a_write_is_blamed_where_that_is_all_that_differs() -> None:
    story = packet(order(1, "a", True, 1), order(1, "b", True, 1), order(1, "c", False, 2), order(1, "d", False, 3))
    assert any("place_pallet once" in lesson.text.title for lesson in find_lessons(story))


def test_repeating_a_wrong_write_is_not_why_a_run_failed() -> None:
    story = packet(order(1, "a", True, 1), order(1, "b", True, 1), order(1, "c", False, 2, to="dock-7-z"))
    assert not any("once" in lesson.text.title for lesson in find_lessons(story))
