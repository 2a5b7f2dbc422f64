"""Guidance: the text that an agent is shown at task start, before a call or before the end, within its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from sys import maxsize
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.counting import ENCODING, count_paragraphs, count_tokens
from contramem.inject.budget import (
    CardText,
    Size,
    bare,
    bare_name,
    beyond_description,
    brief_text_of,
    fit,
    lesson_of,
    list_text_of,
    size,
    sources_of,
    text_of,
)
from contramem.prompts import Prompt, render
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import Profile
from contramem.retrieve.retriever import Retrieval

if TYPE_CHECKING:
    from contramem.guards.watch import Obligation
    from contramem.inject.rule_lines import RuleLine

TASK_START = "inject/prompts/task_start.jinja"
BEFORE_CALL = "inject/prompts/before_call.jinja"
BEFORE_FINAL = "inject/prompts/before_final.jinja"
CALL_SKILLS = "inject/prompts/call_skills.jinja"
OBLIGATIONS = "inject/prompts/obligations.jinja"
COMMAND = "inject/prompts/command.jinja"
REPEATED_CALL = "inject/prompts/repeated_call.jinja"
TOOL_DESCRIPTION = "inject/prompts/tool_description.jinja"
DESCRIPTION_TOKENS = 80

Moment: TypeAlias = Literal["before", "after", "end"]
"""When a reminder is given: before a call that would break a guard, after one that did, or at the end of the run."""


@dataclass(frozen=True)
class Guidance:
    """A text for the agent. False if there is nothing to show."""

    text: str
    tokens: int
    """The tokens of `text`, counted with `encoding`."""
    encoding: str
    card_ids: tuple[str, ...]
    """The cards in the text, in order."""
    card_tokens: tuple[int, ...] = ()
    """The tokens of each card; the rest of `tokens` is the policy and the headings."""
    shortened: tuple[str, ...] = ()
    """The cards that were cut to fit the budget."""
    listed: tuple[str, ...] = ()
    """The cards of which only a line of the list of rules is shown."""
    left_out: tuple[str, ...] = ()
    """Cards that fit the task but were left out because of the budget."""
    hits: tuple[Hit, ...] = ()
    """At task start: why each card is there."""
    prompt: str = ""
    """Digest of the template."""
    note: str = ""
    """Why there is nothing, or a warning. For people, not for the agent."""

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def skills(self) -> list[SkillCard]:
        return [hit.card for hit in self.hits if isinstance(hit.card, SkillCard)]

    @property
    def whole_card_ids(self) -> set[str]:
        """The cards that are shown in full."""
        return set(self.card_ids).difference(self.shortened, self.listed)


def nothing(note: str, left_out: Sequence[str] = ()) -> Guidance:
    """Empty guidance with a reason."""
    return Guidance("", 0, ENCODING, (), left_out=tuple(left_out), note=note)


def together(first: Guidance | None, second: Guidance | None) -> Guidance | None:
    """Join two guidances; None if both are empty."""
    if not (first and second):
        return first or second or None
    text = f"{first.text}\n\n{second.text}"
    tokens = dict(zip(first.card_ids, first.card_tokens, strict=True))
    for card_id, more in zip(second.card_ids, second.card_tokens, strict=True):
        tokens[card_id] = tokens.get(card_id, 0) + more
    return replace(
        first,
        text=text,
        tokens=count_tokens(text),
        card_ids=tuple(tokens),
        card_tokens=tuple(tokens.values()),
        left_out=first.left_out + second.left_out,
    )


class Writer:
    """Renders guidance. Caches the texts of cards, so that each is rendered and counted once. Thread-safe."""

    def __init__(self) -> None:
        self._texts: dict[str, CardText] = {}
        self._brief_texts: dict[str, CardText | None] = {}
        self._rule_lines: dict[str, RuleLine | None] = {}
        self._before_call: dict[tuple[str, Profile, bool], Guidance] = {}

    def at_start(self, retrieval: Retrieval, profile: Profile) -> Guidance:
        """The guidance at task start: skills, functions, and the list of rules, which has a budget of its own."""
        cards = self._cards_at_start(retrieval, profile)
        rules = self._fitting_rules(retrieval.listed, profile.rule_list_tokens)
        if not rules:
            return cards
        frame = _start_frame(profile.brief)
        lines = "\n".join([rule.text for rule in rules])
        paragraphs = [*(cards.text or frame.policy).split("\n\n"), f"{frame.rules_heading}\n{lines}"]
        listed = tuple([rule.hit.card.card_id for rule in rules])
        return replace(
            cards,
            text="\n\n".join(paragraphs),
            tokens=count_paragraphs(paragraphs),
            card_ids=cards.card_ids + listed,
            card_tokens=cards.card_tokens + tuple([rule.tokens for rule in rules]),
            listed=listed,
            hits=cards.hits + tuple([rule.hit for rule in rules]),
            prompt=frame.digest,
            note=retrieval.note,
        )

    def _fitting_rules(self, hits: Sequence[Hit], budget_tokens: int) -> list[_ListedRule]:
        """The best hits whose lines fit into the budget. First as many as possible in their short form, then the best
        of them in full. A long line does not stop shorter ones."""
        room = budget_tokens - _start_frame(False).rules_tokens if hits else 0
        rules = []
        for hit in hits:
            if (line := self._rule_line(hit.card)) and line.short_tokens <= room:
                rules.append(_ListedRule(hit, line.short, line.short_tokens))
                room -= line.short_tokens
        for number, rule in enumerate(rules):
            if (line := self._rule_line(rule.hit.card)) and (more := line.full_tokens - line.short_tokens) <= room:
                rules[number] = _ListedRule(rule.hit, line.full, line.full_tokens)
                room -= more
        return rules

    def _cards_at_start(self, retrieval: Retrieval, profile: Profile) -> Guidance:
        if not (retrieval.skills or retrieval.functions):
            return nothing(retrieval.note or "no card is relevant enough to this task")
        functions = [
            (hit, text) for hit in retrieval.functions if (text := self._function_text(hit.card, profile.brief))
        ]
        hits = [*retrieval.skills, *(hit for hit, _ in functions)]
        if not hits:
            return nothing("the functions that fit have cards that say no more than the tools' own descriptions")
        write = list_text_of if profile.brief else self._hit_text
        texts = [*map(write, retrieval.skills), *(text for _, text in functions)]
        frame = _start_frame(profile.brief)
        counts = fit(texts, frame.room(profile, bool(functions)))
        if not any(counts):
            return nothing(f"no card fits into {profile.budget_tokens} tokens", [text.card_id for text in texts])
        excerpts = [text.first(lines) for text, lines in zip(texts, counts, strict=True)]
        first_function = len(retrieval.skills)
        paragraphs = frame.around(excerpts[:first_function], excerpts[first_function:])
        return _guidance(
            "\n\n".join(paragraphs),
            count_paragraphs(paragraphs),
            frame.digest,
            list(zip(texts, counts, strict=True)),
            hits=tuple([hit for hit, lines in zip(hits, counts, strict=True) if lines]),
            note=retrieval.note,
        )

    def before_call(
        self, card: FunctionCard, profile: Profile, *, failed: bool = False, missing: Sequence[str] = ()
    ) -> Guidance:
        """The card of one function before a call. `missing` are required arguments that the call lacks."""
        if missing:  # rare, and different each time
            return self._write_before_call(card, profile, failed, missing)
        key = (card.card_id, profile, failed)
        written = self._before_call.get(key)
        if written is None:
            written = self._before_call[key] = self._write_before_call(card, profile, failed, missing)
        return written

    def skills_at_call(self, cards: Sequence[SkillCard], profile: Profile, *, moment: Moment) -> Guidance:
        """Skill Cards about a function before or after its call, as many as fit into the budget of one call."""
        texts = [self._text(card) for card in cards]
        frame = size(render(CALL_SKILLS, cards=[""], moment=moment).text)
        counts = fit(texts, _room(frame, profile.call_budget_tokens, None))
        excerpts = [text.first(lines) for text, lines in zip(texts, counts, strict=True) if lines]
        if not excerpts:
            return nothing(f"no card fits into {profile.call_budget_tokens} tokens", [text.card_id for text in texts])
        prompt = render(CALL_SKILLS, cards=excerpts, moment=moment)
        text = prompt.text.strip()
        return _guidance(text, count_tokens(text), prompt.digest, list(zip(texts, counts, strict=True)))

    def describe_repeated_call(self, card: FunctionCard) -> Guidance:
        """The warning before a call that just failed with the same arguments."""
        prompt = render(REPEATED_CALL, function=card.tool, lesson=lesson_of(card))
        return _one_line(card, prompt)

    def command(self, card: FunctionCard, first: str) -> Guidance:
        """The instruction for a small model after this function failed: what to call first."""
        return _one_line(card, render(COMMAND, function=card.function, first=bare(first)))

    def tool_description(self, card: FunctionCard) -> Guidance:
        """What the card adds to the tool's own description, in one line."""
        for lesson in (beyond_description(card), lesson_of(card), sources_of(card)):
            guidance = _one_line(card, render(TOOL_DESCRIPTION, lesson=lesson))
            if lesson and guidance.tokens <= DESCRIPTION_TOKENS:
                return guidance
        return nothing("the card says no more than the tool's own description")

    def before_final(self, card: Card, profile: Profile) -> Guidance:
        """The finalization card again, cut to the budget of one call."""
        return _within(profile.call_budget_tokens, self._text(card), lambda text: render(BEFORE_FINAL, card=text))

    def obligations(self, obligations: Sequence[Obligation], profile: Profile, *, moment: Moment) -> Guidance:
        """Reminders from guards of shown cards, within the budget of one call."""
        for count in range(len(obligations), 0, -1):
            lines = [(obligation.text, obligation.title) for obligation in obligations[:count]]
            prompt = render(OBLIGATIONS, moment=moment, lines=lines)
            text = prompt.text.strip()
            if (tokens := count_tokens(text)) <= profile.call_budget_tokens:
                cards = {obligation.card_id: count_tokens(obligation.text) for obligation in obligations[:count]}
                return Guidance(text, tokens, ENCODING, tuple(cards), tuple(cards.values()), prompt=prompt.digest)
        return nothing(
            f"nothing fits into {profile.call_budget_tokens} tokens", [obligation.card_id for obligation in obligations]
        )

    def _write_before_call(
        self, card: FunctionCard, profile: Profile, failed: bool, missing: Sequence[str]
    ) -> Guidance:
        values = {"function": card.tool, "failed": failed, "missing": list(missing), "brief": profile.brief}
        text = self._function_text(card, profile.brief) or (bare_name(card) if missing else None)
        if text is None:
            return nothing("the card says no more than the tool's own description")
        return _within(profile.call_budget_tokens, text, lambda lines: render(BEFORE_CALL, card=lines, **values))

    def _function_text(self, card: Card, brief: bool) -> CardText | None:
        if not brief:
            return self._text(card)
        if card.card_id not in self._brief_texts:
            assert isinstance(card, FunctionCard)
            self._brief_texts[card.card_id] = brief_text_of(card)
        return self._brief_texts[card.card_id]

    def _rule_line(self, card: Card) -> RuleLine | None:
        if card.card_id not in self._rule_lines:
            from contramem.inject.rule_lines import rule_line_of  # parsing guards takes time to import

            assert isinstance(card, SkillCard)
            self._rule_lines[card.card_id] = rule_line_of(card)
        return self._rule_lines[card.card_id]

    def _hit_text(self, hit: Hit) -> CardText:
        return self._text(hit.card)

    def _text(self, card: Card) -> CardText:
        written = self._texts.get(card.card_id)
        if written is None:
            written = self._texts[card.card_id] = text_of(card)
        return written


