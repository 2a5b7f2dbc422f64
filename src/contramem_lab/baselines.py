"""Scores for runs that need no contrastive memory: baselines that foresight has to beat, and one control.

Each predicts whether a run of an unseen task passed: the higher the score, the likelier. Run length and distinct
functions use the run alone. The control only knows which source ran. The other two use runs of other tasks: the nearest
passing run (raw retrieval), and workflows induced from passing runs (offline AWM, Wang et al. 2024).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from rapidfuzz.distance import Indel, LCSseq

from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.tokens import tokenize
from contramem.traces.trajectory import Trajectory
from contramem_lab.contest import TaskContest

Scorer: TypeAlias = Callable[[Trajectory], float]
Judge: TypeAlias = Callable[[TaskContest], Scorer]
"""Makes a scorer for the runs of a task. The scorer must not use the outcome of a run."""

NEIGHBOURS = 3
"""How many reference tasks a memory of runs retrieves for a task: as many as an agent is shown cards."""
MIN_SHARE = 0.5
"""The share of a task's passing runs that must make a call for it to be part of the task's workflow."""


def run_length(contest: TaskContest) -> Scorer:
    return lambda run: len(names(run))


def distinct_functions(contest: TaskContest) -> Scorer:
    return lambda run: len(set(names(run)))


def source_pass_rate(runs: Iterable[Trajectory]) -> Judge:
    """The control: the pass rate of the source on other tasks."""
    tried: dict[str, Counter[str]] = defaultdict(Counter)
    passed: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        if run.outcome.passed is not None:
            tried[run.source][run.task_key] += 1
            passed[run.source][run.task_key] += run.outcome.passed

    def judge(contest: TaskContest) -> Scorer:
        def score(run: Trajectory) -> float:
            others = tried[run.source].total() - tried[run.source][contest.key]
            return (passed[run.source].total() - passed[run.source][contest.key] + 1) / (others + 2)

        return score

    return judge


class Neighbours:
    """Finds passing runs of similar reference tasks, by the words of a task, within its ability."""

    def __init__(self, runs: Iterable[Trajectory]) -> None:
        passing: dict[str, list[Trajectory]] = defaultdict(list)
        for run in runs:
            if run.outcome.passed:
                passing[run.task_key].append(run)
        by_ability: dict[str, list[list[Trajectory]]] = defaultdict(list)
        for key in sorted(passing):
            by_ability[passing[key][0].ability or "general"].append(passing[key])
        self._indexes = {
            ability: (tasks, Bm25([tokenize(task[0].task) for task in tasks])) for ability, tasks in by_ability.items()
        }

    def of(self, contest: TaskContest) -> list[list[Trajectory]]:
        """The passing runs of the `NEIGHBOURS` most similar tasks, excluding the task's own scenario."""
        return self.nearest(contest.task, contest.ability, contest.is_of)

    def nearest(self, task: str, ability: str, is_own: Callable[[Trajectory], bool]) -> list[list[Trajectory]]:
        """The same for a task that has no runs yet."""
        if ability not in self._indexes:
            return []
        tasks, index = self._indexes[ability]
        scores = index.scores(tokenize(task))
        ranked = sorted(range(len(tasks)), key=lambda number: (-round(float(scores[number]), 9), number))
        others = [tasks[number] for number in ranked if not is_own(tasks[number][0])]
        return others[:NEIGHBOURS]

    def nearest_passing_run(self, contest: TaskContest) -> Scorer:
        """Score: the similarity of a run's call sequence to the most similar passing run of a neighbour."""
        name_lists = [names(run) for task in self.of(contest) for run in task]
        return lambda run: max((Indel.normalized_similarity(names(run), other) for other in name_lists), default=0.0)

    def induce_workflows(self, contest: TaskContest) -> Scorer:
        """Score: the share of the neighbours' workflows that a run follows, in order."""
        workflows = [steps for task in self.of(contest) if (steps := workflow(task))]

        def score(run: Trajectory) -> float:
            calls = names(run)
            shares = [LCSseq.similarity(calls, steps) / len(steps) for steps in workflows]
            return sum(shares) / len(shares) if shares else 0.0

        return score


def workflow(passing: Sequence[Trajectory]) -> tuple[str, ...]:
    """The calls that most passing runs of a task make, in the order of the run that makes most of them."""
    return common_steps([names(run) for run in passing])


def common_steps(calls: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The same, given the functions that each run called."""
    runs_calling = Counter(name for run in calls for name in set(run))
    common = {name for name, count in runs_calling.items() if count >= MIN_SHARE * len(calls)}
    steps = [tuple(dict.fromkeys(name for name in run if name in common)) for run in calls]
    return max(steps, key=lambda sequence: (len(sequence), sequence), default=())


def names(run: Trajectory) -> tuple[str, ...]:
    """The functions that the agent called, in order."""
    return tuple(event.function for event in run.calls)


def baselines(pool: Iterable[Trajectory], reference: Iterable[Trajectory] | None) -> Mapping[str, Judge]:
    """All baselines by name. Without reference runs, only those that need none; the pass rate then uses the pool."""
    reference = None if reference is None else list(reference)
    judges: dict[str, Judge] = {
        "run length": run_length,
        "distinct functions": distinct_functions,
        "source pass rate": source_pass_rate(pool if reference is None else reference),
    }
    if reference is not None:
        near = Neighbours(reference)
        judges |= {
            "nearest passing run": near.nearest_passing_run,
            "induced workflows": near.induce_workflows,
        }
    return judges


CONTROL = "source pass rate"
