"""Task facts: what one run of a task was shown is true for all of its runs.

All runs of a task meet the same world. A run that never looked a customer up meets the same customer as one that did,
so a guard `when Shop.find_customer.tier = A` speaks about both: the run that did not look is the one that the guard is
there for. What a call that changes something gave back is a fact of its own run only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contramem.monitor.action import Action
from contramem.monitor.guard import Guard
from contramem.monitor.scope import Condition, FieldReturned, FieldSum, ItemsReturned


def asks_for_facts(guard: Guard) -> bool:
    """Has the guard a condition on what a call returned?"""
    return any(isinstance(condition, (FieldReturned, FieldSum, ItemsReturned)) for condition in guard.conditions)


def apply_task_facts(guard: Guard, actions: Callable[[], Iterable[Action]]) -> Guard:
    """The guard for the runs of one task, without the conditions that are facts of it. `actions` are those of all its
    runs; they are asked for only when a condition needs them."""
    if not asks_for_facts(guard):
        return guard
    made = list(actions())
    conditions = [condition for condition in guard.conditions if not _is_fact(condition, made)]
    return guard._replace(when=" and ".join(map(str, conditions)))


def _is_fact(condition: Condition, actions: Iterable[Action]) -> bool:
    if not isinstance(condition, (FieldReturned, FieldSum, ItemsReturned)):
        return False
    return any(action.effect == "read" and condition.matches(action) for action in actions)
