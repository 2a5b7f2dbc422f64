"""Which calls matter to a guard: runs that make none of them need no replay."""

from __future__ import annotations

from functools import lru_cache

from contramem.monitor.guard import Guard
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import TaskSays


@lru_cache(maxsize=1 << 14)  # asked for each guard and run
def relevant_functions(guard: Guard) -> frozenset[str] | None:
    """The functions whose calls can change the state of the guard. None if any action can."""
    names = [parse_pattern(text).function for text in (guard.function, guard.then) if text]
    conditions = (each for each in (*guard.conditions, *guard.exceptions) if not isinstance(each, TaskSays))
    names += [function for condition in conditions for function in condition.relevant_functions]
    return frozenset(names) if all(names) else None


def heard_functions(guard: Guard) -> frozenset[str] | None:
    """The functions that the guard is about: runs that call none of them share one verdict. None: it may be any."""
    asks_for_request = any(isinstance(condition, TaskSays) for condition in (*guard.conditions, *guard.exceptions))
    return None if asks_for_request else relevant_functions(guard)
