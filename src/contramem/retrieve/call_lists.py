"""Which list of calls a small model is shown for a task. It follows a wrong list as readily as a right one, so that a
list which may be wrong is not shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import nsmallest

from contramem.bank.support import CallList, CallLists
from contramem.retrieve.intent import asks_for
from contramem.retrieve.terms import term, terms_of
from contramem.retrieve.tokens import tokenize
from contramem.traces.effects import effect_of

MIN_ALIKE = 0.25
"""The share of words that a task must have in common with the request of a list."""
ALSO_ALIKE = 0.5
"""If the second request is at least this share as similar as the first, it must end in the same write."""


def fitting_list(
    lists_by_write: Mapping[str, CallLists],
    task: str,
    tools: Collection[str] | None = None,
    own: Collection[str] = (),
) -> CallList | None:
    """The list of the most similar request, if it ends in the write that the task asks for most clearly.

    None if no request is similar, the second most similar ends in another write, or the task asks for another write
    more clearly. The agent's `tools` must include all calls of a list. `own` are the digests of the task itself, whose
    lists are left out.
    """
    terms = {term(word) for word in tokenize(task)}
    ranked = (
        (-_alike(terms, set(terms_of(item.request))), len(item.calls), item.calls, item)
        for items in lists_by_write.values()
        for item in items
        if (tools is None or set(item.calls) <= set(tools)) and not set(own) & set(item.taught_by)
    )
    nearest = nsmallest(2, ranked, key=lambda entry: entry[:3])
    if not nearest or -nearest[0][0] < MIN_ALIKE:
        return None
    writes = {calls[-1] for alike, _, calls, _ in nearest if alike <= ALSO_ALIKE * nearest[0][0]}
    call_list = nearest[0][-1]
    asked = _is_asked_for(call_list.calls[-1], task, {*lists_by_write, *(tools or ())})
    return call_list if asked and len(writes) == 1 else None


def _is_asked_for(write: str, task: str, functions: Collection[str]) -> bool:
    """Whether the task asks for this write, and for no other more clearly."""
    words = tokenize(task)
    clearly = asks_for(write, words)
    return clearly > 0 and all(
        asks_for(other, words) <= clearly for other in functions if other != write and effect_of(other) == "write"
    )


def _alike(words: set[str], others: set[str]) -> float:
    """The share of their words that two texts have in common."""
    return len(words & others) / len(words | others) if words or others else 0.0
