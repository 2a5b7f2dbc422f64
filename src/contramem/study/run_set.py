"""RunSet: all runs of a domain, ready for many questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from contramem.contrast.packet import Packet, PacketRun
from contramem.errors import UsageError, nearest
from contramem.guards.conditions import Condition
from contramem.guards.guard import Guard
from contramem.privacy.copies import Copies
from contramem.privacy.public import Public, public_of
from contramem.study.halves import Half, split_halves
from contramem.study.kinds import TaskKind, group_tasks
from contramem.study.masks import Mask, bits_of, mask_from_bits, mask_of, number_names, places_of, union_of
from contramem.study.recorded_actions import RecordedActions
from contramem.study.run_outline import RunOutline
from contramem.study.task_groups import TaskProfile
from contramem.traces.trajectory import Trajectory, digest


class RunLoader(Protocol):
    """Where runs are loaded from: memory or disk."""

    def trajectory(self, place: int) -> Trajectory:
        """The run as recorded."""

    def load(self, place: int) -> RecordedActions:
        """What the run did."""

    def outline(self, place: int) -> RunOutline:
        """Which calls the run made."""

    @property
    def answers(self) -> RunAnswers | None:
        """What was asked about all its runs. None: it is not remembered, because an author asks one question after
        another."""


@dataclass
class LoadedRuns:
    """Runs in memory."""

    runs: Sequence[RecordedActions]
    answers: RunAnswers | None = None

    def trajectory(self, place: int) -> Trajectory:
        return self.runs[place].run

    def load(self, place: int) -> RecordedActions:
        return self.runs[place]

    def outline(self, place: int) -> RunOutline:
        return self.runs[place].outline


@dataclass(frozen=True, eq=False, slots=True)
class StudyRun:
    """A run, with what a study needs to know about it."""

    task: str
    """The key of its task."""
    source: str
    trial: str
    passed: bool | None
    """None: unknown, or the provider cut the run off. Such a run is not evidence."""
    ability: str | None
    called: frozenset[str] = field(repr=False)
    """The functions it called, successfully or not."""
    loader: RunLoader = field(repr=False)
    place: int
    """The run's position in its loader."""

    @property
    def recorded(self) -> RecordedActions:
        """What it did. Loads the run if it is on disk."""
        return self.loader.load(self.place)

    @property
    def trajectory(self) -> Trajectory:
        return self.loader.trajectory(self.place)

    @property
    def outline(self) -> RunOutline:
        """Which calls it made."""
        return self.loader.outline(self.place)

    @property
    def name(self) -> str:
        return f"{self.task} · {self.source} · run {self.trial}"


Question: TypeAlias = Guard | Condition


class _Answered(NamedTuple):
    """The answers to one question."""

    asked: Mask
    """The runs it was asked about."""
    by_answer: dict[str, Mask]


class RunAnswers:
    """What was asked about runs, one bit for each of them: which meet a condition, which follow a guard? A question is
    asked about a run once."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self.size = len(runs)
        self._runs = runs
        self._task_numbers = number_names(run.task for run in runs)
        self._answered: dict[Question, _Answered] = {}
        self._calling = dict[str, Mask]()

    def ask(self, question: Question, about: Mask, find: Callable[[int], str]) -> Mapping[str, Mask]:
        """By answer, the runs that give it. `find` is called with the places of those of `about` for which it is
        unknown."""
        answered = self._answered.get(question, _Answered(0, {}))
        if missing := about & ~answered.asked:
            by_answer = dict(answered.by_answer)
            for place in places_of(missing):
                answer = find(place)
                by_answer[answer] = by_answer.get(answer, 0) | 1 << place
            answered = self._answered[question] = _Answered(answered.asked | missing, by_answer)
        return answered.by_answer

    def find_calling(self, functions: Iterable[str] | None) -> Mask:
        """The runs that call one of the functions; all if none is named."""
        return (1 << self.size) - 1 if functions is None else union_of(map(self._find_calling, functions))

    def _find_calling(self, function: str) -> Mask:
        if function not in self._calling:
            self._calling[function] = mask_of(place for place, run in enumerate(self._runs) if function in run.called)
        return self._calling[function]

    def spread_to_tasks(self, mask: Mask) -> Mask:
        """All runs of the tasks that some of these runs belong to."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self._task_numbers[bits_of(mask, self.size)]] = True
        return mask_from_bits(found[self._task_numbers])


