"""Estimates the cost of a build with a model before any call: exact for known requests, a range for the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import Skill, SkillDelta
from contramem.bank.store import Store, open_store
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.decide import BankBuild
from contramem.build.model.answering import SentBatch, open_batches
from contramem.build.model.author import (
    FOR_CURATOR,
    FOR_REFLECTOR,
    MAX_FUNCTION_LINES,
    WHOLE_CARDS,
    ModelAuthor,
    ModelChoice,
)
from contramem.build.model.rounds import BuildPlan, Rounds
from contramem.contrast.packet import Packet
from contramem.counting import count_tokens
from contramem.llm.client import PAPER_STAGES, Price, Request, Stage
from contramem.llm.exchange import Exchange
from contramem.scratch import ScratchFolder
from contramem.validate.validator import Validator

# The most that the checks allow: 600 words at two tokens each, plus the names of fields, functions and guards.
CARD_TOKENS = 1_500
CITES_TOKENS, REASON_TOKENS = 100, 200
BRIEF_TOKENS = 340
"""Title, trigger and rule of a card, as the Reflector sees it."""
FUNCTION_LINE_TOKENS = 90
LONGEST_REPLY: dict[Stage, int] = {
    "builder": CARD_TOKENS,
    "reflector": MAX_DELTAS * (CARD_TOKENS + CITES_TOKENS),
    "curator": MAX_DELTAS * (CARD_TOKENS + REASON_TOKENS),
}
SHORTEST_REPLY: dict[Stage, str] = {
    "builder": '{"card":null}', "reflector": '{"deltas":[]}', "curator": '{"decisions":[]}',
}  # fmt: skip


class Range(NamedTuple):
    """A lower and an upper bound."""

    least: float
    most: float

    def __add__(self, other: object) -> Range:
        assert isinstance(other, Range)
        return Range(self.least + other.least, self.most + other.most)

    @property
    def exact(self) -> bool:
        return self.least == self.most


Part: TypeAlias = Literal["ready", "held", "later"]


@dataclass(frozen=True)
class StageEstimate:
    """The estimate of one stage. Retries after unusable replies, and reasoning billed as output, are not included."""

    stage: Stage
    part: Part
    """`ready`: the requests are known. `held`: they are already in a batch at the provider, and are not asked again.
    `later`: they depend on replies."""
    calls: Range
    tokens_in: Range
    tokens_out: Range
    cost_usd: Range | None


def estimate(
    plan: BuildPlan, choice: ModelChoice, checks: Validator, price: Price | None, where: Store | None
) -> list[StageEstimate]:
    """Estimate each stage. The store is not changed."""
    tariff = _Tariff(price, choice.settings.max_tokens)
    with replicate(where) as store, store.writing("build --dry-run"):
        author = ModelAuthor(choice, Exchange(store), checks, plan.packets)
        rounds = Rounds(plan, store, author, checks)
        stages = list(_estimate_ready(rounds.ready(), open_batches(store, choice.name), tariff))
        left = _select_open_packets(plan, BankBuild(store, author, checks))
        if plan.only != "functions":
            # Reflections of the open window are among the ready requests, or already have their reply.
            opened = rounds.opened
            stages.append(_reflections(author, [p for p in left if p.task_key not in opened], tariff))
            if not plan.append_only:
                stages.append(_curations(author, left, tariff))
    return [stage for stage in stages if stage.calls.most]


def _select_open_packets(plan: BuildPlan, construction: BankBuild) -> list[Packet]:
    if plan.only == "functions":
        return []
    return [packet for packet in plan.packets if construction.count_decided(packet) is not None]


def _estimate_ready(
    requests: Sequence[Request], batches: Sequence[SentBatch], tariff: _Tariff
) -> Iterator[StageEstimate]:
    """Estimate the known requests: those still to be sent, and those already at the provider."""
    sent = {request.digest for batch in batches for request in batch.requests}
    parts: tuple[tuple[Part, bool], ...] = (("ready", False), ("held", True))
    for stage, (part, is_held) in product(PAPER_STAGES, parts):
        of_part = [r.tokens for r in requests if r.stage == stage and (r.digest in sent) == is_held]
        yield tariff.of(stage, part, Range(len(of_part), len(of_part)), Range(sum(of_part), sum(of_part)))


def _reflections(author: ModelAuthor, packets: Sequence[Packet], tariff: _Tariff) -> StageEstimate:
    """Exact, except for the tokens of the neighbouring cards, which are not known yet."""
    bare = sum(author.reflector_request(packet, Bank()).tokens for packet in packets)
    tokens = Range(bare, bare + len(packets) * FOR_REFLECTOR * BRIEF_TOKENS)
    return tariff.of("reflector", "later", Range(len(packets), len(packets)), tokens)


def _curations(author: ModelAuthor, packets: Sequence[Packet], tariff: _Tariff) -> StageEstimate:
    """From no delta at all to the maximum for every packet, each with a full neighbourhood of the longest cards. In the
    worst case every decision changes a card of the next one, so that three deltas take three calls."""
    if not packets:
        return tariff.of("curator", "later", Range(0, 0), Range(0, 0))
    bare = author.curator_request({0: _SMALLEST}, packets[0], Bank()).tokens
    delta = CARD_TOKENS * (1 + WHOLE_CARDS) + BRIEF_TOKENS * (FOR_CURATOR - WHOLE_CARDS)
    most = MAX_DELTAS * (bare + FUNCTION_LINE_TOKENS * MAX_FUNCTION_LINES) + delta * sum(range(1, MAX_DELTAS + 1))
    calls = Range(0, MAX_DELTAS * len(packets))
    return tariff.of("curator", "later", calls, Range(0, most * len(packets)))


@dataclass(frozen=True)
class _Tariff:
    """The price of calls, and the maximum length of a reply."""

    price: Price | None
    max_reply_tokens: int

    def of(self, stage: Stage, part: Part, calls: Range, tokens_in: Range) -> StageEstimate:
        shortest = count_tokens(SHORTEST_REPLY[stage]) if calls.least else 0
        longest = min(LONGEST_REPLY[stage], self.max_reply_tokens)
        tokens_out = Range(calls.least * shortest, calls.most * longest)
        cost = None
        if self.price is not None:
            cost = Range(*(self.price.of(*tokens) for tokens in zip(tokens_in, tokens_out, strict=True)))
        return StageEstimate(stage, part, calls, tokens_in, tokens_out, cost)


_SMALLEST = Candidate(
    SkillDelta(title="One", applies_when="One.", solves="One.", skill=Skill(core_rule="One.", completion=("One.",))), ()
)


@contextmanager
def replicate(where: Store | None) -> Iterator[Store]:
    """A temporary copy of a store; empty if there is none."""
    with ScratchFolder("dry-run") as folder, open_store(folder / "bank.db", create=True) as store:
        if where is not None:
            with store.writing("build --dry-run"):
                store.record(*(entry.decision for entry in where.ledger()), progress=where.progress())
                for call in where.calls():
                    store.keep(call)
        yield store
