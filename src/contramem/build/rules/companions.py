"""Companions: a change, and what some runs also do to the same thing, before or after it, while others do without.

No tool asks for it and no value tells of it: only outcomes can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contramem.build.rules.phrases import names_deed
from contramem.build.rules.steps import working_calls
from contramem.contrast.packet import PacketRun, Step
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.vocabulary import scalars
from contramem.monitor.guard import Guard, Template

_THING = re.compile(rf"<(?!{any_of(names_where(lambda type_: type_.is_shared_by_chance))})[A-Z]+_\d+>")
"""Values that two calls do not share by chance."""


def companions(runs: Sequence[PacketRun], task: str, template: Template) -> Iterator[Guard]:
    """`precedence` guards about what is done before a change, or `response` guards about what is done after it. What
    the request asks for in so many words is no lesson."""
    pairs = [_before(run) if template == "precedence" else _after(run) for run in runs]
    changed = [{step.function for step in working_calls(run) if _changes(step)} for run in runs]
    for first, then in sorted(set().union(*pairs)):
        change, other = (then, first) if template == "precedence" else (first, then)
        without = any(change in done and (first, then) not in seen for done, seen in zip(changed, pairs, strict=True))
        if without and not names_deed(task, other):
            yield Guard(template, first, then)


def _before(run: PacketRun) -> set[tuple[str, str]]:
    """(A, B): the change B was made to something that A had been called for, and A did not give it."""
    return {
        (earlier.function, step.function)
        for earlier, step in _neighbours(run)
        if not _gives(earlier, step) and _share_a_thing(earlier, step)
    }


def _after(run: PacketRun) -> set[tuple[str, str]]:
    """(A, B): after the change A, B was called for the same thing or for what A gave, and changed something too."""
    return {
        (earlier.function, step.function)
        for earlier, step in _neighbours(run)
        if _changes(earlier) and (_gives(earlier, step) or _share_a_thing(earlier, step))
    }


def _neighbours(run: PacketRun) -> Iterator[tuple[Step, Step]]:
    """Each change with each earlier call of another function."""
    steps = working_calls(run)
    for index, step in enumerate(steps):
        if _changes(step):
            yield from ((earlier, step) for earlier in steps[:index] if earlier.function != step.function)


def _gives(earlier: Step, step: Step) -> bool:
    return earlier.function in step.origins.values()


def _share_a_thing(one: Step, other: Step) -> bool:
    return not _things(one).isdisjoint(_things(other))


def _changes(step: Step) -> bool:
    return step.effect not in ("read", "wait", "finalize")


def _things(step: Step) -> set[str]:
    """What the call is about: the values of its arguments that point at something."""
    return {value for _, value in scalars(step.arguments) if isinstance(value, str) and _THING.fullmatch(value)}
