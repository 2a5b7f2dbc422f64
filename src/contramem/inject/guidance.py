"""Guidance: the text that an agent is shown at task start, before a call, beside a result or before the end.

At task start everything is shown that the agent can use, while it fits into the budget: the cards that fit the request
in full, every other skill as one sentence, grouped by function. A text never has a card in part where the rest would
be needed to follow it: fields that are left out are the last ones, which only add to the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from sys import maxsize
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from contramem.bank.card import SKILL_FIELDS, Card, FunctionCard, SkillCard, SkillField
from contramem.counting import ENCODING, count_paragraphs, count_tokens
from contramem.prompts import Prompt, render
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import Profile
from contramem.retrieve.retriever import Retrieval, SkillSet, deciding_functions
from contramem.retrieve.tokens import stem, tokenize

if TYPE_CHECKING:
    from contramem.guards.watch import Obligation

TASK_START = "inject/prompts/task_start.jinja"
BEFORE_CALL = "inject/prompts/before_call.jinja"
BEFORE_FINAL = "inject/prompts/before_final.jinja"
CALL_SKILLS = "inject/prompts/call_skills.jinja"
CALL_RULES = "inject/prompts/call_rules.jinja"
OBLIGATIONS = "inject/prompts/obligations.jinja"
REPEATED_CALL = "inject/prompts/repeated_call.jinja"
TOOL_DESCRIPTION = "inject/prompts/tool_description.jinja"
DESCRIPTION_TOKENS = 80
FUNCTION_SHARE = 0.25
"""The share of the budget for Function Cards, if not every skill has room."""
NEEDED = ("applies_when", "skill.core_rule")
EVIDENCE = ("skill.success_failure_contrast", "evidence.good_example", "evidence.bad_example")
"""Fields of a Skill Card that agents are always shown, and those that only the profiles of the paper show."""
NEW_WORDS = 0.2
"""Any other field adds something to the rule if more than this share of its words is new."""
MAX_LISTED = 500
"""So many skills never fit into a budget, and are not all put into words to find that out."""
MAX_RANKED = 60
"""How many skills are ranked for a list that has no room for all: more sentences than a budget holds."""
MAX_SECTIONS = 1000
"""For so many combinations of cards is kept how the list reads."""

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
    """The cards that are shown as one sentence."""
    left_out: tuple[str, ...] = ()
    """Cards that fit the task but were left out because of the budget."""
    hits: tuple[Hit, ...] = ()
    """At task start: why each card that is shown in full is there."""
    listed_cards: tuple[SkillCard, ...] = ()
    """At task start: the cards of `listed`."""
    prompt: str = ""
    """Digest of the template."""
    note: str = ""
    """Why there is nothing, or a warning. For people, not for the agent."""

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def skills(self) -> list[SkillCard]:
        """At task start: the skills that are shown in full or as a sentence."""
        return [*(hit.card for hit in self.hits if isinstance(hit.card, SkillCard)), *self.listed_cards]

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


class Size(NamedTuple):
    """The length of a text."""

    tokens: int
    words: int

    def __add__(self, other: object) -> Size:
        assert isinstance(other, Size)
        return Size(self.tokens + other.tokens, self.words + other.words)

    def __sub__(self, other: Size) -> Size:
        return Size(self.tokens - other.tokens, self.words - other.words)

    def part(self, share: float) -> Size:
        return Size(int(share * self.tokens), int(share * self.words))

    def fits(self, limit: Size) -> bool:
        return self.tokens <= limit.tokens and self.words <= limit.words


EMPTY = Size(0, 0)


def size(text: str) -> Size:
    return Size(count_tokens(text), len(text.split()))


# Cards as texts

# Control characters, and those that reorder or hide text: a field must stay one visible line.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
CUT = "…"
"""Ends the title of a card whose rule is too long for it."""


@dataclass(frozen=True)
class CardText:
    """A card as the agent reads it, one field per line, the most important first."""

    card_id: str
    lines: tuple[str, ...]
    upto: tuple[Size, ...]
    """`upto[n]` is the size of the first n lines."""
    essential: int
    """With fewer lines than this, the card is useless and is left out."""

    @classmethod
    def of(cls, card: Card, lines: Sequence[str], essential: int) -> CardText:
        upto = [Size(1, 0)]  # the blank line before the card
        for line in lines:
            # Including the line break: the tokenizer never merges it with what follows, so the sizes of lines add up.
            upto.append(upto[-1] + size(line + "\n"))
        return cls(card.card_id, tuple(lines), tuple(upto), essential)

    def first(self, lines: int) -> str:
        return "\n".join(self.lines[:lines])


def text_of(card: Card, *, lean: bool = False) -> CardText:
    """Render a card. Each field becomes one line, so that no card can pose as two cards or as one of our headings.
    `lean`: without a title that was cut, and without what repeats the rule."""
    if isinstance(card, FunctionCard):
        fields = in_lines({"single_source": False} | card.model_dump())
        text = render("inject/prompts/function_card.jinja", card=fields).text
        return CardText.of(card, text.strip().split("\n"), essential=2)
    text = render("inject/prompts/skill_card.jinja", title=_title(card, lean), fields=_fields(card, lean)).text
    return CardText.of(card, text.strip().split("\n"), essential=3)


def _title(card: SkillCard, lean: bool) -> str:
    about = ", ".join(f"`{bare(name)}`" for name in deciding_functions(card))
    return f"About {about}" if lean and CUT in card.title and about else str(in_lines(card.title))


def _fields(card: SkillCard, lean: bool) -> list[tuple[str, str]]:
    """The label and the text of each field that agents are shown."""
    shown = [(field, field.texts(card)) for field in SKILL_FIELDS if field.guidance]
    if card.skill.completion == (card.skill.core_rule,):
        shown = [(field, texts) for field, texts in shown if field.path != "skill.completion"]
    if lean:
        shown = [(field, texts) for field, texts in shown if field.path in NEEDED or _adds(field, texts, card)]
    fields = [(field.guidance, _join(field, texts)) for field, texts in shown if texts]
    return [*fields, ("Seen", "in runs of one agent only")] if getattr(card, "single_source", False) else fields


def _adds(field: SkillField, texts: Sequence[str], card: SkillCard) -> bool:
    """Whether a field tells an agent more than the rule and its condition do. What runs showed is for people."""
    if field.path in EVIDENCE:
        return False
    said = _stems(f"{card.title} {card.applies_when} {card.skill.core_rule}")
    asked = _stems(" ".join(texts))
    return len(asked - said) > NEW_WORDS * len(asked)


def _stems(text: str) -> set[str]:
    return set(map(stem, tokenize(text)))


def _join(field: SkillField, texts: tuple[str, ...]) -> str:
    if not field.is_list:
        return str(in_lines(texts[0]))
    return (", " if field.style == "functions" else "; ").join(in_lines(texts))


def sentence_of(card: SkillCard) -> str:
    """A Skill Card as one sentence: its condition, unless the rule repeats it, and its whole rule."""
    rule, condition = in_lines(card.skill.core_rule), in_lines(card.applies_when).rstrip(".")
    if _stems(condition) <= _stems(rule):
        return f"{rule[0].upper()}{rule[1:]}"
    return f"When: {condition}. Rule: {rule}"


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
    return CardText.of(card, [f"- {in_lines(card.function)}: {say}."], essential=1) if say else None


def bare(function: str) -> str:
    """The name of a function without its app, as the agent's tools use it."""
    return str(in_lines(function.rpartition(".")[2]))


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


