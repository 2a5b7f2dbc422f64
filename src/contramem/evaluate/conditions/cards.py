"""Banks of cards: contramem itself, its parts, its uncurated form, and the same from one source's runs only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.store import Store, open_store
from contramem.build.author import Author, Only
from contramem.build.deltas import DeltasFrom
from contramem.build.model.rounds import BuildPlan
from contramem.build.rules import RuleAuthor
from contramem.evaluate.conditions.condition import (
    RULES,
    BuiltMemory,
    ByModel,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
)
from contramem.evaluate.conditions.reference import Reference, by_source
from contramem.evaluate.contest import contests
from contramem.evaluate.foresight_guards import CardGuards, Habits, card_judge, guard_judge
from contramem.inject.budget import text_of
from contramem.inject.run import Memory
from contramem.llm.request import Stage
from contramem.pipeline import build_bank, build_by_model
from contramem.validate.validator import Validator

CARDS_ALONE = "cards alone"


@dataclass(frozen=True)
class _BuiltBank:
    """A bank and what each kind of its cards took, contrasting apart."""

    bank: Bank
    functions: ConstructionCost
    skills: ConstructionCost

    @property
    def together(self) -> ConstructionCost:
        one, other = self.functions, self.skills
        unpriced = one.cost_usd is None or other.cost_usd is None
        return replace(
            one,
            calls=one.calls + other.calls,
            tokens_in=one.tokens_in + other.tokens_in,
            tokens_out=one.tokens_out + other.tokens_out,
            cost_usd=None if unpriced else (one.cost_usd or 0) + (other.cost_usd or 0),
            seconds=one.seconds + other.seconds,
        )


def contramem(making: ConditionInputs) -> BuiltMemory:
    built = _shared(making)
    return _memory(making, built.bank, built.together, making.reference)


def function_only(making: ConditionInputs) -> BuiltMemory:
    """Of the shared bank (paper, Ablations). Tool contracts say nothing about which run of a task went well."""
    built = _shared(making)
    kept = _only(built.bank, FunctionCard)
    return replace(_memory(making, kept, built.functions, making.reference), judge=None, parts={})


def skill_only(making: ConditionInputs) -> BuiltMemory:
    """Of the shared bank."""
    built = _shared(making)
    return _memory(making, _only(built.bank, SkillCard), built.skills, making.reference)


def append_only(making: ConditionInputs) -> BuiltMemory:
    """Every delta of the shared build, kept as a card of its own (paper, A.4)."""
    built = _shared(making)
    reference = making.reference
    shared, where = making.store("contramem", reference), making.store("append-only", reference)
    rules = RuleAuthor(reference.vocabulary)
    with open_store(shared) as store:
        author = DeltasFrom(store.ledger(), rules, str(shared))
    began = reference.clock()
    with open_store(where, create=True) as store:
        bank = _by_rules(reference, store, author, append_only=True)
    construction = replace(built.together, seconds=built.together.seconds + reference.clock() - began)
    return _memory(making, bank, construction, reference)


def self_memory(making: ConditionInputs) -> BuiltMemory:
    """The same pipeline on one run of each task by the target itself."""
    return _of_target(making, "self", making.own(rollouts=1))


def multi_rollout(making: ConditionInputs) -> BuiltMemory:
    """The same pipeline on several runs of each task by the target itself."""
    own = making.own(making.rollouts)
    most = max((len(by_source(task, making.target or "")) for task in own.tasks), default=0)
    if most < 2:
        raise NotApplicable(f"{making.target} ran each task once, and it takes several runs of one source")
    return _of_target(making, "multi-rollout", own)


def _of_target(making: ConditionInputs, name: str, own: Reference) -> BuiltMemory:
    built = _build(name, making, own)
    return _memory(making, built.bank, built.together, own)


def _shared(making: ConditionInputs) -> _BuiltBank:
    return _build("contramem", making, making.reference)


def _build(name: str, making: ConditionInputs, reference: Reference) -> _BuiltBank:
    """The bank of that name. Four conditions are made of the shared one, which is built once."""
    known = making.kept.get(name)
    if not isinstance(known, _BuiltBank):
        with open_store(making.store(name, reference), create=True) as store:
            known = _asked(making.model, reference, store) if making.model else _ruled(reference, store)
        making.kept[name] = known
    return known


def _ruled(reference: Reference, store: Store) -> _BuiltBank:
    author, clock = RuleAuthor(reference.vocabulary), reference.clock
    reference.prepare()
    began = clock()
    _by_rules(reference, store, author, only="functions")
    between = clock()
    bank = _by_rules(reference, store, author, only="skills")
    return _BuiltBank(
        bank,
        ConstructionCost(RULES, len(reference), seconds=between - began),
        ConstructionCost(RULES, len(reference), seconds=clock() - between),
    )


def _by_rules(
    reference: Reference, store: Store, author: Author, *, only: Only | None = None, append_only: bool = False
) -> Bank:
    checks = Validator(reference.vocabulary.closed)
    build_bank(
        reference.packets, store, author, checks, only=only, append_only=append_only, tools=reference.tools
    )  # fmt: skip
    return store.bank()


def _asked(model: ByModel, reference: Reference, store: Store) -> _BuiltBank:
    exchange, answer = model.asking(store)
    reference.prepare()
    began = reference.clock()
    plan = BuildPlan(reference.packets, reference.tools)
    checks = Validator(reference.vocabulary.closed)
    found = build_by_model(plan, store, model.choice, checks, answer, exchange=exchange)
    if found.stopped is not None:
        raise found.stopped
    seconds = reference.clock() - began

    def spent(*stages: Stage) -> ConstructionCost:
        calls = [call for call in store.calls() if call.stage in stages]
        return ConstructionCost.of_calls(
            model.choice.name, len(reference), calls, seconds if "builder" in stages else 0.0
        )

    return _BuiltBank(store.bank(), spent("builder"), spent("reflector", "curator"))


def _only(bank: Bank, kind: type[FunctionCard] | type[SkillCard]) -> Bank:
    return Bank({card_id: held for card_id, held in bank.entries.items() if isinstance(held.card, kind)})


def _memory(
    making: ConditionInputs, bank: Bank, construction: ConstructionCost, learned_from: Reference
) -> BuiltMemory:
    frozen = parse_frozen(freeze(bank, making.profile), "this bank")
    guards, habits = CardGuards(bank), Habits.learned(contests(learned_from.tasks))
    return BuiltMemory(
        provider=Memory(frozen),
        items=len(bank.cards),
        unit="cards",
        tokens=_tokens(bank.cards),
        construction=replace(construction, seconds=learned_from.prepare() + construction.seconds),
        judge=guard_judge(guards, habits),
        parts={CARDS_ALONE: card_judge(guards)},
    )


def _tokens(cards: Iterable[FunctionCard | SkillCard]) -> int:
    return sum(text_of(card).upto[-1].tokens for card in cards)
