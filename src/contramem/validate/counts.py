"""Counts of runs in a card's text, checked against the runs: refused only if they contradict what can be counted.

Authors count by their own criteria ("16 of 17 runs that asked first"), which no program can check. A program can tell
that there are not that many runs, or that a different number of them calls the named function.
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
_SO_MANY = re.compile(
    r"(?<![\w.])(?<!of )(?<!all )(?<!the )(?P<whole>\d+)\s+"
    r"(?P<side>passing|failing|passed|failed|successful|unsuccessful)\s+(?:runs?|trajector(?:y|ies))\b",
    re.IGNORECASE,
)
"""Not attempts: one run may make several."""
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
    """Counts in a text that the runs contradict, in words that follow `FIELD says`."""
    for match in _COUNT.finditer(text):
        some, whole = int(match["some"]), int(match["whole"])
        if some > whole:
            yield f"{some} of {whole}, which is more than all."
        elif (match["side"] or match["runs"]) and whole > len(sides.of(match["side"])):
            yield _too_many(f"{some} of {whole}", match["side"], sides)
        elif (number := _number_calling(text, match, sides)) is not None and number != some:
            yield f"{some} of {whole}, but {number} of them do."
    for match in (*_ALL_OF.finditer(text), *_SO_MANY.finditer(text)):
        if int(match["whole"]) > len(sides.of(match["side"])):
            yield _too_many(match["whole"], match["side"], sides)


def _too_many(count: str, side: str | None, sides: Sides) -> str:
    kind = "" if not side else "failing " if side.lower() in _FAILING else "passing "
    return f"{count}, but there are {len(sides.of(side))} {kind}runs."


def _number_calling(text: str, match: re.Match[str], sides: Sides) -> int | None:
    """How many runs of a whole side call, or do not call, the function named right after the count."""
    calls = _CALLS.match(text, match.end())
    runs = sides.of(match["side"])
    if calls is None or not match["side"] or int(match["whole"]) != len(runs):
        return None
    tool = calls["tool"].lower()
    names = {name for functions in sides.called.values() for name in functions if _is_named(name.lower(), tool)}
    if not names:
        return None
    calling = sum(not names.isdisjoint(sides.called[run]) for run in runs)
    return len(runs) - calling if calls["never"] else calling


def _is_named(function: str, tool: str) -> bool:
    return function == tool or function.endswith(f".{tool}")