_GONE = -maxsize  # marks a card that was left out


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
        after = upto[before - 1] if most > 0 else EMPTY
        tokens, words = tokens - upto[before].tokens + after.tokens, words - upto[before].words + after.words
    return counts


# The list of rules


@dataclass(frozen=True)
class RuleLine:
    """A Skill Card as one sentence, in the group of the function that it is about."""

    card: SkillCard
    group: str
    """The line above the sentences about a function; empty for a card that names none."""
    text: str
    size: Size

    @classmethod
    def of(cls, card: SkillCard) -> RuleLine:
        about = deciding_functions(card)[:1]
        text = f"- {sentence_of(card)}"
        return cls(card, f"`{bare(about[0])}`:" if about else "", text, size(f"{text}\n"))


@dataclass(frozen=True)
class RuleList:
    """Sentences of several cards, grouped by function."""

    lines: tuple[RuleLine, ...]
    paragraphs: tuple[str, ...]
    size: Size

    @classmethod
    def of(cls, lines: Iterable[RuleLine]) -> RuleList:
        """Groups come in the order of their first sentence."""
        groups: dict[str, list[RuleLine]] = {}
        for line in lines:
            groups.setdefault(line.group, []).append(line)
        ordered = tuple([line for group in groups.values() for line in group])
        paragraphs = [
            "\n".join([*filter(None, [name]), *[line.text for line in group]]) for name, group in groups.items()
        ]
        sizes = [*(line.size for line in ordered), *map(_group_size, groups)]
        return cls(
            ordered, tuple(paragraphs), Size(sum([own.tokens for own in sizes]), sum([own.words for own in sizes]))
        )

    def starting_with(self, first: Sequence[str]) -> RuleList:
        """The same sentences, those with these ids first."""
        return RuleList.of(sorted(self.lines, key=lambda line: line.card.card_id not in first))


@cache
def _group_size(group: str) -> Size:
    return size(f"{group}\n") + Size(1, 0)


