"""A model as author: replies held against the checks, asked again with the complaint, then refused into the ledger."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.made_runs import call, packet, run
from tests.model_replies import Runs, build, fenced, new_store

from contramem.bank.store import open_store
from contramem.build.model import replies
from contramem.build.model.author import MAX_ASKED, ModelChoice
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.price import Price
from contramem.llm.request import ModelReply, Request
from contramem.llm.scripted import ScriptedModel

CARD = {
    "card": {"what_it_does": "Deletes one mail by its id.", "returns": "ok", "side_effects": "Removes the mail."}
}  # fmt: skip
DELTA: dict[str, Any] = {
    "title": "Delete before reporting",
    "applies_when": "A task asks to delete something that a search has found.",
    "solves": "Runs that report without the delete.",
    "tags": ["delete"],
    "skill": {"core_rule": "Call delete before the final answer.", "completion": ["delete has worked"]},
    "functions_used": ["Mail.delete"],
    "guards": ["existence(Mail.delete)"],
    "cites": ["A#2", "B#1"],
}
ADD = {"operation": "ADD", "new_or_updated_card": {k: v for k, v in DELTA.items() if k != "cites"}, "reason": "New."}


NEAR: dict[str, Any] = {
    **DELTA,
    "title": "Delete what the search gave",
    "skill": {"core_rule": "Give delete the id that search has returned.", "completion": ["the id came from search"]},
    "functions_used": ["Mail.search", "Mail.delete"],
    "guards": [],
}
"""A lesson that the bank has when the Curator is asked about the other one."""


@pytest.fixture
def runs() -> Runs:
    """One run searches and deletes; the other only searches."""
    search = call("Mail.search", {"query": "news"}, [{"id": 17}])
    made = packet(
        run("a", True, search, call("Mail.delete", {"id": 17}), "done"), run("b", False, search, "I found nothing.")
    )
    return Runs([made], Vocabulary())


def good(request: Request) -> dict[str, Any]:
    if request.stage == "builder":
        return CARD if request.subject == "Mail.delete" else {"card": None}
    return {"deltas": [DELTA]} if request.stage == "reflector" else ADD


def good_with_neighbour(request: Request) -> dict[str, Any]:
    return {"deltas": [NEAR, DELTA]} if request.stage == "reflector" else good(request)


def ledger(path: Path) -> list[Any]:
    with open_store(path) as store:
        return [entry.decision for entry in store.ledger()]


def test_the_three_jobs_make_a_bank_and_the_ledger_knows_what_each_decision_cost(tmp_path: Path, runs: Runs) -> None:
    with new_store(tmp_path) as store:
        model = ScriptedModel(by=good, price=Price(1, 10))
        rounds, exchange = build(runs, store, model)
        assert rounds.finished
        assert [card.tool for card in store.bank().functions] == ["Mail.delete"]
        assert [card.title for card in store.bank().skills] == ["Delete before reporting"]
        function, skill, settled = (entry.decision for entry in store.ledger())
        assert function.by.kind == "model"
        assert function.by.name == "scripted"
        assert function.usage.model_calls == 1
        assert skill.usage.model_calls == 1  # the Reflector: with no card near it, nobody has to be asked
        assert skill.usage.tokens_in == sum(asked.tokens for asked in model.asked if asked.stage != "builder")
        assert exchange.spent_usd == pytest.approx(sum(one.cost_usd or 0 for one in store.calls()))
        assert [entry.runs[0].source for entry in [skill]] == ["a"]
        assert (settled.by.kind, settled.usage.model_calls) == ("rules", 0)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param("", "Invalid JSON", id="empty"),
        pytest.param('{"deltas": [{"title": "x"', "Invalid JSON", id="cut"),
        pytest.param({"deltas": [{**DELTA, "colour": "red"}]}, "Extra inputs are not permitted", id="unknown-field"),
        pytest.param({"deltas": [DELTA] * 4}, "at most 3 items", id="too-many"),
        pytest.param({"deltas": [{**DELTA, "cites": ["A#99"]}]}, "cites event 99 of run A", id="no-such-event"),
        pytest.param(
            {"deltas": [{**DELTA, "cites": ["A#2#1"]}]}, "'A#2#1' is not an event; write each as", id="no-event"
        ),
        pytest.param({"deltas": [{**DELTA, "applies_when": "See A#2."}]}, "names A#2, an event of a run", id="event"),
        pytest.param({"deltas": [{**DELTA, "functions_used": ["Mail.burn"]}]}, "Mail.burn", id="no-such-function"),
        pytest.param({"deltas": [{**DELTA, "solves": "Mail ada@example.org."}]}, "an e-mail address", id="personal"),
        pytest.param(
            {"deltas": [{**DELTA, "guards": ["absence(Mail.burn)"]}]}, "no run calls Mail.burn", id="wrong-guard"
        ),
    ],
)
def test_a_reply_that_fails_is_asked_again_with_the_complaint(
    tmp_path: Path, runs: Runs, wrong: Any, complaint: str
) -> None:
    reflections = [wrong, {"deltas": [DELTA]}]
    model = ScriptedModel(by=lambda asked: reflections.pop(0) if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        rounds, exchange = build(runs, store, model)
        assert [card.title for card in store.bank().skills] == ["Delete before reporting"]
    first, again = (asked for asked in model.asked if asked.stage == "reflector")
    assert again.messages[:2] == first.messages
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]
    assert complaint in again.messages[-1].text
    assert exchange.oddities == Counter({"invalid": 1})
    assert not rounds.report.refused


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([{**DELTA, "cites": ["A#2 B#1"]}], id="events in one text"),
        pytest.param([{**DELTA, "cites": ["A#2, B#1", "A#2"]}], id="with commas"),
        pytest.param([DELTA, DELTA, DELTA], id="one lesson three times"),
    ],
)
def test_a_reply_that_says_it_clumsily_is_taken(tmp_path: Path, runs: Runs, deltas: Any) -> None:
    model = ScriptedModel(by=lambda asked: {"deltas": deltas} if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        (skill,) = (entry.decision for entry in store.ledger() if entry.decision.packet)
    assert {(found.source, found.events) for found in skill.runs} == {("a", (2,)), ("b", (1,))}
    assert len(model.asked) == 3  # two functions, one reflection


@pytest.mark.parametrize("reply", [replies.BuilderReply, replies.ReflectorReply, replies.CuratorReply])
def test_a_schema_asks_for_what_a_card_needs_in_words_that_any_server_knows(reply: Any) -> None:
    def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield schema
        yield from schema.get("$defs", {}).values()

    schema = replies.schema_of(reply)
    for found in objects(schema):
        assert set(found["properties"]) - set(found["required"]) <= replies.DISPENSABLE
    assert set(re.findall(r'"pattern": "([^"]*)"', json.dumps(schema))) <= {replies.CITE}


def test_what_fails_to_the_end_is_refused_into_the_ledger_and_its_reply_kept(tmp_path: Path, runs: Runs) -> None:
    model = ScriptedModel(by=lambda asked: "no JSON" if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        rounds, exchange = build(runs, store, model)
        assert sum(asked.stage == "reflector" for asked in model.asked) == MAX_ASKED
        refused = [entry.decision for entry in store.ledger() if not entry.decision.accepted]
        assert len(refused) == 1
        assert refused[0].reason.startswith("reply: ")
        assert f"Asked {MAX_ASKED} times; the last reply is call " in refused[0].reason
        named = refused[0].reason.rpartition("call ")[2].rstrip(".")
        assert [one.reply for one in store.calls() if one.digest.startswith(named)] == ["no JSON"]
        assert refused[0].usage.model_calls == MAX_ASKED
        assert rounds.report.refused == Counter({"reply": 1})
        assert exchange.oddities == Counter({"invalid": MAX_ASKED})
        assert rounds.finished
        assert not store.bank().skills


def test_a_delta_that_fails_the_checks_to_the_end_stands_refused_with_its_text(tmp_path: Path, runs: Runs) -> None:
    bad = {**DELTA, "cites": ["A#99"]}
    model = ScriptedModel(by=lambda asked: {"deltas": [bad]} if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        rounds, _ = build(runs, store, model)
        (refused,) = (entry.decision for entry in store.ledger() if not entry.decision.accepted)
        assert refused.candidate is not None
        assert "cites event 99" in refused.reason
    assert rounds.report.refused == Counter({"evidence": 1})
    assert not any(asked.stage == "curator" for asked in model.asked)


@pytest.mark.parametrize(("finish", "counted"), [("refusal", "refusal"), ("content_filter", "content filter")])
@pytest.mark.parametrize("stage", ["builder", "reflector", "curator"])
def test_a_model_that_declines_is_not_pressed(
    tmp_path: Path, runs: Runs, stage: str, finish: Any, counted: str
) -> None:
    declined = ModelReply("I would rather not.", finish, 10, 5)
    model = ScriptedModel(by=lambda asked: declined if asked.stage == stage else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        rounds, exchange = build(runs, store, model)
        refused = [entry.decision for entry in store.ledger() if not entry.decision.accepted]
    assert rounds.finished
    assert len({asked.digest for asked in model.asked}) == len(model.asked)
    assert {decision.reason.partition(":")[0] for decision in refused} == {counted}
    assert exchange.oddities[counted] == len(refused)
    assert set(rounds.report.refused) == {counted}


def test_a_reply_cut_off_at_its_limit_is_asked_to_say_less(tmp_path: Path, runs: Runs) -> None:
    cut = [ModelReply('{"deltas": [', "length", 10, 16_000), {"deltas": [DELTA]}]
    model = ScriptedModel(by=lambda asked: cut.pop(0) if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        _, exchange = build(runs, store, model)
        assert len(store.bank().skills) == 1
    again = [asked for asked in model.asked if asked.stage == "reflector"][1]
    assert "cut off at 16000 tokens. Say less." in again.messages[-1].text
    assert exchange.oddities == Counter({"truncated": 1})


def test_an_add_without_a_card_makes_one_of_the_delta_as_it_stands(tmp_path: Path, runs: Runs) -> None:
    banks = []
    for name, patch in (("full", ADD), ("short", {**ADD, "new_or_updated_card": None})):
        model = ScriptedModel(by=lambda asked, patch=patch: patch if asked.stage == "curator" else good(asked))
        with new_store(tmp_path, f"{name}.db") as store:
            build(runs, store, model)
            banks.append(store.bank().skills)
    assert banks[0] == banks[1]
    assert len(banks[0]) == 1


def test_a_patched_card_keeps_evidence_that_the_curator_was_not_shown(tmp_path: Path, runs: Runs) -> None:
    transition = "One run deletes, the other reports."
    other = {"core_rule": "Report only what a delete that worked has changed.", "completion": ["delete has worked"]}
    deltas = [
        {**DELTA, "evidence": {"transition": transition}},
        {**NEAR, "title": "Delete, then report", "skill": other},
    ]

    def answer(asked: Request) -> dict[str, Any]:
        if asked.stage != "curator":
            return {"deltas": deltas} if asked.stage == "reflector" else good(asked)
        cards = fenced(asked, "cards")
        card = json.loads(cards or "")
        assert "evidence" not in card
        text = {**card, "tags": ["delete", "report"]}
        known = text.pop("card_id")
        return {
            "operation": "PATCH", "target_card_ids": [known], "retained_card_id": known,
            "new_or_updated_card": text, "reason": "Says it better.",
        }  # fmt: skip

    with new_store(tmp_path) as store:
        build(runs, store, ScriptedModel(by=answer))
        (card,) = store.bank().skills
    assert card.tags == ("delete", "report")
    assert card.evidence.transition == transition


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param(
            {"operation": "RENAME", "reason": "x"},
            "'ADD', 'PATCH', 'MERGE', 'NARROW' or 'NOOP'",
            id="unknown-operation",
        ),
        pytest.param({**ADD, "operation": "PATCH"}, "target_card_ids", id="patch-of-nothing"),
        pytest.param(
            {"operation": "NOOP", "target_card_ids": ["skill::x"], "reason": "x"}, "none of the cards", id="x"
        ),
        pytest.param(
            {**ADD, "new_or_updated_card": {**ADD["new_or_updated_card"], "solves": "Runs that forget the oven."}},  # type: ignore[dict-item]
            "solves says what neither the delta",
            id="closure",
        ),
    ],
)
def test_a_patch_has_to_fit_the_bank_and_add_nothing(tmp_path: Path, runs: Runs, wrong: Any, complaint: str) -> None:
    patches = [wrong, ADD]
    model = ScriptedModel(by=lambda asked: patches.pop(0) if asked.stage == "curator" else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        assert len(store.bank().skills) == 2
    again = [asked for asked in model.asked if asked.stage == "curator"][1]
    assert complaint in again.messages[-1].text


def test_json_in_a_fence_of_markdown_is_json(tmp_path: Path, runs: Runs) -> None:
    model = ScriptedModel(by=lambda asked: f"```json\n{json.dumps(good(asked))}\n```")
    with new_store(tmp_path) as store:
        build(runs, store, model)
        assert len(store.bank().cards) == 2


def test_every_function_that_worked_gets_a_card_where_that_is_asked_for(tmp_path: Path, runs: Runs) -> None:
    builders = [{"card": None}, CARD]
    model = ScriptedModel(
        by=lambda asked: builders.pop(0) if asked.stage == "builder" and asked.subject == "Mail.delete" else good(asked)
    )
    with new_store(tmp_path) as store:
        build(runs, store, model, choice=ModelChoice("scripted", every_function=True))
        assert "Mail.delete" in [card.tool for card in store.bank().functions]
    again = [asked for asked in model.asked if asked.subject == "Mail.delete"][-1]
    assert "gets a card" in again.messages[-1].text


def test_without_reassessment_a_card_keeps_a_guard_that_other_tasks_contradict(tmp_path: Path, runs: Runs) -> None:
    search = call("Mail.search", {"query": "news"}, [{"id": 17}])
    other = packet(
        run("a", True, search, "found it", task_id="t2"), run("b", False, search, "no", task_id="t2"),
        run("c", True, search, "found it", task_id="t2"),
    )  # fmt: skip
    both = Runs([*runs.packets, other], Vocabulary())
    model = ScriptedModel(
        by=lambda asked: {"deltas": []} if asked.stage == "reflector" and "t2" in asked.subject else good(asked)
    )
    with new_store(tmp_path) as store:
        build(both, store, model, reassesses=False)
        (card,) = store.bank().skills
        assert card.guards == ("existence(Mail.delete)",)
        assert all(entry.decision.by.kind == "model" for entry in store.ledger())


def test_nobody_is_asked_about_what_a_card_says_already(tmp_path: Path, runs: Runs) -> None:
    again = {**DELTA, "title": "Delete before you report"}
    model = ScriptedModel(by=lambda asked: {"deltas": [DELTA, again]} if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        assert [card.title for card in store.bank().skills] == ["Delete before reporting"]
        noop = next(entry.decision for entry in store.ledger() if entry.decision.operation == "NOOP")
    assert "says it already" in noop.reason
    assert not any(asked.stage == "curator" for asked in model.asked)


def test_an_added_card_may_get_other_guards(tmp_path: Path, runs: Runs) -> None:
    added = {"operation": "ADD", "guards": ["response(Mail.search, Mail.delete)"], "reason": "New."}
    model = ScriptedModel(by=lambda asked: added if asked.stage == "curator" else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        guards = {card.title: card.guards for card in store.bank().skills}
    assert guards["Delete before reporting"] == ("response(Mail.search, Mail.delete)",)
