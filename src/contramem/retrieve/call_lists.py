"""Which list of calls a small model is shown for a task. It follows a wrong list as readily as a right one, so that a
list which may be wrong is not shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from contramem.bank.support import CallList, CallLists
from contramem.retrieve.intent import asks_for
from contramem.retrieve.terms import term, terms_of
from contramem.retrieve.tokens import tokenize
from contramem.traces.effects import effect_of

MIN_ALIKE = 0.25
"""How much of their words a task and the request of a list must share. Of 229 lists on recorded runs of five suites,
own tasks left out, 166 are what a passing run of the task called, some with further reads (benchmarks/call_lists)."""


def fitting_list(
    lists_by_write: Mapping[str, CallLists],
    task: str,
    tools: Collection[str] | None = None,
    own: Collection[str] = (),
) -> CallList | None:
    """The list for the request most like this task, among those that end in the write the task asks for most clearly.

    None: it asks for no write that has a list, or more clearly for another of the agent's tools; the agent lacks one of
    the tools; no request is like it, or two that end in different writes are so equally. `own` are the digests of the
    task itself, whose list it is not shown.
    """
    words = tokenize(task)
    asked = {write: score for write in lists_by_write if (score := asks_for(write, words))}
    clearest = max(asked.values(), default=0)
    if any(effect_of(tool) == "write" and asks_for(tool, words) > clearest for tool in tools or ()):
        return None
    terms = {term(word) for word in words}
    able = [
        (_alike(terms, set(terms_of(item.request))), item)
        for write, score in asked.items()
        if score == clearest
        for item in lists_by_write[write]
        if (tools is None or set(item.calls) <= set(tools)) and not set(own) & set(item.taught_by)
    ]
    return _most_alike(able)


def _most_alike(lists: Iterable[tuple[float, CallList]]) -> CallList | None:
    alike = [(share, item) for share, item in lists if share >= MIN_ALIKE]
    most = max((share for share, _ in alike), default=0.0)
    best = [item for share, item in alike if share == most]
    if len({item.calls[-1] for item in best}) != 1:
        return None
    return min(best, key=lambda item: (len(item.calls), item.calls))


def _alike(words: set[str], others: set[str]) -> float:
    """The share of their words that two texts have in common."""
    return len(words & others) / len(words | others) if words or others else 0.0
