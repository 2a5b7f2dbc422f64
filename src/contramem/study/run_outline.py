"""RunOutline: which calls a run made and which of them worked, without arguments and results. Many runs share one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from contramem.guards.actions import Action
from contramem.traces.trajectory import Effect


class CallOutline(NamedTuple):
    """One call."""

    function: str
    effect: Effect
    worked: bool


@dataclass(frozen=True)
class RunOutline:
    """The calls of one run, and what most questions ask about them."""

    calls: tuple[CallOutline, ...]
    called: frozenset[str]
    """Every called function, successful or not, and the names of actions that are not calls."""
    worked: frozenset[str]
    """The functions that were called successfully."""
    writes: frozenset[str]
    """The called functions that write, successful or not."""
    changes: frozenset[str]
    """The functions that worked and do not only read."""
    changing: frozenset[str]
    """The called functions that may change something: a tool whose name says nothing about that may, too."""

    @classmethod
    def of(cls, actions: Iterable[Action]) -> RunOutline:
        actions = list(actions)
        calls = [action for action in actions if action.kind == "call"]
        return cls(
            tuple(CallOutline(call.function, call.effect, call.worked) for call in calls),
            frozenset(action.function for action in actions),
            frozenset(action.function for action in actions if action.function and action.worked),
            frozenset(call.function for call in calls if call.effect == "write"),
            frozenset(call.function for call in calls if call.worked and call.effect != "read"),
            frozenset(call.function for call in calls if call.effect not in ("read", "wait", "finalize")),
        )
