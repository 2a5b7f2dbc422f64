"""A model as author: replies held against the checks, asked again with the complaint, then refused into the ledger."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.guard_builds import DELTA as SEARCHED
from tests.made_runs import call, packet, run
from tests.model_replies import Runs, build, fenced, new_store

from contramem.bank.bank import Add, Bank
from contramem.bank.card import Skill, SkillCard, SkillDelta
from contramem.bank.store import open_store
from contramem.build.author import Candidate
from contramem.build.model import replies
from contramem.build.model.author import (
    MAX_ASKED,
    SAID_BESIDE,
    ModelChoice,
    Neighbourhood,
    find_twin,
    relate_to_delta,
    relate_to_packet,
)
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import ModelReply, Price, Request
from contramem.llm.exchange import ScriptedModel

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
CARD_TEXT = {name: value for name, value in DELTA.items() if name != "cites"}


def decide(**decision: Any) -> dict[str, Any]:
    return {"decisions": [{"delta_index": 0, "reason": "So.", **decision}]}


ADD = decide(operation="ADD", new_or_updated_card=CARD_TEXT)


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


@pytest.fixture
def two(runs: Runs) -> Runs:
    """A second task of the same kind: the lesson of one is a neighbour of the other's."""
    search = call("Mail.search", {"query": "ads"}, [{"id": 23}])
    delete = call("Mail.delete", {"id": 23})
    other = packet(
        run("a", True, search, delete, "done", task_id="t2"), run("b", False, search, "Nothing there.", task_id="t2")
    )
    return Runs([*runs.packets, other], Vocabulary())


