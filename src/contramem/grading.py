"""Grading: what it means that runs support or contradict a guard, and that it is observed or proven.

`explain`, `try`, `propose` and the rules of a build all ask here, with the same counts: runs that kept and broke a
guard, by outcome, in each task (chance.py). They differ in one thing only, how *proven* allows for what else was tried:
an author's guard is tested on tasks that were kept back (study/trial_log.py), a rule of a build is corrected for
everything that the build tried (build/rules/significance.py). docs/decisions.md says why.
"""

from __future__ import annotations

from contramem.chance import OutcomeTable, chance

GRADE_WORDS = {
    "enforced": "Enforced: the tool refuses otherwise.",
    "proven": "Proven: more than chance explains.",
    "observed": "Observed: no run speaks against it, and chance is not ruled out.",
    "open": "Open: several readings fit these runs.",
}
FALSE_SHARE = 0.1
"""The expected share of chance findings among what is called proven."""
MAX_CHANCE = 0.05
"""The highest probability by chance of a difference that is not corrected for what else was tried."""
MAX_CHANCE_UNOPPOSED = 0.1
"""The same if no run at all passed without it."""
MIN_TASKS = 2
"""How many tasks must show a guard that is observed."""
MAX_CHANCE_IN_ONE_TASK = 0.002
"""The probability by chance at which one task is enough: six runs against six that all agree."""
MAX_CONTRADICTING = 0.25
"""The share of the passing runs it applies to that may break a guard before they contradict it."""


def contradicts(table: OutcomeTable) -> bool:
    """Whether too many passing runs break the guard."""
    return bool(table.broke_passed) and table.broke_passed >= MAX_CONTRADICTING * table.passed


def supports(table: OutcomeTable) -> bool:
    """Whether passing runs keep the guard, with few exceptions, and failing runs break it more often."""
    if not (table.kept_passed and table.broke_failed) or contradicts(table):
        return False
    return table.broke_failed / table.failed > table.broke_passed / table.passed


def is_observed(
    tasks_for: int, tasks_against: int, counts: OutcomeTable, likely: float, *, is_conditional: bool
) -> bool:
    """Whether a guard is *observed*: enough tasks show it, and chance hardly explains it within them. `counts` are
    those over all tasks; `is_conditional` says whether the guard applies to some runs only."""
    if not is_shown(tasks_for, tasks_against, likely):
        return False
    return likely <= most_chance(counts.broke_passed) or (not is_conditional and _is_clear_over_all_tasks(counts))


def _is_clear_over_all_tasks(counts: OutcomeTable) -> bool:
    """Whether nobody passed without it, and chance hardly explains that over all runs together. Tasks that no run
    passed show nothing within themselves, but count here. A rule with a condition may only tell hard tasks from easy
    ones, so it has to show within tasks."""
    return not counts.broke_passed and chance([counts]) <= MAX_CHANCE


def most_chance(broke_passed: int) -> float:
    """The highest probability by chance of a guard that is observed."""
    return MAX_CHANCE if broke_passed else MAX_CHANCE_UNOPPOSED


def is_shown(tasks_for: int, tasks_against: int, likely: float) -> bool:
    """Whether enough tasks support a guard, and none contradicts it."""
    return not tasks_against and tasks_for >= (1 if likely <= MAX_CHANCE_IN_ONE_TASK else MIN_TASKS)


def find_objection(rule: str, table: OutcomeTable) -> str:
    """Why all runs to which a rule applies do not bear it out; empty: they do."""
    if not sum(table):
        return f"{rule}: no run does what it speaks about, so nothing bears it out."
    if contradicts(table):
        return f"{rule}: {table.broke_passed} of {table.passed} passing runs break it."
    if not table.broke_failed:
        return f"{rule}: no failing run breaks it, so it tells nothing about failing."
    kept = table.kept_passed + table.kept_failed
    if table.kept_passed * table.broke <= table.broke_passed * kept:
        return f"{rule}: runs that keep it pass no more often than runs that break it."
    return ""
