"""Observation: one call of one function, without the task around it. What Function Cards are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from contramem.contrast.form import Form
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signals import Cite
from contramem.traces.trajectory import Effect


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


def observe(packet: Packet) -> Iterator[Observation]:
    """Every call that an agent made in the runs of a packet. A run cut off by its provider still shows its calls."""
    for run in packet.runs:
        yield from _observe_run(packet.task_key, run)


def _observe_run(task_key: str, run: PacketRun) -> Iterator[Observation]:
    calls = [step for step in run.actions if step.function]
    made: set[bytes] = set()
    for index, step in enumerate(calls):
        call = msgspec.json.encode((step.function, step.arguments), order="deterministic")
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
        )
        made.add(call)


def _fix(failed: Step, following: list[Step]) -> tuple[str, ...]:
    again = next((step for step in following if step.function == failed.function), None)
    if again is None or again.error:
        return ()
    names = failed.arguments.keys() | again.arguments.keys()
    return tuple(sorted(name for name in names if failed.arguments.get(name) != again.arguments.get(name)))


def by_function(packets: Iterable[Packet]) -> dict[str, list[Observation]]:
    """All observations of each function, functions sorted by name."""
    found: dict[str, list[Observation]] = defaultdict(list)
    for packet in packets:
        for observation in observe(packet):
            found[observation.function].append(observation)
    return dict(sorted(found.items()))
