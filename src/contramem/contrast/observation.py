"""Observation: one call of one function, without the task around it. What Function Cards are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from contramem.contrast.form import Form
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signals import Cite
from contramem.traces.effects import words
from contramem.traces.trajectory import Effect

MOVES = frozenset("cd open load select use switch".split())
"""Verbs of functions that change nothing and yet change what the next call sees."""


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call by the agent, redacted."""

    function: str
    effect: Effect
    arguments: dict[str, Any]
    forms: dict[str, str]
    origins: dict[str, str]
    form: Form | None
    error: str
    fix: tuple[str, ...]
    """After an error: the arguments that were changed in the next call of the function, when that one worked."""
    repeated: bool
    """The same call with the same arguments had been made before in this run."""
    passed: bool | None
    task_key: str
    cite: Cite
    redundant: bool = False
    """Repeated, and since the same call had worked nothing happened but what this agent said and read."""
    between: tuple[str, ...] = ()
    """After an error: the functions that were called, without error, before the next call of this one."""


def observe(packet: Packet) -> Iterator[Observation]:
    """Every call that an agent made in the runs of a packet. A run cut off by its provider still shows its calls."""
    for run in packet.runs:
        yield from _observe_run(packet.task_key, run)


def _observe_run(task_key: str, run: PacketRun) -> Iterator[Observation]:
    calls = [step for step in run.actions if step.function]
    changes = [step.position for step in run.steps if _may_change(step)]
    made: set[bytes] = set()
    worked: dict[bytes, int] = {}
    for index, step in enumerate(calls):
        call = msgspec.json.encode((step.function, step.arguments), order="deterministic")
        before = worked.get(call)
        yield Observation(
            function=step.function,
            effect=step.effect,
            arguments=step.arguments,
            forms=step.forms,
            origins=step.origins,
            form=step.form,
            error=step.error,
            fix=_fix(step, calls[index + 1 :]) if step.error else (),
            repeated=call in made,
            passed=run.passed,
            task_key=task_key,
            cite=Cite(run.letter, step.position),
            redundant=before is not None and _last(changes, step.position) <= before,
            between=_between(step, calls[index + 1 :]) if step.error else (),
        )
        made.add(call)
        if not step.error:
            worked[call] = step.position


def _may_change(step: Step) -> bool:
    """Could the same call give something else after this? Reads that move about (`cd`) change what later ones see."""
    if step.actor != "agent" or step.kind == "wait":
        return True
    return bool(step.function) and (step.effect != "read" or not MOVES.isdisjoint(words(step.function)))


def _last(positions: list[int], before: int) -> int:
    index = bisect_left(positions, before)
    return positions[index - 1] if index else -1


def _fix(failed: Step, following: list[Step]) -> tuple[str, ...]:
    again = next((step for step in following if step.function == failed.function), None)
    if again is None or again.error:
        return ()
    names = failed.arguments.keys() | again.arguments.keys()
    return tuple(sorted(name for name in names if failed.arguments.get(name) != again.arguments.get(name)))


def _between(failed: Step, following: list[Step]) -> tuple[str, ...]:
    called = [step.function for step in following]
    if failed.function not in called:
        return ()
    until = following[: called.index(failed.function)]
    return tuple(dict.fromkeys(step.function for step in until if not step.error))


def by_function(packets: Iterable[Packet]) -> dict[str, list[Observation]]:
    """All observations of each function, functions sorted by name."""
    found: dict[str, list[Observation]] = defaultdict(list)
    for packet in packets:
        for observation in observe(packet):
            found[observation.function].append(observation)
    return dict(sorted(found.items()))
