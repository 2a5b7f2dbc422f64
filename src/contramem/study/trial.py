"""Trial: a guard on all runs. Which runs followed or broke it, by outcome, kind of task and source; is that chance?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.chance import OutcomeTable, chance, least_chance
from contramem.grading import MAX_CHANCE, contradicts, is_observed, supports
from contramem.guards.guard import Guard
from contramem.guards.templates import Verdict
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet, StudyRun

if TYPE_CHECKING:
    from contramem.study.sql_check import SqlCheck

Judgement: TypeAlias = Literal["supported", "contradicted", "no difference", "never tried"]


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
    tasks_for: int
    """Of them, those whose passing runs keep it and whose failing runs break it."""
    tasks_against: int
    """Those whose passing runs break it."""
    chance: float
    """The probability of such a difference if outcomes were random within tasks."""
    least_chance: float
    """The lowest probability that so many runs could give."""
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
        if contradicts(table):
            return "contradicted"
        return "supported" if self.chance <= MAX_CHANCE else "no difference"

    @property
    def is_observed(self) -> bool:
        """Whether enough tasks show it, none contradicts it, and chance hardly explains it."""
        conditional = not isinstance(self.guard, Guard) or bool(self.guard.conditions)
        return is_observed(self.tasks_for, self.tasks_against, self.counts, self.chance, is_conditional=conditional)

    @property
    def sources(self) -> int:
        """The number of sources with a run that followed it and passed, or broke it and failed."""
        return sum(bool(table.kept_passed or table.broke_failed) for table in self.by_source.values())


def try_guard(guard: Guard, runs: Sequence[StudyRun], run_set: RunSet) -> Trial:
    """Replay the guard on `runs`, a selection from `run_set`."""
    return weigh(guard, zip(runs, replay_guard(guard, runs), strict=True), run_set)


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
        for counts in (total, strata[run_set.stratum_of(run)], by_kind[kind], by_source[run.source]):
            counts[cell] += 1
        tasks.add(run.task)
        if cell == 2:
            contradicting.append(run)
        elif cell == 1:
            in_vain.append(run)
        else:
            telling.append(run)
    tables = {stratum: OutcomeTable(*counts) for stratum, counts in strata.items()}
    shown = {run.task: tables[run_set.stratum_of(run)] for run in telling}
    broken = {run.task: tables[run_set.stratum_of(run)] for run in contradicting}
    return Trial(
        guard,
        OutcomeTable(*total),
        vacuous,
        len(tasks),
        sum(map(supports, shown.values())),
        sum(map(contradicts, broken.values())),
        chance(tables.values()),
        least_chance(tables.values()),
        {kind: OutcomeTable(*counts) for kind, counts in sorted(by_kind.items())},
        {source: OutcomeTable(*counts) for source, counts in sorted(by_source.items())},
        tuple(contradicting),
        tuple(in_vain),
        tuple(telling),
    )