@dataclass(frozen=True, eq=False)
class RunSet:
    """Runs, the kinds of their tasks, and which half of the tasks is held out."""

    runs: tuple[StudyRun, ...]
    profiles: tuple[TaskProfile, ...]
    """What determines the kinds of the tasks."""

    @classmethod
    def of(cls, trajectories: Iterable[Trajectory]) -> RunSet:
        """All runs in memory, ordered by task, source and trial."""
        return cls._of_runs(sorted(map(study_run, trajectories), key=lambda run: (run.task, run.source, run.trial)))

    @classmethod
    def of_packets(cls, packets: Iterable[Packet]) -> RunSet:
        """The runs of packets, with what is known about them."""
        recorded = [_record(packet, run) for packet in packets for run in packet.runs]
        loader = LoadedRuns(sorted(recorded, key=lambda actions: _name_of(actions.run)))
        runs = [_study(loader, place) for place in range(len(recorded))]
        loader.answers = RunAnswers(runs)
        return cls._of_runs(runs)

    @classmethod
    def _of_runs(cls, runs: Sequence[StudyRun]) -> RunSet:
        by_task = groupby(runs, key=lambda run: run.task)
        return cls(tuple(runs), tuple(profile_task(task, list(group)) for task, group in by_task))

    @cached_property
    def evidence(self) -> tuple[StudyRun, ...]:
        """The runs with a known outcome."""
        return tuple(run for run in self.runs if run.passed is not None)

    @cached_property
    def public(self) -> Public:
        """What of the runs a card may say."""
        by_task = groupby(self.runs, key=lambda run: run.task)
        return public_of([run.trajectory for run in runs] for _, runs in by_task)

    @cached_property
    def copies(self) -> Copies:
        """What the runs were told, which a card must not repeat."""
        return Copies((run.trajectory for run in self.runs), self.public)

    @cached_property
    def by_task(self) -> dict[str, list[StudyRun]]:
        grouped = defaultdict[str, list[StudyRun]](list)
        for run in self.runs:
            grouped[run.task].append(run)
        return dict(grouped)

    @cached_property
    def kinds(self) -> tuple[TaskKind, ...]:
        """The kinds of tasks, largest first."""
        return group_tasks(self.profiles)

    @cached_property
    def kind_of_task(self) -> dict[str, str]:
        return {task: kind.name for kind in self.kinds for task in kind.tasks}

    @cached_property
    def halves(self) -> dict[str, Half]:
        """The half of each task; each kind is divided."""
        return split_halves(self.kinds)

    def stratum_of(self, run: StudyRun) -> str:
        """What the run's outcome is compared within: its task; its kind if the task has no other run, and so no
        contrast of its own."""
        return run.task if len(self.by_task[run.task]) > 1 else f"kind {self.kind_of_task[run.task]}"

    def select(self, *, half: Half | None = None, wanted: Callable[[str], bool] | None = None) -> tuple[StudyRun, ...]:
        """The runs that are evidence, of one half and of the `wanted` tasks."""
        return tuple(
            run
            for run in self.evidence
            if (half is None or self.halves[run.task] == half) and (wanted is None or wanted(run.task))
        )

    @cached_property
    def digest(self) -> str:
        """A short digest of these runs: their tasks, sources, trials and outcomes."""
        return digest("\n".join(f"{run.name} {run.passed}" for run in self.runs))

    def kind(self, name: str) -> TaskKind:
        """The kind of this name. Raises UsageError with similar names."""
        for kind in self.kinds:
            if kind.name == name:
                return kind
        names = [kind.name for kind in self.kinds]
        raise UsageError(
            f"there is no kind of task {name!r}{nearest(name, names)} show_kinds (contramem author kinds) lists them."
        )

    @cached_property
    def functions(self) -> frozenset[str]:
        """Every function that some run called."""
        called = {run.called for run in self.runs}
        return frozenset(function for functions in called for function in functions if function)


def study_run(run: Trajectory) -> StudyRun:
    """A run in memory."""
    return _study(LoadedRuns([RecordedActions(run)]), 0)


def _name_of(run: Trajectory) -> tuple[str, str, str]:
    return run.task_key, run.source, run.run


def _record(packet: Packet, run: PacketRun) -> RecordedActions:
    """What a run did; its steps say what is known about its calls."""
    return RecordedActions(
        packet.recorded[run.letter],
        frozenset(step.position for step in run.steps if step.tainted),
        {step.position: step.origins for step in run.steps if step.function},
    )


def _study(loader: RunLoader, place: int) -> StudyRun:
    run = loader.trajectory(place)
    passed = run.outcome.passed if run.outcome.ended != "interrupted" else None
    return StudyRun(*_name_of(run), passed, run.ability, loader.outline(place).called, loader, place)


def profile_task(task: str, runs: list[StudyRun]) -> TaskProfile:
    """What the task is about: the functions that most of its passing runs used; if none passed, most of its runs."""
    counted = [run for run in runs if run.passed] or runs
    called = Counter(function for run in counted for function in run.outline.worked)
    writes = {function for run in runs for function in run.outline.writes}
    first = runs[0].trajectory
    usual = frozenset(function for function, count in called.items() if count * 2 > len(counted))
    return TaskProfile(task, first.environment, first.scenario_id, first.task, usual, usual & writes)
