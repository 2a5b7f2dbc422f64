"""Lesson: what was mined, with its evidence and the text of its card. Every miner yields these; curate.py compares them
with the bank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from contramem.bank.bank import CardSupport, Grade, GuardSupport, StoredRule
from contramem.bank.card import SkillDelta
from contramem.bank.ledger import RunRef
from contramem.retrieve.requests import request_words
from contramem.traces.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One thing that runs teach."""

    kind: str
    """Who mined it: `rule`, `fix`, `habit` and so on. Stored beside the card."""
    key: str
    """What it says, whatever its evidence: lessons with equal kind and key are one card."""
    topic: str
    """What it is about: of two lessons with one topic, the newer replaces the older."""
    ability: str
    text: SkillDelta
    grade: Grade
    support: CardSupport
    runs: tuple[RunRef, ...] = ()
    """The runs that show it best, passing ones first."""
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    """What else is to be kept beside the card."""

    @property
    def stored(self) -> StoredRule:
        """What is kept beside the card, to recognize the lesson when it is mined again."""
        return StoredRule(kind=self.kind, facts={"key": self.key, "topic": self.topic, **self.facts})


def support_of(
    runs: Iterable[Trajectory],
    against: Iterable[Trajectory] = (),
    grade: Grade | None = None,
    guard_counts: Mapping[str, GuardSupport] | None = None,
) -> CardSupport:
    """The support that runs which show a lesson give its card; `against` are passing runs that did otherwise."""
    runs = list(runs)
    shown = list({run.task_key: run for run in runs}.values())
    return CardSupport(
        tasks=tuple(run.task_key for run in shown),
        sources=tuple({run.source for run in runs}),
        contradicted_by=tuple({run.task_key for run in against}),
        taught_by=tuple(name for run in shown for name in run.task_identity),
        request_words=tuple(request_words(run.task, ()) for run in shown),
        grade=grade,
        guard_counts=dict(guard_counts or {}),
    )


def run_ref(run: Trajectory, events: Iterable[int] = ()) -> RunRef:
    """A run that shows a lesson, and the positions of the events in it that do."""
    return RunRef(
        task=run.task_key,
        source=run.source,
        run=run.run,
        passed=run.outcome.passed,
        origin=str(run.origin),
        events=tuple(sorted(set(events))),
    )
