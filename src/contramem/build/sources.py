"""Sources: where passing runs take the values of an argument from, over one task or over all of an ability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contramem.build.mining import guarded
from contramem.build.phrases import bare, listed
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard
from contramem.monitor.pattern import parse_pattern

MAX_NAMED = 3
MIN_SHARE = 0.1
"""Of the values. What fewer runs did is left out of a sentence."""
MIN_READ = 0.5
"""Of the values of an argument that is said to be looked up."""
MIN_ALIKE = 0.8
"""Of the values of an argument that is said to come from somewhere, the share that must have the same form."""


class ValueSources(NamedTuple):
    """How many values came from where."""

    functions: tuple[str, ...]
    """Those in whose results they stood, the commonest first."""
    told: bool
    """Some stood in the request, or the user said them."""
    read: float
    """The share that stood in results."""
    forms: float
    """The share that has the commonest form. An argument that is now an address and now a date has no one source."""

    @property
    def are_mostly_looked_up(self) -> bool:
        return self.read >= MIN_READ and self.forms >= MIN_ALIKE

    @property
    def are_looked_up(self) -> bool:
        """Always read in a result, never in the request."""
        return bool(self.functions) and not self.told


def sources_in(packets: Iterable[Packet], guard: Guard) -> ValueSources:
    """Where the passing runs of the packets took the guarded values from."""
    counts, forms = Counter[str](), Counter[str]()
    for packet in packets:
        for run in packet.passing:
            # Of a class of calls, some do not take the argument at all.
            for step in (step for step in guarded(run, guard) if guard.argument in step.arguments):
                origin = step.origins.get(guard.argument, NOWHERE)
                counts["the request" if origin in (TASK, USER) else origin] += origin != NOWHERE
                forms[step.forms.get(guard.argument, "")] += 1
    common = [place for place, count in sorted(counts.items(), key=_commonest) if count >= MIN_SHARE * counts.total()]
    total = max(1, counts.total())
    return ValueSources(
        tuple(place for place in common if "." in place)[:MAX_NAMED],
        told="the request" in common,
        read=1 - counts["the request"] / total,
        forms=max(forms.values(), default=0) / max(1, forms.total()),
    )


def _commonest(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def places(sources: ValueSources) -> str:
    """`the request or a result of `find_contact``."""
    results = [f"a result of {bare(name)}" for name in sources.functions]
    return " or ".join([*(["the request"] if sources.told else []), *results]) or "the request"


def named(guard: Guard, functions: Sequence[str]) -> str:
    """What a guard guards, in words: the function, or the class with the functions of it that were seen."""
    pattern = parse_pattern(guard.function)
    if pattern.function:
        return bare(pattern.function)
    kind = "call that changes" if pattern.kind == "writes" else "call that looks into"
    shown = listed([bare(name) for name in functions[:MAX_NAMED]])
    return f"any {kind} {pattern.name} ({shown})" if shown else f"any {kind} {pattern.name}"
