"""Candidates: the guards that the runs of one task suggest, whatever became of the runs.

Outcomes are not looked at here, so that how many candidates there were says how often chance was given an opportunity
(significance.py). Each is kept by some run and broken by another, in the way its kind of rule is usually kept or
broken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from contramem.build.phrases import names_call, names_deed
from contramem.contrast.enabling import enablings
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import same_call
from contramem.contrast.vocabulary import scalars
from contramem.monitor.guard import Guard, Template

Slot: TypeAlias = tuple[str, str]
"""A function and one of its arguments."""

_THING = re.compile(r"<(?!AMOUNT|NUMBER)[A-Z]+_\d+>")
"""Values that two calls do not share by chance."""


def candidates(packet: Packet) -> set[Guard]:
    """Every guard that is worth replaying on the packet."""
    runs = (*packet.passing, *packet.failing)
    slots = _slots(runs)
    found = {
        Guard("known_value", function, argument=argument)
        for function, argument in slots
        if slots[function, argument].guessed
    }
    found = {guard for guard in found if slots[guard.function, guard.argument].sources}
    found |= set(_of_classes(runs, slots))
    found |= set(_sources(slots))
    found |= set(_prepared(runs, found))
    found |= set(_followed(runs, packet.task))
    found |= set(_companions(runs, packet.task))
    found |= {Guard("at_most_once", function) for run in runs for function in _repeated(run)}
    return found


def calls(run: PacketRun) -> list[Step]:
    """The calls of a run, whether they worked or not."""
    return [step for step in run.actions if step.function]


def worked(run: PacketRun) -> list[Step]:
    """The calls of a run that worked, but for one that only ends it."""
    return [step for step in calls(run) if not step.error and step.effect != "finalize"]


# Values


class _ArgumentSources(NamedTuple):
    sources: set[str]
    """Functions in whose results the values had been seen."""
    told: bool
    """Some were in the request, or the user said them."""
    guessed: bool
    """Some had been seen nowhere."""


def _slots(runs: Sequence[PacketRun]) -> dict[Slot, _ArgumentSources]:
    origins = defaultdict[Slot, set[str]](set)
    for run in runs:
        for step in calls(run):
            for argument, origin in step.origins.items():
                origins[step.function, argument].add(origin)
    return {
        slot: _ArgumentSources(
            {place for place in seen if "." in place}, bool(seen & {"task", "user"}), NOWHERE in seen
        )
        for slot, seen in origins.items()
    }


def _of_classes(runs: Sequence[PacketRun], slots: dict[Slot, _ArgumentSources]) -> Iterator[Guard]:
    """One level up: several functions of an app take the argument from the same place, so it is a rule of the app."""
    effects = {step.function: step.effect for run in runs for step in calls(run)}
    alike = defaultdict[tuple[str, str, str], list[_ArgumentSources]](list)
    for (function, argument), slot in slots.items():
        if effects[function] in ("read", "write"):
            alike[function.partition(".")[0], effects[function], argument].append(slot)
    for (app, effect, argument), group in alike.items():
        if (
            len(group) > 1
            and any(slot.guessed for slot in group)
            and set.intersection(*(slot.sources for slot in group))
        ):
            yield Guard("known_value", f"{effect}s({app})", argument=argument)


def _sources(slots: dict[Slot, _ArgumentSources]) -> Iterator[Guard]:
    """A value that some runs take from one place and some from another: one of them may be the right one."""
    for (function, argument), slot in slots.items():
        if len(slot.sources) + slot.told > 1:
            for source in slot.sources:
                yield Guard("existence", f"{function}[{argument} from {source}]", when=function)


# Order


def _prepared(runs: Sequence[PacketRun], known: set[Guard]) -> Iterator[Guard]:
    """What must have worked before: the tool refused until it had, or it gives a value that no other guard is about."""
    for one in enablings(runs):
        if not one.arguments:
            yield Guard("precedence", one.by[-1], one.function)
    guarded = {(guard.function, guard.argument) for guard in known}
    for run in runs:
        for step in calls(run):
            for argument, origin in step.origins.items():
                if "." in origin and origin != step.function and (step.function, argument) not in guarded:
                    yield Guard("precedence", origin, step.function)


def _followed(runs: Sequence[PacketRun], task: str) -> Iterator[Guard]:
    """Where a run stopped and another went on to look: at what a listing only named, or at what a change had done.

    Which look it was after a change belongs to the task; that the agent looked at all is what another task can use. A
    closer look that the request asks for in so many words is no lesson.
    """
    done = [worked(run) for run in runs]
    stops = {steps[-1].function for steps in done if steps}
    for steps in done:
        last = {step.function: index for index, step in enumerate(steps)}
        for first in stops & last.keys():
            for step in steps[last[first] + 1 :]:
                if step.effect != "read" or step.function == first:
                    continue
                if steps[last[first]].effect == "write":
                    yield Guard("response", first, f"reads({step.function.partition('.')[0]})")
                elif first in step.origins.values() and not names_call(task, step.function):
                    yield Guard("response", first, step.function)


def _companions(runs: Sequence[PacketRun], task: str) -> Iterator[Guard]:
    """A change, and what some runs also do to the same thing, before or after it, while others do without.

    No tool asks for it and no value tells of it: only outcomes can. What the request asks for in so many words is no
    lesson.
    """
    pairs = [_pairs(run) for run in runs]
    changed = [{step.function for step in worked(run) if _changes(step)} for run in runs]
    for template, first, then in sorted(set().union(*pairs)):
        change, other = (then, first) if template == "precedence" else (first, then)
        without = any(
            change in done and (template, first, then) not in seen for done, seen in zip(changed, pairs, strict=True)
        )
        if without and not names_deed(task, other):
            yield Guard(template, first, then)


def _pairs(run: PacketRun) -> set[tuple[Template, str, str]]:
    """(precedence, A, B): the change B was made to something that A had been called for. (response, A, B): after the
    change A, B was called for the same thing or for what A gave, and changed something too."""
    found = set[tuple[Template, str, str]]()
    steps = worked(run)
    for index, step in enumerate(steps):
        if not _changes(step):
            continue
        things = _things(step)
        for earlier in steps[:index]:
            if earlier.function == step.function:
                continue
            gives = earlier.function in step.origins.values()
            if not things.isdisjoint(_things(earlier)) and not gives:
                found.add(("precedence", earlier.function, step.function))
            if _changes(earlier) and (gives or not things.isdisjoint(_things(earlier))):
                found.add(("response", earlier.function, step.function))
    return found


def _changes(step: Step) -> bool:
    return step.effect not in ("read", "wait", "finalize")


def _things(step: Step) -> set[str]:
    """What the call is about: the values of its arguments that point at something."""
    return {value for _, value in scalars(step.arguments) if isinstance(value, str) and _THING.fullmatch(value)}


def _repeated(run: PacketRun) -> set[str]:
    """Writes that worked twice with the same arguments."""
    made, twice = set[tuple[str, str]](), set[str]()
    for step in worked(run):
        if step.effect == "write" and step.arguments:
            if same_call(step) in made:
                twice.add(step.function)
            made.add(same_call(step))
    return twice
