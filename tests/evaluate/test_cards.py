"""Which card was shown in which run, and how that run and its partner without memory ended."""

import pytest
from tests.evaluate.comparison_runs import run, runs

from contramem.evaluate.cards import RunOutcomes, card_effects
from contramem.evaluate.pairs import pair_runs
from contramem.inject.log import FORMAT, Line


def line(run_id, task, *cards, where="start", **more):
    return Line(FORMAT, "2026-01-01T00:00:00+00:00", run_id, task, where, dict.fromkeys(cards, 10), **more)


def effects(base, memory, lines):
    return card_effects(pair_runs(base, memory), lines)


def test_a_card_is_judged_by_its_own_runs_and_their_partners():
    """Card x is shown at t1, which is gained, and at t2, which is lost; card y at t2 and t3."""
    found = effects(
        runs("base", {"t1": "fail", "t2": "pass", "t3": "pass"}),
        runs("memory", {"t1": "pass", "t2": "fail", "t3": "pass"}),
        [line("a", "t1", "x"), line("b", "t2", "x"), line("b", "t2", "y", where="before_call"), line("c", "t3", "y")],
    )
    x, y = found.effects
    assert (x.card_id, x.tasks, x.gained, x.lost) == ("x", 2, 1, 1)
    assert (x.shown, x.base) == (RunOutcomes(1, 1), RunOutcomes(1, 1))
    assert (y.card_id, y.gained, y.lost) == ("y", 0, 1)
    assert (y.shown, y.base) == (RunOutcomes(1, 1), RunOutcomes(2, 0))
    assert (found.shown, found.held_out, found.not_in_log) == (3, 0, 0)


def test_a_card_shown_twice_in_a_run_counts_once():
    [x] = effects(
        runs("base", {"t1": "fail"}), runs("memory", {"t1": "pass"}),
        [line("a", "t1", "x"), line("a", "t1", "x", where="before_call"), line("a", "t1", where="finish", passed=True)],
    ).effects  # fmt: skip
    assert x.shown == RunOutcomes(1, 0)


def test_held_out_runs_of_the_same_task_are_counted_beside_it():
    """Two trials of t1: the first was shown x, the second was held out. t2 was held out as well."""
    tries = [("t1", "0"), ("t1", "1"), ("t2", "0")]
    base = [run(task, False, trial=trial) for task, trial in tries]
    memory = [run(task, trial == "0", trial=trial, side="memory") for task, trial in tries]
    lines = [
        line("t1/0", "t1", "x"), line("t1/1", "t1", withheld="holdout"), line("t2/0", "t2", withheld="holdout"),
    ]  # fmt: skip
    found = effects(base, memory, lines)
    [x] = found.effects
    assert (x.shown, x.held_out) == (RunOutcomes(1, 0), RunOutcomes(0, 1))
    assert found.held_out == 2


@pytest.mark.parametrize("name", ["1", "t1/1", "m/t1/1", "t1-1"], ids=["trial", "task", "source", "file"])
def test_a_run_is_found_by_its_trial_its_task_its_source_or_its_file(name):
    base = [run("t1", False, source="m", trial=trial) for trial in "01"]
    memory = [run("t1", trial == "1", source="m", trial=trial, side="memory") for trial in "01"]
    found = effects(base, memory, [line(name, "t1", "x")])
    assert [one.shown for one in found.effects] == [RunOutcomes(1, 0)]
    assert found.not_in_log == 1


def test_runs_that_cannot_be_matched_are_counted_and_not_guessed():
    base = [run("t1", False, trial=trial) for trial in "01"]
    memory = [run("t1", trial == "1", trial=trial, side="memory") for trial in "01"]
    found = effects(base, memory, [line("a", "t1", "x"), line("b", "t1", "y")])
    assert (found.effects, found.not_in_log) == ((), 2)
    alike = effects(base, memory, [line("a", "t1", "x"), line("b", "t1", "x")])
    assert [one.shown for one in alike.effects] == [RunOutcomes(1, 1)], (
        "both were shown the same: no need to tell them apart"
    )


def test_one_task_id_in_two_environments_is_not_guessed():
    base = [run("t1", False, environment=env) for env in ("bank", "mail")]
    memory = [run("t1", True, environment=env, side=f"memory/{env}") for env in ("bank", "mail")]
    assert effects(base, memory, [line("a", "t1", "x")]).effects == ()
    [x] = effects(base, memory, [line("a", "mail/t1", "x")]).effects
    assert x.shown == RunOutcomes(1, 0)


def test_a_task_without_id_is_known_by_the_digest_of_its_text():
    from contramem.traces.trajectory import digest

    base, memory = [run("t1", False, text="Send it.")], [run("t1", text="Send it.", side="memory")]
    assert [one.card_id for one in effects(base, memory, [line("a", digest("Send it."), "x")]).effects] == ["x"]


def test_runs_with_memory_switched_off_belong_to_the_other_side():
    base, memory = runs("base", {"t1": "fail"}), runs("memory", {"t1": "pass"})
    found = effects(base, memory, [line("a", "t1", withheld="off"), line("b", "t1", "x", tokens=70)])
    assert [one.shown for one in found.effects] == [RunOutcomes(1, 0)]
    assert found.memory_tokens == 70


def test_without_log_lines_of_these_runs_nothing_is_claimed():
    found = effects(runs("base", {"t1": "fail"}), runs("memory", {"t1": "pass"}), [])
    assert (found.effects, found.shown, found.not_in_log, found.memory_tokens) == ((), 0, 1, None)
