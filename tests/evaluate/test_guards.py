"""Whom the guards of a bank would stop, in runs that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from contramem.bank.bank import Bank, BankEntry, CardSupport, UnseenRuns
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import load_frozen, write_frozen
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.evaluate.guards import StoppedRuns, replay_guards
from contramem.traces.trajectory import Event, Origin, Outcome, Result, Trajectory, digest
from contramem.traces.write import write_traces

GUARD = "precedence(Shop.ask, Shop.give_back)"
CARD = SkillCard(
    card_id="skill::ask", ability="shop", title="Ask before a return", applies_when="A return.", solves="Returns.",
    skill=Skill(core_rule="Ask before returning.", completion=("asked",)),
    functions_used=("Shop.ask", "Shop.give_back"), guards=(GUARD,),
)  # fmt: skip


def bank(**support) -> Bank:
    return Bank({CARD.card_id: BankEntry(card=CARD, support=CardSupport(grade="proven", **support))})


def run(task: int, passed: bool | None, *functions: str, error: str | None = None) -> Trajectory:
    events = tuple(
        Event(place, "agent", "call", function=f"Shop.{name}", result=Result("ok", error))
        for place, name in enumerate(functions)
    )
    return Trajectory(
        environment="shop", task_id=f"t{task}", source="m", run="0", task=f"Task {task}", events=events, ability="shop",
        outcome=Outcome(passed=passed), origin=Origin("made.jsonl", str(task)),
    )  # fmt: skip


RUNS = [
    *(run(task, True, "ask", "give_back") for task in range(100)),
    *(run(task, False, "give_back") for task in range(100, 130)),
    run(200, True, "look"),
]


def test_passing_and_failing_runs_that_a_guard_would_stop_are_counted_where_it_applies():
    replay = replay_guards(bank(), [*RUNS, run(201, True, "give_back"), run(202, None, "give_back")], 0.01)
    (effect,) = replay.guards
    assert (effect.passing, effect.false_stops, effect.failing, effect.caught) == (101, 1, 30, 30)
    assert (replay.passing, replay.failing, replay.without_outcome) == (102, 30, 1)
    assert effect.level == "deny"
    assert replay.stopped["deny"] == StoppedRuns(1, 30)


def test_a_guard_that_stops_too_many_passing_runs_only_reminds():
    wrong = [run(201, True, "give_back"), run(202, True, "give_back")]
    replay = replay_guards(bank(), [*RUNS, *wrong], 0.01)
    assert replay.guards[0].level == "remind"
    assert replay.stopped == {"remind": StoppedRuns(2, 30), "ask": StoppedRuns(0, 0), "deny": StoppedRuns(0, 0)}
    assert replay_guards(bank(), [*RUNS, *wrong], 0.02).guards[0].level == "deny"


def test_runs_of_tasks_that_taught_a_card_are_left_out():
    replay = replay_guards(bank(taught_by=[digest("t3")]), RUNS, 0.01)
    assert (replay.passing, replay.seen) == (100, 1)
    assert replay.guards[0].level == "ask", "99 passing runs are too few to refuse"


def test_a_call_that_the_tool_refused_anyway_was_not_stopped():
    refused, *kept = run(1, True, "give_back", error="ask first").events + run(1, True, "ask", "give_back").events
    again = msgspec.structs.replace(run(1, True), events=(refused, *kept))
    (effect,) = replay_guards(bank(), [again], 0.01).guards
    assert (effect.passing, effect.false_stops) == (1, 0)


@pytest.fixture
def runs(tmp_path: Path) -> str:
    write_traces(RUNS, tmp_path / "runs.jsonl")
    return str(tmp_path / "runs.jsonl")


def evaluated(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["evaluate", "guards", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_counts_are_kept_in_a_frozen_bank_that_is_as_before_without_them(tmp_path: Path, runs: str):
    path = tmp_path / "bank.jsonl"
    write_frozen(path, bank())
    before = path.read_bytes()
    told = evaluated(runs, "--bank", str(path))
    assert "Stopped at a call by those that may refuse: 0 passing and 30 failing runs." in told
    assert GUARD in told
    assert path.read_bytes() == before, "nothing is kept without --save"
    evaluated(runs, "--bank", str(path), "--save")
    (card,) = load_frozen(path).skills
    assert card.unseen == {GUARD: UnseenRuns(passing=100, caught=30)}


def test_in_a_store_each_card_gets_a_decision_once(tmp_path: Path, runs: str):
    where = str(tmp_path / "bank.db")
    with open_store(where, create=True) as store, store.writing("build"):
        changes = tuple({"before": None, "after": entry.model_dump()} for entry in bank().entries.values())
        added = {"operation": "IMPORT", "reason": "for the test", "by": {"kind": "rules", "name": "rules"}}
        store.record(Decision.model_validate(added | {"ability": "shop", "changes": changes}))
    for _ in range(2):
        found = json.loads(evaluated(runs, "--bank", where, "--save", "--json"))
    assert found["guards"][0]["level"] == "deny"
    with open_store(where) as store:
        assert [entry.decision.operation for entry in store.ledger()] == ["IMPORT", "PATCH"]
        assert store.ledger()[1].decision.reason == f"{GUARD}: 0 of 100 passing runs stopped, 30 failing"
