"""A build in parts: a part in which nothing changed is skipped, and a bank that grew equals a new one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.made_runs import call, run

from contramem.bank.frozen import freeze
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.build.recorder import BuildReport
from contramem.build.rules.author import RuleAuthor
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet
from contramem.contrast.packets import (
    ContrastPlan,
    PacketRow,
    Packets,
    contrast_selected,
    contrast_shard,
    learn_vocabulary,
)
from contramem.contrast.selection import Selection
from contramem.pipeline import build_bank
from contramem.traces.trajectory import Trajectory
from contramem.validate.validator import Validator


@pytest.fixture
def pool() -> Iterator[Collection]:
    """Tasks of two abilities: agents that look a record up before they change it pass."""
    runs = []
    for task in range(40):
        look = call("Desk.find", {"name": f"case {task}"}, {"record": f"R-{task}77"})
        change = call("Desk.update", {"record": f"R-{task}77"}, "updated")
        ability = "a few" if task % 4 == 0 else "many"  # so that the first by name is not the largest, which goes first
        about: dict[str, Any] = {"task": f"Close case {task}.", "task_id": f"t{task}", "ability": ability}
        runs += [run("careful", True, look, change, "done", **about), run("hasty", False, change, "done", **about)]
    with Collection(runs) as pool:
        yield pool


def build(pool: Collection, store: Path, tasks: int | None = None) -> list[Decision]:
    vocabulary = learn_vocabulary(pool)
    packets = contrast_selected(pool, pool.tasks()[:tasks], vocabulary)
    with open_store(store, create=True) as opened:
        build_bank(packets, opened, RuleAuthor(vocabulary), Validator(vocabulary.public))
        return [entry.decision for entry in opened.ledger()]


class CountedPackets(Packets):
    """Counts the packets that are read."""

    reads = 0

    def _load(self, number: int) -> Packet:
        self.reads += 1
        return super()._load(number)


def test_an_ability_without_a_new_task_is_not_decided_on_again(pool: Collection, tmp_path: Path) -> None:
    vocabulary = learn_vocabulary(pool)
    rows = [row for shard in pool.shards() for row in contrast_shard(ContrastPlan(vocabulary), shard)]
    with open_store(tmp_path / "bank.db", create=True) as store:

        def learn(some: Iterable[PacketRow]) -> tuple[int, BuildReport]:
            packets = CountedPackets(pool.cache, vocabulary)
            for number, row in enumerate(some):
                packets.store(b"%d" % number, row)
            checks = Validator(vocabulary.public)
            report = build_bank(packets, store, RuleAuthor(vocabulary), checks, only="skills")
            return packets.reads, report

        learn(rows)
        bank = store.bank()
        assert learn(rows) == (0, BuildReport(unchanged=len(rows)))
        assert store.bank() == bank
        more = [*rows, rows[0]._replace(content="a run more")]
        reads, _ = learn(more)
        assert reads == sum(row.ability == rows[0].ability for row in more)


def test_a_function_whose_card_is_made_from_other_tasks_than_before_gets_the_card_of_a_new_store(
    pool: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contramem.contrast.packets.MAX_TASKS_OF_FUNCTION", 8)
    build(pool, tmp_path / "grown.db", tasks=12)
    for store in ("grown.db", "new.db"):
        build(pool, tmp_path / store)
    with open_store(tmp_path / "grown.db") as grown, open_store(tmp_path / "new.db") as new:
        cards = {card_id: entry for card_id, entry in new.bank().entries.items() if card_id.startswith("function::")}
        assert cards and all(len(entry.support.tasks) == 8 for entry in cards.values())
        assert {card_id: grown.bank().entries[card_id].support for card_id in cards} == {
            card_id: entry.support for card_id, entry in cards.items()
        }


def make_runs(tasks: Iterable[int], seed: int) -> Iterator[Trajectory]:
    """Whoever reads the policy first passes, and above 500 whoever also tells the desk."""
    for task in tasks:
        amount = 50 + task * 137 % 900
        for number in range(4):
            random = Random(f"{seed}.{task}.{number}")
            record, keeps = f"R-{10_000 + task}", random.random() < 0.5
            steps = [call("Desk.find", {"name": f"case {task}"}, {"id": record, "amount": amount})]
            steps += [call("Desk.read_policy", {"id": record}, {"limit": 500})] * (keeps or random.random() < 0.2)
            steps += [call("Desk.update", {"id": record, "state": "closed"}, "updated")]
            steps += [call("Desk.notify", {"id": record, "channel": "mail"}, "sent")] * (keeps and amount > 500)
            told = {"task": f"Close case {task}.", "task_id": f"t{task}", "ability": "closing"}
            yield run(f"model-{number}", keeps != (random.random() < 0.1), *steps, "done", **told)


def grow(runs: Iterable[Trajectory], store: Path) -> None:
    with Collection(runs) as pool:
        build(pool, store)


@pytest.mark.parametrize("seed", (1, 2))
def test_a_bank_that_grew_differs_from_a_new_one_in_version_numbers_only(tmp_path: Path, seed: int) -> None:
    grow(make_runs(range(12), seed), tmp_path / "grown.db")
    grow(make_runs(range(14), seed), tmp_path / "grown.db")
    grow(make_runs(range(14), seed), tmp_path / "new.db")
    grown, new = (read_frozen_cards(tmp_path / name) for name in ("grown.db", "new.db"))
    assert any(card["kind"] == "skill" for card in new)
    assert grown != new
    assert [card | {"version": 0} for card in grown] == [card | {"version": 0} for card in new]


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_task_that_is_drawn_no_longer_does_not_keep_cards_as_they_were(tmp_path: Path, seed: int) -> None:
    drawn = [build_selected(make_runs(range(tasks), seed), tmp_path / "grown.db") for tasks in (20, 26)]
    assert not drawn[0] <= drawn[1], "the second build has left tasks out that the first one drew"
    build_selected(make_runs(range(26), seed), tmp_path / "new.db")
    grown, new = (read_frozen_cards(tmp_path / name) for name in ("grown.db", "new.db"))
    set_aside = {"version": 0, "taught_by": []}  # tasks that taught a card stay named on it
    assert [card | set_aside for card in grown] == [card | set_aside for card in new]


def build_selected(runs: Iterable[Trajectory], store: Path) -> set[str]:
    with Collection(runs) as pool:
        vocabulary, selection = learn_vocabulary(pool), Selection(pool.sketches(), max_tasks=12)
        packets = contrast_selected(pool, selection.keys, vocabulary)
        with open_store(store, create=True) as opened:
            author, checks = RuleAuthor(vocabulary), Validator(vocabulary.public)
            build_bank(packets, opened, author, checks, left_out=selection.keys_left_out)
    return set(selection.keys)


def read_frozen_cards(store: Path) -> list[dict[str, object]]:
    with open_store(store) as opened:
        return [json.loads(line) for line in freeze(opened.bank()).splitlines()[1:]]
