"""What a guard that a model wrote is supported by, over every task of its ability."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.guard_builds import DELETE, DELTA, GUARD, SEARCH, learn, learn_from, shows_it, task, taught_by
from tests.model_replies import Runs, build, curated, fenced, new_store

from contramem.bank.bank import GuardSupport
from contramem.build.model.author import MAX_ASKED
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.support import replays
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.guards.guard import guards_of, parse_guard
from contramem.llm.client import Request
from contramem.llm.exchange import ScriptedModel
from contramem.pipeline import build_bank
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions


def _hinted(request: Request) -> list[str]:
    return re.findall(r"^  guard: (.+?) \(kept by passing", fenced(request, "hints") or "", re.MULTILINE)


def _as_written(text: str, of: Packet) -> dict[str, Any]:
    """A lesson in a model's words about the guard."""
    called = [(one.letter, step) for one in of.runs for step in one.actions if step.function and not step.tainted]
    functions = list(parse_guard(text).functions) or [called[0][1].function]
    cites = [f"{letter}#{step.position}" for letter, step in called if step.function in functions]
    skill = {"core_rule": f"Keep {text}.", "completion": ["It was kept"]}
    title = f"Mind {text}"[:120]
    return {**DELTA, "title": title, "skill": skill, "functions_used": functions, "guards": [text], "cites": cites}


def test_support_is_counted_over_every_task_of_the_ability(tmp_path: Path) -> None:
    packets = [shows_it("one"), shows_it("two"), task("three", (True, (SEARCH, DELETE)), (True, (SEARCH, DELETE)))]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        support = store.bank().entries[card.card_id].support
    assert support.guard_counts == {GUARD: GuardSupport(held=4, broken=2)}
    assert len(support.tasks) == 2  # where nobody failed, nothing is shown
    assert settled.operation == "PATCH"
    assert settled.reason == "Checked against all runs: 2 tasks, 2 sources."
    assert settled.by.kind == "rules"


