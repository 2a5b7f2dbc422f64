"""The same runs give the same bank in whatever order they come; more runs make more of it; people are respected."""

from __future__ import annotations

from pathlib import Path
from random import Random
from shutil import copytree

import msgspec
import pytest
from tests.shipped import bank, build, by_four_sources, contramem, decisions, frozen, shipped, written

from contramem.bank import acts
from contramem.bank.bank import Bank
from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.bank.store import open_store
from contramem.traces.trajectory import Trajectory

HALF = ("desk", "drive", "posts")


def in_shuffled_parts(folder: Path, runs: tuple[Trajectory, ...], seed: int) -> list[Path]:
    """The runs in five files, shuffled over them and inside each, and the files in any order."""
    rng = Random(seed)
    shuffled = rng.sample(runs, len(runs))
    names = rng.sample(["a", "b", "c", "d", "e"], 5)
    return [written(folder / f"{name}.jsonl", shuffled[part::5]) for part, name in enumerate(names)]


def without_words(tool):
    return msgspec.structs.replace(tool, description="")


@pytest.fixture
def rewritten(young: Path, tmp_path: Path) -> list[Card]:
    """The cards of the bank that many more runs rewrite, as long as no person says otherwise."""
    grown = Path(copytree(young, tmp_path / "grown")) / "bank.db"
    before = bank(grown)
    build(grown, young / "many.jsonl")
    after = bank(grown)
    return [card for card in before.cards if after.entries[card.card_id].card.version > card.version]


def judge(store: Path, verdict: acts.Verdict, *card_ids: str) -> Bank:
    with open_store(store) as living, living.writing("bank review"):
        for card_id in card_ids:
            living.record(acts.judge(living.bank(), card_id, verdict, acts.person("anna"), "as I know it"))
        return living.bank()


@pytest.mark.slow
def test_the_order_of_files_and_of_runs_in_them_does_not_change_the_bank(tmp_path: Path) -> None:
    build(tmp_path / "ordered.db", written(tmp_path / "ordered.jsonl", shipped(*HALF)))
    for seed in range(2):
        parts, shuffled = tmp_path / f"parts-{seed}", tmp_path / f"shuffled-{seed}.db"
        parts.mkdir()
        build(shuffled, *in_shuffled_parts(parts, shipped(*HALF), seed))
        assert frozen(shuffled) == frozen(tmp_path / "ordered.db")
        assert [d.reason for d in decisions(shuffled)] == [d.reason for d in decisions(tmp_path / "ordered.db")]


def test_the_description_of_a_tool_does_not_depend_on_the_order_of_runs(tmp_path: Path) -> None:
    runs = shipped("desk")
    bare = tuple(msgspec.structs.replace(run, tools=tuple(map(without_words, run.tools))) for run in runs)
    mixed = [*runs[: len(runs) // 2], *bare[len(runs) // 2 :]]
    build(tmp_path / "one.db", written(tmp_path / "one.jsonl", mixed))
    build(tmp_path / "other.db", written(tmp_path / "other.jsonl", mixed[::-1]))
    assert frozen(tmp_path / "one.db") == frozen(tmp_path / "other.db")


def test_building_again_with_the_same_runs_changes_nothing_and_says_so(tmp_path: Path) -> None:
    runs, store = written(tmp_path / "runs.jsonl", shipped("desk", "drive")), tmp_path / "bank.db"
    first = build(store, runs)
    before = frozen(store), decisions(store)
    again = build(store, runs)
    assert (again["decisions"], again["function_decisions"], again["refused"], again["deltas"]) == ({}, {}, {}, 0)
    assert again["unchanged"] >= first["packets"] + first["functions"]
    assert "Nothing new: these runs were already learned from." in contramem("build", runs, "--bank", store).stdout
    assert (frozen(store), decisions(store)) == before


@pytest.mark.slow
def test_more_runs_evolve_the_bank_and_earlier_cards_keep_their_ids(tmp_path: Path) -> None:
    store = tmp_path / "bank.db"
    build(store, written(tmp_path / "few.jsonl", by_four_sources(shipped(*HALF))))
    before = bank(store)
    said = build(store, written(tmp_path / "many.jsonl", shipped(*HALF, "trip")))
    assert {"ADD", "PATCH"} <= set(said["decisions"])
    after = bank(store)
    assert before.entries.keys() < after.entries.keys()
    for card_id, held in before.entries.items():
        assert after.entries[card_id].card.version >= held.card.version
        assert set(held.support.tasks) <= set(after.entries[card_id].support.tasks)


def test_runs_of_other_tasks_alone_leave_earlier_cards_in_place(tmp_path: Path) -> None:
    store = tmp_path / "bank.db"
    build(store, written(tmp_path / "desk.jsonl", shipped("desk")))
    before = bank(store).entries
    build(store, written(tmp_path / "trip.jsonl", shipped("trip")))
    after = bank(store).entries
    assert before.items() <= after.items()
    assert len(after) > len(before)


def test_a_pinned_card_is_not_rewritten(store: Path, rewritten: list[Card]) -> None:
    assert {type(card) for card in rewritten} == {FunctionCard, SkillCard}
    pinned = [card.card_id for card in rewritten]
    before = judge(store, "PIN", *pinned)
    said = build(store, store.with_name("many.jsonl"))
    after = bank(store)
    for card_id in pinned:
        assert after.entries[card_id].card == before.entries[card_id].card
        assert after.entries[card_id].status == "pinned"
    assert said["refused"]["bank"] > 0
    assert any("is pinned, so a build may not rewrite it" in decision.reason for decision in decisions(store))


def test_what_a_person_rejected_is_not_learned_again(store: Path) -> None:
    lessons = {card.card_id: card for card in bank(store).skills}
    rejected = [*lessons, *(card.card_id for card in bank(store).functions)]
    judge(store, "REJECT", *rejected)
    said = build(store, store.with_name("many.jsonl"))
    after = bank(store)
    assert {after.entries[card_id].status for card_id in rejected} == {"retired"}
    assert said["refused"]["bank"] > 0
    assert any("anna took it out of service" in decision.reason for decision in decisions(store))
    new = [card for card in after.skills if card.card_id not in lessons]
    assert new
    known = {(card.ability, card.guards) for card in lessons.values() if card.guards}
    assert known.isdisjoint((card.ability, card.guards) for card in new)
