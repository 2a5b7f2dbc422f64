"""What a build by a model will cost, before any call is made: exact where the requests are known, a range where not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import Skill, SkillDelta
from contramem.bank.store import Store, open_store
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.construction import Checks, Construction
from contramem.build.model import ModelAuthor, ModelChoice
from contramem.build.related import FOR_CURATOR, FOR_REFLECTOR
from contramem.build.rounds import Plan, Rounds
from contramem.contrast.packet import Packet
from contramem.llm.exchange import Exchange
from contramem.llm.price import Price
from contramem.llm.request import STAGES, Request

# What replies and cards measure, in tokens: from little to the most that the checks let through (600 words).
CARD_TOKENS = 1_100
BRIEF_TOKENS = 260
FUNCTION_LINES_TOKENS = 600
REPLY_TOKENS = {"builder": (15, 900), "reflector": (10, MAX_DELTAS * CARD_TOKENS), "curator": (40, CARD_TOKENS + 120)}


class Range(NamedTuple):
    """At least and at most."""

    least: float
    most: float

    def __add__(self, other: object) -> Range:
        assert isinstance(other, Range)
        return Range(self.least + other.least, self.most + other.most)

    @property
    def exact(self) -> bool:
        return self.least == self.most


Count: TypeAlias = Range


@dataclass(frozen=True)
class StageEstimate:
    """One stage. Asking again after an unusable reply, and reasoning that a provider bills as output, come on top."""

    stage: str
    part: str
    """`ready`: the requests are known. `later`: they depend on replies."""
    calls: Count
    tokens_in: Count
    tokens_out: Count
    cost_usd: Range | None


def estimate(
    plan: Plan, choice: ModelChoice, checks: Checks, price: Price | None, where: Store | None
) -> list[StageEstimate]:
    """Stage by stage. The store is read and not changed."""
    with _replica(where) as store, store.writing("build --dry-run"):
        exchange = Exchange(store)
        author = ModelAuthor(choice, exchange, checks, plan.packets)
        rounds = Rounds(plan, store, author, checks)
        ready = rounds.ready()
        left = _left(plan, Construction(store, author, checks))
        found = [_ready(stage, [r for r in ready if r.stage == stage], price) for stage in STAGES]
        if plan.only != "functions":
            # Reflections of the open window are asked for now, or have their reply already.
            opened = rounds.opened
            found.append(_reflections(author, [p for p in left if p.task_key not in opened], price))
            if not plan.append_only:
                found.append(_curations(author, left, price))
    return [one for one in found if one.calls.most]


def _left(plan: Plan, construction: Construction) -> list[Packet]:
    if plan.only == "functions":
        return []
    return [packet for packet in plan.packets if construction.decided(packet) is not None]


def _ready(stage: str, requests: Sequence[Request], price: Price | None) -> StageEstimate:
    tokens = sum(request.tokens for request in requests)
    return _stage(stage, "ready", Range(len(requests), len(requests)), Range(tokens, tokens), price)


def _reflections(author: ModelAuthor, packets: Sequence[Packet], price: Price | None) -> StageEstimate:
    """What the cards that are near by then will add is not known, the rest is."""
    bare = sum(author.reflector_request(packet, Bank()).tokens for packet in packets)
    tokens = Range(bare, bare + len(packets) * FOR_REFLECTOR * BRIEF_TOKENS)
    return _stage("reflector", "later", Range(len(packets), len(packets)), tokens, price)


def _curations(author: ModelAuthor, packets: Sequence[Packet], price: Price | None) -> StageEstimate:
    if not packets:
        return _stage("curator", "later", Range(0, 0), Range(0, 0), price)
    least = author.curator_request(_SMALLEST, packets[0], Bank()).tokens
    most = least + CARD_TOKENS * (1 + FOR_CURATOR) + FUNCTION_LINES_TOKENS
    calls = Range(0, MAX_DELTAS * len(packets))
    return _stage("curator", "later", calls, Range(0, calls.most * most), price)


def _stage(stage: str, part: str, calls: Range, tokens_in: Range, price: Price | None) -> StageEstimate:
    little, much = REPLY_TOKENS[stage]
    tokens_out = Range(calls.least * little, calls.most * much)
    cost = None
    if price is not None:
        cost = Range(price.of(tokens_in.least, tokens_out.least), price.of(tokens_in.most, tokens_out.most))
    return StageEstimate(stage, part, calls, tokens_in, tokens_out, cost)


_SMALLEST = Candidate(
    SkillDelta(title="One", applies_when="One.", solves="One.", skill=Skill(core_rule="One.", completion=("One.",))), ()
)


@contextmanager
def _replica(where: Store | None) -> Iterator[Store]:
    """A store of its own that holds what `where` holds."""
    with TemporaryDirectory(prefix="contramem-dry-run-") as folder, open_store(
        Path(folder) / "bank.db", create=True
    ) as store:  # fmt: skip
        if where is not None:
            with store.writing("build --dry-run"):
                store.record(*(entry.decision for entry in where.ledger()), progress=where.progress())
                for call in where.calls():
                    store.keep(call)
        yield store
