"""No memory: the condition that the others are measured against."""

from __future__ import annotations

from contramem.evaluate.conditions.condition import NOTHING, BuiltMemory, ConstructionCost, Making
from contramem.inject.aid import TextAid


def none(making: Making) -> BuiltMemory:
    return BuiltMemory(TextAid(lambda query: ""), items=0, unit="", tokens=0, construction=ConstructionCost(NOTHING))