class Writer:
    """Renders guidance. Caches the texts of cards, so that each is rendered and counted once. Thread-safe."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, bool], CardText] = {}
        self._brief_texts: dict[str, CardText | None] = {}
        self._lines: dict[str, RuleLine] = {}
        self._lists: dict[tuple[SkillSet, frozenset[str]], RuleList] = {}
        self._sizes: dict[SkillSet, Size] = {}
        self._before_call: dict[tuple[str, Profile, bool], Guidance] = {}

    def at_start(self, retrieval: Retrieval, profile: Profile, seen: Collection[str] = ()) -> Guidance:
        """The guidance at task start. `seen` are the skills that the run was shown before, in full or as a sentence;
        they are not listed."""
        if retrieval.usable is None:
            return self._cards_at_start(retrieval, profile)
        frame = _start_frame(profile.brief)
        functions = self._functions_at_start(retrieval, profile)
        room = frame.room(profile, bool(functions))
        shown = retrieval.usable.taught.union(seen)
        full = [] if profile.brief else [self._text(hit.card, lean=True) for hit in retrieval.skills]
        texts = [text for _, text in functions]
        skills = retrieval.usable.skills
        if self._least_size(skills, shown.union([text.card_id for text in full])).fits(room):
            for count in range(len(full), -1, -1):
                rules = self._all_rules(skills, shown.union([text.card_id for text in full[:count]]))
                if profile.brief:
                    rules = rules.starting_with([hit.card.card_id for hit in retrieval.skills])
                left = room - rules.size - frame.rules_size if rules.lines else room
                counts = fit([*full[:count], *texts], left)
                if EMPTY.fits(left) and all(counts[:count]):
                    hits = (*retrieval.skills[:count], *(hit for hit, _ in functions))
                    return frame.fill(hits, [*full[:count], *texts], counts, count, rules, retrieval.note)
        counts = fit(texts, room.part(FUNCTION_SHARE))
        for text, lines in zip(texts, counts, strict=True):
            room -= text.upto[lines] if lines else EMPTY
        found = [hit.card for hit in retrieval.skills if isinstance(hit.card, SkillCard)]
        ranked = found if profile.brief else retrieval.usable.best(MAX_RANKED)
        rules = self._fitting(ranked, shown, room - frame.rules_size)
        return frame.fill([hit for hit, _ in functions], texts, counts, 0, rules, retrieval.note)

    def rules_about(self, cards: Iterable[SkillCard], function: str, budget_tokens: int) -> Guidance:
        """Skills about a function as one sentence each, as many as fit into the budget."""
        frame = size(render(CALL_RULES, rules=[], function=function).text)
        rules = self._fitting(cards, frozenset(), Size(budget_tokens - frame.tokens, maxsize))
        if not rules.lines:
            return nothing(f"no rule fits into {budget_tokens} tokens")
        prompt = render(CALL_RULES, rules=[line.text for line in rules.lines], function=function)
        text = prompt.text.strip()
        return _listing(Guidance(text, count_tokens(text), ENCODING, (), prompt=prompt.digest), rules.lines)

    def _least_size(self, skills: SkillSet, shown: Collection[str]) -> Size:
        """The size of the sentences of all skills that were not shown, without headings."""
        if skills not in self._sizes:
            lines = map(self._line, skills.cards[:MAX_LISTED])
            self._sizes[skills] = sum([line.size for line in lines], EMPTY)
        listed = [self._lines[card_id] for card_id in shown if card_id in skills.ids and card_id in self._lines]
        return self._sizes[skills] - sum([line.size for line in listed], EMPTY)

    def _all_rules(self, skills: SkillSet, shown: frozenset[str]) -> RuleList:
        """Every skill that was not shown, as a sentence."""
        key = skills, shown
        if key not in self._lists:
            if len(self._lists) >= MAX_SECTIONS:
                self._lists.clear()
            cards = [card for card in skills.cards if card.card_id not in shown]
            self._lists[key] = RuleList.of(map(self._line, cards))
        return self._lists[key]

    def _fitting(self, cards: Iterable[SkillCard], shown: Collection[str], room: Size) -> RuleList:
        """The first of these cards that have room. A long sentence does not stop shorter ones."""
        lines: list[RuleLine] = []
        groups: set[str] = set()
        tokens, words = room
        for card in cards:
            line = self._line(card)
            group = EMPTY if line.group in groups else _group_size(line.group)
            more_tokens, more_words = line.size.tokens + group.tokens, line.size.words + group.words
            if more_tokens <= tokens and more_words <= words and card.card_id not in shown:
                lines.append(line)
                groups.add(line.group)
                tokens, words = tokens - more_tokens, words - more_words
        return RuleList.of(lines)

    def _functions_at_start(self, retrieval: Retrieval, profile: Profile) -> list[tuple[Hit, CardText]]:
        return [(hit, text) for hit in retrieval.functions if (text := self._function_text(hit.card, profile.brief))]

    def _cards_at_start(self, retrieval: Retrieval, profile: Profile) -> Guidance:
        if not (retrieval.skills or retrieval.functions):
            return nothing(retrieval.note or "no card is relevant enough to this task")
        functions = self._functions_at_start(retrieval, profile)
        hits = [*retrieval.skills, *(hit for hit, _ in functions)]
        if not hits:
            return nothing("the functions that fit have cards that say no more than the tools' own descriptions")
        texts = [*(self._text(hit.card) for hit in retrieval.skills), *(text for _, text in functions)]
        frame = _start_frame(profile.brief)
        counts = fit(texts, frame.room(profile, bool(functions)))
        if not any(counts):
            return nothing(f"no card fits into {profile.budget_tokens} tokens", [text.card_id for text in texts])
        return frame.fill(hits, texts, counts, len(retrieval.skills), None, retrieval.note)

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
        texts = [self._text(card, lean=True) for card in cards]
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
            lines = [
                (obligation.text, "" if CUT in obligation.title else obligation.title)
                for obligation in obligations[:count]
            ]
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
        text = self._function_text(card, profile.brief)
        if text is None and missing:
            text = CardText.of(card, [f"- {in_lines(card.function)}."], essential=1)
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

    def _line(self, card: SkillCard) -> RuleLine:
        if card.card_id not in self._lines:
            self._lines[card.card_id] = RuleLine.of(card)
        return self._lines[card.card_id]

    def _text(self, card: Card, *, lean: bool = False) -> CardText:
        key = card.card_id, lean
        if key not in self._texts:
            self._texts[key] = text_of(card, lean=lean)
        return self._texts[key]


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


def _listing(guidance: Guidance, lines: Sequence[RuleLine]) -> Guidance:
    """`guidance`, which also has these sentences in its text."""
    listed = tuple([line.card.card_id for line in lines])
    return replace(
        guidance,
        card_ids=guidance.card_ids + listed,
        card_tokens=guidance.card_tokens + tuple([line.size.tokens for line in lines]),
        listed=listed,
        listed_cards=tuple([line.card for line in lines]),
    )


@dataclass(frozen=True)
class _StartFrame:
    """The text around the cards at task start. Rendered once, because each card is a separate paragraph."""

    policy: str
    heading: str
    """The heading of the functions, if there are any."""
    rules_heading: str
    size: Size
    size_with_functions: Size
    rules_size: Size
    """Of the heading of the rules."""
    digest: str

    def room(self, profile: Profile, functions: bool) -> Size:
        """How much of the profile's budget is left for cards."""
        used = self.size_with_functions if functions else self.size
        return _room(used, profile.budget_tokens, profile.budget_words)

    def fill(
        self,
        hits: Sequence[Hit],
        texts: Sequence[CardText],
        counts: Sequence[int],
        skills: int,
        rules: RuleList | None,
        note: str,
    ) -> Guidance:
        """The guidance with so many lines of each card, of which the first are `skills`, and a list of rules."""
        lines = rules.lines if rules else ()
        if not any(counts) and not lines:
            return nothing(note or "no card is for this task", [text.card_id for text in texts])
        excerpts = [text.first(count) for text, count in zip(texts, counts, strict=True)]
        functions = [text for text in excerpts[skills:] if text]
        paragraphs = [self.policy, *filter(None, excerpts[:skills])]
        paragraphs += [self.heading, *functions] if functions else []
        paragraphs += [*filter(None, [self.rules_heading]), *rules.paragraphs] if rules and lines else []
        guidance = _guidance(
            "\n\n".join(paragraphs),
            count_paragraphs(paragraphs),
            self.digest,
            list(zip(texts, counts, strict=True)),
            hits=tuple([hit for hit, count in zip(hits, counts, strict=True) if count]),
            note=note,
        )
        return _listing(guidance, lines) if lines else guidance


@cache
def _start_frame(brief: bool) -> _StartFrame:
    alone = render(TASK_START, skills=[], functions=[], rules=[], brief=brief)
    with_functions = render(TASK_START, skills=[], functions=[""], rules=[], brief=brief)
    with_rules = render(TASK_START, skills=[], functions=[], rules=[""], brief=brief)
    policy = alone.text.strip()
    heading, rules = (prompt.text.strip().removeprefix(policy).strip() for prompt in (with_functions, with_rules))
    rules_size = size(rules) + Size(2, 0)
    return _StartFrame(policy, heading, rules, size(alone.text), size(with_functions.text), rules_size, alone.digest)


def _room(frame: Size, budget_tokens: int, budget_words: int | None) -> Size:
    return Size(budget_tokens - frame.tokens, maxsize if budget_words is None else budget_words - frame.words)
