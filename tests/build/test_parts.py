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
from contramem.build.recorder import BuildReport
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.contrast.packet_file import ContrastPlan, PacketFile, PacketRow, contrast_shard
from contramem.engine import SERIAL, Engine
from contramem.pipeline import build_bank
from contramem.traces.pool import Pool
from contramem.validate.validator import Validator


class TwoAtOnce:
    """An engine that says it has two workers and works on each shard here: only what is sent and returned counts."""

    workers = 2

    def __init__(self) -> None:
        self.sent = 0
        self.abilities: list[int] = []
        """The number of packets in each part about an ability, in the order in which they were sent."""

    def map(self, job: Callable[[Any, Any], Any], shards: Iterable[Any], shared: Any) -> Iterator[Any]:
        for shard in shards:
            self.sent += 1
            self.abilities += [] if shard.group.functions else [len(shard.encoded)]
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
        ability = "a few" if task % 4 == 0 else "many"  # so that the first by name is not the largest, which goes first
        about: dict[str, Any] = {"task": f"Close case {task}.", "task_id": f"t{task}", "ability": ability}
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
    assert engine.abilities == [30, 10]


def test_few_tasks_are_decided_on_without_workers(pool: Pool, tmp_path: Path) -> None:
    engine = TwoAtOnce()
    assert build(pool, tmp_path / "few.db", engine, tasks=parts.MIN_TASKS_FOR_WORKERS - 1)
    assert engine.sent == 0


class CountedPackets(PacketFile):
    """Counts the packets that are read."""

    reads = 0

    def read_encoded(self, number: int) -> bytes:
        self.reads += 1
        return super().read_encoded(number)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [SERIAL, TwoAtOnce()], ids=["here", "by workers"])
def test_an_ability_without_a_new_task_is_not_decided_on_again(pool: Pool, tmp_path: Path, engine: Engine) -> None:
    vocabulary = learn_vocabulary(pool)
    rows = [row for shard in pool.shards() for row in contrast_shard(ContrastPlan(vocabulary), shard)]
    with open_store(tmp_path / "bank.db", create=True) as store:

        def learn(some: Iterable[PacketRow]) -> tuple[int, BuildReport]:
            with CountedPackets(some, vocabulary) as packets:
                checks = Validator(vocabulary.closed)
                report = build_bank(packets, store, RuleAuthor(vocabulary), checks, engine=engine, only="skills")
                return packets.reads, report

        learn(rows)
        bank = store.bank()
        assert learn(rows) == (0, BuildReport(unchanged=len(rows)))
        assert store.bank() == bank
        more = [*rows, rows[0]._replace(content="a run more")]
        reads, _ = learn(more)
        assert reads == sum(row.ability == rows[0].ability for row in more)


def test_a_function_whose_card_is_made_from_other_tasks_than_before_gets_the_card_of_a_new_store(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contramem.contrast.packet_file.MAX_TASKS_OF_FUNCTION", 8)
    build(pool, tmp_path / "grown.db", SERIAL, tasks=12)
    for store in ("grown.db", "new.db"):
        build(pool, tmp_path / store, SERIAL)
    with open_store(tmp_path / "grown.db") as grown, open_store(tmp_path / "new.db") as new:
        cards = {card_id: entry for card_id, entry in new.bank().entries.items() if card_id.startswith("function::")}
        assert cards and all(len(entry.support.tasks) == 8 for entry in cards.values())
        assert {card_id: grown.bank().entries[card_id].support for card_id in cards} == {
            card_id: entry.support for card_id, entry in cards.items()
        }
