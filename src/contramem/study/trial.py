"""Trial: a guard on all runs. Which runs followed or broke it, by outcome, kind of task and source; is that chance?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.chance import OutcomeTable, chance
from contramem.monitor.automaton import automaton
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.task_facts import asks_for_facts
from contramem.study.recorded_actions import heard_functions, replay_on_all
from contramem.study.run_set import RunSet, StudyRun

if TYPE_CHECKING:
    from contramem.study.sql_check import SqlCheck

Judgement: TypeAlias = Literal["supported", "contradicted", "no difference", "never tried"]

MAX_CONTRADICTING = 0.25
"""The share of passing runs that may break a guard before the trial counts against it."""
LIKELY_CHANCE = 0.05


@dataclass(frozen=True)
class Trial:
    """A guard, or a query instead of one, and which runs followed or broke it."""

    guard: Guard | SqlCheck
    counts: OutcomeTable
    """Over all runs to which the guard applies."""
    vacuous: int
    """Runs to which it does not apply."""
    tasks: int
    """Tasks with a run to which it applies."""
    chance: float
    """The probability of such a difference if outcomes were random within tasks."""
    by_kind: Mapping[str, OutcomeTable]
    by_source: Mapping[str, OutcomeTable]
    contradicting: tuple[StudyRun, ...]
    """Runs that passed and broke it."""
    kept_in_vain: tuple[StudyRun, ...]
    """Runs that failed and kept it."""
    telling: tuple[StudyRun, ...]
    """Runs that passed and followed it, or failed and broke it."""

    @property
    def judgement(self) -> Judgement:
        """`supported`: runs that followed it pass more often than chance explains, and few passing runs broke it."""
        table = self.counts
        if not (table.kept_passed + table.kept_failed + table.broke_passed + table.broke_failed):
            return "never tried"
        passing = table.kept_passed + table.broke_passed
        if table.broke_passed > MAX_CONTRADICTING * passing:
            return "contradicted"
        return "supported" if self.chance <= LIKELY_CHANCE else "no difference"

    @property
    def sources(self) -> int:
        """The number of sources with a run that followed it and passed, or broke it and failed."""
        return sum(bool(table.kept_passed or table.broke_failed) for table in self.by_source.values())


def try_guard(guard: Guard, runs: Sequence[StudyRun], run_set: RunSet) -> Trial:
    """Replay the guard on `runs`, a selection from `run_set`."""
    return weigh(guard, zip(runs, replay_guard(guard, runs), strict=True), run_set)


def replay_guard(guard: Guard, runs: Sequence[StudyRun]) -> list[Verdict]:
    """The verdict of each run. Runs that call none of its functions are not even loaded."""
    if asks_for_facts(guard):
        return _replay_by_task(guard, runs)
    heard = heard_functions(guard)
    if heard is None:
        return [run.recorded.replay(guard) for run in runs]
    idle = automaton(guard).verdict
    return [idle if heard.isdisjoint(run.called) else run.recorded.replay(guard) for run in runs]


def _replay_by_task(guard: Guard, runs: Sequence[StudyRun]) -> list[Verdict]:
    """What one run of a task was shown holds for the task's other runs; if none was shown it, the guard does not
    apply."""
    needed = {function for condition in guard.conditions for function in condition.functions}
    tasks = {run.task for run in runs if not needed or not needed.isdisjoint(run.called)}
    spoken = [run for run in runs if run.task in tasks]
    verdicts = iter(replay_on_all(guard, (run.recorded for run in spoken)))
    return [next(verdicts) if run.task in tasks else "vacuous" for run in runs]


def weigh(guard: Guard | SqlCheck, verdicts: Iterable[tuple[StudyRun, Verdict]], run_set: RunSet) -> Trial:
    """The trial of a guard or query with given verdicts."""
    strata = defaultdict[str, list[int]](lambda: [0, 0, 0, 0])
    by_kind = defaultdict[str, list[int]](lambda: [0, 0, 0, 0])
    by_source = defaultdict[str, list[int]](lambda: [0, 0, 0, 0])
    total, vacuous, tasks = [0, 0, 0, 0], 0, set()
    contradicting, in_vain, telling = [], [], []
    for run, verdict in verdicts:
        if verdict == "vacuous":
            vacuous += 1
            continue
        cell = 2 * (verdict == "broken") + (not run.passed)
        kind = run_set.kind_of_task[run.task]
        # A task with a single run has no contrast of its own; such tasks are compared within their kind.
        stratum = run.task if len(run_set.by_task[run.task]) > 1 else f"kind {kind}"
        for counts in (total, strata[stratum], by_kind[kind], by_source[run.source]):
            counts[cell] += 1
        tasks.add(run.task)
        if cell == 2:
            contradicting.append(run)
        elif cell == 1:
            in_vain.append(run)
        else:
            telling.append(run)
    return Trial(
        guard,
        OutcomeTable(*total),
        vacuous,
        len(tasks),
        chance(OutcomeTable(*counts) for counts in strata.values()),
        {kind: OutcomeTable(*counts) for kind, counts in sorted(by_kind.items())},
        {source: OutcomeTable(*counts) for source, counts in sorted(by_source.items())},
        tuple(contradicting),
        tuple(in_vain),
        tuple(telling),
    )