def _guidance(
    text: str,
    tokens: int,
    digest: str,
    cards: Sequence[tuple[CardText, int]],
    *,
    hits: tuple[Hit, ...] = (),
    note: str = "",
) -> Guidance:
    """`cards` are the candidates, each with the number of lines shown."""
    visible = [(card, lines) for card, lines in cards if lines]
    return Guidance(
        text,
        tokens,
        ENCODING,
        card_ids=tuple([card.card_id for card, _ in visible]),
        card_tokens=tuple([card.upto[lines].tokens for card, lines in visible]),
        shortened=tuple([card.card_id for card, lines in visible if lines < len(card.lines)]),
        left_out=tuple([card.card_id for card, lines in cards if not lines]),
        hits=hits,
        prompt=digest,
        note=note,
    )


def _one_line(card: FunctionCard, prompt: Prompt) -> Guidance:
    text = prompt.text.strip()
    tokens = count_tokens(text)
    return Guidance(text, tokens, ENCODING, (card.card_id,), (tokens,), prompt=prompt.digest)


def _within(budget_tokens: int, card: CardText, fill: Callable[[str], Prompt]) -> Guidance:
    """Render one card in its template, with as many of its lines as the budget allows."""
    [lines] = fit([card], _room(size(fill("").text), budget_tokens, None))
    if not lines:
        return nothing(f"the card does not fit into {budget_tokens} tokens", [card.card_id])
    prompt = fill(card.first(lines))
    text = prompt.text.strip()
    return _guidance(text, count_tokens(text), prompt.digest, [(card, lines)])


