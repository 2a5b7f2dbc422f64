"""What a construction model answers is parsed strictly, and what is wrong with it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contramem.bank.bank import Add, Bank
from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.model.replies import (
    ReflectorReply,
    UnparsedReply,
    candidates,
    card_shape,
    function_card,
    parse_reply,
    patches,
    schema_of,
)

DELTA: dict[str, Any] = {
    "title": "Search first", "applies_when": "A delete.", "solves": "Wrong deletes.", "cites": ["A#1", "B#2"],
    "skill": {"core_rule": "Search before you delete.", "completion": ["searched"]},
}  # fmt: skip


def test_a_builder_reply_becomes_the_card_of_the_function_that_was_asked_about() -> None:
    card = function_card('{"card": {"what_it_does": "Deletes.", "returns": "Nothing."}}', "Mail.delete")
    assert card is not None
    assert (card.card_id, card.app, card.function) == ("function::Mail.delete", "Mail", "delete")
    assert function_card('{"card": null}', "Mail.delete") is None


def test_a_lesson_that_is_said_twice_is_one_candidate() -> None:
    (candidate,) = candidates(json.dumps({"deltas": [DELTA, DELTA]}))
    assert candidate.delta.title == "Search first"
    assert [(cite.run, cite.position) for cite in candidate.cites] == [("A", 1), ("B", 2)]


@pytest.mark.parametrize("cites", [["A#1 B#2"], ["A#1, B#2"], ["A#1;B#2"]])
def test_events_that_are_named_together_are_told_apart(cites: list[str]) -> None:
    (candidate,) = candidates(json.dumps({"deltas": [{**DELTA, "cites": cites}]}))
    assert len(candidate.cites) == 2


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("", "The answer: Invalid JSON"),
        ('{"deltas": [{"title": "x"}]}', "deltas.0.title: String should have at least 3 characters."),
        (json.dumps({"deltas": [{**DELTA, "cites": ["event 4"]}]}), "is not an event; write each as RUN#EVENT"),
        (json.dumps({"deltas": [{**DELTA, "mood": "good"}]}), "deltas.0.mood: Extra inputs are not permitted."),
    ],
)
def test_an_unusable_reply_says_where_and_why(reply: str, complaint: str) -> None:
    with pytest.raises(UnparsedReply) as raised:
        parse_reply(reply, ReflectorReply)
    assert complaint in str(raised.value)


def test_json_in_a_fence_is_read() -> None:
    assert parse_reply('```json\n{"deltas": []}\n```', ReflectorReply).deltas == ()


LESSON = SkillDelta(
    title="Abc", applies_when="x", solves="x", skill=Skill(core_rule="x", completion=("x",), recovery="Try again."),
    evidence=Evidence(transition="They parted."),
)  # fmt: skip


def decisions(*made: dict[str, Any]) -> str:
    return json.dumps({"decisions": [{"delta_index": 0, "reason": "So.", **decision} for decision in made]})


def test_an_add_without_a_card_means_the_delta_itself() -> None:
    (decided,) = patches(decisions({"operation": "ADD"}), {0: LESSON}, Bank()).values()
    assert decided.new_or_updated_card == LESSON
    with pytest.raises(UnparsedReply, match=r"decisions\.0\.PATCH\.target_card_ids"):
        patches(decisions({"operation": "PATCH"}), {0: LESSON}, Bank())


def test_a_patch_gives_only_the_fields_that_change() -> None:
    bank = Bank().apply(Add(delta_index=0, new_or_updated_card=LESSON, reason="First."), "search")
    (card,) = bank.skills
    change = {"applies_when": "y", "skill": {"core_rule": "z"}}
    edit = {"operation": "NARROW", "target_card_ids": [card.card_id], "retained_card_id": card.card_id}
    decided = patches(decisions({**edit, "new_or_updated_card": change}), {0: LESSON}, bank)[0].new_or_updated_card
    assert decided is not None
    assert (decided.applies_when, decided.skill.core_rule, decided.skill.recovery) == ("y", "z", "Try again.")
    assert decided.evidence == LESSON.evidence


@pytest.mark.parametrize("made", [(), ({"operation": "ADD"},) * 2, ({"operation": "ADD", "delta_index": 1},)])
def test_every_delta_needs_one_decision(made: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(UnparsedReply, match="one decision for each delta_index: 0"):
        patches(decisions(*made), {0: LESSON}, Bank())


def test_a_schema_requires_what_a_lesson_cannot_do_without() -> None:
    schema = schema_of(ReflectorReply)["properties"]["deltas"]["items"]
    assert set(schema["properties"]["skill"]["required"]) == {"core_rule", "completion"}
    assert "evidence" not in schema["required"]
    assert {"title", "tags", "functions_used", "cites"} <= set(schema["required"])


def test_the_fields_that_a_prompt_asks_for_are_those_of_the_schema_in_its_order() -> None:
    shape = card_shape(hints=True)
    places = [shape.index(f'"{name}"') for name in SkillDelta.model_fields]
    assert places == sorted(places)
    assert '"core_rule": the decision boundary as an imperative' in shape
