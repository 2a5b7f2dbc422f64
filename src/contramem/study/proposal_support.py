"""The evidence of a proposed card: its trials on all runs, the runs that count, and the words of their requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from contramem.bank.bank import GRADES, CardSupport, Grade, GuardSupport
from contramem.bank.ledger import RunRef
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.retrieve.requests import request_words
from contramem.study.kinds import strip_values
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.trial import Trial
from contramem.study.trial_log import TrialLog
from contramem.traces.trajectory import digest

MAX_RUNS_CITED = 12
MAX_VALUE_CHARS = 60


def gather_support(trials: Sequence[Trial], run_set: RunSet, log: TrialLog, kinds: Sequence[str] = ()) -> CardSupport:
    """The evidence of a card whose guards were tried on all runs; `kinds` only adds the words of matching requests."""
    runs = _telling_runs(trials, run_set)
    first_by_task = {run.task: run for run in reversed(runs)}
    tasks = {task: run.trajectory.task_identity for task, run in sorted(first_by_task.items())}
    guard_counts = {
        str(trial.guard) if isinstance(trial.guard, Guard) else identify_check(trial): GuardSupport(
            held=trial.counts.kept_passed, broken=trial.counts.broke_failed, contradicted=trial.counts.broke_passed
        )
        for trial in trials
    }
    meant = [task for kind in kinds for task in run_set.kind(kind).tasks if task not in tasks]
    return CardSupport(
        tasks=tuple(tasks),
        sources=tuple({run.source for run in runs}),
        contradicted_by=tuple({run.task for trial in trials for run in trial.contradicting}),
        taught_by=tuple(digest for identity in tasks.values() for digest in identity),
        request_words=tuple(_words_of(run_set.by_task[task]) for task in (*tasks, *meant)),
        grade=grade_trials(trials, log),
        guard_counts=guard_counts,
    )


def identify_check(trial: Trial) -> str:
    """What identifies a query, however it is written: the runs that follow and break its rule."""
    sides = (trial.telling, trial.contradicting, trial.kept_in_vain)
    return f"check {digest(msgspec.json.encode([[run.name for run in side] for side in sides]).decode())[:12]}"


def add_support(before: CardSupport, more: CardSupport) -> CardSupport:
    """Add up both. For a guard that was tried again on all runs, the latest trial counts. What was proven stays so if
    the guards are the same: the rules of a build prove it in another way, and it means the same. A rule that shares no
    guard with the one whose place it takes rests on its own runs alone."""
    if before.guard_counts and before.guard_counts.keys().isdisjoint(more.guard_counts):
        return CardSupport(taught_by=before.taught_by, scope=before.scope) + more
    guard_counts = {guard: counts for guard, counts in before.guard_counts.items() if guard not in more.guard_counts}
    both = before.model_copy(update={"guard_counts": guard_counts}) + more
    is_same = more.guard_counts and more.guard_counts.keys() <= before.guard_counts.keys()
    return both.model_copy(update={"grade": _better(before.grade, more.grade)}) if is_same else both


def _better(grade: Grade | None, other: Grade | None) -> Grade | None:
    grades = [each for each in (grade, other) if each is not None]
    return min(grades, key=GRADES.index, default=None)


def cite_runs(trials: Sequence[Trial], run_set: RunSet) -> tuple[RunRef, ...]:
    """Some of the runs that count, for the ledger."""
    return tuple(
        RunRef(task=run.task, source=run.source, run=run.trial, passed=run.passed, origin=str(run.trajectory.origin))
        for run in _telling_runs(trials, run_set)[:MAX_RUNS_CITED]
    )


def find_ability(trials: Sequence[Trial], run_set: RunSet, kinds: Sequence[str] = ()) -> str:
    """The ability of most runs that count; if there are none, of the kinds; otherwise, of most runs."""
    meant = [run for kind in kinds for task in run_set.kind(kind).tasks for run in run_set.by_task[task]]
    runs = _telling_runs(trials, run_set) or meant or run_set.runs
    return Counter(run.ability or "general" for run in runs).most_common(1)[0][0]


def _telling_runs(trials: Sequence[Trial], run_set: RunSet) -> list[StudyRun]:
    """Runs that support a guard, in tasks in which some run does what it is about. Every run that sends nothing follows
    `absence(Mail.send[to missing])`, but the card is for tasks that involve sending."""
    runs = dict.fromkeys(run for trial in trials for run in trial.telling if _is_at_issue(trial, run.task, run_set))
    return list(runs) or list(dict.fromkeys(run for trial in trials for run in trial.telling))


def _is_at_issue(trial: Trial, task: str, run_set: RunSet) -> bool:
    if not isinstance(trial.guard, Guard):
        return True
    functions = [parse_pattern(text).function for text in (trial.guard.function, trial.guard.then) if text]
    if not all(functions):
        return True  # a class of functions
    return any(not run.called.isdisjoint(functions) for run in run_set.by_task[task])


def grade_trials(trials: Sequence[Trial], log: TrialLog) -> Grade | None:
    """The grade of the first guard, which is the rule: `proven` if it was confirmed on held-out tasks, `observed` if
    there is no evidence against it. The others say what to do in other cases. One that passing runs break lowers the
    grade by a step; one that few runs tried does not. A card that cannot be checked has no grade."""
    if not trials:
        return None
    rule, *others = trials
    confirmation = log.confirmation(str(rule.guard))
    is_opposed = any(trial.counts.broke_passed for trial in others)
    if confirmation is not None and confirmation.is_proven:
        return "observed" if is_opposed else "proven"
    return "observed" if rule.is_observed and not is_opposed else None


def _words_of(runs: Sequence[StudyRun]) -> str:
    """The words of the runs' requests, without values that the runs used."""
    text = runs[0].trajectory.task
    given = [value for run in runs for call in run.recorded.calls for value in call.arguments.values()]
    values = {value for value in given if isinstance(value, str) and len(value) <= MAX_VALUE_CHARS and value in text}
    return request_words(strip_values(text), values)
