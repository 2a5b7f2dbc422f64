"""A held-out task that anything which teaches knows stops an experiment before it runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.shipped import bank, shipped

from contramem.bank.frozen import freeze, parse_frozen
from contramem.errors import LeakageError
from contramem_lab.split import SplitTask, leaks_from_bank, leaks_from_runs, refuse_leaks

TAUGHT = SplitTask("bfcl/desk/t1#1", "bfcl/desk", "t1", "search", "desk", "Close the ticket of Ann")
HELD = SplitTask("bfcl/trip/t2#2", "bfcl/trip", "t2", "search", "trip", "Book a flight")


def test_tasks_that_share_nothing_do_not_leak():
    refuse_leaks(leaks_from_runs([HELD], [TAUGHT], "scenario"))


@pytest.mark.parametrize(
    ("changes", "by", "what"),
    [
        pytest.param({"wording": "close the  TICKET of Ann"}, "task", "wording", id="wording"),
        pytest.param({"scenario": "desk"}, "scenario", "scenario", id="scenario"),
        pytest.param({"id": "t1", "environment": "bfcl"}, "task", "id", id="id-in-the-whole-environment"),
        pytest.param({"wording": "Close the ticket of Ann"}, "template", "wording", id="template"),
    ],
)
def test_what_is_known_of_a_held_out_task_is_named(changes, by, what):
    with pytest.raises(
        LeakageError, match=rf"1 held-out task\(s\): bfcl/trip/t2#2 \(its {what} is that of bfcl/desk/t1"
    ):
        refuse_leaks(leaks_from_runs([replace(HELD, **changes)], [TAUGHT], by))


def test_an_id_that_another_suite_has_too_is_no_leak():
    refuse_leaks(leaks_from_runs([replace(HELD, id="t1")], [TAUGHT], "task"))


def test_a_split_by_task_lets_a_scenario_be_on_both_sides():
    refuse_leaks(leaks_from_runs([replace(HELD, scenario="desk")], [TAUGHT], "task"))


def test_a_bank_knows_the_tasks_that_taught_it(shipped_bank):
    frozen = parse_frozen(freeze(bank(shipped_bank)), "bank.jsonl")
    taught = next(run for run in shipped("drive") if run.task_id == "drive_lights_on")
    task = SplitTask("x/y", "x", "y", taught.ability or "", "new", taught.task)
    assert [leak.what for leak in leaks_from_bank([task], frozen, "scenario", "bank.jsonl")] == ["wording"]
    with pytest.raises(LeakageError, match=r"in bank\.jsonl"):
        refuse_leaks(leaks_from_bank([task], frozen, "scenario", "bank.jsonl"))
    of_family = replace(task, wording="Something else", scenario=taught.scenario_id)
    assert [leak.what for leak in leaks_from_bank([of_family], frozen, "scenario", "b")] == ["scenario"]
    assert not list(leaks_from_bank([of_family], frozen, "task", "b"))
