"""Conditions: ways to build a memory, all from the same runs and measured the same way (paper, Ablations, A.4 to A.7).

    inputs = ConditionInputs(Reference(runs), folder, target="gpt-4o")
    memory = CONDITIONS["contramem"].build(inputs)      # or NotApplicable, which says why
    run = memory.provider.begin(Query(task, ability=..., task_id=..., scenario_id=...))
    run.guidance.text, memory.tokens, memory.construction.calls, memory.judge

`CONDITIONS` has them by name, in the order of the table; `pick_conditions("none,contramem")` selects some. Use one
`ConditionInputs` for all conditions of a comparison: the bank that several of them need is then built once. Without
`ConditionInputs.model`, every memory is built by rules, as `construction.by` says; only `agent` needs a model.
`provider` is what an agent loop uses; `judge` orders recorded runs, if the memory defines an order.
"""

from __future__ import annotations

from contramem.errors import UsageError
from contramem_lab.conditions.ace import ace
from contramem_lab.conditions.agent import agent
from contramem_lab.conditions.awm import awm
from contramem_lab.conditions.cards import (
    append_only,
    contramem,
    function_only,
    multi_rollout,
    self_memory,
    skill_only,
)
from contramem_lab.conditions.condition import (
    BuiltMemory,
    ByModel,
    Condition,
    ConditionInputs,
    ConstructionCost,
    FunctionCondition,
    NotApplicable,
)
from contramem_lab.conditions.none import none
from contramem_lab.conditions.raw import raw
from contramem_lab.conditions.reference import Reference, median_source

__all__ = [
    "CONDITIONS",
    "BuiltMemory",
    "ByModel",
    "Condition",
    "ConditionInputs",
    "ConstructionCost",
    "NotApplicable",
    "Reference",
    "median_source",
    "pick_conditions",
]

CONDITIONS: dict[str, Condition] = {
    condition.name: condition
    for condition in (
        FunctionCondition("none", "no memory", none),
        FunctionCondition(
            "self",
            "cards from one run of each task by the target itself",
            self_memory,
            uses_cards=True,
            uses_own_runs=True,
        ),
        FunctionCondition(
            "multi-rollout",
            "cards from several runs of each task by the target itself",
            multi_rollout,
            uses_cards=True,
            uses_own_runs=True,
        ),
        FunctionCondition("contramem", "cards from the runs of all sources", contramem, uses_cards=True),
        FunctionCondition("function-only", "its Function Cards alone", function_only, uses_cards=True),
        FunctionCondition("skill-only", "its Skill Cards alone", skill_only, uses_cards=True),
        FunctionCondition("append-only", "its lessons, each kept as a card of its own", append_only, uses_cards=True),
        FunctionCondition(
            "agent", "cards by a model with tools that looks at all runs (needs --model)", agent, uses_cards=True
        ),
        FunctionCondition("raw", "masked runs that passed the most similar tasks", raw),
        FunctionCondition("awm", "workflows induced from the runs that passed (offline AWM)", awm),
        FunctionCondition("ace", "a playbook grown one run at a time (offline ACE)", ace),
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
