"""A build in parts: the same decisions in the same order, whether parts are decided on here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.made_runs import call, run

from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.build import parts
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.engine import SERIAL, Engine
from contramem.pipeline import build_bank
from contramem.traces.pool import Pool
from contramem.validate.validator import Validator


class TwoAtOnce:
    """An engine that says it has two workers and works on each shard here: only what is sent and returned counts."""

    workers = 2

    def __init__(self) -> None:
        self.sent = 0

    def map(self, job: Callable[[Any, Any], Any], shards: Iterable[Any], shared: Any) -> Iterator[Any]:
        for shard in shards:
            self.sent += 1
            yield job(shared, shard)

    def close(self) -> None:
        pass


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Tasks of two abilities: agents that look a record up before they change it pass."""
    runs = []
    for task in range(parts.MIN_TASKS_FOR_WORKERS):
        look = call("Desk.find", {"name": f"case {task}"}, {"record": f"R-{task}77"})
        change = call("Desk.update", {"record": f"R-{task}77"}, "updated")
        about: dict[str, Any] = {"task": f"Close case {task}.", "task_id": f"t{task}", "ability": f"ability {task % 2}"}
        runs += [run("careful", True, look, change, "done", **about), run("hasty", False, change, "done", **about)]
    with Pool(runs) as pool:
        yield pool


def build(pool: Pool, store: Path, engine: Engine, tasks: int | None = None) -> list[Decision]:
    vocabulary = learn_vocabulary(pool, SERIAL)
    with (
        contrast_selected(pool, pool.tasks()[:tasks], vocabulary, SERIAL) as packets,
        open_store(store, create=True) as opened,
    ):
        build_bank(packets, opened, RuleAuthor(vocabulary), Validator(vocabulary.closed), engine=engine)
        return [entry.decision for entry in opened.ledger()]


@pytest.mark.slow
def test_workers_decide_what_one_process_decides_in_the_same_order(pool: Pool, tmp_path: Path) -> None:
    engine = TwoAtOnce()
    assert build(pool, tmp_path / "parts.db", engine) == build(pool, tmp_path / "here.db", SERIAL)
    assert engine.sent > 2  # a part for each ability, and those of the functions


def test_few_tasks_are_decided_on_without_workers(pool: Pool, tmp_path: Path) -> None:
    engine = TwoAtOnce()
    assert build(pool, tmp_path / "few.db", engine, tasks=parts.MIN_TASKS_FOR_WORKERS - 1)
    assert engine.sent == 0
