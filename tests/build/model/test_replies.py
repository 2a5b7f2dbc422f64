"""What a construction model answers is parsed strictly, and what is wrong with it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contramem.bank.card import Skill, SkillDelta
from contramem.build.model.replies import (
    ReflectorReply,
    UnparsedReply,
    candidates,
    card_shape,
    function_card,
    parse_reply,
    patch,
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


def test_an_add_without_a_card_means_the_delta_itself() -> None:
    delta = SkillDelta(title="Abc", applies_when="x", solves="x", skill=Skill(core_rule="x", completion=("x",)))
    decided = patch('{"operation": "ADD", "reason": "New."}', 0, delta)
    assert decided.new_or_updated_card == delta
    with pytest.raises(UnparsedReply):
        patch('{"operation": "PATCH", "reason": "Better."}', 0, delta)


def test_a_schema_requires_what_a_lesson_cannot_do_without() -> None:
    schema = schema_of(ReflectorReply)["$defs"]
    assert set(schema["Skill"]["required"]) == {"core_rule", "completion"}
    assert "evidence" not in schema["CitedDelta"]["required"]
    assert {"title", "tags", "functions_used", "cites"} <= set(schema["CitedDelta"]["required"])


def test_the_fields_that_a_prompt_asks_for_are_those_of_the_schema_in_its_order() -> None:
    shape = card_shape(hints=True)
    places = [shape.index(f'"{name}"') for name in SkillDelta.model_fields]
    assert places == sorted(places)
    assert '"core_rule": the decision boundary as an imperative' in shape
