"""The two sides of a comparison: the same tasks without memory (base) and with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

Side: TypeAlias = Literal["base", "memory"]
OTHER: dict[Side, Side] = {"base": "memory", "memory": "base"}

Value = TypeVar("Value")


@dataclass(frozen=True)
class WithAndWithout(Generic[Value]):
    """One value per side."""

    base: Value
    memory: Value

    def of(self, side: Side) -> Value:
        return self.base if side == "base" else self.memory


def both(of: Callable[[Side], Value]) -> WithAndWithout[Value]:
    """The same question asked of each side."""
    return WithAndWithout(of("base"), of("memory"))
