"""Values: where runs took the values of arguments from, in one task or in all tasks of an ability."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from contramem.build.rules.phrases import code_name
from contramem.build.rules.steps import calls, find_guarded_calls
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.packet import Packet, PacketRun
from contramem.guards.guard import Guard

MAX_PLACES = 3
MIN_SHARE = 0.1
"""The share of values below which a place is not mentioned."""
MIN_READ = 0.5
"""The share of values that must be looked up for the argument to count as looked up."""
MIN_ALIKE = 0.8
"""The share of values that must have the same form for the argument to have one source."""


class ValuePlaces(NamedTuple):
    """Where values were found."""

    functions: tuple[str, ...]
    """The functions whose results contained them, most common first."""
    told: bool = False
    """Some were in the request, or the user said them."""

    def __str__(self) -> str:
        results = [f"a result of {code_name(name)}" for name in self.functions]
        return " or ".join([*(["the request"] if self.told else []), *results]) or "the request"


class ValueCount(NamedTuple):
    """How many values of an argument came from where."""

    places: ValuePlaces
    read: float
    """The share that results contained."""
    forms: float
    """The share with the most common form. An argument that is now an address and now a date has no single source."""

    @property
    def are_mostly_looked_up(self) -> bool:
        return self.read >= MIN_READ and self.forms >= MIN_ALIKE

    @property
    def are_looked_up(self) -> bool:
        """Always read in a result, never in the request."""
        return bool(self.places.functions) and not self.places.told


Slot: TypeAlias = tuple[str, str]
"""A function and one of its arguments."""


class SlotOrigins(NamedTuple):
    """Where the values of one argument had been seen before the call."""

    functions: set[str]
    """The functions whose results contained them."""
    told: bool
    """Some were in the request, or the user said them."""
    guessed: bool
    """Some had been seen nowhere."""

    @property
    def is_worth_a_guard(self) -> bool:
        return self.guessed and bool(self.functions)


def find_slots(runs: Sequence[PacketRun]) -> dict[Slot, SlotOrigins]:
    """Where the runs took the values of each argument of each function from."""
    origins = defaultdict[Slot, set[str]](set)
    for run in runs:
        for step in calls(run):
            for argument, origin in step.origins.items():
                origins[step.function, argument].add(origin)
    return {
        slot: SlotOrigins({place for place in seen if "." in place}, bool(seen & {TASK, USER}), NOWHERE in seen)
        for slot, seen in origins.items()
    }


def count_values(packets: Iterable[Packet], guard: Guard) -> ValueCount:
    """Where the passing runs of the packets took the guarded values from."""
    counts, forms = Counter[str](), Counter[str]()
    for packet in packets:
        for run in packet.passing:
            # Some calls of a class do not take the argument at all.
            for step in (step for step in find_guarded_calls(run, guard) if guard.argument in step.arguments):
                origin = step.origins.get(guard.argument, NOWHERE)
                counts["the request" if origin in (TASK, USER) else origin] += origin != NOWHERE
                forms[step.forms.get(guard.argument, "")] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    common = [place for place, count in ranked if count >= MIN_SHARE * counts.total()]
    functions = tuple(place for place in common if "." in place)[:MAX_PLACES]
    return ValueCount(
        ValuePlaces(functions, told="the request" in common),
        read=1 - counts["the request"] / max(1, counts.total()),
        forms=max(forms.values(), default=0) / max(1, forms.total()),
    )
