"""build/side_by_side.py: tasks with one run each teach together."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.single_runs import MIN_RUNS, put_side_by_side


def task(number: int, passed: bool, *functions: str):
    steps = [call(f"Shop.{name}", {"order": f"#{number}"}, "done") for name in functions]
    return packet(run("m", passed, *steps, task=f"Ship order number {number}", task_id=f"t{number}"))


PACKETS = [task(number, number % 2 == 0, *(["check"] if number % 2 == 0 else []), "ship") for number in range(6)]


def test_single_runs_of_a_kind_are_joined_and_known_by_each_of_their_tasks() -> None:
    (joined,) = put_side_by_side(PACKETS)
    assert joined.is_contrastive and len(joined.runs) == len(PACKETS)
    assert joined.task_keys == {single.task_key for single in PACKETS}
    assert set(joined.identity) == {name for single in PACKETS for name in single.identity}


def test_runs_of_one_outcome_and_few_runs_stay_apart() -> None:
    passing = [task(number, True, "ship") for number in range(6)]
    assert put_side_by_side(passing) == passing
    assert put_side_by_side(PACKETS[: MIN_RUNS - 1]) == PACKETS[: MIN_RUNS - 1]


def test_tasks_with_several_runs_stay_as_they_are() -> None:
    several = packet(
        run("m", True, call("Shop.ship", {}, "done"), task="Ship it", task_id="s"),
        run("n", False, call("Shop.ship", {}, "done"), task="Ship it", task_id="s"),
    )
    assert put_side_by_side([several, *PACKETS])[0] is several
