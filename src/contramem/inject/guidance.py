"""Guidance: the text an agent is shown, at task start and before a call, within its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from sys import maxsize

from contramem.bank.card import Card, FunctionCard
from contramem.inject.budget import ENCODING, CardText, Size, count_tokens, fit, one_line_of, size, text_of
from contramem.prompts import Prompt, render
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import Profile
from contramem.retrieve.retriever import Retrieval

TASK_START = "inject/prompts/task_start.jinja"
BEFORE_CALL = "inject/prompts/before_call.jinja"
BEFORE_FINAL = "inject/prompts/before_final.jinja"


@dataclass(frozen=True)
class Guidance:
    """What to put in front of the agent. False when there is nothing: then put nothing."""

    text: str
    tokens: int
    """Of `text`, counted with `encoding`."""
    encoding: str
    card_ids: tuple[str, ...]
    """The cards in the text, in its order."""
    card_tokens: tuple[int, ...] = ()
    """What each of them takes; the policy and headings around them take the rest of `tokens`."""
    shortened: tuple[str, ...] = ()
    """Those of them that lost fields to the budget."""
    left_out: tuple[str, ...] = ()
    """Cards that fit the task but not the budget."""
    hits: tuple[Hit, ...] = ()
    """At task start: why each card is there."""
    prompt: str = ""
    """Digest of the template."""
    note: str = ""
    """Why there is nothing, or what the caller may have overlooked. For people, not for the agent."""

    def __bool__(self) -> bool:
        return bool(self.text)


def nothing(note: str, left_out: Sequence[str] = ()) -> Guidance:
    """No guidance, and the reason."""
    return Guidance("", 0, ENCODING, (), left_out=tuple(left_out), note=note)


class Writer:
    """Puts cards into words. Texts of cards are kept, so that each is filled and counted once; threads may share it."""

    def __init__(self) -> None:
        self._texts: dict[str, CardText] = {}
        self._before_call: dict[tuple[str, Profile, bool], Guidance] = {}

    def at_start(self, retrieval: Retrieval, profile: Profile) -> Guidance:
        """What memory has for a task, skills first."""
        hits = retrieval.skills + retrieval.functions
        if not hits:
            return nothing(retrieval.note or "no card is relevant enough to this task")
        frame = _start_frame(profile.brief, bool(retrieval.functions))
        texts = [self._text(hit.card) for hit in hits]
        kept = fit(texts, _room(frame, profile.budget_tokens, profile.budget_words))
        if not any(kept):
            return nothing(f"no card fits into {profile.budget_tokens} tokens", [text.card_id for text in texts])
        shown = [text.first(lines) for text, lines in zip(texts, kept, strict=True)]
        skills, functions = shown[: len(retrieval.skills)], shown[len(retrieval.skills) :]
        prompt = render(
            TASK_START, skills=list(filter(None, skills)), functions=list(filter(None, functions)), brief=profile.brief
        )
        seen = tuple(hit for hit, lines in zip(hits, kept, strict=True) if lines)
        return replace(_guidance(prompt, texts, kept), hits=seen, note=retrieval.note)

    def before_call(
        self, card: FunctionCard, profile: Profile, *, failed: bool = False, missing: Sequence[str] = ()
    ) -> Guidance:
        """What earlier calls of one function showed. `missing`: required arguments that this call lacks."""
        if missing:  # rare, and different each time
            return self._write_before_call(card, profile, failed, missing)
        key = (card.card_id, profile, failed)
        known = self._before_call.get(key)
        if known is None:
            known = self._before_call[key] = self._write_before_call(card, profile, failed, missing)
        return known

    def before_final(self, card: Card, profile: Profile) -> Guidance:
        """The finalization card once more, cut to the budget of one call."""
        return _within(profile.call_budget_tokens, self._text(card), lambda text: render(BEFORE_FINAL, card=text))

    def _write_before_call(
        self, card: FunctionCard, profile: Profile, failed: bool, missing: Sequence[str]
    ) -> Guidance:
        values = {"function": card.tool, "failed": failed, "missing": list(missing), "brief": profile.brief}
        text = one_line_of(card) if profile.brief else self._text(card)
        return _within(profile.call_budget_tokens, text, lambda lines: render(BEFORE_CALL, card=lines, **values))

    def _text(self, card: Card) -> CardText:
        known = self._texts.get(card.card_id)
        if known is None:
            known = self._texts[card.card_id] = text_of(card)
        return known


def _guidance(prompt: Prompt, texts: Sequence[CardText], kept: Sequence[int]) -> Guidance:
    pairs = list(zip(texts, kept, strict=True))
    shown = prompt.text.strip()
    return Guidance(
        text=shown,
        tokens=count_tokens(shown),
        encoding=ENCODING,
        card_ids=tuple(text.card_id for text, lines in pairs if lines),
        card_tokens=tuple(text.upto[lines].tokens for text, lines in pairs if lines),
        shortened=tuple(text.card_id for text, lines in pairs if 0 < lines < len(text.lines)),
        left_out=tuple(text.card_id for text, lines in pairs if not lines),
        prompt=prompt.digest,
    )


def _within(budget_tokens: int, card: CardText, fill: Callable[[str], Prompt]) -> Guidance:
    """One card in its frame, with as many of its fields as the budget allows."""
    kept = fit([card], _room(size(fill("").text), budget_tokens, None))
    if not kept[0]:
        return nothing(f"the card does not fit into {budget_tokens} tokens", [card.card_id])
    return _guidance(fill(card.first(kept[0])), [card], kept)


@cache
def _start_frame(brief: bool, functions: bool) -> Size:
    """How much of the budget the policy and the headings take."""
    return size(render(TASK_START, skills=[], functions=[""] if functions else [], brief=brief).text)


def _room(frame: Size, budget_tokens: int, budget_words: int | None) -> Size:
    return Size(budget_tokens - frame.tokens, maxsize if budget_words is None else budget_words - frame.words)
