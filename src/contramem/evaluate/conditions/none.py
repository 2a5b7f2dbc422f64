"""No memory: the condition that the others are measured against."""

from __future__ import annotations

from contramem.evaluate.conditions.condition import NOTHING, BuiltMemory, ConditionInputs, ConstructionCost
from contramem.inject.provider import TextMemory


def none(inputs: ConditionInputs) -> BuiltMemory:
    return BuiltMemory(TextMemory(lambda query: ""), items=0, unit="", tokens=0, construction=ConstructionCost(NOTHING))