@dataclass(frozen=True)
class _ListedRule:
    """A line of the list of rules."""

    hit: Hit
    text: str
    tokens: int


@dataclass(frozen=True)
class _StartFrame:
    """The text around the cards at task start. Rendered once, because each card is a separate paragraph."""

    policy: str
    heading: str
    """The heading of the functions, if there are any."""
    rules_heading: str
    rules_tokens: int
    """The tokens of that heading."""
    size: Size
    size_with_functions: Size
    digest: str

    def room(self, profile: Profile, functions: bool) -> Size:
        """How much of the profile's budget is left for cards."""
        used = self.size_with_functions if functions else self.size
        return _room(used, profile.budget_tokens, profile.budget_words)

    def around(self, skills: Sequence[str], functions: Sequence[str]) -> list[str]:
        """The paragraphs of the text, without empty cards."""
        paragraphs = [self.policy, *filter(None, skills)]
        cards = [*filter(None, functions)]
        return [*paragraphs, self.heading, *cards] if cards else paragraphs


@cache
def _start_frame(brief: bool) -> _StartFrame:
    alone = render(TASK_START, skills=[], functions=[], rules=[], brief=brief)
    with_functions = render(TASK_START, skills=[], functions=[""], rules=[], brief=brief)
    with_rules = render(TASK_START, skills=[], functions=[], rules=[""], brief=brief)
    policy = alone.text.strip()
    heading, rules = (prompt.text.strip().removeprefix(policy).strip() for prompt in (with_functions, with_rules))
    sizes = size(alone.text), size(with_functions.text)
    return _StartFrame(policy, heading, rules, count_tokens(rules) + 2, *sizes, alone.digest)


def _room(frame: Size, budget_tokens: int, budget_words: int | None) -> Size:
    return Size(budget_tokens - frame.tokens, maxsize if budget_words is None else budget_words - frame.words)
