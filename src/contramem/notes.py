"""Notes: answers about the runs of a task that a build asks for again and again, and the next build too.

Each answer follows from the runs of its task and the question alone, so it may be kept as long as the task and the code
are the same. An answer that a whole build did not need is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from contramem.contrast.packet import Packet
    from contramem.monitor.guard import Guard
    from contramem.monitor.packet_replay import GuardReplay
    from contramem.study.run_answers import RunAnswers

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

    @classmethod
    def of(cls, kept: dict[Question, Answer]) -> Self:
        """The answers that the last build kept."""
        answers = cls()
        answers._before = kept
        return answers


RunNotes: TypeAlias = Answers[str, Any]
"""What one run shows, by name."""


@dataclass
class PartNotes:
    """About all runs of one part of a build."""

    answers: RunAnswers | None = None
    """What was asked about many of them."""


@dataclass
class TaskNotes:
    """About one task."""

    replays: Answers[Guard, GuardReplay] = field(default_factory=Answers)
    """Of guards on the steps of the packet."""
    found: Answers[str, Any] = field(default_factory=Answers)
    """What the packet shows, by name."""
    runs: dict[str, RunNotes] = field(default_factory=dict)
    """By letter."""
    part: PartNotes | None = None
    """The notes about its part of a build, if notes are kept."""

    def about_run(self, letter: str) -> RunNotes:
        notes = self.runs.get(letter)
        if notes is None:
            notes = self.runs[letter] = RunNotes()
        return notes

    # Dictionaries, because there are thousands of notes, and objects take much longer to pickle.

    def __getstate__(self) -> tuple[Any, ...]:
        runs = {letter: notes.__getstate__() for letter, notes in self.runs.items()}
        return self.replays.__getstate__(), self.found.__getstate__(), runs, self.part

    def __setstate__(self, kept: tuple[Any, ...]) -> None:
        replays, found, runs, self.part = kept
        self.replays, self.found = Answers.of(replays), Answers.of(found)
        self.runs = {letter: Answers.of(shown) for letter, shown in runs.items()}


def notes_of(packet: Packet) -> TaskNotes:
    """The notes about a packet; they live as long as the packet."""
    notes: TaskNotes | None = vars(packet).get("notes")
    if notes is None:
        notes = vars(packet)["notes"] = TaskNotes()
    return notes
