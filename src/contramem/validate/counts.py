"""Counts of runs in a card's words, held against the runs: refused only where they contradict what can be counted.

An author counts by criteria of its own ("16 of 17 runs that asked first"), which no program can check. What a program
can tell is that there are not so many runs, or that another number of them calls the function that is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_SIDE = r"(?:(?P<side>passing|failing|passed|failed|successful|unsuccessful|failures|passes)\b)?"
_RUNS = r"\s*(?P<runs>runs?|attempts?|trajector(?:y|ies))?"
_COUNT = re.compile(
    rf"(?<![\w.])(?P<some>\d+)\s+(?:out\s+)?of\s+(?:the\s+|all\s+)*(?P<whole>\d+)(?![\w.])\s*{_SIDE}{_RUNS}",
    re.IGNORECASE,
)
_ALL_OF = re.compile(
    rf"\b(?:all|the|each of the|both of the)\s+(?P<whole>\d+)\s+{_SIDE}{_RUNS}(?(side)|(?!))", re.IGNORECASE
)
_CALLS = re.compile(
    r"\s*(?:that\s+)?(?P<never>never\s+|did\s+not\s+|do\s+not\s+|does\s+not\s+)?call(?:ed|s)?\s+"
    r"`?(?P<tool>\w+(?:\.\w+)*)`?(?=\s*(?:[.;,)]|$))"
)
_FAILING = frozenset({"failing", "failed", "unsuccessful", "failures"})


class Sides(NamedTuple):
    """The runs of a packet, by outcome, and what each calls."""

    passing: tuple[str, ...]
    failing: tuple[str, ...]
    called: Mapping[str, set[str]]

    def of(self, side: str | None) -> tuple[str, ...]:
        if not side:
            return self.passing + self.failing
        return self.failing if side.lower() in _FAILING else self.passing


def contradictions(text: str, sides: Sides) -> Iterator[str]:
    """What a text counts that the runs contradict, in words, each to follow `FIELD says`."""
    for found in _COUNT.finditer(text):
        some, whole = int(found["some"]), int(found["whole"])
        if some > whole:
            yield f"{some} of {whole}, which is more than all."
        elif (found["side"] or found["runs"]) and whole > len(sides.of(found["side"])):
            yield _too_many(f"{some} of {whole}", found["side"], sides)
        elif (number := _number_calling(text, found, sides)) is not None and number != some:
            yield f"{some} of {whole}, but {number} of them do."
    for found in _ALL_OF.finditer(text):
        if int(found["whole"]) > len(sides.of(found["side"])):
            yield _too_many(found["whole"], found["side"], sides)


def _too_many(said: str, side: str | None, sides: Sides) -> str:
    kind = "" if not side else "failing " if side.lower() in _FAILING else "passing "
    return f"{said}, but there are {len(sides.of(side))} {kind}runs."


def _number_calling(text: str, found: re.Match[str], sides: Sides) -> int | None:
    """How many runs of a whole side call, or do not call, the function that is named right after the count."""
    calls = _CALLS.match(text, found.end())
    runs = sides.of(found["side"])
    if calls is None or not found["side"] or int(found["whole"]) != len(runs):
        return None
    tool = calls["tool"].lower()
    names = {name for functions in sides.called.values() for name in functions if _is_named(name.lower(), tool)}
    if not names:
        return None
    calling = sum(not names.isdisjoint(sides.called[run]) for run in runs)
    return len(runs) - calling if calls["never"] else calling


def _is_named(function: str, tool: str) -> bool:
    return function == tool or function.endswith(f".{tool}")
