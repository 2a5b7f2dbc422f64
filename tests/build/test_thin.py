"""build/thin.py: why a bank has few Skill Cards, and what would help."""

from __future__ import annotations

from collections import Counter

from tests.made_runs import call, packet, run

from contramem.build.thin import explain_thin
from contramem.collection.runs import TaskSketch
from contramem.contrast.selection import Selection

PACKETS = [packet(run("m", True, call("Shop.ship", {}, "done"), task=f"Ship {n}", task_id=f"t{n}")) for n in range(3)]
SKETCHES = [
    TaskSketch("one", "general", passes=True, fails=False, called=(), runs=1),
    TaskSketch("never", "general", passes=False, fails=True, called=(), runs=3),
    TaskSketch("both", "general", passes=True, fails=True, called=(), runs=3),
]


def test_a_thin_bank_says_what_became_of_lessons_which_runs_help_and_what_a_model_costs() -> None:
    thin = explain_thin(Selection(SKETCHES), PACKETS, 0, 2, Counter({"chance alone may show it": 2}))
    assert thin is not None
    assert (thin.tasks, thin.several_runs, thin.never_passed, thin.proposed) == (3, 2, 1, 2)
    assert thin.not_kept == {"chance alone may show it": 2}
    assert [advice.partition(":")[0] for advice in thin.advice("runs")] == [
        "1 task with one run",
        "1 task that no run solved",
        "more tasks",
    ]
    model = thin.model
    assert model is not None and model.calls == round(3 * (1.28 + 1.88)) and model.tokens > 3 * 2_480
    assert model.cost_usd is not None and model.most_usd is not None and 0 < model.cost_usd < model.most_usd


def test_every_proposed_lesson_is_accounted_for() -> None:
    thin = explain_thin(Selection(SKETCHES), PACKETS * 10, 1, 12, Counter({"chance alone may show it": 4}))
    assert thin is not None
    assert (thin.in_service, thin.not_kept.get("chance alone may show it"), thin.joined) == (1, 4, 7)


def test_a_bank_with_enough_cards_is_not_thin() -> None:
    assert explain_thin(Selection(SKETCHES), PACKETS, 1, 1, Counter()) is None


def test_of_runs_without_outcomes_it_says_so_and_names_no_model_that_could_not_help() -> None:
    sketches = [TaskSketch(f"t{n}", "general", passes=False, fails=False, called=(), runs=0) for n in range(3)]
    thin = explain_thin(Selection(sketches), PACKETS, 0, 0, Counter())
    assert thin is not None and thin.model is None
    assert [advice.partition(":")[0] for advice in thin.advice("runs.jsonl")] == [
        "3 tasks without a known outcome",
        "more tasks",
    ]
    assert "`contramem doctor runs.jsonl`" in thin.advice("runs.jsonl")[0]
