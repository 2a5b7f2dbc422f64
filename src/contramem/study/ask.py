"""The questions that commands and MCP tools share, answered as values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from contramem.errors import GuardError, UsageError, nearest
from contramem.guards.guard import Guard, parse_guard, suggest_full_names, suggest_name
from contramem.study.explain import Difference, Explanation, explain
from contramem.study.guard_check import check_names, find_unmet
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.sharpen import Split, find_splits
from contramem.study.trial import Trial, try_guard, weigh
from contramem.study.trial_log import Confirmation, TrialLog
from contramem.study.values_seen import SeenValues, list_values

DEFAULT_LOG = ".contramem/trials.jsonl"
SHOWN_SPLITS = 5


class KindReport(NamedTuple):
    """A kind of task and how often its runs passed."""

    kind: str
    tasks: list[str]
    open_tasks: int
    """The number of them in the open half."""
    runs: int
    passed: int
    by_source: dict[str, tuple[int, int]]
    """Runs that passed, and all runs with a known outcome."""
    functions: tuple[str, ...]
    example: str


def list_kinds(run_set: RunSet) -> list[KindReport]:
    """Every kind, largest first."""
    reports = []
    for kind in run_set.kinds:
        runs = [run for task in kind.tasks for run in run_set.by_task[task] if run.passed is not None]
        by_source = defaultdict[str, list[bool]](list)
        for run in runs:
            by_source[run.source].append(bool(run.passed))
        rates = {source: (sum(passed), len(passed)) for source, passed in sorted(by_source.items())}
        passed = sum(bool(run.passed) for run in runs)
        tasks, is_open = list(kind.tasks), sum(run_set.halves[task] == "open" for task in kind.tasks)
        reports.append(KindReport(kind.name, tasks, is_open, len(runs), passed, rates, kind.functions, kind.example))
    return reports


@dataclass(frozen=True)
class TrialRequest:
    """A guard to try, and the runs to try it on."""

    guard: str
    kind: str | None = None
    confirm: bool = False
    on_all: bool = False
    log: Path = Path(DEFAULT_LOG)
    by: str = ""
    at: str = ""


class Unprovable(NamedTuple):
    """The tasks kept back could not prove a guard, whatever their runs did; so nobody looked at them."""

    runs: int
    """Runs that it applies to."""
    tasks: int
    least_chance: float
    """The lowest probability by chance that so many runs could give."""
    level: float
    """The highest that the next look accepts."""


@dataclass(frozen=True)
class TrialReport:
    """The result of a trial."""

    trial: Trial
    whole: Trial
    """The same with the tasks that are kept back, once it was held against them."""
    splits: tuple[Split, ...]
    """Conditions that would sharpen the guard, best first."""
    confirmation: Confirmation | None
    tried: int
    """How many guards were tried on these runs so far."""
    looks: int
    """How many of them were checked on the held-out tasks."""
    on_all: bool
    values: SeenValues
    """The values that runs had in the places the guard looks at."""
    unmet: tuple[str, ...]
    """Conditions of the guard that hold in none of the runs, in words."""
    unprovable: Unprovable | None = None
    """Why it was not held against the tasks kept back, though that was asked for."""

    @property
    def grade(self) -> str:
        """`proven`, `observed` (on all tasks that were looked at) or nothing."""
        if self.confirmation is not None and self.confirmation.is_proven:
            return "proven"
        return "observed" if self.whole.is_observed else ""


def read_guard(text: str, run_set: RunSet) -> Guard:
    """Parse a guard. Raises GuardError if it names a function, an argument or a field that no run has: probably a
    slip."""
    try:
        guard = parse_guard(text)
    except GuardError as error:
        raise GuardError(f"{error}{suggest_full_names(text, run_set.functions)}") from None
    for function in guard.functions:
        if function not in run_set.functions:
            raise GuardError(f"{guard}: no run calls {function}.{suggest_name(function, run_set.functions)}")
    check_names(guard, run_set.runs)
    return guard


def _check_outcomes(run_set: RunSet) -> None:
    """Raises UsageError if there is nothing to compare."""
    if not run_set.evidence:
        raise UsageError(
            "no run has an outcome, so passing and failing runs cannot be compared. `contramem doctor RUNS` says how "
            "to name the field that tells whether a run passed."
        )


def try_on(run_set: RunSet, request: TrialRequest) -> TrialReport:
    """Try a guard on the open half of the tasks, or on all, and optionally check it on the held-out half."""
    if request.confirm and request.on_all:
        raise UsageError(
            "what was tried on all tasks cannot be confirmed, because no tasks are kept back. Try it on half of them."
        )
    guard = read_guard(request.guard, run_set)
    _check_outcomes(run_set)
    tasks = set(run_set.kind(request.kind).tasks) if request.kind else None
    wanted = None if tasks is None else tasks.__contains__
    log = TrialLog(request.log, run_set.digest)
    runs = run_set.select(half=None if request.on_all else "open", wanted=wanted)
    verdicts = replay_guard(guard, runs)
    pairs = list(zip(runs, verdicts, strict=True))
    trial = whole = weigh(guard, pairs, run_set)
    log.record(trial, "open", request.by, request.at)
    confirmation = unprovable = None
    if request.confirm:
        kept_back = run_set.select(half="kept back", wanted=wanted)
        held = list(zip(kept_back, replay_guard(guard, kept_back), strict=True))
        held_trial = weigh(guard, held, run_set)
        unprovable = _find_unprovable(held_trial, log)
        if unprovable is None:
            confirmation = log.confirm(held_trial, request.by, request.at)
            whole = weigh(guard, [*pairs, *held], run_set)
    splits = find_splits(guard, runs, verdicts, run_set) if trial.contradicting else []
    return TrialReport(
        trial,
        whole,
        tuple(splits[:SHOWN_SPLITS]),
        confirmation,
        *log.count(),
        request.on_all,
        list_values(guard, runs),
        tuple(find_unmet(guard, runs)),
        unprovable,
    )


def _find_unprovable(held: Trial, log: TrialLog) -> Unprovable | None:
    """Why a look at the tasks kept back would be wasted. None: it is worth it, or was spent before."""
    level = log.next_level()
    if held.least_chance <= level or log.confirmation(str(held.guard)) is not None:
        return None
    return Unprovable(sum(held.counts), held.tasks, held.least_chance, level)


class ExplainReport(NamedTuple):
    """What separates the runs of some tasks."""

    name: str
    tasks: int
    explanation: Explanation
    """Without what is weak."""
    weak: tuple[Difference, ...]
    """Differences that few readers would find true: passing runs of other tasks break them, or their condition may be
    luck and chance explains the rest. They are hints where to look, and explain nothing."""
    observed: frozenset[Guard]
    """What these runs show well enough to be called observed."""
    values: dict[Guard, SeenValues]
    """The values that runs had in the places the guards look at."""
    kept_back: int = 0
    """Tasks of the half that is kept back, which were not looked at."""
    changes: tuple[tuple[tuple[str, ...], int, int], ...] = ()
    """The functions by which runs changed something, with how many runs that called just these passed and failed."""
    elsewhere: tuple[tuple[str, int], ...] = ()
    """Functions that change something here and in other kinds, with the number of open tasks that call them."""


def explain_kind(
    run_set: RunSet, *, kind: str | None = None, function: str | None = None, limit: int = 8, on_all: bool = False
) -> list[ExplainReport]:
    """What separates the runs of a kind, of the tasks that use a function, or of every kind."""
    if kind and function:
        raise UsageError("give --kind or --function, not both.")
    _check_outcomes(run_set)
    reports = []
    everywhere = run_set.select(half=None if on_all else "open")
    for name, tasks in _selections(run_set, kind, function):
        runs = run_set.select(half=None if on_all else "open", wanted=set(tasks).__contains__)
        looked_at = {run.task for run in runs}
        others = [run for run in everywhere if run.task not in looked_at]
        explanation = explain(runs, run_set, limit, others=others)
        guards = [each.guard for each in explanation.all_differences]
        observed = frozenset(guard for guard in guards if try_guard(guard, runs, run_set).is_observed)
        explanation, weak = _set_weak_aside(explanation, observed)
        values = {guard: list_values(guard, runs) for guard in guards}
        changes = _count_changes(runs)
        elsewhere = () if function else _find_elsewhere(run_set, changes, looked_at)
        kept_back = len(set(tasks) - looked_at)
        reports.append(
            ExplainReport(name, len(looked_at), explanation, weak, observed, values, kept_back, changes, elsewhere)
        )
    return reports


def _set_weak_aside(
    explanation: Explanation, observed: Collection[Guard]
) -> tuple[Explanation, tuple[Difference, ...]]:
    """The explanation without its weak differences, and these. The failures they account for count as unexplained."""

    def is_weak(difference: Difference) -> bool:
        return difference.is_local or (difference.is_doubtful and difference.guard not in observed)

    weak = tuple(each for each in explanation.all_differences if is_weak(each))
    listed = replace(
        explanation,
        differences=tuple(each for each in explanation.differences if not is_weak(each)),
        overlapping=tuple(each for each in explanation.overlapping if not is_weak(each)),
        unexplained=explanation.unexplained + sum(each.explains for each in weak),
    )
    return listed, weak


def _count_changes(runs: Sequence[StudyRun]) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    """What runs changed, in the order of their calls, with how many of these runs passed and failed."""
    counts = defaultdict[tuple[str, ...], list[int]](lambda: [0, 0])
    for run in runs:
        made = (call.function for call in run.recorded.calls if call.worked and call.effect != "read")
        counts[tuple(dict.fromkeys(made))][not run.passed] += 1
    ranked = sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0]))
    return tuple((made, passed, failed) for made, (passed, failed) in ranked)


def _find_elsewhere(
    run_set: RunSet, changes: Iterable[tuple[tuple[str, ...], int, int]], looked_at: Collection[str]
) -> tuple[tuple[str, int], ...]:
    functions = dict.fromkeys(function for made, _, _ in changes for function in made)
    found = []
    for function in functions:
        open_tasks = (task for task, half in run_set.halves.items() if half == "open")
        calling = sum(any(function in run.called for run in run_set.by_task[task]) for task in open_tasks)
        if calling > len(looked_at):
            found.append((function, calling))
    return tuple(sorted(found, key=lambda pair: -pair[1]))


def _selections(run_set: RunSet, kind: str | None, function: str | None) -> list[tuple[str, tuple[str, ...]]]:
    if kind:
        return [(kind, run_set.kind(kind).tasks)]
    if not function:
        return [(each.name, each.tasks) for each in run_set.kinds]
    if function not in run_set.functions:
        raise UsageError(f"no run calls {function!r}{nearest(function, run_set.functions)}")
    tasks = [t for t, runs in run_set.by_task.items() if any(function in run.called for run in runs)]
    return [(function, tuple(tasks))]
