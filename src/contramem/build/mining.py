"""Deviance mining: which guards do the passing runs of a task keep and failing ones break?

Candidates come from the contrast itself; each is replayed on every run of the packet, and only what no passing run
contradicts is kept. Evidence is paired within the task, so that a hard task does not speak against an easy one's habit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.build.phrases import stem
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.monitor.guard import Guard, Template
from contramem.traces.effects import words

# What says more is preferred where the evidence is the same: where a value comes from over what comes first, that over
# what must follow, that over the bare fact that something is called.
SHARPNESS: dict[Template, float] = {
    "known_value": 1.2,
    "precedence": 1.15,
    "response": 1.1,
    "at_most_once": 1.1,
    "existence": 0.8,
    "absence": 0.0,  # never proposed: a call that one task does without, the next one asks for
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
    replays = [replay(guard, packet) for guard in sorted(set(_candidates(packet, passing, failing)))]
    kept = [r for r in replays if r.supports and _is_common(r, packet)]
    kept.sort(key=lambda r: (-_score(r, len(passing), len(failing)), str(r.guard)))
    chosen: dict[tuple[str, str], Replay] = {}
    for found in kept:
        guard = found.guard
        # One lesson about doing a thing is enough; where its values come from is another lesson.
        chosen.setdefault((guard.target, guard.argument), found)
    return [found for found in chosen.values() if not _said_better(found.guard, list(chosen.values()))]


def _said_better(guard: Guard, chosen: Sequence[Replay]) -> bool:
    """Of several ways to say one thing the sharpest is enough: which value to read, else what to call first."""
    others = [found.guard for found in chosen]
    if guard.template == "precedence":
        return any(other.template == "known_value" and other.function == guard.then for other in others)
    if guard.template == "existence":
        return any(other.template == "precedence" and other.function == guard.function for other in others)
    return False


def _is_common(found: Replay, packet: Packet) -> bool:
    """Enough runs on both sides show it; for a step that was left out, enough that never tried it."""
    passing, failing = packet.passing, packet.failing
    broken = [run for run in failing if run.letter in found.broken]
    if found.guard.template in ("response", "existence"):
        broken = [run for run in broken if all(step.function != found.guard.target for step in _calls(run))]
    return len(found.held) >= MIN_HELD * len(passing) and len(broken) >= max(1, MIN_BROKEN * len(failing))


def _score(found: Replay, passing: int, failing: int) -> float:
    return SHARPNESS[found.guard.template] * (len(found.broken) / failing) * (len(found.held) / passing)


def _candidates(packet: Packet, passing: Sequence[PacketRun], failing: Sequence[PacketRun]) -> Iterator[Guard]:
    good = {step.function for run in passing for step in _worked(run)}
    bad = {step.function for run in failing for step in _calls(run)}
    for function in good:
        # A card that tells an agent to do what the request says teaches nothing.
        if names_call(packet.task, function) or not (_writes(passing, function) or _feeds(passing, function)):
            continue
        for last in _stopped_after(failing, function):
            if last and (not _writes(passing, function) or _same_things(last, function)):
                yield Guard("response", last, function)
            elif not last and _comes_first(passing, function):
                yield Guard("existence", function)
    for function in good & bad:
        for earlier in good & _always_before(passing, function):
            if _depends((*passing, *failing), earlier, function):
                yield Guard("precedence", earlier, function)
    for run in failing:
        for step in _calls(run):
            if step.effect == "write" and step.arguments:
                yield Guard("at_most_once", step.function)
            for argument, origin in step.origins.items():
                if origin == NOWHERE:
                    yield Guard("known_value", step.function, argument=argument)


def _calls(run: PacketRun) -> list[Step]:
    return [step for step in run.actions if step.function]


def _worked(run: PacketRun) -> list[Step]:
    return [step for step in _calls(run) if not step.error]


def _stopped_after(failing: Sequence[PacketRun], function: str) -> set[str]:
    """The last thing that worked in each failing run that never tried `function`; empty when nothing had worked.

    That is where such a run decided to stop, and where a passing one decided to go on. A run that tried and was refused
    decided otherwise: its error is the lesson.
    """
    stops = set()
    for run in failing:
        if all(step.function != function for step in _calls(run)):
            worked = [step for step in _worked(run) if step.effect != "finalize"]
            stops.add(worked[-1].function if worked else "")
    return stops


def _feeds(passing: Sequence[PacketRun], function: str) -> bool:
    """Is it a look-up whose result most passing runs then give to a later call?"""
    calling = [run for run in passing if any(step.function == function for step in _worked(run))]
    used = 0
    for run in calling:
        reads = all(step.effect != "write" for step in _worked(run) if step.function == function)
        used += reads and any(function in step.origins.values() for step in _worked(run) if step.function != function)
    return 2 * used > len(calling)


def _same_things(first: str, then: str) -> bool:
    """Are the two about the same things, by the words after their verbs: `check_permissions`, `grant_permission`?

    A write that only happened to follow belongs to its task, not to what came before it.
    """
    things, others = ({stem(word) for word in words(name.rpartition(".")[2])[1:]} for name in (first, then))
    return bool(things & others)


def _writes(passing: Sequence[PacketRun], function: str) -> bool:
    return any(step.effect == "write" for run in passing for step in _worked(run) if step.function == function)


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


_GENERIC = frozenset("get list search find read check show view fetch by in to for all id of the from with and".split())


def names_call(task: str, function: str) -> bool:
    """Does the request name what this call is about? Half of its words are enough: people say `change my order`."""
    asked = {stem(word) for word in words(task)}
    named = [stem(word) for word in words(function.rpartition(".")[2]) if word not in _GENERIC]
    return 2 * sum(word in asked for word in named) >= len(named) if named else False


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
            elif step.function == earlier and not step.error and step.effect != "read":
                enabled = refused  # reading changes nothing, so it cannot be what made the call work
    return False