def good_with_neighbour(request: Request) -> dict[str, Any]:
    if request.stage == "reflector":
        return {"deltas": [NEAR if "t2" in request.subject else DELTA]}
    return good(request)


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
def test_a_clumsy_but_usable_reply_is_accepted(tmp_path: Path, runs: Runs, deltas: Any) -> None:
    model = ScriptedModel(by=lambda asked: {"deltas": deltas} if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        (skill,) = (entry.decision for entry in store.ledger() if entry.decision.packet)
    assert {(found.source, found.events) for found in skill.runs} == {("a", (2,)), ("b", (1,))}
    assert len(model.asked) == 3  # two functions, one reflection


@pytest.mark.parametrize("reply", [replies.BuilderReply, replies.ReflectorReply, replies.CuratorReply])
def test_a_schema_asks_for_what_a_card_needs_in_words_that_any_server_knows(reply: Any) -> None:
    def objects(schema: Any) -> Iterator[dict[str, Any]]:
        parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        if isinstance(schema, dict) and "required" in schema and "properties" in schema:
            yield schema
        for part in parts:
            yield from objects(part)

    schema = replies.schema_of(reply)
    assert "$ref" not in json.dumps(schema)
    for whole in objects(schema):
        assert set(whole["properties"]) - set(whole["required"]) <= replies.DISPENSABLE
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
def test_a_model_that_declines_is_not_asked_again(
    tmp_path: Path, two: Runs, stage: str, finish: Any, counted: str
) -> None:
    declined = ModelReply("I would rather not.", finish, 10, 5)
    model = ScriptedModel(by=lambda asked: declined if asked.stage == stage else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        rounds, exchange = build(two, store, model)
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


def test_an_add_without_a_card_makes_one_of_the_delta_as_it_stands(tmp_path: Path, two: Runs) -> None:
    banks = []
    near = {name: value for name, value in NEAR.items() if name != "cites"}
    for name, card in (("full", near), ("short", None)):
        added = decide(operation="ADD", new_or_updated_card=card)
        model = ScriptedModel(
            by=lambda asked, added=added: added if asked.stage == "curator" else good_with_neighbour(asked)
        )
        with new_store(tmp_path, f"{name}.db") as store:
            build(two, store, model)
            banks.append(store.bank().skills)
    assert banks[0] == banks[1]
    assert len(banks[0]) == 2


def patch_of(request: Request, **fields: Any) -> dict[str, Any]:
    """A decision that changes these fields of the card that is shown whole."""
    card_id = json.loads(fenced(request, "cards") or "")["card_id"]
    edit = {"operation": "PATCH", "target_card_ids": [card_id], "retained_card_id": card_id}
    return decide(**edit, new_or_updated_card=fields)


def test_a_patched_card_keeps_evidence_that_the_curator_was_not_shown(tmp_path: Path, two: Runs) -> None:
    transition = "One run deletes, the other reports."

    def answer(asked: Request) -> dict[str, Any]:
        if asked.stage == "reflector":
            (delta,) = good_with_neighbour(asked)["deltas"]
            return {"deltas": [{**delta, "evidence": {"transition": transition}}]}
        if asked.stage == "curator":
            assert transition not in asked.messages[1].text
            return patch_of(asked, tags=["delete", "report"])
        return good(asked)

    with new_store(tmp_path) as store:
        build(two, store, ScriptedModel(by=answer))
        (card,) = store.bank().skills
    assert card.tags == ("delete", "report")
    assert card.evidence.transition == transition


REPORT: dict[str, Any] = {
    **DELTA,
    "title": "Say what was deleted",
    "skill": {"core_rule": "Report the ids that search gave and delete took.", "completion": ["the ids are named"]},
    "functions_used": ["Mail.delete"],
    "guards": [],
}
"""A lesson beside the others."""


def lessons(request: Request) -> dict[str, Any]:
    """The first task teaches one lesson, the second two that are near it."""
    if request.stage == "reflector":
        return {"deltas": [NEAR, REPORT] if "t2" in request.subject else [DELTA]}
    return good(request)


def test_deltas_of_one_packet_are_decided_on_in_one_call(tmp_path: Path, two: Runs) -> None:
    both = {"decisions": [{"delta_index": index, "operation": "ADD", "reason": "New."} for index in (0, 1)]}
    model = ScriptedModel(by=lambda asked: both if asked.stage == "curator" else lessons(asked))
    with new_store(tmp_path) as store:
        build(two, store, model)
        assert {card.title for card in store.bank().skills} == {DELTA["title"], NEAR["title"], REPORT["title"]}
    assert sum(asked.stage == "curator" for asked in model.asked) == 1


def test_a_decision_about_a_card_that_the_one_before_it_changed_is_asked_for_again(tmp_path: Path, two: Runs) -> None:
    def answer(asked: Request) -> dict[str, Any]:
        if asked.stage != "curator":
            return lessons(asked)
        (edit,) = patch_of(
            asked, tags=["delete", *(["again"] if '"delta_index": 0' not in asked.messages[1].text else [])]
        )["decisions"]
        indexes = [json.loads(line)["delta_index"] for line in (fenced(asked, "deltas") or "").splitlines()]
        return {"decisions": [{**edit, "delta_index": index} for index in indexes]}

    model = ScriptedModel(by=answer)
    with new_store(tmp_path) as store:
        build(two, store, model)
        (card,) = store.bank().skills
    first, second = (asked for asked in model.asked if asked.stage == "curator")
    assert [len((fenced(asked, "deltas") or "").splitlines()) for asked in (first, second)] == [2, 1]
    assert card.tags == ("delete", "again")


def test_deltas_that_a_curator_cannot_take_together_are_put_to_it_one_by_one(tmp_path: Path, two: Runs) -> None:
    def answer(asked: Request) -> dict[str, Any]:
        if asked.stage != "curator":
            return lessons(asked)
        indexes = [json.loads(line)["delta_index"] for line in (fenced(asked, "deltas") or "").splitlines()]
        made = [{"delta_index": index, "operation": "ADD", "reason": "New."} for index in indexes]
        return {"decisions": made if len(made) == 1 else []}

    with new_store(tmp_path) as store:
        rounds, _ = build(two, store, ScriptedModel(by=answer))
        assert len(store.bank().skills) == 3
    assert not rounds.report.refused


def test_a_curator_that_edits_a_card_listed_in_brief_is_shown_it_whole(tmp_path: Path, two: Runs) -> None:
    third = packet(
        run("a", True, call("Mail.delete", {"id": 5}), "done", task_id="t3"), run("b", False, "No.", task_id="t3")
    )
    three = Runs([*two.packets, third], Vocabulary())

    def answer(asked: Request) -> dict[str, Any]:
        if asked.stage == "reflector":
            return {"deltas": [{**REPORT, "cites": ["A#1"]}]} if "t3" in asked.subject else good_with_neighbour(asked)
        if asked.stage != "curator":
            return good(asked)
        if not (others := fenced(asked, "others")):
            return decide(operation="ADD")
        card_id = others.split()[0]
        edit = {"operation": "PATCH", "target_card_ids": [card_id], "retained_card_id": card_id}
        return decide(**edit, new_or_updated_card={"tags": ["seen"] if len(asked.messages) > 2 else ["unseen"]})

    model = ScriptedModel(by=answer)
    with new_store(tmp_path) as store:
        build(three, store, model)
        assert [card.tags for card in store.bank().skills if card.tags != ("delete",)] == [("seen",)]
    again = [asked for asked in model.asked if asked.stage == "curator"][-1]
    assert "was listed in brief. This is all it says: <card " in again.messages[-1].text


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param(
            decide(operation="RENAME"),
            "'ADD', 'PATCH', 'MERGE', 'NARROW' or 'NOOP'",
            id="unknown-operation",
        ),
        pytest.param(decide(operation="PATCH"), "target_card_ids", id="patch-of-nothing"),
        pytest.param(decide(operation="NOOP", target_card_ids=["skill::x"]), "none of the cards", id="x"),
        pytest.param(
            decide(operation="ADD", new_or_updated_card={"solves": "Runs that forget the oven."}),
            "solves says what neither the delta",
            id="closure",
        ),
    ],
)
def test_a_patch_has_to_fit_the_bank_and_add_nothing(tmp_path: Path, two: Runs, wrong: Any, complaint: str) -> None:
    patches = [wrong, decide(operation="ADD")]
    model = ScriptedModel(by=lambda asked: patches.pop(0) if asked.stage == "curator" else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        build(two, store, model)
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


def test_the_model_is_not_asked_about_what_a_card_already_says(tmp_path: Path, runs: Runs) -> None:
    again = {**DELTA, "title": "Delete before you report"}
    model = ScriptedModel(by=lambda asked: {"deltas": [DELTA, again]} if asked.stage == "reflector" else good(asked))
    with new_store(tmp_path) as store:
        build(runs, store, model)
        assert [card.title for card in store.bank().skills] == ["Delete before reporting"]
        noop = next(entry.decision for entry in store.ledger() if entry.decision.operation == "NOOP")
    assert noop.reason == SAID_BESIDE
    assert not any(asked.stage == "curator" for asked in model.asked)


def test_an_added_card_may_get_other_guards(tmp_path: Path, two: Runs) -> None:
    added = decide(operation="ADD", new_or_updated_card={"guards": ["response(Mail.search, Mail.delete)"]})
    model = ScriptedModel(by=lambda asked: added if asked.stage == "curator" else good_with_neighbour(asked))
    with new_store(tmp_path) as store:
        build(two, store, model)
        guards = {card.title: card.guards for card in store.bank().skills}
    assert ("response(Mail.search, Mail.delete)",) in guards.values()


# The cards that a Reflector or Curator is shown


STORY = packet(run("a", True, call("Mail.delete_email", {"id": "m-1"}), "Done.", task="Delete the old email."))


def delta(title: str, rule: str, function: str) -> SkillDelta:
    skill = Skill(core_rule=rule, completion=("done",))
    return SkillDelta(title=title, applies_when=title, solves="x", skill=skill, functions_used=(function,))


def bank_of(*deltas: SkillDelta) -> Bank:
    bank = Bank()
    for text in deltas:
        bank = bank.apply(Add(delta_index=0, new_or_updated_card=text, reason="New."), "execution")
    return bank


MAIL = delta("Search before delete_email", "Search the email before you delete it.", "Mail.delete_email")
CAR = delta("Lock doors before startEngine", "Lock the doors before starting the engine.", "Car.startEngine")


def test_a_packet_brings_cards_that_share_words_with_its_task_and_functions() -> None:
    assert [card.title for card in relate_to_packet(STORY, bank_of(MAIL, CAR))] == [MAIL.title]


def test_a_delta_brings_the_card_that_states_the_same_rule_and_not_every_card_that_shares_a_word() -> None:
    again = delta("Search before delete_email again", "Search the email, then delete it.", "Mail.delete_email")
    others = [delta(f"Rule {name}", f"Call {name} before the rest.", f"App.{name}") for name in ("one", "two", "six")]
    assert [card.title for card in relate_to_delta(again, "execution", bank_of(MAIL, CAR, *others))] == [MAIL.title]


def test_an_empty_bank_has_no_neighbours() -> None:
    assert relate_to_packet(STORY, Bank()) == []
    assert relate_to_delta(MAIL, "other ability", bank_of(MAIL)) == []


def neighbourhood(bank: Bank, *deltas: SkillDelta) -> Neighbourhood:
    return Neighbourhood({index: Candidate(text, ()) for index, text in enumerate(deltas)}, "execution", bank)


def test_a_curator_sees_the_nearest_card_in_full_and_the_next_ones_in_brief() -> None:
    near = delta(
        "Search before delete_email, twice", "Search the email before you delete it, twice.", "Mail.delete_email"
    )
    seen = neighbourhood(bank_of(MAIL, near, CAR), MAIL)
    (whole,) = seen.card_lines().splitlines()
    assert json.loads(whole)["title"] == MAIL.title
    assert "evidence" not in json.loads(whole)
    (brief,) = seen.brief_lines().splitlines()
    assert brief.endswith(f"- {near.title}: {near.skill.core_rule}")
    assert len(seen.card_ids) == 2


def test_a_card_that_is_nearest_to_one_delta_is_not_repeated_in_brief_for_another() -> None:
    other = delta("Search before move_email", "Search the email before you move it.", "Mail.delete_email")
    seen = neighbourhood(bank_of(MAIL, other), MAIL, other)
    assert len(seen.card_lines().splitlines()) == 2
    assert seen.brief_lines() == ""


def test_each_delta_is_shown_with_its_number_and_without_empty_fields() -> None:
    first, second = map(json.loads, neighbourhood(Bank(), MAIL, CAR).delta_lines().splitlines())
    assert (first["delta_index"], second["delta_index"]) == (0, 1)
    assert "tags" not in first


# A delta that a card says already is found without asking a model


def reworded(**changes: Any) -> SkillDelta:
    return SkillDelta(**{name: value for name, value in SEARCHED.items() if name != "cites"} | changes)


STATED = SkillCard.of(reworded(), "skill::one", "execution")


@pytest.mark.parametrize(
    ("changes", "is_twin"),
    [
        pytest.param({}, True, id="same"),
        pytest.param({"applies_when": "Something is deleted."}, True, id="other-trigger"),
        pytest.param({"title": "Searching before a delete"}, True, id="other-forms-of-the-words"),
        pytest.param({"functions_used": ["Mail.delete"]}, False, id="other-functions"),
        pytest.param({"title": "Confirm with the owner", "skill": {"core_rule": "Ask the owner.", "completion": ["x"]}},
                     False, id="other-words"),
    ],
)  # fmt: skip
def test_the_same_words_about_the_same_functions_make_a_twin(changes: dict[str, Any], is_twin: bool) -> None:
    assert (find_twin(reworded(**changes), [STATED]) is STATED) == is_twin


def test_the_same_guards_need_fewer_common_words() -> None:
    longer = {"core_rule": "Call search before delete, always.", "completion": ["x"]}
    wording = {"title": "Search before deleting mail", "skill": longer}
    assert find_twin(reworded(**wording), [STATED]) is STATED
    assert find_twin(reworded(**wording, guards=[]), [STATED]) is None
