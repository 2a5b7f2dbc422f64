"""Task facts: what one run of a task looked up is true for all runs of that task.

All runs of a task start from the same data. A run that never looked a customer up deals with the same customer as one
that did, so a guard `when Shop.find_customer.tier = A` applies to both; the run that did not look is the one that the
guard is meant for. The result of a call that changes something is a fact about its own run only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from contramem.monitor.action import Action
from contramem.monitor.guard import Guard
from contramem.monitor.scope import CallOccurs, Condition, FieldReturned, FieldSum, ItemsReturned

HowMet: TypeAlias = Literal["", "in this run", "as a fact"]
"""Whether a condition became true in a run. A fact is true of its task, and so of all runs of the task."""


def asks_for_facts(guard: Guard) -> bool:
    """Whether the guard has a condition, or an exception, on what a call returned."""
    asked = (*guard.conditions, *guard.exceptions)
    return any(isinstance(condition, (FieldReturned, FieldSum, ItemsReturned)) for condition in asked)


def drop_facts(guard: Guard, is_fact: Callable[[Condition], bool]) -> Guard:
    """The guard for the runs of one task, without the conditions known to be true of it."""
    when, unless = (
        " and ".join(str(condition) for condition in asked if not is_fact(condition))
        for asked in (guard.conditions, guard.exceptions)
    )
    return guard._replace(when=when, unless=None if guard.unless is None else unless)


def find_how_met(condition: CallOccurs | FieldReturned | FieldSum | ItemsReturned, actions: Iterable[Action]) -> HowMet:
    """Whether one of the actions makes the condition true."""
    met: HowMet = ""
    for action in actions:
        shows_fact = action.effect == "read" and not isinstance(condition, CallOccurs)
        if (shows_fact or not met) and condition.matches(action):
            if shows_fact:
                return "as a fact"
            met = "in this run"
    return met
