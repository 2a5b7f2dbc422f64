"""Did behaviour change from one version to the other? Told by what runs did, and only if more than chance differs."""

from __future__ import annotations

from random import Random

import pytest
from tests.made_runs import call, packet, run

from contramem.contrast.packet import Packet
from contramem.errors import ComparisonError
from contramem.evaluate.behaviour import measure_change

LOOK, WRITE, CHECK = (call(f"Shop.{name}", {"id": "X-1001"}, "ok") for name in ("look", "write", "check"))


def tasks(old: list[list[object]], new: list[list[object]], count: int = 6) -> list[Packet]:
    made = [run("v1", None, *steps, trial=str(n)) for n, steps in enumerate(old)]
    made += [run("v2", None, *steps, trial=str(n)) for n, steps in enumerate(new)]
    return [packet(*made) for _ in range(count)]


def test_a_version_that_always_checks_changed_more_than_chance() -> None:
    change = measure_change(tasks([[LOOK, WRITE]] * 3, [[LOOK, WRITE, CHECK]] * 3), "v1", "v2", Random(0))
    assert (change.compared, change.changed) == (6, 6) and change.p is not None and change.p < 0.05
    assert [(row.function, row.added, row.dropped, row.old, row.new) for row in change.functions] == [
        ("Shop.check", 6, 0, 0, 1)
    ]
    assert change.tasks[0].what == "Shop.check besides; doesn't rejoin"


def test_versions_that_differ_as_much_as_their_own_runs_do_are_not_called_changed() -> None:
    mixed: list[list[object]] = [[LOOK, WRITE], [LOOK, WRITE, CHECK]]
    change = measure_change(tasks(mixed, mixed), "v1", "v2", Random(0))
    assert change.changed == 0 and change.p is not None and change.p > 0.5


def test_with_one_run_a_version_nobody_can_tell_chance_from_change() -> None:
    change = measure_change(tasks([[LOOK]], [[LOOK, CHECK]]), "v1", "v2", Random(0))
    assert change.p is None and "nobody can tell" in change.verdict


def test_versions_without_a_common_task_are_refused() -> None:
    with pytest.raises(ComparisonError, match="no task was run by both 'v1' and 'v3'"):
        measure_change(tasks([[LOOK]], [[LOOK]]), "v1", "v3", Random(0))
