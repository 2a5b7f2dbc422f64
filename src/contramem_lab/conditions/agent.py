"""Skill Cards by a model that explores all runs with an author's instruments, and Function Cards by rules."""

from __future__ import annotations

from contramem.bank.store import open_store
from contramem.build.agent.rounds import AgentPlan
from contramem.build.rules.author import RuleAuthor
from contramem.pipeline import build_by_agent
from contramem.study.run_set import RunSet
from contramem.study.tables import open_tables
from contramem.traces.pool import Pool
from contramem_lab.conditions.cards import bank_by_rules, card_memory
from contramem_lab.conditions.condition import BuiltMemory, ConditionInputs, ConstructionCost, NotApplicable


def agent(inputs: ConditionInputs) -> BuiltMemory:
    """The bank of `build --author agent`. It uses reference runs only, half of which it holds back for tests."""
    model, reference = inputs.model, inputs.reference
    if model is None:
        raise NotApplicable("a model has to look at the runs, and none is named: give --model")
    where = inputs.store("agent", reference)
    reference.prepare()
    began = reference.clock()
    with Pool(reference.runs) as pool:
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
