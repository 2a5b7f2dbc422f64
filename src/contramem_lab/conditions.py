"""Conditions: ways to build a memory, all from the same runs and measured the same way (paper, Ablations, A.4 to A.7).

    inputs = ConditionInputs(Reference(runs), folder, target="gpt-4o")
    memory = CONDITIONS["contramem"].build(inputs)      # or NotApplicable, which says why
    run = memory.provider.begin(Query(task, ability=..., task_id=..., scenario_id=...))
    run.guidance.text, memory.tokens, memory.construction.calls, memory.judge

`CONDITIONS` has them by name, in the order of the table. Use one `ConditionInputs` for all conditions of a comparison:
the bank that several of them need is then built once. Without `ConditionInputs.model`, every memory is built by rules,
as `construction.by` says; only `agent` needs a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.store import Store, open_store
from contramem.build.agent.rounds import AgentPlan
from contramem.build.author import Author, Only
from contramem.build.deltas import DeltasFrom
from contramem.build.model.rounds import BuildPlan
from contramem.build.rules.author import RuleAuthor
from contramem.collection.runs import Collection
from contramem.errors import UsageError
from contramem.inject.guidance import text_of
from contramem.inject.provider import TextMemory
from contramem.inject.run import Memory
from contramem.llm.client import Stage
from contramem.pipeline import build_bank, build_by_agent, build_by_model
from contramem.study.run_set import RunSet
from contramem.study.tables import open_tables
from contramem.validate.validator import Validator
from contramem_lab.baselines import ace, awm, raw
from contramem_lab.condition import (
    NOTHING,
    RULES,
    BuiltMemory,
    Condition,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
    Reference,
    by_source,
)
from contramem_lab.foresight import CardGuards, Habits, card_judge, contests, guard_judge

CARDS_ALONE = "cards alone"


@dataclass(frozen=True)
class _BuiltBank:
    """A bank, and the cost of each kind of card, without contrasting."""

    bank: Bank
    functions: ConstructionCost
    skills: ConstructionCost

    @property
    def together(self) -> ConstructionCost:
        return self.functions.plus(self.skills)


def contramem(inputs: ConditionInputs) -> BuiltMemory:
    built = _build_shared(inputs)
    return card_memory(inputs, built.bank, built.together, inputs.reference)


def function_only(inputs: ConditionInputs) -> BuiltMemory:
    """The Function Cards of the shared bank (paper, Ablations). They don't order runs, so there is no judge."""
    built = _build_shared(inputs)
    bank = _only(built.bank, FunctionCard)
    return replace(card_memory(inputs, bank, built.functions, inputs.reference), judge=None, parts={})


def skill_only(inputs: ConditionInputs) -> BuiltMemory:
    """The Skill Cards of the shared bank."""
    built = _build_shared(inputs)
    return card_memory(inputs, _only(built.bank, SkillCard), built.skills, inputs.reference)


def append_only(inputs: ConditionInputs) -> BuiltMemory:
    """Every delta of the shared build as a card of its own (paper, A.4)."""
    built = _build_shared(inputs)
    reference = inputs.reference
    shared, where = inputs.store("contramem", reference), inputs.store("append-only", reference)
    rules = RuleAuthor(reference.vocabulary)
    with open_store(shared) as store:
        author = DeltasFrom(store.ledger(), rules, str(shared))
    began = reference.clock()
    with open_store(where, create=True) as store:
        bank = bank_by_rules(reference, store, author, append_only=True)
    construction = replace(built.together, seconds=built.together.seconds + reference.clock() - began)
    return card_memory(inputs, bank, construction, reference)


def self_memory(inputs: ConditionInputs) -> BuiltMemory:
    """The same pipeline on one run per task by the target itself."""
    return _of_target(inputs, "self", inputs.own(rollouts=1))


def multi_rollout(inputs: ConditionInputs) -> BuiltMemory:
    """The same pipeline on several runs per task by the target itself."""
    own = inputs.own(inputs.rollouts)
    most = max((len(by_source(task, inputs.target or "")) for task in own.tasks), default=0)
    if most < 2:
        raise NotApplicable(f"{inputs.target} ran each task once, and this condition needs several runs of one source")
    return _of_target(inputs, "multi-rollout", own)


def _of_target(inputs: ConditionInputs, name: str, own: Reference) -> BuiltMemory:
    built = _build(name, inputs, own)
    return card_memory(inputs, built.bank, built.together, own)


def _build_shared(inputs: ConditionInputs) -> _BuiltBank:
    return _build("contramem", inputs, inputs.reference)


def _build(name: str, inputs: ConditionInputs, reference: Reference) -> _BuiltBank:
    """The bank with this name, built once. Four conditions use the shared one."""
    built = inputs.kept.get(name)
    if not isinstance(built, _BuiltBank):
        with open_store(inputs.store(name, reference), create=True) as store:
            build = _build_by_model if inputs.model else _build_by_rules
            built = build(inputs, reference, store)
        inputs.kept[name] = built
    return built


def _build_by_rules(inputs: ConditionInputs, reference: Reference, store: Store) -> _BuiltBank:
    author, clock = RuleAuthor(reference.vocabulary), reference.clock
    reference.prepare()
    began = clock()
    bank_by_rules(reference, store, author, only="functions")
    between = clock()
    bank = bank_by_rules(reference, store, author, only="skills", reassesses=inputs.reassesses)
    return _BuiltBank(
        bank,
        ConstructionCost(RULES, len(reference), seconds=between - began),
        ConstructionCost(RULES, len(reference), seconds=clock() - between),
    )


