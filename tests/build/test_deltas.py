"""Lessons out of another store's ledger, curated again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.build.rules.kinds.test_required_argument import forgot
from tests.build.skill_builds import build_skills, refusing

from contramem.bank.bank import Bank
from contramem.bank.store import open_store
from contramem.build.deltas import DeltasFrom
from contramem.build.rules.author import RuleAuthor
from contramem.errors import UsageError

PACKETS = [refusing("push_tag", 1), refusing("push_tag", 2)]


@pytest.fixture
def deltas(tmp_path: Path) -> DeltasFrom:
    build_skills(tmp_path, *PACKETS)
    with open_store(tmp_path / "bank.db") as store:
        return DeltasFrom(store.ledger(), RuleAuthor(), "bank.db")


def test_runs_that_the_store_never_saw_are_an_error_that_says_what_to_give(deltas: DeltasFrom) -> None:
    deltas.check(PACKETS)
    assert deltas.reflect(refusing("push_tag", 3), Bank()) == []
    with pytest.raises(UsageError, match="the same runs"):
        deltas.check([refusing("push_tag", 3)])


def test_who_wrote_the_lessons_stays_on_record(deltas: DeltasFrom) -> None:
    assert deltas.attribution.kind == "rules"
    assert "deltas of rules" in deltas.attribution.version


def test_a_lesson_that_many_tasks_taught_together_is_found_in_the_one_that_shows_it_best(tmp_path: Path) -> None:
    tasks = [forgot(number) for number in (1, 2)]
    build_skills(tmp_path, *tasks)
    with open_store(tmp_path / "bank.db") as store:
        deltas = DeltasFrom(store.ledger(), RuleAuthor(), "bank.db")
    found = [deltas.reflect(packet, Bank()) for packet in tasks]
    assert [[candidate.delta.title for candidate in each] for each in found] == [
        ["Always give time_max to create_plot"],
        [],
    ]
