"""ModelAuthor: a model as the paper's Builder, Reflector and Curator.

A reply is parsed strictly and must pass the same checks as every change of the bank. If it fails, the model is asked
again with the complaint, a limited number of times; what still fails is recorded in the ledger as refused. No calls are
made here: a missing reply raises NotYet, and rounds.py has it asked.

With a window, reflections do not see each other's cards, so packets of one kind teach the same lesson several times. A
delta that a card already states in nearly the same words is its twin, and no model is asked about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from contramem.bank.bank import Add, Amend, Bank, Narrow, Noop, Patch
from contramem.bank.card import FunctionCard, SkillCard, SkillDelta
from contramem.bank.ledger import Attribution, DecisionCost
from contramem.bank.tables import StoredExchange
from contramem.build.author import MAX_DELTAS, AuthorCost, Candidate, Curation, UnusableReply
from contramem.build.learning import learning_cards
from contramem.build.model import replies
from contramem.build.model.function_text import FUNCTION_BUDGET_TOKENS, function_text, tool_text
from contramem.build.model.hints import AcrossHints
from contramem.build.model.packet_text import PACKET_BUDGET_TOKENS, PacketText, packet_text
from contramem.build.model.prompts import Prompts, Template
from contramem.build.model.replies import UnparsedReply
from contramem.contrast.observation import Observation, by_function
from contramem.contrast.packet import Packet
from contramem.contrast.quotation import quote_words
from contramem.errors import PatchError
from contramem.llm.client import ModelSettings, PaperStage, PromptMessage, Request
from contramem.llm.exchange import Exchange, NotYet
from contramem.prompts import fence
from contramem.retrieve.card_index import CardIndex
from contramem.retrieve.profiles import PROFILES, Profile
from contramem.retrieve.scorer import plain_bm25
from contramem.retrieve.tokens import tokenize
from contramem.traces.trajectory import Tool, digest
from contramem.validate.lexicon import content_words
from contramem.validate.validator import Validator
from contramem.validate.verdict import Refusal

MAX_ASKED = 3
"""How often a question is asked: once, and twice more with the complaint."""
MAX_REPEATED_CHARS = 6_000
"""How much of an unusable reply is repeated to the model."""
NONE = "none"
NOTHING_NEAR = "No card of the bank is near it."
SAID_BESIDE = "Another delta of the packet says it, in nearly the same words."
SAID_ALREADY = "The card says it already, in nearly the same words."
NO_CARD = "Every function that was seen to work gets a card: say what it does, its arguments and what it returns."

Made = TypeVar("Made")
Judge = Callable[[str], tuple[Made, list[str]]]
"""Parses the text of a reply and returns the result with the complaints about it. Raises UnparsedReply."""


@dataclass(frozen=True)
class ModelChoice:
    """The model and its settings, all of which are part of every request's digest."""

    name: str
    settings: ModelSettings = field(default_factory=ModelSettings)
    prompts: Prompts = field(default_factory=Prompts)
    packet_tokens: int = PACKET_BUDGET_TOKENS
    function_tokens: int = FUNCTION_BUDGET_TOKENS
    every_function: bool = False
    """Whether every function that was seen to work gets a card, as in the paper's GAIA2 bank. Otherwise a function
    whose runs show nothing beyond its documentation gets none."""


