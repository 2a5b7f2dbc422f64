"""What is mined again and again, and what becomes of the cards of a bank."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.mining.shop import Run, made_runs
from tests.mining.test_search import ORDERS, refund

from contramem.bank.acts import judge, person
from contramem.bank.bank import BankEntry
from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.pipeline import learn
from contramem.traces.trajectory import Trajectory


def learned(store: Path, runs: Iterable[Trajectory]) -> tuple[list[BankEntry], dict[str, int]]:
    """The Skill Cards after a build, retired ones too, and what was decided."""
    with open_store(store, create=True) as opened:
        report = learn(runs, opened, only="skills")
        entries = [entry for entry in opened.bank().entries.values() if isinstance(entry.card, SkillCard)]
    return entries, dict(report.decisions)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "bank.db"


def careless(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
    """Nobody minds what is done with orders of gold customers."""
    refund(run, order, rng)
    return rng.random() < 0.7


def test_the_same_runs_change_nothing_the_second_time(store: Path) -> None:
    first, decisions = learned(store, made_runs(refund, ORDERS))
    assert decisions["ADD"] == len(first) > 0
    again, decisions = learned(store, made_runs(refund, ORDERS))
    assert again == first
    assert not decisions


def test_new_runs_alone_do_not_retire_what_older_runs_taught(store: Path) -> None:
    learned(store, made_runs(refund, ORDERS))
    others = [order | {"id": f"B-{n}", "tier": "plain"} for n, order in enumerate(ORDERS[:6])]
    renamed = made_runs(refund, others, "Take care of the other order {id}.")
    entries, _ = learned(store, [_elsewhere(run) for run in renamed])
    assert [entry.status for entry in entries] == ["active"] * len(entries)


def test_passing_runs_that_do_otherwise_retire_a_card(store: Path) -> None:
    learned(store, made_runs(refund, ORDERS))
    entries, _ = learned(store, [_elsewhere(run) for run in made_runs(careless, ORDERS)])
    assert all(entry.status == "retired" for entry in entries if entry.card.guards)  # type: ignore[union-attr]


def test_runs_at_hand_that_no_longer_show_a_card_retire_it(store: Path) -> None:
    before, _ = learned(store, made_runs(refund, ORDERS))
    after, _ = learned(store, made_runs(careless, ORDERS))
    retired = {entry.card.card_id for entry in after if entry.status == "retired"}
    assert retired >= {entry.card.card_id for entry in before if entry.support.grade != "open"}


def test_what_a_person_rejected_is_not_added_again(store: Path) -> None:
    before, _ = learned(store, made_runs(refund, ORDERS))
    with open_store(store) as opened, opened.writing("test"):
        for entry in before:
            decision = judge(opened.bank(), entry.card.card_id, "REJECT", person("ann"), "true of our test data only")
            opened.record(decision)
    after, decisions = learned(store, made_runs(refund, [*ORDERS[:-1], ORDERS[-1] | {"total": 7}]))
    assert "ADD" not in decisions
    assert all(entry.status == "retired" for entry in after)


def _elsewhere(run: Trajectory) -> Trajectory:
    from msgspec.structs import replace

    return replace(run, task_id=f"other {run.task_id}")
