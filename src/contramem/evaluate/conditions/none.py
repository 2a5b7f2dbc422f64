"""No memory: the condition that the others are measured against."""

from __future__ import annotations

from contramem.evaluate.conditions.condition import NOTHING, BuiltMemory, Construction, Making
from contramem.evaluate.conditions.shown import Asked, TextAid


def none(making: Making) -> BuiltMemory:
    return BuiltMemory(TextAid(_nothing), items=0, unit="", tokens=0, construction=Construction(NOTHING))


def _nothing(asked: Asked) -> str:
    return ""