def bank_by_rules(
    reference: Reference,
    store: Store,
    author: Author,
    *,
    only: Only | None = None,
    append_only: bool = False,
    reassesses: bool = True,
) -> Bank:
    build_bank(
        reference.packets,
        store,
        author,
        Validator(reference.vocabulary.public),
        only=only,
        append_only=append_only,
        reassesses=reassesses,
        tools=reference.tools,
    )
    return store.bank()


def _build_by_model(inputs: ConditionInputs, reference: Reference, store: Store) -> _BuiltBank:
    model = inputs.model
    assert model is not None
    exchange, answer = model.asking(store)
    reference.prepare()
    began = reference.clock()
    plan = BuildPlan(reference.packets, reference.tools, reassesses=inputs.reassesses)
    checks = Validator(reference.vocabulary.public)
    build = build_by_model(plan, store, model.choice, checks, answer, exchange=exchange)
    if build.stopped is not None:
        raise build.stopped
    seconds = reference.clock() - began

    def spent(*stages: Stage) -> ConstructionCost:
        calls = [call for call in store.calls() if call.stage in stages]
        return ConstructionCost.of_calls(
            model.choice.name, len(reference), calls, seconds if "builder" in stages else 0.0
        )

    return _BuiltBank(store.bank(), spent("builder"), spent("reflector", "curator"))


def _only(bank: Bank, kind: type[FunctionCard] | type[SkillCard]) -> Bank:
    return Bank({card_id: entry for card_id, entry in bank.entries.items() if isinstance(entry.card, kind)})


def card_memory(
    inputs: ConditionInputs, bank: Bank, construction: ConstructionCost, learned_from: Reference
) -> BuiltMemory:
    """A bank as a memory: what agents are shown, and how its guards order runs."""
    frozen = parse_frozen(freeze(bank, inputs.profile, inputs.ability_profiles), "this bank")
    guards, habits = CardGuards(bank), Habits.learn(contests(learned_from.tasks))
    return BuiltMemory(
        provider=Memory(frozen),
        items=len(bank.cards),
        unit="cards",
        tokens=sum(text_of(card).upto[-1].tokens for card in bank.cards),
        construction=replace(construction, seconds=learned_from.prepare() + construction.seconds),
        judge=guard_judge(guards, habits),
        parts={CARDS_ALONE: card_judge(guards)},
    )


def agent(inputs: ConditionInputs) -> BuiltMemory:
    """The bank of `build --author agent`. It uses reference runs only, half of which it holds back for tests."""
    model, reference = inputs.model, inputs.reference
    if model is None:
        raise NotApplicable("a model has to look at the runs, and none is named: give --model")
    where = inputs.store("agent", reference)
    reference.prepare()
    began = reference.clock()
    with Collection(reference.runs) as pool:
        run_set = RunSet.of(run for task in pool for run in task)
    with open_store(where, create=True) as store, open_tables(run_set) as tables:
        bank_by_rules(reference, store, RuleAuthor(reference.vocabulary), only="functions")
        exchange, answer = model.asking(store)
        plan = AgentPlan(run_set, tables, where.with_suffix(".trials.jsonl"), model.caller.parallel)
        build = build_by_agent(plan, store, model.choice, answer, exchange=exchange)
        if build.stopped is not None:
            raise build.stopped
        seconds = reference.clock() - began
        construction = ConstructionCost.of_calls(model.choice.name, len(reference), store.calls(), seconds)
        return card_memory(inputs, store.bank(), construction, reference)


def none(inputs: ConditionInputs) -> BuiltMemory:
    return BuiltMemory(TextMemory(lambda query: ""), items=0, unit="", tokens=0, construction=ConstructionCost(NOTHING))


CONDITIONS: dict[str, Condition] = {
    condition.name: condition
    for condition in (
        Condition("none", "no memory", none),
        Condition("self", "cards from one run of each task by the target itself", self_memory, True, True),
        Condition(
            "multi-rollout", "cards from several runs of each task by the target itself", multi_rollout, True, True
        ),
        Condition("contramem", "cards from the runs of all sources", contramem, True),
        Condition("function-only", "its Function Cards alone", function_only, True),
        Condition("skill-only", "its Skill Cards alone", skill_only, True),
        Condition("append-only", "its lessons, each kept as a card of its own", append_only, True),
        Condition("agent", "cards by a model with tools that looks at all runs (needs --model)", agent, True),
        Condition("raw", "masked runs that passed the most similar tasks", raw),
        Condition("awm", "workflows induced from the runs that passed (offline AWM)", awm),
        Condition("ace", "a playbook grown one run at a time (offline ACE)", ace),
    )
}


def pick_conditions(names: str) -> list[Condition]:
    """The conditions named in a comma-separated list, in the order of the table."""
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    if unknown := sorted(wanted - CONDITIONS.keys()):
        raise UsageError(f"there is no condition {unknown[0]!r} (conditions: {', '.join(CONDITIONS)}).")
    if not wanted:
        raise UsageError(f"name at least one condition ({', '.join(CONDITIONS)}).")
    return [condition for name, condition in CONDITIONS.items() if name in wanted]
