"""Deviance mining: which guards do the passing runs of a task keep and failing ones break?

Candidates come from the contrast itself; each is replayed on every run of the packet, and only what no passing run
contradicts is kept. Evidence is paired within the task, so that a hard task does not speak against an easy one's habit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.monitor.guard import Guard, Template

# What says more is preferred where the evidence is the same: where a value comes from over what comes first, that over
# what must follow, that over the bare fact that something is called.
SHARPNESS: dict[Template, float] = {
    "known_value": 1.2,
    "precedence": 1.15,
    "response": 1.1,
    "at_most_once": 1.1,
    "absence": 0.9,
    "existence": 0.8,
}
MIN_HELD = 0.3
"""The share of passing runs that must have kept a guard, not just never have met it."""

MIN_BROKEN = 0.2
"""The share of failing runs that must have broken it: what one of many did wrong is an anecdote."""


class Replay(NamedTuple):
    """How the runs of one packet fared under a guard, by letter."""

    guard: Guard
    held: tuple[str, ...]
    """Passing runs that met it and kept it."""
    broken: tuple[str, ...]
    """Failing runs that broke it."""
    contradicted: tuple[str, ...]
    """Passing runs that broke it."""

    @property
    def supports(self) -> bool:
        return bool(self.held and self.broken) and not self.contradicted


def replay(guard: Guard, packet: Packet) -> Replay:
    """Check the guard on every run that is evidence."""
    passing = {run.letter: guard.check(run.actions) for run in packet.passing}
    failing = {run.letter: guard.check(run.actions) for run in packet.failing}
    return Replay(
        guard,
        held=tuple(letter for letter, verdict in passing.items() if verdict == "holds"),
        broken=tuple(letter for letter, verdict in failing.items() if verdict == "broken"),
        contradicted=tuple(letter for letter, verdict in passing.items() if verdict == "broken"),
    )


def mine(packet: Packet) -> list[Replay]:
    """The guards that separate the runs of a contrastive packet, the sharpest first, one for each thing to do."""
    passing, failing = packet.passing, packet.failing
    replays = [replay(guard, packet) for guard in sorted(set(_candidates(passing, failing)))]
    kept = [r for r in replays if r.supports and _is_common(r, len(passing), len(failing))]
    kept.sort(key=lambda r: (-_score(r, len(passing), len(failing)), str(r.guard)))
    chosen: dict[tuple[str, str], Replay] = {}
    for found in kept:
        guard = found.guard
        # One lesson about doing a thing is enough; where its values come from is another lesson.
        chosen.setdefault((guard.target, guard.argument), found)
    return list(chosen.values())


def _is_common(found: Replay, passing: int, failing: int) -> bool:
    return len(found.held) >= MIN_HELD * passing and len(found.broken) >= MIN_BROKEN * failing


def _score(found: Replay, passing: int, failing: int) -> float:
    return SHARPNESS[found.guard.template] * (len(found.broken) / failing) * (len(found.held) / passing)


def _candidates(passing: Sequence[PacketRun], failing: Sequence[PacketRun]) -> Iterator[Guard]:
    good = {step.function for run in passing for step in _worked(run)}
    bad = {step.function for run in failing for step in _calls(run)}
    for function in good:
        for last in _stopped_after(failing, function):
            if last:
                yield Guard("response", last, function)
            elif _comes_first(passing, function):
                yield Guard("existence", function)
        for earlier in sorted(good & _always_before(passing, function)) if function in bad else ():
            if _depends((*passing, *failing), earlier, function):
                yield Guard("precedence", earlier, function)
    for run in failing:
        for step in _calls(run):
            if step.effect == "write":
                yield Guard("at_most_once", step.function)
                if step.function not in good:
                    yield Guard("absence", step.function)
            for argument, origin in step.origins.items():
                if origin == NOWHERE:
                    yield Guard("known_value", step.function, argument=argument)


def _calls(run: PacketRun) -> list[Step]:
    return [step for step in run.actions if step.function]


def _worked(run: PacketRun) -> list[Step]:
    return [step for step in _calls(run) if not step.error]


def _stopped_after(failing: Sequence[PacketRun], function: str) -> set[str]:
    """The last thing that worked in each failing run that never got to `function`; empty when nothing had worked.

    That is where such a run decided to stop, and where a passing one decided to go on.
    """
    stops = set()
    for run in failing:
        names = [step.function for step in _worked(run)]
        if function not in names:
            stops.add(names[-1] if names else "")
    return stops


def _comes_first(passing: Sequence[PacketRun], function: str) -> bool:
    """Is it what most passing runs begin with? Only then is it what a run that called nothing left out."""
    begun = [_worked(run)[0].function for run in passing if _worked(run)]
    return 2 * begun.count(function) > len(begun)


def _always_before(runs: Sequence[PacketRun], function: str) -> set[str]:
    """What works before the first `function` in every run that calls it."""
    earlier = []
    for run in runs:
        names = [step.function for step in _worked(run)]
        if function in names:
            earlier.append(set(names[: names.index(function)]))
    return set.intersection(*earlier) if earlier else set()


def _depends(runs: Sequence[PacketRun], earlier: str, later: str) -> bool:
    """Is there more than chance order between the two: does a value flow, or does `later` fail until `earlier` works?

    Runs that answer several questions ask them in some order; that one came first teaches nothing.
    """
    for run in runs:
        refused = enabled = False
        for step in _calls(run):
            if step.function == later:
                if earlier in step.origins.values() or (enabled and not step.error):
                    return True
                refused = refused or bool(step.error)
            elif step.function == earlier and not step.error:
                enabled = refused
    return False