def test_support_grows_with_the_runs_and_a_second_build_counts_nothing_twice(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        learn(store, [shows_it("one")], taught_by("one"))
        first = learn(store, [shows_it("one"), shows_it("two")], taught_by("one"))
        assert learn(store, [shows_it("one"), shows_it("two")], taught_by("one")) == first
        (held,) = (one for one in store.bank().entries.values())
        # Runs of another task alone: what was counted before is not at hand, and is kept.
        learn(store, [shows_it("three")], taught_by("one"))
        (grown,) = (one for one in store.bank().entries.values())
    assert held.support.guard_counts[GUARD] == GuardSupport(held=2, broken=2)
    assert grown.support.guard_counts[GUARD] == GuardSupport(held=3, broken=3)


@pytest.mark.parametrize(
    ("guard", "reason", "asked_times"),
    [
        ("Search comes before delete", "is not a guard", MAX_ASKED),
        ("precedence(Mail.serach, Mail.delete)", "no run calls Mail.serach. Perhaps Mail.search?", MAX_ASKED),
        ("absence(Mail.delete)", "broken by passing runs too", 1),
    ],
)
def test_a_refused_guard_does_not_cost_the_card_and_one_that_does_not_hold_is_not_asked_for_again(
    tmp_path: Path, guard: str, reason: str, asked_times: int
) -> None:
    model = ScriptedModel(by=taught_by("one", guards=[guard, GUARD]))
    with new_store(tmp_path) as store:
        rounds, _ = build(Runs([shows_it("one")], Vocabulary()), store, model)
        (card,) = store.bank().skills
        (refused,) = (entry.decision for entry in store.ledger() if not entry.decision.accepted)
    assert card.guards == (GUARD,)
    assert sum(asked.stage == "reflector" for asked in model.asked) == asked_times
    assert refused.reason.startswith("guard: ")
    assert reason in refused.reason
    assert refused.reason.endswith("“Search before deleting” goes on without it.")
    assert rounds.report.refused == {"guard": 1}


def test_a_guard_that_only_the_curator_wrote_is_replayed_as_well(tmp_path: Path) -> None:
    def reply(request: Request) -> dict[str, Any]:
        near = {"title": "Delete by search", "functions_used": ["Mail.delete"], "guards": []}
        if request.stage == "curator":
            card = {"guards": [GUARD, "existence(Mail.search"]}
            added = {"delta_index": 0, "operation": "ADD", "new_or_updated_card": card, "reason": "New."}
            return {"decisions": [added]}
        # Without a card near it, nobody would be asked about the other.
        answer: dict[str, Any] = {"deltas": [DELTA | near]} if "/one#" in f"{request.subject}#" else {"deltas": [DELTA]}
        return answer if request.stage == "reflector" else {"card": None}

    with new_store(tmp_path) as store:
        decisions = learn(store, [shows_it("one"), shows_it("two")], reply)
        guards = {card.guards for card in store.bank().skills}
    assert guards == {(), (GUARD,)}
    (refused,) = (decision.reason for decision in decisions if not decision.accepted)
    assert refused.startswith("guard: 'existence(Mail.search' is not a guard.")


def test_spelling_makes_no_other_guard(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        learn(store, [shows_it("one")], taught_by("one", guards=[" precedence( Mail.search,Mail.delete )", GUARD]))
        (card,) = store.bank().skills
    assert card.guards == (GUARD,)


@pytest.mark.slow
def test_a_model_that_takes_up_the_hints_of_real_runs_gets_them_counted_where_the_card_is_for(
    tmp_path: Path, shared_data: Path
) -> None:
    """The first of tau-bench's retail tasks, and a model that writes every hint down as it is."""
    traces = read_traces([shared_data / "tau_bench" / "retail.tar.xz"], ReadOptions())
    with Collection(one for one in traces if int(one.task_id) < 30) as pool:
        vocabulary = Vocabulary(pool)
        runs = Runs(list(contrast(pool, vocabulary)), vocabulary)
    packets = {packet.task_key: packet for packet in runs.packets}

    def reply(request: Request) -> dict[str, Any]:
        if request.stage == "builder":
            return {"card": None}
        if request.stage == "curator":
            return curated(request)
        return {"deltas": [_as_written(hint, packets[request.subject]) for hint in _hinted(request)[:3]]}

    with new_store(tmp_path) as store:
        decisions = learn_from(store, runs, reply)
        cards = [one for one in store.bank().entries.values() if one.served]
    assert cards, [decision.reason for decision in decisions]
    assert not [decision.reason for decision in decisions if not decision.accepted]
    for held in cards:
        for guard in guards_of(held.card.guards):  # type: ignore[union-attr]
            everywhere = [found for _, found in replays((guard,), runs.packets)]
            counts = held.support.guard_counts[str(guard)]
            assert 0 < counts.held <= sum(len(found.held) for found in everywhere)
            assert 0 < counts.broken <= sum(len(found.broken) for found in everywhere)
            assert counts.contradicted <= sum(len(found.contradicted) for found in everywhere)
    settled = [decision for decision in decisions if decision.by.kind == "rules"]
    assert {card.card.card_id for card in cards} <= {one for decision in settled for one in decision.card_ids}
    assert all(decision.reason for decision in settled)


def test_a_build_by_rules_does_not_judge_a_models_card_by_the_bar_for_its_own(tmp_path: Path) -> None:
    packets = [shows_it("one"), shows_it("two")]
    runs = Runs(packets, Vocabulary())
    with new_store(tmp_path) as store:
        learn(store, packets[:1], taught_by("one"))
        build_bank(packets, store, RuleAuthor(), runs.checks, only="skills")
        (card,) = (card for card in store.bank().skills if card.title == DELTA["title"])
        assert store.bank().entries[card.card_id].support.guard_counts[GUARD] == GuardSupport(held=2, broken=2)
