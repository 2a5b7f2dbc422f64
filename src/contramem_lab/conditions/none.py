"""No memory: the condition that the others are measured against."""

from __future__ import annotations

from contramem.inject.provider import TextMemory
from contramem_lab.conditions.condition import NOTHING, BuiltMemory, ConditionInputs, ConstructionCost


def none(inputs: ConditionInputs) -> BuiltMemory:
    return BuiltMemory(TextMemory(lambda query: ""), items=0, unit="", tokens=0, construction=ConstructionCost(NOTHING))
