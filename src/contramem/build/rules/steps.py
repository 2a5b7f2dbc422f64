"""Steps: what the runs of a packet did, as the kinds of rules see it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step
from contramem.guards.actions import actions_of_steps
from contramem.guards.conditions import Pattern, parse_pattern
from contramem.guards.guard import Guard


class SecondTry(NamedTuple):
    """A call that was refused, and the next one of its function in the same run, which worked."""

    packet: Packet
    run: PacketRun
    refused: Step
    worked: Step


def calls(run: PacketRun) -> list[Step]:
    """The calls of a run, successful or not."""
    return [step for step in run.actions if step.function]


class CallForm(NamedTuple):
    """What calls have in common that were written alike and ended alike."""

    function: str
    forms: tuple[tuple[str, str], ...]
    """Each argument with the form of its value."""
    error: str


def count_alike(packets: Iterable[Packet]) -> Counter[CallForm]:
    """How many calls were written and ended alike: most of thousands were."""
    made = (step for packet in packets for run in packet.runs for step in run.actions if step.function)
    return Counter(CallForm(step.function, tuple(step.forms.items()), step.error) for step in made)


def calls_of(run: PacketRun, function: str) -> list[Step]:
    """The calls of one function in a run."""
    return [step for step in run.actions if step.function == function]


def find_second_tries(packets: Iterable[Packet]) -> Iterator[SecondTry]:
    """The refused calls whose next call of the same function worked."""
    for packet in packets:
        for run in packet.runs:
            made = defaultdict[str, list[Step]](list)
            for step in run.actions:
                if step.function:
                    made[step.function].append(step)
            for refused, worked in chain.from_iterable(map(pairwise, made.values())):
                if refused.error and not worked.error:
                    yield SecondTry(packet, run, refused, worked)


def working_calls(run: PacketRun) -> list[Step]:
    """The successful calls of a run, except one that only ends it."""
    return [step for step in calls(run) if not step.error and step.effect != "finalize"]


def is_successful_write(step: Step) -> bool:
    """Did this step change something?"""
    return step.effect == "write" and not step.error


def find_guarded_calls(run: PacketRun, guard: Guard) -> list[Step]:
    """The calls that a guard demands, forbids or restricts."""
    pattern = parse_pattern(guard.then or guard.function)._replace(conditions=())
    return [step for step in calls(run) if matches(pattern, step)]


def matches(pattern: Pattern, step: Step) -> bool:
    """Is this step one of the pattern's actions?"""
    if pattern.function and pattern.function != step.function:
        return False
    return any(pattern.matches(action) for action in actions_of_steps((step,)))
