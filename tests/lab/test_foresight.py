"""Guards, and baselines beside them, order the runs of unseen tasks."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from tests.made_runs import Call, call, run

from contramem.bank.bank import Bank, BankEntry, CardSupport
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.cli import cli
from contramem.errors import UsageError
from contramem.guards.guard import parse_guard
from contramem.traces.trajectory import Trajectory, digest
from contramem.traces.write import write_traces
from contramem_lab.foresight import (
    CARDS_ALONE,
    Habits,
    Neighbours,
    OrderedPairs,
    compare_orders,
    contests,
    foresight,
    order_pairs,
    share,
    share_interval,
    source_pass_rate,
    workflow,
)

SEARCH = call("Mail.search", {"query": "news"}, [{"id": "m-1234"}])
DELETE = call("Mail.delete", {"id": "m-1234"})
GUESS = call("Mail.delete", {"id": "m-9999"})
LOOK = call("Files.list", {}, ["a.txt"])


def task(number: int, *, good: list[Call], bad: list[Call]) -> list[Trajectory]:
    """One task that the thorough source solves and the hasty one does not."""
    text = f"Delete newsletter number {number} from the inbox."
    said = {"task": text, "task_id": f"t{number}"}
    return [run("thorough", True, *good, "Done.", **said), run("hasty", False, *bad, "Done.", **said)]  # type: ignore[arg-type]


TASKS = [task(number, good=[SEARCH, DELETE], bad=[SEARCH, LOOK, LOOK]) for number in range(24)]
REFERENCE, UNSEEN = TASKS[:12], TASKS[12:]
CARD = SkillCard(
    title="Delete what was found",
    applies_when="A task that asks to delete a newsletter from the inbox.",
    solves="Runs that stop early.",
    tags=("delete", "newsletter"),
    skill=Skill(core_rule="Delete what was found.", completion=("it is gone",)),
    guards=("response(Mail.search, Mail.delete)",),
    card_id="skill::abc",
    ability="execution",
)


def bank(*taught_by: str) -> Bank:
    return Bank({CARD.card_id: BankEntry(card=CARD, support=CardSupport(taught_by=taught_by))})


def test_cards_in_the_list_of_rules_count_as_they_are_shown_too() -> None:
    words = {"applies_when": "An invoice is due.", "title": "Pay on time", "tags": ("invoice",)}
    listed = CARD.model_copy(update=words)  # no word of it is in the request
    found = foresight(UNSEEN, Bank({listed.card_id: BankEntry(card=listed)}), REFERENCE, Random(0))
    assert found.shares()[CARDS_ALONE] == 1


def test_guards_order_runs_that_counting_calls_orders_wrongly() -> None:
    found = foresight(UNSEEN, bank(), REFERENCE, Random(0))
    assert (found.tasks, found.pairs, found.left_out) == (12, 12, 0)
    assert found.score == 1.0
    assert found.shares()["run length"] == 0.0
    assert found.shares()["distinct functions"] == 0.5
    assert found.shares()["nearest passing run"] == found.shares()["induced workflows"] == 1.0
    assert found.is_descriptive


def test_a_weight_is_the_difference_in_violations_shrunk_towards_the_prior() -> None:
    weights = Habits.learn(contests(REFERENCE)).of("execution").weights
    # Broken by the failing and kept by the passing run in 12 tasks; 5 tasks' worth of 0.25 expected.
    assert weights[parse_guard("existence(Mail.delete)")] == pytest.approx((12 + 5 * 0.25) / 17)
    assert weights[parse_guard("existence(Files.list)")] == pytest.approx((-12 + 5 * 0.25) / 17)
    # Every run searches, so that searching tells nothing.
    assert weights[parse_guard("existence(Mail.search)")] == pytest.approx(5 * 0.25 / 17)


def test_without_reference_runs_prior_weights_and_cards_judge_and_run_memories_are_absent() -> None:
    found = foresight(UNSEEN, bank(), None, Random(0))
    assert set(found.as_json()["baselines"]) == {"run length", "distinct functions", "source pass rate"}
    assert found.as_json()["parts"]["guards of the cards alone"] == 1.0


@pytest.mark.parametrize("told", ["t13", "test/t13", UNSEEN[1][0].task, UNSEEN[1][0].task_key])
def test_a_task_that_taught_the_bank_is_left_out_by_id_text_or_scenario(told: str) -> None:
    found = foresight(UNSEEN, bank(digest(told)), REFERENCE, Random(0))
    assert found.left_out == (0 if told == "test/t13" else 1)


def test_tasks_of_the_reference_are_left_out() -> None:
    found = foresight(TASKS, bank(), REFERENCE, Random(0))
    assert (found.tasks, found.left_out) == (12, 12)


def test_tasks_without_both_outcomes_are_an_error() -> None:
    with pytest.raises(UsageError, match="nothing to tell apart"):
        foresight([[TASKS[0][0]]], bank(), None, Random(0))
    with pytest.raises(UsageError, match="all 12 tasks with both outcomes taught"):
        foresight(REFERENCE, bank(), REFERENCE, Random(0))


def test_a_tie_counts_half() -> None:
    (contest,) = contests(TASKS[:1])
    assert order_pairs(contest, lambda _: 1.0) == OrderedPairs(0.5, 1)
    assert order_pairs(contest, lambda one: one.source == "hasty") == OrderedPairs(0.0, 1)


def test_shares_by_hand() -> None:
    ours, theirs = [OrderedPairs(3, 4), OrderedPairs(0.5, 1)], [OrderedPairs(2, 4), OrderedPairs(0.5, 1)]
    assert share(ours) == pytest.approx(0.7)
    assert compare_orders(ours, theirs, "theirs", Random(0)).value == pytest.approx(0.2)
    assert share([]) is None
    assert share_interval(ours, Random(0)) is None  # two tasks are too few


def test_interrupted_runs_are_not_part_of_a_contest() -> None:
    cut = run("cut", False, SEARCH, task_id="t0", task=TASKS[0][0].task, ended="interrupted")
    assert contests([[TASKS[0][0], cut]]) == []


def test_the_control_never_sees_the_task_itself() -> None:
    runs = [*TASKS[0], *task(1, good=[DELETE], bad=[DELETE])]
    (contest,) = contests([TASKS[0]])
    score = source_pass_rate(runs)(contest)
    assert (score(TASKS[0][0]), score(TASKS[0][1])) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_a_workflow_is_what_most_passing_runs_call() -> None:
    passing = [
        run("a", True, SEARCH, DELETE, "Done."),
        run("b", True, SEARCH, SEARCH, DELETE, "Done."),
        run("c", True, LOOK, DELETE, "Done."),
    ]
    assert workflow(passing) == ("Mail.search", "Mail.delete")


def test_neighbours_are_never_of_the_task_itself() -> None:
    (contest,) = contests([TASKS[0]])
    assert Neighbours(TASKS[0]).of(contest) == []


def test_the_command_prints_every_figure(tmp_path: Path) -> None:
    write_traces([one for runs in UNSEEN for one in runs], tmp_path / "unseen.jsonl")
    write_traces([one for runs in REFERENCE for one in runs], tmp_path / "reference.jsonl")
    write_frozen(tmp_path / "bank.jsonl", bank())
    arguments = ["lab", "foresight", str(tmp_path / "unseen.jsonl"), "--bank", str(tmp_path / "bank.jsonl")]
    arguments += ["--reference", str(tmp_path / "reference.jsonl")]
    told = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).output)
    assert {"tasks", "pairs", "left_out", "score", "interval", "baselines", "difference"} <= set(told)
    assert told["difference"].keys() == {"to", "value", "interval"}
    shown = CliRunner().invoke(cli, arguments).output
    assert "12 unseen tasks" in shown and "knows only which source ran" in shown and "prove nothing" in shown
