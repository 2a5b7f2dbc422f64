"""Renders cards and cuts them to a budget. A card is cut only between fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Any, NamedTuple

from contramem.bank.card import Card, FunctionCard
from contramem.bank.fields import SKILL_FIELDS, SkillField
from contramem.counting import count_tokens
from contramem.prompts import render
from contramem.retrieve.hit import Hit

_GONE = -maxsize  # marks a card that was left out
# Control characters, and those that reorder or hide text: a field must stay one visible line.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


class Size(NamedTuple):
    """The length of a text."""

    tokens: int
    words: int

    def __add__(self, other: object) -> Size:
        assert isinstance(other, Size)
        return Size(self.tokens + other.tokens, self.words + other.words)


@dataclass(frozen=True)
class CardText:
    """A card as the agent reads it, one field per line, the most important first."""

    card_id: str
    lines: tuple[str, ...]
    upto: tuple[Size, ...]
    """`upto[n]` is the size of the first n lines."""
    essential: int
    """With fewer lines than this, the card is useless and is left out."""

    def first(self, lines: int) -> str:
        return "\n".join(self.lines[:lines])


def size(text: str) -> Size:
    return Size(count_tokens(text), len(text.split()))


def text_of(card: Card) -> CardText:
    """Render a card. Each field becomes one line, so that no card can pose as two cards or as one of our headings."""
    essential = 2 if isinstance(card, FunctionCard) else 3
    lines = _write(card).strip().split("\n")
    upto = [Size(1, 0)]  # the blank line before the card
    for line in lines:
        # Including the line break: the tokenizer never merges it with what follows, so the sizes of lines add up.
        upto.append(upto[-1] + size(line + "\n"))
    return CardText(card.card_id, tuple(lines), tuple(upto), essential)


def _write(card: Card) -> str:
    if isinstance(card, FunctionCard):
        return render(
            "inject/prompts/function_card.jinja", card=in_lines({"single_source": False} | card.model_dump())
        ).text
    shown = [(field, field.texts(card)) for field in SKILL_FIELDS if field.guidance]
    if card.skill.completion == (card.skill.core_rule,):  # as of proposed cards without guards
        shown = [(field, texts) for field, texts in shown if field.path != "skill.completion"]
    fields = [(field.guidance, _join(field, texts)) for field, texts in shown if texts]
    if getattr(card, "single_source", False):
        fields.append(("Seen", "in runs of one agent only"))
    return render("inject/prompts/skill_card.jinja", title=in_lines(card.title), fields=fields).text


def _join(field: SkillField, texts: tuple[str, ...]) -> str:
    if not field.is_list:
        return str(in_lines(texts[0]))
    return (", " if field.style == "functions" else "; ").join(in_lines(texts))


def lesson_of(card: FunctionCard) -> str:
    """The first known mistake or, without one, the first rule; empty if there is neither."""
    return next(iter(in_lines([*card.common_mistakes, *card.usage_rules])), "")


def sources_of(card: FunctionCard) -> str:
    """Which other functions provide the values of its arguments; empty if none is known."""
    sources = [f"`{argument.name}`: {argument.meaning}" for argument in card.arguments if "`" in argument.meaning]
    return "; ".join(in_lines(sources))


def beyond_description(card: FunctionCard) -> str:
    """What the card adds to the tool's own description, in one line; may be empty."""
    return "; ".join(filter(None, (lesson_of(card), sources_of(card))))


def brief_text_of(card: FunctionCard) -> CardText | None:
    """A function in one line for small models: what to call before it or, if unknown, a lesson. None if the card adds
    nothing to the tool's own description."""
    say = sources_of(card) or lesson_of(card)
    return _one_line(card, f"- {in_lines(card.function)}: {say}.") if say else None


def list_text_of(hit: Hit) -> CardText:
    """The calls of a hit as a numbered list, which is never cut."""
    lines = tuple(f"{number}. {bare(function)}" for number, function in enumerate(hit.call_list, 1))
    upto = [Size(1, 0)]
    for line in lines:
        upto.append(upto[-1] + size(line + "\n"))
    return CardText(hit.card.card_id, lines, tuple(upto), essential=len(lines))


def bare(function: str) -> str:
    """The name of a function without its app, as the agent's tools use it."""
    return str(in_lines(function.rpartition(".")[2]))


def bare_name(card: FunctionCard) -> CardText:
    return _one_line(card, f"- {in_lines(card.function)}.")


def _one_line(card: FunctionCard, line: str) -> CardText:
    return CardText(card.card_id, (line,), (Size(1, 0), Size(1, 0) + size(line + "\n")), essential=1)


def in_lines(value: Any) -> Any:
    """`value` with every text in it on one line and without invisible characters."""
    if isinstance(value, str):
        return " ".join(_UNPRINTABLE.sub(" ", value).split())
    if isinstance(value, dict):
        return {key: in_lines(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [in_lines(item) for item in value]  # items are joined by semicolons, so their full stops are removed
        return [item.removesuffix(".") if isinstance(item, str) else item for item in items]
    return value


def fit(cards: Sequence[CardText], limit: Size) -> list[int]:
    """How many lines of each card to show so that the total stays within `limit`; 0 leaves a card out.

    The card with most lines beyond the essential ones loses its last line first; among equals, the last card does. When
    all cards are down to the essential lines, the last card is left out.
    """
    counts = [len(card.lines) for card in cards]
    spare = [len(card.lines) - card.essential for card in cards]
    tokens, words = sum([card.upto[-1].tokens for card in cards]), sum([card.upto[-1].words for card in cards])
    while (tokens > limit.tokens or words > limit.words) and (most := max(spare, default=_GONE)) != _GONE:
        number = len(cards) - 1 - spare[::-1].index(most)
        upto, before = cards[number].upto, counts[number]
        counts[number], spare[number] = (before - 1, most - 1) if most > 0 else (0, _GONE)
        # A card that is left out also saves the blank line before it.
        after = upto[before - 1] if most > 0 else Size(0, 0)
        tokens, words = tokens - upto[before].tokens + after.tokens, words - upto[before].words + after.words
    return counts
