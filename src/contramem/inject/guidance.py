"""Guidance: the text an agent is shown, at task start and before a call, within its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from sys import maxsize

from contramem.bank.card import Card, FunctionCard
from contramem.counting import ENCODING, count_paragraphs, count_tokens
from contramem.inject.budget import CardText, Size, fit, name_and_purpose, one_line_of, size, text_of
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
        self._texts: dict[tuple[str, bool], CardText] = {}
        self._before_call: dict[tuple[str, Profile, bool], Guidance] = {}

    def at_start(self, retrieval: Retrieval, profile: Profile) -> Guidance:
        """What memory has for a task, skills first."""
        hits = retrieval.skills + retrieval.functions
        if not hits:
            return nothing(retrieval.note or "no card is relevant enough to this task")
        frame = _start_frame(profile.brief)
        texts = [self._text(hit.card, profile.brief) for hit in hits]
        kept = fit(texts, frame.room(profile, bool(retrieval.functions)))
        if not any(kept):
            return nothing(f"no card fits into {profile.budget_tokens} tokens", [text.card_id for text in texts])
        shown = [text.first(lines) for text, lines in zip(texts, kept, strict=True)]
        first_function = len(retrieval.skills)
        paragraphs = frame.around(shown[:first_function], shown[first_function:])
        return _guidance(
            "\n\n".join(paragraphs),
            count_paragraphs(paragraphs),
            frame.digest,
            list(zip(texts, kept, strict=True)),
            hits=tuple([hit for hit, lines in zip(hits, kept, strict=True) if lines]),
            note=retrieval.note,
        )

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

    def _text(self, card: Card, brief: bool = False) -> CardText:
        known = self._texts.get((card.card_id, brief))
        if known is None:
            short = name_and_purpose(card) if brief and isinstance(card, FunctionCard) else None
            known = self._texts[card.card_id, brief] = short or text_of(card)
        return known


def _guidance(
    text: str,
    tokens: int,
    digest: str,
    cards: Sequence[tuple[CardText, int]],
    *,
    hits: tuple[Hit, ...] = (),
    note: str = "",
) -> Guidance:
    """`cards` are those that were to be shown, with how many of their lines are."""
    shown = [(card, lines) for card, lines in cards if lines]
    return Guidance(
        text,
        tokens,
        ENCODING,
        card_ids=tuple([card.card_id for card, _ in shown]),
        card_tokens=tuple([card.upto[lines].tokens for card, lines in shown]),
        shortened=tuple([card.card_id for card, lines in shown if lines < len(card.lines)]),
        left_out=tuple([card.card_id for card, lines in cards if not lines]),
        hits=hits,
        prompt=digest,
        note=note,
    )


def _within(budget_tokens: int, card: CardText, fill: Callable[[str], Prompt]) -> Guidance:
    """One card in its frame, with as many of its fields as the budget allows."""
    [kept] = fit([card], _room(size(fill("").text), budget_tokens, None))
    if not kept:
        return nothing(f"the card does not fit into {budget_tokens} tokens", [card.card_id])
    prompt = fill(card.first(kept))
    text = prompt.text.strip()
    return _guidance(text, count_tokens(text), prompt.digest, [(card, kept)])


@dataclass(frozen=True)
class _StartFrame:
    """The template of task start around its cards. It is filled once: each card is a paragraph of its own."""

    policy: str
    heading: str
    """Before the functions, if there are any."""
    size: Size
    size_with_functions: Size
    digest: str

    def room(self, profile: Profile, functions: bool) -> Size:
        """What is left of the profile's budget for cards."""
        taken = self.size_with_functions if functions else self.size
        return _room(taken, profile.budget_tokens, profile.budget_words)

    def around(self, skills: Sequence[str], functions: Sequence[str]) -> list[str]:
        """The paragraphs of the text; cards without any line are left out."""
        paragraphs = [self.policy, *filter(None, skills)]
        shown = [*filter(None, functions)]
        return [*paragraphs, self.heading, *shown] if shown else paragraphs


@cache
def _start_frame(brief: bool) -> _StartFrame:
    alone = render(TASK_START, skills=[], functions=[], brief=brief)
    with_functions = render(TASK_START, skills=[], functions=[""], brief=brief)
    policy = alone.text.strip()
    heading = with_functions.text.strip().removeprefix(policy).strip()
    return _StartFrame(policy, heading, size(alone.text), size(with_functions.text), alone.digest)


def _room(frame: Size, budget_tokens: int, budget_words: int | None) -> Size:
    return Size(budget_tokens - frame.tokens, maxsize if budget_words is None else budget_words - frame.words)
