"""RunSet: all runs of a domain, ready for many questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Protocol

from contramem.contrast.packet import Packet, PacketRun
from contramem.errors import UsageError, nearest
from contramem.notes import notes_of
from contramem.study.halves import Half, split_halves
from contramem.study.kinds import TaskKind, group_tasks
from contramem.study.recorded_actions import RecordedActions
from contramem.study.task_groups import TaskProfile
from contramem.traces.trajectory import Trajectory, digest


class RunLoader(Protocol):
    """Where runs are loaded from: memory or disk."""

    def trajectory(self, place: int) -> Trajectory:
        """The run as recorded."""

    def load(self, place: int) -> RecordedActions:
        """What the run did."""


@dataclass(frozen=True)
class LoadedRuns:
    """Runs in memory."""

    runs: Sequence[RecordedActions]

    def trajectory(self, place: int) -> Trajectory:
        return self.runs[place].run

    def load(self, place: int) -> RecordedActions:
        return self.runs[place]


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
    def name(self) -> str:
        return f"{self.task} · {self.source} · run {self.trial}"


@dataclass(frozen=True, eq=False)
class RunSet:
    """Runs, the kinds of their tasks, and which half of the tasks is held out."""

    runs: tuple[StudyRun, ...]
    profiles: tuple[TaskProfile, ...]
    """What determines the kinds of the tasks."""

    @classmethod
    def of(cls, trajectories: Iterable[Trajectory]) -> RunSet:
        """All runs in memory, ordered by task, source and trial."""
        return cls._of_actions(map(RecordedActions, trajectories))

    @classmethod
    def of_packets(cls, packets: Iterable[Packet]) -> RunSet:
        """The runs of packets, with what is known about them."""
        return cls._of_actions(_record(run, packet) for packet in packets for run in packet.runs)

    @classmethod
    def _of_actions(cls, recorded: Iterable[RecordedActions]) -> RunSet:
        runs = sorted(map(_study, recorded), key=lambda run: (run.task, run.source, run.trial))
        by_task = groupby(runs, key=lambda run: run.task)
        return cls(tuple(runs), tuple(profile_task(task, list(group)) for task, group in by_task))

    @cached_property
    def evidence(self) -> tuple[StudyRun, ...]:
        """The runs with a known outcome."""
        return tuple(run for run in self.runs if run.passed is not None)

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
            f"there is no kind of task {name!r}{nearest(name, names)} show_kinds (contramem kinds) lists them."
        )

    @cached_property
    def functions(self) -> frozenset[str]:
        """Every function that some run called."""
        called = {run.called for run in self.runs}
        return frozenset(function for functions in called for function in functions if function)


def study_run(run: Trajectory) -> StudyRun:
    """A run in memory."""
    return _study(RecordedActions(run))


def _record(run: PacketRun, packet: Packet) -> RecordedActions:
    """What a run did; its steps say what is known about its calls."""
    return RecordedActions(
        packet.recorded[run.letter],
        frozenset(step.position for step in run.steps if step.tainted),
        notes_of(packet).about_run(run.letter),
        {step.position: step.origins for step in run.steps if step.function},
    )


def _study(actions: RecordedActions) -> StudyRun:
    run = actions.run
    passed = run.outcome.passed if run.outcome.ended != "interrupted" else None
    called = frozenset(actions.called)
    return StudyRun(run.task_key, run.source, run.run, passed, run.ability, called, LoadedRuns([actions]), 0)


def profile_task(task: str, runs: list[StudyRun]) -> TaskProfile:
    """What the task is about: the functions that most of its passing runs used; if none passed, most of its runs."""
    counted = [run for run in runs if run.passed] or runs
    called = defaultdict[str, int](int)
    for run in counted:
        for function in run.recorded.functions:
            called[function] += 1
    writes = {call.function for run in runs for call in run.recorded.calls if call.effect == "write"}
    first = runs[0].trajectory
    usual = frozenset(function for function, count in called.items() if count * 2 > len(counted))
    return TaskProfile(task, first.environment, first.scenario_id, first.task, usual, usual & writes)
