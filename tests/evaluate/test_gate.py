"""A card that lost more tasks than it gained, where runs followed it, is muted."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from contramem.bank.acts import judge, person
from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Skill, SkillCard
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.evaluate.gate import mute_harmful, weigh_cards
from contramem.traces.trajectory import Event, Origin, Outcome, Result, ShownMemory, Trajectory
from contramem.traces.write import write_traces

CARD = SkillCard(
    card_id="skill::ask", ability="general", title="Ask before a return", applies_when="A return.", solves="Returns.",
    skill=Skill(core_rule="Ask before returning.", completion=("asked",)),
    functions_used=("Shop.ask", "Shop.give_back"), guards=("precedence(Shop.ask, Shop.give_back)",),
)  # fmt: skip
BANK = Bank({CARD.card_id: BankEntry(card=CARD)})


def run(task: str, passed: bool | None, *functions: str, shown: bool = True, trial: str = "0") -> Trajectory:
    events = tuple(
        Event(place, "agent", "call", function=f"Shop.{name}", result=Result("ok"))
        for place, name in enumerate(functions)
    )
    guidance = (ShownMemory(0, "Ask first.", cards=(CARD.card_id,)),) if shown else ()
    return Trajectory(
        environment="shop", task_id=task, source="m", run=trial, task=f"Task {task}", events=events, guidance=guidance,
        outcome=Outcome(passed=passed), origin=Origin("made.jsonl", f"{task}{trial}{shown}"),
    )  # fmt: skip


def plain(task: str, passed: bool) -> Trajectory:
    return run(task, passed, "give_back", shown=False)


LOSING = [plain("a", True), run("a", False, "ask"), plain("b", True), run("b", False, "ask", "give_back")]


def test_the_tasks_that_runs_gained_and_lost_by_following_a_card_are_named():
    (record,) = weigh_cards(BANK, [*LOSING, plain("c", False), run("c", True, "ask", "give_back"), plain("d", True)])
    assert (record.tasks, record.gained, record.lost) == (3, ("shop/c",), ("shop/a", "shop/b"))
    assert not record.does_harm
    assert record.interval is None, "three tasks are too few for one"


def test_a_run_that_went_against_the_card_says_nothing_about_it():
    assert weigh_cards(BANK, [plain("a", True), run("a", False, "give_back")])[0:] == []


def test_runs_of_one_task_count_as_one_task():
    runs = [plain("a", True), *(run("a", False, "ask", trial=str(number)) for number in range(5))]
    (record,) = weigh_cards(BANK, runs)
    assert record.lost == ("shop/a",)
    assert mute_harmful(BANK, [record]) == []


def test_a_card_that_did_more_harm_than_good_is_muted_and_the_reason_says_where():
    (decision,) = mute_harmful(BANK, weigh_cards(BANK, LOSING))
    assert decision.changes[0].after.status == "muted"
    assert decision.reason.startswith("0 gained and 2 lost (shop/a, shop/b)")
    assert "of 2 tasks in which runs followed it" in decision.reason


def test_what_a_person_decided_stays():
    bank = BANK.with_changes(judge(BANK, CARD.card_id, "ACCEPT", person("ada")).changes)
    assert mute_harmful(bank, weigh_cards(bank, LOSING)) == []


def test_a_review_mutes_such_cards_first_and_says_so(tmp_path: Path):
    store_path, runs = str(tmp_path / "bank.db"), tmp_path / "runs.jsonl"
    write_traces(LOSING, runs)
    with open_store(store_path, create=True) as store, store.writing("build"):
        changes = tuple({"before": None, "after": entry.model_dump()} for entry in BANK.entries.values())
        added = {"operation": "IMPORT", "reason": "for the test", "by": {"kind": "rules", "name": "rules"}}
        store.record(Decision.model_validate(added | {"ability": "general", "changes": changes}))
    told = CliRunner().invoke(cli, ["cards", "review", store_path, "--runs", str(runs)])
    assert "Muted skill::ask: 0 gained and 2 lost" in told.stderr
    assert "nothing done; 0 left to review" in told.stdout
