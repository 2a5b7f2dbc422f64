"""Which list of calls a small model is shown for a task. It follows a wrong list as readily as a right one, so that a
list which may be wrong is not shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from contramem.bank.support import CallLists
from contramem.retrieve.intent import asks_for
from contramem.retrieve.tokens import tokenize
from contramem.traces.effects import effect_of

MIN_ALIKE = 0.25
"""How much of their words a task and one of the requests behind a list must share. On recorded runs of five suites, own
tasks left out, 54 % of the lists shown were in agreement with a run of the task that passed; with this, 70 %."""


def fitting_list(
    lists: CallLists, words: Sequence[str], tools: Collection[str] | None, requests: Iterable[str] = ()
) -> tuple[str, ...]:
    """The list whose last call is what the task asks for; empty when there is none, or several that fit as well.

    An agent with these tools has to be able to make every call and must have none that the task asks for more
    clearly. `requests` are those that taught the card, as words; one of them has to be like this task.
    """
    requested = [set(tokenize(request)) for request in requests]
    if requested and max(_alike(set(words), other) for other in requested) < MIN_ALIKE:
        return ()
    able = [calls for calls in lists if tools is None or set(calls) <= set(tools)]
    scores = {calls: score for calls in able if (score := asks_for(calls[-1], words))}
    best = [calls for calls, score in scores.items() if score == max(scores.values())]
    if len(best) != 1:
        return ()
    others = set(tools or ()).difference(best[0])
    clearer = (tool for tool in others if effect_of(tool) == "write" and asks_for(tool, words) > scores[best[0]])
    return () if any(clearer) else best[0]


def _alike(words: set[str], others: set[str]) -> float:
    """The share of their words that two texts have in common."""
    return len(words & others) / len(words | others) if words or others else 0.0
