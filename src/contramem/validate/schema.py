"""Fields, lengths and functions: is this a card at all, and about something that exists?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from contramem.bank.card import FunctionCard, SkillDelta
from contramem.traces.characters import has_hidden, undo_escapes
from contramem.validate.case import Case

MAX_FIELD_CHARS = 600
MAX_ITEMS = 8
MAX_TAGS = 16
MAX_TAG_CHARS = 40
MAX_CARD_WORDS = 600
"""A card is read in the middle of a task; the longest one in the paper has under 300 words."""

DIAGNOSTIC_TAGS = frozenset({"diagnostic", "diagnosis", "recovery"})
# A Function Card is about a tool, not about outcomes or tasks.
_RUN_TALK = re.compile(
    r"\b(?:passing|failing|passed|failed|successful|unsuccessful)\s+(?:run|trajector|task|model|attempt|agent)",
    re.IGNORECASE,
)


def schema(case: Case) -> Iterator[str]:
    """Report problems with the form of a card, and functions that nobody has seen."""
    yield from _lengths(case)
    if isinstance(case.text, FunctionCard):
        yield from _function_card(case, case.text)
    else:
        yield from _functions(case, case.text)
        if case.cites is not None:
            yield from _without_success(case, case.text)


def _lengths(case: Case) -> Iterator[str]:
    for field in case.fields:
        limit = MAX_TAG_CHARS if field.name == "tags" else MAX_FIELD_CHARS
        if has_hidden(field.text) or undo_escapes(field.text) != field.text:
            yield f"{field.name} holds characters that nobody sees; write it again without them."
        if len(field.text) > limit:
            yield f"{field.name} has {len(field.text)} characters; at most {limit} are allowed."
    items = Counter(field.name for field in case.fields)
    for name, count in items.items():
        limit = MAX_TAGS if name == "tags" else MAX_ITEMS
        if count > limit:
            yield f"{name} has {count} items; at most {limit} are allowed."
    if (length := sum(len(field.text.split()) for field in case.fields)) > MAX_CARD_WORDS:
        yield f"The card has {length} words; at most {MAX_CARD_WORDS} are allowed."


def _functions(case: Case, delta: SkillDelta) -> Iterator[str]:
    existing = case.functions.union(*(contents.functions for contents in case.contents))
    if not existing:
        return
    for function in delta.functions_used:
        if function not in existing:
            yield f"{function} was not called in any run."


def _without_success(case: Case, delta: SkillDelta) -> Iterator[str]:
    if any(packet.passing for packet in case.packets) or not any(packet.failing for packet in case.packets):
        return
    if not delta.skill.recovery and DIAGNOSTIC_TAGS.isdisjoint(tag.lower() for tag in delta.tags):
        yield "Every run failed, so the lesson can only be a diagnosis or a recovery; tag it so, or say how to recover."
    if delta.evidence.good_example:
        yield "Every run failed, so there is no good example to give."


def _function_card(case: Case, card: FunctionCard) -> Iterator[str]:
    for field in case.fields:
        if _RUN_TALK.search(field.text):
            yield f"{field.name} speaks about how runs ended; a Function Card is about the function alone."
    calls = [observation for observation in case.observations if observation.function == card.tool]
    if case.observations and not calls:
        yield f"No call of {card.tool} was observed."
    if calls:
        given_arguments = {name for call in calls for name in call.arguments}
        for argument in card.arguments:
            if argument.name not in given_arguments:
                yield f"No observed call of {card.tool} has an argument {argument.name}."
