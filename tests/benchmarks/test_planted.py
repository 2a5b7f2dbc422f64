"""benchmarks/planted: the made-up domains keep the rules that they are said to have."""

from __future__ import annotations

import dataclasses
import random
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from worlds.claims import claims_of, is_found, is_true, naive  # type: ignore[import-not-found]
from worlds.clinic import Clinic  # type: ignore[import-not-found]
from worlds.cluster import Cluster  # type: ignore[import-not-found]
from worlds.greenhouse import Greenhouse  # type: ignore[import-not-found]
from worlds.harbour import Harbour  # type: ignore[import-not-found]
from worlds.house_rules import Reference  # type: ignore[import-not-found]
from worlds.insurer import Insurer  # type: ignore[import-not-found]
from worlds.laboratory import Laboratory  # type: ignore[import-not-found]
from worlds.permits import Permits  # type: ignore[import-not-found]
from worlds.world import Session, runs  # type: ignore[import-not-found]

from contramem.bank.card import Argument, FunctionCard
from contramem.guards.guard import parse_guard

TASKS = 12


def attempt(world: Any, number: int, **faults: float) -> bool:
    """Does an agent with these weaknesses, and no others, solve the task?"""
    made = world(random.Random(number))
    agent = dataclasses.replace(world.agents[0], faults=faults, habits={})
    session = Session(made, made.ask(number), agent, random.Random(0))
    made.attempt(session)
    return bool(made.solved())


@pytest.mark.parametrize("world", [Clinic, Cluster])
def test_an_agent_without_weaknesses_solves_every_task(world: Any) -> None:
    assert all(attempt(world, number) for number in range(TASKS))


@pytest.mark.parametrize(
    ("world", "fault"),
    [(Clinic, fault) for fault in ("slot", "allergy", "silent", "some", "twice")]
    + [(Cluster, fault) for fault in ("some", "lease", "snapshot", "watch", "release", "page")],
)
def test_each_weakness_spoils_some_task(world: Any, fault: str) -> None:
    assert not all(attempt(world, number, **{fault: 1.0}) for number in range(TASKS))


def test_the_same_seed_gives_the_same_runs() -> None:
    assert list(runs(Clinic, 3, seed=1)) == list(runs(Clinic, 3, seed=1)) != list(runs(Clinic, 3, seed=2))


def test_a_card_is_found_by_what_it_says_and_held_against_the_truth() -> None:
    triage = Argument(name="triage", meaning="triage", form="one of emergency, routine, urgent", required=None)
    slot = Argument(
        name="slot_id", meaning="values come from results of `find_patient`", form="identifier", required=None
    )
    card = FunctionCard(
        card_id="function::clinic.book_visit",
        tool="clinic.book_visit",
        app="clinic",
        function="book_visit",
        what_it_does="Books.",
        arguments=(triage, slot),
        returns="A record.",
    )
    words, source = ("words", "book_visit", "triage"), ("source", "book_visit", "slot_id", "find_patient")
    said = claims_of(card)
    assert said == {(*words, "emergency", "routine", "urgent"), source}
    assert {claim for claim in said if is_true(claim, Clinic)} == {(*words, "emergency", "routine", "urgent")}
    assert [rule.name for rule in Clinic.planted if is_found(rule.claims, said)] == ["triage is one of three words"]


def test_comparing_call_names_finds_an_order_that_only_passing_runs_keep() -> None:
    def record(passed: bool, *names: str) -> dict[str, Any]:
        calls = [{"role": "assistant", "tool_calls": [{"function": {"name": name}}]} for name in names]
        return {"task_id": "t", "passed": passed, "messages": calls}

    found = naive([record(True, "cordon_node", "drain_node"), record(False, "drain_node")])
    assert found == {("precedence", "cordon_node", "drain_node"), ("response", "drain_node", "cordon_node")}


@pytest.mark.parametrize(
    "world",
    [*(pytest.param(world, marks=pytest.mark.slow) for world in (Laboratory, Insurer, Harbour, Permits)), Greenhouse],
)
def test_each_house_rule_can_be_stated_by_a_guard(world: Any) -> None:
    reference = Reference(world)
    for rule in world.house_rules:
        guards = [parse_guard(rule.guard)]
        assert reference.is_true(guards) and reference.rules_stated(guards) == {rule.name}, rule.name


@pytest.mark.parametrize(
    ("world", "guard"),
    [
        pytest.param(
            Laboratory, "precedence(laboratory.dilute_sample, laboratory.run_assay)", id="its-condition-is-missing"
        ),
        pytest.param(
            Greenhouse, "existence(greenhouse.readLamps) when greenhouse.setHeating", id="a-habit-without-effect"
        ),
        pytest.param(Greenhouse, "precedence(greenhouse.listBeds, greenhouse.irrigate)", id="what-everybody-does"),
    ],
)
def test_a_guard_that_is_no_house_rule_is_not_true(world: Any, guard: str) -> None:
    assert not Reference(world).is_true([parse_guard(guard)])
