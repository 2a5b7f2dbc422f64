"""Notes: answers about the runs of a task that a build asks for again and again, and the next build too.

Each answer follows from the runs of its task and the question alone, so it may be kept as long as the task and the code
are the same. An answer that a whole build did not need is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

if TYPE_CHECKING:
    from contramem.contrast.packet import Packet
    from contramem.monitor.guard import Guard, Verdict
    from contramem.monitor.packet_replay import GuardReplay
    from contramem.monitor.scope import Condition
    from contramem.monitor.task_facts import HowMet

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")
Shared = TypeVar("Shared", bound=Hashable)

_UNKNOWN: Final[Any] = object()


@lru_cache(maxsize=1 << 14, typed=True)
def share(value: Shared) -> Shared:
    """One object for equal values: notes about a thousand runs say mostly the same, and pickle writes an object
    once."""
    return value


class Answers(Generic[Question, Answer]):
    """Answers by question: those of this build, and those of the last one until somebody asks for them."""

    __slots__ = ("_asked", "_before")

    def __init__(self) -> None:
        self._asked: dict[Question, Answer] = {}
        self._before: dict[Question, Answer] = {}

    def get(self, question: Question, find: Callable[[], Answer]) -> Answer:
        """The answer; `find` is called if nobody has asked before."""
        answer = self._asked.get(question, _UNKNOWN)
        if answer is _UNKNOWN:
            answer = self._before.get(question, _UNKNOWN) if self._before else _UNKNOWN
            answer = self._asked[question] = find() if answer is _UNKNOWN else answer
        return cast(Answer, answer)

    def __getstate__(self) -> dict[Question, Answer]:
        return self._asked

    def __setstate__(self, kept: dict[Question, Answer]) -> None:
        self._asked, self._before = {}, kept


class NoAnswers(Answers[Question, Answer]):
    """Remembers nothing."""

    __slots__ = ()

    def get(self, question: Question, find: Callable[[], Answer]) -> Answer:
        return find()


@dataclass
class RunNotes:
    """About one run."""

    verdicts: Answers[Guard, Verdict] = field(default_factory=Answers)
    """Of guards without conditions."""
    conditions: Answers[Condition, HowMet] = field(default_factory=Answers)
    """Whether conditions of guards become true."""
    found: Answers[str, Any] = field(default_factory=Answers)
    """What the run shows, by name."""

    @classmethod
    def without_guards(cls) -> RunNotes:
        """For runs that stay loaded while an author tries one guard after another."""
        return cls(verdicts=NoAnswers(), conditions=NoAnswers())


@dataclass
class TaskNotes:
    """About one task."""

    replays: Answers[Guard, GuardReplay] = field(default_factory=Answers)
    """Of guards on the steps of the packet."""
    found: Answers[str, Any] = field(default_factory=Answers)
    """What the packet shows, by name."""
    runs: dict[str, RunNotes] = field(default_factory=dict)
    """By letter."""

    def about_run(self, letter: str) -> RunNotes:
        return self.runs.setdefault(letter, RunNotes())


def notes_of(packet: Packet) -> TaskNotes:
    """The notes about a packet; they live as long as the packet."""
    notes: TaskNotes | None = vars(packet).get("notes")
    if notes is None:
        notes = vars(packet)["notes"] = TaskNotes()
    return notes
