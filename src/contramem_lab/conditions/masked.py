"""Masked runs, for memories other than cards: values are masked; planted text and its consequences are removed.

The masking is that of packets, so that all memories learn from the same information.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from contramem.build.model.step_text import call_text, result_text
from contramem.contrast.instructions import instructs, read
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step
from contramem.contrast.taint import texts_shown
from contramem.traces.trajectory import Trajectory
from contramem.validate.packet_contents import shingles
from contramem_lab.conditions.reference import Reference

MAX_FEEDBACK_CHARS = 300

RunKey = tuple[str, str, str]
"""Task key, source, trial."""


def key_of(run: Trajectory) -> RunKey:
    return run.task_key, run.source, run.run


@dataclass(frozen=True)
class MaskedRun:
    """One run, with digests of its task but without its source."""

    ability: str
    task: str
    passed: bool | None
    counts: bool
    """Whether it is evidence: it was not interrupted, and its outcome is known."""
    ended: str
    feedback: str
    steps: tuple[Step, ...]
    """The agent's own actions: calls, questions, the answer."""
    lines: tuple[str, ...]
    """The steps as text, with their results."""
    identity: frozenset[str]

    @property
    def calls(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.function)


def mask_runs(reference: Reference) -> dict[RunKey, MaskedRun]:
    """Every run of the reference, sorted by task, source and trial."""
    originals = {key_of(run): run for run in reference.runs}
    runs = {}
    for packet in reference.packets:
        named = {letter: (packet.task_key, origin.source, origin.run) for letter, origin in packet.provenance.items()}
        clean = _CleanText(originals[key] for key in named.values())
        for run in sorted(packet.runs, key=lambda run: named[run.letter]):
            runs[named[run.letter]] = _mask_run(packet, run, clean)
    return runs


def _mask_run(packet: Packet, run: PacketRun, clean: _CleanText) -> MaskedRun:
    # Results with planted text are left out, and so are calls that contain it or failed with it.
    steps = tuple(
        step if clean(step.returned) else msgspec.structs.replace(step, returned="")
        for step in run.actions
        if clean(call_text(step, origins=False)) and clean(step.error)
    )
    return MaskedRun(
        ability=packet.ability,
        task=" ".join(packet.task.split()),
        passed=run.passed,
        counts=run.counts,
        ended=run.ended,
        feedback=_shorten(run.feedback) if clean(run.feedback) else "",
        steps=steps,
        lines=tuple(call_text(step, origins=False) + (result_text(step) if step.function else "") for step in steps),
        identity=frozenset(packet.identity),
    )


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_FEEDBACK_CHARS else flat[: MAX_FEEDBACK_CHARS - 1].rstrip() + "…"


class _CleanText:
    """Recognizes text without planted instructions. Uses the unmasked runs: masking may hide what reveals them."""

    def __init__(self, runs: Iterable[Trajectory]) -> None:
        passages = {
            passage for run in runs for event in run.events for text in texts_shown(event) for passage in _in(text)
        }
        self._planted = frozenset(words for passage in sorted(passages) for words in shingles(passage))

    def __call__(self, text: str) -> bool:
        return not instructs(text) and self._planted.isdisjoint(shingles(text))


def _in(text: str) -> Iterator[str]:
    yield from read(text).passages
