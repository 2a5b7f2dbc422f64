"""The two sides of a comparison: the same tasks without memory (base) and with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

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
    """Compute a value for each side."""
    return WithAndWithout(of("base"), of("memory"))


class SideNames(NamedTuple):
    """The names of the sides in tables and sentences. They say "memory" only if both sides are runs of one source."""

    labels: WithAndWithout[str]
    columns: WithAndWithout[str]
    phrases: WithAndWithout[str]
    """After a verb: "12 pass with memory"."""


MEMORY_SIDES = SideNames(
    WithAndWithout("No memory", "Memory"),
    WithAndWithout("Base", "Memory"),
    WithAndWithout("without memory", "with memory"),
)
AGENT_SIDES = SideNames(
    WithAndWithout("First side", "Second side"),
    WithAndWithout("Base", "Second"),
    WithAndWithout("on the first side", "on the second side"),
)