class ModelAuthor:
    """Writes cards with a model. `packets` are all packets of the build; replies are checked against them."""

    def __init__(self, choice: ModelChoice, exchange: Exchange, checks: Validator, packets: Sequence[Packet]) -> None:
        self._choice = choice
        self._prompts = choice.prompts
        self._exchange = exchange
        self._checks = checks
        self._packets = packets
        self._functions = set(by_function(packets))
        self._texts: dict[str, PacketText] = {}
        self._hints: dict[str, AcrossHints] = {}
        self._used: dict[str, StoredExchange] = {}
        self._odd: set[str] = set()
        self._charged: set[str] = set()
        written = digest(json.dumps([choice.prompts.digest, asdict(choice.settings), choice.packet_tokens,
                                     choice.function_tokens, *([True] if choice.every_function else [])],
                                    sort_keys=True))  # fmt: skip
        self.attribution = Attribution(kind="model", name=choice.name, version=written)

    # The three jobs

    def build_function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None
    ) -> FunctionCard | None:
        tasks = {observation.task_key for observation in observations}
        packets = [packet for packet in self._packets if packet.task_key in tasks]

        def judge(reply: str) -> tuple[FunctionCard | None, list[str]]:
            card = replies.function_card(reply, function)
            if card is None:
                return None, [NO_CARD] if self._is_card_due(observations) else []
            return card, _complaints(self._checks.card(card, observations, packets))

        return self._converse(self.builder_request(function, observations, tool), judge)

    def _is_card_due(self, observations: Sequence[Observation]) -> bool:
        # A function that never worked may have been invented by a model.
        return self._choice.every_function and any(not observation.error for observation in observations)

    def reflect(self, packet: Packet, bank: Bank) -> Sequence[Candidate]:
        def judge(reply: str) -> tuple[list[Candidate], list[str]]:
            candidates = replies.candidates(reply)
            checked = [
                (place, self._checks.candidate(candidate, packet, self._functions))
                for place, candidate in enumerate(candidates)
            ]
            return candidates, [f"deltas.{place}: {text}" for place, wrong in checked for text in _complaints(wrong)]

        return self._converse(self.reflector_request(packet, bank), judge)

    def reflect_across(self, packets: Sequence[Packet]) -> Sequence[tuple[Candidate, Packet]]:
        return ()  # a model only sees one packet at a time

    def curate(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Mapping[int, Curation]:
        """Ask once about all candidates of a packet, except those with an obvious answer: no card is near, or a card or
        another candidate says the same."""
        decided: dict[int, Curation] = {}
        open_ = dict[int, Candidate]()
        for index, candidate in candidates.items():
            if any(say_the_same(candidate.delta, candidates[earlier].delta) for earlier in (*decided, *open_)):
                decided[index] = Curation(Noop(delta_index=index, reason=SAID_BESIDE))
            elif patch := self._obvious_answer(index, candidate.delta, packet.ability, bank):
                decided[index] = Curation(patch)
            else:
                open_[index] = candidate
        if not open_:
            return decided
        first = next(iter(open_))
        try:
            return decided | self._ask_curator(open_, packet, bank)
        except UnusableReply:
            if before := {index: curation for index, curation in decided.items() if index < first}:
                return before
            if len(open_) == 1:
                raise
        return self._ask_curator({first: open_[first]}, packet, bank)  # the others are asked about again later

    def _obvious_answer(self, index: int, delta: SkillDelta, ability: str, bank: Bank) -> Patch | None:
        cards = relate_to_delta(delta, ability, bank)
        if not cards:
            return Add(delta_index=index, new_or_updated_card=delta, reason=NOTHING_NEAR)
        if twin := find_twin(delta, cards):
            return Noop(delta_index=index, target_card_ids=(twin.card_id,), reason=SAID_ALREADY)
        return None

    def _ask_curator(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> dict[int, Curation]:
        near = Neighbourhood(candidates, packet.ability, bank)
        deltas = {index: candidate.delta for index, candidate in candidates.items()}

        def judge(reply: str) -> tuple[dict[int, Patch], list[str]]:
            patches = replies.patches(reply, deltas, bank)
            wrong = (
                f"decisions.{index}: {complaint}"
                for index, patch in patches.items()
                for complaint in self._wrong_with(patch, candidates[index], near, packet, bank)
            )
            return patches, list(wrong)

        decided = self._converse(self.curator_request(candidates, packet, bank), judge)
        return {index: Curation(patch) for index, patch in decided.items()}

    def spent(self) -> AuthorCost:
        """The cost of the calls since the last decision, without those already charged to an earlier one."""
        fresh = [call for call in self._used.values() if not call.charged and call.digest not in self._charged]
        self._used = {}
        self._charged.update(call.digest for call in fresh)
        priced = [call.cost_usd for call in fresh if call.cost_usd is not None]
        usage = DecisionCost(
            model_calls=len(fresh),
            tokens_in=sum(call.tokens_in for call in fresh),
            tokens_out=sum(call.tokens_out for call in fresh),
            cost_usd=sum(priced) if priced else None,
        )
        return AuthorCost(usage, tuple(call.digest for call in fresh))

    def forget(self) -> None:
        """Don't charge the replies read since the last decision: they were only a look ahead."""
        self._used = {}

    # The first request of each job

    def builder_request(self, function: str, observations: Sequence[Observation], tool: Tool | None) -> Request:
        documentation = tool_text(tool)
        return self._request(
            "builder",
            function,
            replies.BuilderReply,
            function=fence("function", quote_words(function)),
            every_function=self._is_card_due(observations),
            calls=fence("calls", function_text(observations, self._choice.function_tokens)),
            documentation=fence("documentation", documentation) if documentation else "",
        )

    def reflector_request(self, packet: Packet, bank: Bank) -> Request:
        key = packet.task_key
        if key not in self._texts:
            self._texts[key] = packet_text(packet, self._choice.packet_tokens, self._hints_across(packet.ability))
        text = self._texts[key]
        cards = "\n".join(card_in_brief(card) for card in relate_to_packet(packet, bank))
        return self._request(
            "reflector",
            key,
            replies.ReflectorReply,
            max_deltas=MAX_DELTAS,
            ability=fence("ability", quote_words(packet.ability)),
            focus=self._prompts.focus(packet),
            all_failed=bool(packet.failing) and not packet.passing,
            single_outcome=bool(packet.passing) and not packet.failing,
            packet=fence("packet", text.text),
            hints=fence("hints", text.hints) if text.hints else "",
            cards=fence("cards", cards) if cards else "",
            delta_fields=replies.card_shape(hints=True),
        )

    def _hints_across(self, ability: str) -> AcrossHints:
        if ability not in self._hints:
            self._hints[ability] = AcrossHints.of([packet for packet in self._packets if packet.ability == ability])
        return self._hints[ability]

    def curator_request(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Request:
        near = Neighbourhood(candidates, packet.ability, bank)
        return self._request(
            "curator",
            packet.task_key,
            replies.CuratorReply,
            deltas=fence("deltas", near.delta_lines()),
            cards=fence("cards", near.card_lines()) if near.whole else NONE,
            others=fence("others", near.brief_lines()) if near.brief else NONE,
            functions=fence("functions", near.function_lines()) if near.functions else NONE,
        )

    def _request(self, stage: PaperStage, subject: str, kind: type[BaseModel], **values: object) -> Request:
        template: Template = stage
        messages, wording = self._prompts.messages(template, **values)
        return Request(
            model=self._choice.name,
            settings=self._choice.settings,
            messages=messages,
            schema=replies.schema_of(kind),
            stage=stage,
            subject=subject,
            prompt=wording,
        )

    # Asking, and asking again

    def _converse(self, request: Request, judge: Judge[Made]) -> Made:
        for asked in range(1, MAX_ASKED + 1):
            call = self._reply(request)
            if call.finish in ("refusal", "content_filter"):
                self._note(call, call.finish.replace("_", " "))
                raise UnusableReply(call.finish.replace("_", " "), _describe_refusal(call))
            try:
                made, complaints = judge(call.reply or "")
            except UnparsedReply as unparsed:
                if asked == MAX_ASKED:
                    self._note(call, "invalid")
                    raise UnusableReply("reply", _unusable(call, unparsed.complaints, asked)) from unparsed
                complaints = list(unparsed.complaints)
            else:
                if not complaints or asked == MAX_ASKED:
                    return made  # if it still has flaws, the checks of the bank will refuse it with the reason
            cut_off = call.finish == "length"
            self._note(call, "truncated" if cut_off else "invalid")
            if cut_off:
                complaints = [f"It was cut off at {request.settings.max_tokens} tokens. Say less."]
            request = self._again(request, call.reply or "", complaints, asked + 1)
        raise AssertionError("unreachable")

    def _reply(self, request: Request) -> StoredExchange:
        try:
            call = self._exchange.reply(request)
        except NotYet:
            self._used = {}  # when this decision is taken up again, all its replies are read and charged again
            raise
        self._used[call.digest] = call
        return call

    def _note(self, call: StoredExchange, oddity: str) -> None:
        if call.digest not in self._odd:
            self._odd.add(call.digest)
            self._exchange.oddities[oddity] += 1

    def _again(self, request: Request, reply: str, complaints: Sequence[str], attempt: int) -> Request:
        unique = list(dict.fromkeys(complaints))[: replies.MAX_COMPLAINTS]
        # The number of the attempt makes the request a new one if the model gave the same answer twice.
        text = self._prompts.fill("again", complaints=unique, attempt=attempt, attempts=MAX_ASKED).text
        # Only the question and the last answer are repeated; a third attempt doesn't need the first.
        question = tuple(message for message in request.messages[:2] if message.role in ("system", "user"))
        previous = reply[:MAX_REPEATED_CHARS] or "(nothing)"
        return Request(
            model=request.model,
            settings=request.settings,
            messages=(*question, PromptMessage("assistant", previous), PromptMessage("user", text.strip())),
            schema=request.schema,
            stage=request.stage,
            subject=request.subject,
            prompt=request.prompt,
        )

    def _wrong_with(
        self, patch: Patch, candidate: Candidate, near: Neighbourhood, packet: Packet, bank: Bank
    ) -> list[str]:
        if strange := sorted(set(patch.target_card_ids) - near.card_ids):
            return [f"{', '.join(strange)} is none of the cards that were listed."]
        if isinstance(patch, (Amend, Narrow)) and (listed := near.brief.get(patch.retained_card_id)):
            return [f"{listed.card_id} was listed in brief. This is all it says: {fence('card', card_text(listed))}"]
        try:
            bank.plan(patch, packet.ability)
        except PatchError as error:
            return [str(error)]
        cards = [bank.entries[card_id].card for card_id in patch.target_card_ids]
        targets = [card for card in cards if isinstance(card, SkillCard)]
        used = {name for text in (candidate.delta, *targets) for name in text.functions_used}
        functions = [card for name in sorted(used) if (card := bank.function(name)) is not None]
        return _complaints(self._checks.patch(patch, candidate, targets, functions, packet))


def _complaints(refusals: Sequence[Refusal]) -> list[str]:
    """What the model is asked to change. A guard that does not hold is dropped without asking again."""
    return list(dict.fromkeys(refusal.reason for refusal in refusals if not refusal.final))


def _describe_refusal(call: StoredExchange) -> str:
    what = "The model declined to answer" if call.finish == "refusal" else "A content filter held the reply"
    return f"{what} (call {call.digest[:12]})."


def _unusable(call: StoredExchange, complaints: Sequence[str], asked: int) -> str:
    cut = "It was cut off at the token limit. " if call.finish == "length" else ""
    return f"{cut}{' '.join(complaints)[:400]} Asked {asked} times; the last reply is call {call.digest[:12]}."


# The nearest cards of an ability, by the paper's BM25, as a Curator sees them

FOR_REFLECTOR, FOR_CURATOR = 3, 3
"""Of 127 cards that a strong model chose to edit, or said to hold a delta already, among five, 124 were the nearest
three."""
MAX_FUNCTION_LINES = 16
"""How many functions of the deltas are described to the Curator."""
WHOLE_CARDS = 1
"""How many cards are shown in full for each delta, nearest first; the others in brief. Of 108 cards that a strong model
chose to patch, 92 were the nearest. A Curator that chooses another one is asked again with that card in full."""
_LOOSE = PROFILES["gaia2"]  # any shared word is enough
_CLOSE = replace(_LOOSE, floor=3.0)
"""A delta is compared by all its words, and nearly every card shares one. On the shipped runs this floor finds every
card that states the same rule, with 23 % fewer tokens than none."""


def relate_to_packet(packet: Packet, bank: Bank, limit: int = FOR_REFLECTOR) -> list[SkillCard]:
    """The nearest cards by the words of the task and the functions that its runs call."""
    functions = sorted({step.function for run in packet.runs for step in run.actions if step.function})
    return _nearest(f"{packet.task} {' '.join(functions)}", functions, packet.ability, bank, limit, _LOOSE)


def relate_to_delta(delta: SkillDelta, ability: str, bank: Bank, limit: int = FOR_CURATOR) -> list[SkillCard]:
    """The nearest cards by the searchable text of the delta."""
    words = f"{delta.title} {delta.applies_when} {' '.join(delta.tags)} {delta.skill.core_rule}"
    return _nearest(words, delta.functions_used, ability, bank, limit, _CLOSE)


def _nearest(
    words: str, functions: Sequence[str], ability: str, bank: Bank, limit: int, profile: Profile
) -> list[SkillCard]:
    cards = [entry.card for entry in learning_cards(bank, ability)]
    if not cards:
        return []
    index = CardIndex(cards, plain_bm25)
    apps = frozenset(function.partition(".")[0] for function in functions)
    ranking = index.rank(tokenize(words), apps, profile)
    best = (index.cards[number] for number in index.best(ranking, limit, ranking.fits))
    return [card for card in best if isinstance(card, SkillCard)]


class Neighbourhood:
    """The deltas of one packet by index, and the nearest cards of the bank."""

    def __init__(self, candidates: Mapping[int, Candidate], ability: str, bank: Bank) -> None:
        self._deltas = {index: candidate.delta for index, candidate in candidates.items()}
        nearest = [relate_to_delta(delta, ability, bank) for delta in self._deltas.values()]
        self.whole = {card.card_id: card for cards in nearest for card in cards[:WHOLE_CARDS]}
        self.brief = {
            card.card_id: card for cards in nearest for card in cards[WHOLE_CARDS:] if card.card_id not in self.whole
        }
        used = dict.fromkeys(name for delta in self._deltas.values() for name in delta.functions_used)
        self.functions = [card for name in used if (card := bank.function(name)) is not None][:MAX_FUNCTION_LINES]

    @property
    def card_ids(self) -> set[str]:
        return self.whole.keys() | self.brief.keys()

    def delta_lines(self) -> str:
        return "\n".join(_compact(delta, {"delta_index": index}) for index, delta in self._deltas.items())

    def card_lines(self) -> str:
        return "\n".join(map(card_text, self.whole.values()))

    def brief_lines(self) -> str:
        return "\n".join(f"{card.card_id} {card_in_brief(card)}" for card in self.brief.values())

    def function_lines(self) -> str:
        return "\n".join(f"{card.tool}: {card.what_it_does}" for card in self.functions)


def card_in_brief(card: SkillCard) -> str:
    """The title and rule of a card."""
    return f"- {card.title}: {card.skill.core_rule}"


def card_text(card: SkillCard) -> str:
    """The text of a card as JSON, without its evidence."""
    return _compact(card, {"card_id": card.card_id})


def _compact(text: SkillDelta, named: Mapping[str, object]) -> str:
    """Evidence is left out, because the decision is about the rule."""
    fields: dict[str, Any] = text.model_dump(mode="json", include=set(SkillDelta.model_fields) - {"evidence"})
    return json.dumps({**named, **_drop_empty(fields)}, ensure_ascii=False)


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_empty(part) for key, part in value.items() if part not in ("", [], {})}
    return value


# Twins

SAME_WORDS = 0.8
"""The share of words that two rules about the same functions must have in common to count as the same."""
SAME_WORDS_AND_GUARDS = 0.6
"""The same for rules that also have the same guards."""


def find_twin(delta: SkillDelta, cards: Sequence[SkillCard]) -> SkillCard | None:
    """The first of `cards` that says the same as the delta; None if there is none."""
    return next((card for card in cards if say_the_same(delta, card)), None)


def say_the_same(delta: SkillDelta, other: SkillDelta) -> bool:
    """Whether two lessons are about the same functions in nearly the same words."""
    if set(delta.functions_used) != set(other.functions_used):
        return False
    words, others = _words(delta), _words(other)
    common = len(words & others) / len(words | others) if words | others else 0.0
    checked_alike = bool(delta.guards) and set(delta.guards) == set(other.guards)
    return common >= (SAME_WORDS_AND_GUARDS if checked_alike else SAME_WORDS)


def _words(text: SkillDelta) -> set[str]:
    return {root for root, _ in content_words(f"{text.title} {text.skill.core_rule}")}
