"""Did an agent's behaviour change? Runs of two versions at the same tasks, by what they did, not by how they ended.

Runs differ by chance as well. Where a version was run several times, its runs say how much: the labels of the versions
are exchanged within each task, and the distance between the versions compared with that (a permutation test).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from statistics import mean

from rapidfuzz.distance import Indel

from contramem.contrast.align import partings, same_action
from contramem.contrast.packet import Packet, PacketRun
from contramem.errors import ComparisonError
from contramem.evaluate.stats import mcnemar_exact

PERMUTATIONS = 2_000
ALPHA = 0.05


@dataclass(frozen=True)
class FunctionChange:
    """In how many tasks each version calls a function. Shares are means over tasks."""

    function: str
    old: float
    new: float
    added: int
    """Tasks in which the new version calls it more often."""
    dropped: int
    p: float | None
    """Exact, over tasks, corrected for all functions (Holm)."""


@dataclass(frozen=True)
class TaskDifference:
    """A task at which the versions behave differently."""

    task: str
    distance: float
    """0: the same calls; 1: none in common. Above what runs of one version differ by, if that is known."""
    what: str
    """Where a run of the new version first parts from one of the old."""


@dataclass(frozen=True)
class BehaviourChange:
    """What changed from one version to the other. Field names are the keys of `--json`."""

    old: str
    new: str
    compared: int
    """Tasks that both versions ran."""
    changed: int
    """Tasks in which no run of the new version did what a run of the old one did."""
    p: float | None
    """Whether the versions differ by more than their own runs do. None: no version was run twice at a task."""
    functions: tuple[FunctionChange, ...]
    tasks: tuple[TaskDifference, ...]
    """The most changed first."""

    @property
    def verdict(self) -> str:
        tasks = f"{self.changed} of {self.compared} task{'s' if self.compared != 1 else ''}"
        said = f"{self.new} acts otherwise than {self.old} in {tasks}"
        if not self.changed:
            return f"{self.new} does what {self.old} does in all {self.compared} tasks that both ran."
        if self.p is None:
            return (
                f"{said}. Each ran a task once, so nobody can tell how much of that is chance: run one several times."
            )
        certain = "more" if self.p < ALPHA else "no more"
        return f"{said}, {certain} than runs of one version differ by chance (p {self.p:.3g})."


def measure_change(packets: Iterable[Packet], old: str, new: str, rng: Random) -> BehaviourChange:
    """Compare the runs of two sources at the tasks that both ran."""
    tasks = [(packet, *sides) for packet in packets if all(sides := _sides(packet, old, new))]
    if not tasks:
        raise ComparisonError(f"no task was run by both {old!r} and {new!r}. They are compared on the same tasks.")
    distances = [_Distances(before, after) for _, before, after in tasks]
    apart = [
        TaskDifference(packet.task_key, round(far.between - far.within, 4), _first(before, after))
        for far, (packet, before, after) in zip(distances, tasks, strict=True)
        if far.nearest > 0
    ]
    return BehaviourChange(
        old=old,
        new=new,
        compared=len(tasks),
        changed=len(apart),
        p=_permute(distances, rng),
        functions=tuple(_functions([sides for _, *sides in tasks])),
        tasks=tuple(sorted(apart, key=lambda task: (-task.distance, task.task))),
    )


def _sides(packet: Packet, old: str, new: str) -> tuple[list[PacketRun], list[PacketRun]]:
    by = {name: [run for run in packet.runs if packet.provenance[run.letter].source == name] for name in (old, new)}
    return by[old], by[new]


class _Distances:
    """How far the runs of a task are from each other."""

    def __init__(self, old: Sequence[PacketRun], new: Sequence[PacketRun]) -> None:
        actions = [[same_action(step) for step in run.actions] for run in (*old, *new)]
        pairs = combinations(range(len(actions)), 2)
        self._of = {pair: Indel.normalized_distance(actions[pair[0]], actions[pair[1]]) for pair in pairs}
        self._old, self._count = len(old), len(actions)
        between = [self._of[pair] for pair in product(range(self._old), range(self._old, self._count))]
        self.between, self.nearest = mean(between), min(between)
        within = [distance for (one, other), distance in self._of.items() if (one < self._old) == (other < self._old)]
        self.within = mean(within) if within else 0.0
        self.is_repeated = bool(within)

    def shuffled(self, rng: Random) -> float:
        """The distance between the versions, had their labels been drawn by lot."""
        drawn = rng.sample(range(self._count), self._count)
        old, new = drawn[: self._old], drawn[self._old :]
        return mean(self._of[min(pair), max(pair)] for pair in product(old, new))


def _permute(distances: Sequence[_Distances], rng: Random) -> float | None:
    repeated = [each for each in distances if each.is_repeated]
    if not repeated:
        return None
    seen = sum(each.between for each in repeated) - 1e-9
    as_far = sum(sum(each.shuffled(rng) for each in repeated) >= seen for _ in range(PERMUTATIONS))
    return (as_far + 1) / (PERMUTATIONS + 1)


def _functions(tasks: Sequence[Sequence[list[PacketRun]]]) -> list[FunctionChange]:
    names = sorted(
        {step.function for sides in tasks for runs in sides for run in runs for step in run.actions if step.function}
    )
    found = []
    for name in names:
        shares = [tuple(mean(_calls(run, name) for run in runs) for runs in sides) for sides in tasks]
        added, dropped = sum(new > old for old, new in shares), sum(new < old for old, new in shares)
        if added or dropped:
            old, new = (mean(share[side] for share in shares) for side in (0, 1))
            found.append(FunctionChange(name, old, new, added, dropped, mcnemar_exact(added, dropped)))
    found.sort(key=lambda change: (change.p or 0.0, -abs(change.new - change.old), change.function))
    return _correct(found)


def _correct(changes: Sequence[FunctionChange]) -> list[FunctionChange]:
    """Holm's correction: the smallest p counts as often as there are functions, the next once less."""
    corrected, highest = [], 0.0
    for place, change in enumerate(changes):
        highest = max(highest, min(1.0, (change.p or 0.0) * (len(changes) - place)))
        corrected.append(FunctionChange(**{**vars(change), "p": highest}))
    return corrected


def _calls(run: PacketRun, function: str) -> bool:
    return any(step.function == function for step in run.actions)


def _first(old: Sequence[PacketRun], new: Sequence[PacketRun]) -> str:
    return next((str(parting) for parting in partings(new[0], old[0])), "as before in these runs")
