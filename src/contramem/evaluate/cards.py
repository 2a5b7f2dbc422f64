"""The outcomes of runs that were shown a card, compared with the same tasks without it.

The inject log says which run was shown what; the traces say how runs ended. A run in the log is matched to the run of
the memory side with the same id. If ids don't match, it is matched to the task's only run, or to all of its runs if
they were shown the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from random import Random

from contramem.evaluate.pairs import Attempt, Pair, Pairing
from contramem.evaluate.stats import Interval, TaskChange, bootstrap_interval
from contramem.inject.log import Line, Withheld

SEED = 0


@dataclass(frozen=True)
class RunOutcomes:
    """How many runs passed and failed."""

    passed: int
    failed: int

    @property
    def runs(self) -> int:
        return self.passed + self.failed


@dataclass(frozen=True)
class CardEffect:
    """The effect of one card. Field names are keys of `--json`."""

    card_id: str
    tasks: int
    shown: RunOutcomes
    """Runs with memory that were shown the card."""
    base: RunOutcomes
    """The runs without memory that they are paired with."""
    gained: int
    lost: int
    """Pairs of runs."""
    tasks_gained: int
    """Tasks with more pairs gained than lost."""
    tasks_lost: int
    interval: Interval | None
    """Of the difference in success, resampling tasks. None if there are too few."""
    held_out: RunOutcomes
    """Runs of the same tasks on the memory side that were randomly chosen to be shown nothing."""


@dataclass(frozen=True)
class Cards:
    """The effects of all cards shown in the compared runs, those with most lost runs first."""

    effects: tuple[CardEffect, ...]
    shown: int
    """Compared runs with memory that were shown at least one card."""
    held_out: int
    not_in_log: int
    """Runs with memory that have no entry in the log, or none that can be matched."""
    memory_tokens: float | None
    """Mean over the runs in the log that were not held out."""


@dataclass(frozen=True)
class _LoggedRun:
    """One run according to the log."""

    run: str
    task: str
    cards: frozenset[str]
    tokens: int
    withheld: Withheld


def card_effects(pairing: Pairing, lines: Iterable[Line]) -> Cards:
    """Count, for each card, the pairs of runs in which the memory side was shown it."""
    left_out = [unpaired.attempt for unpaired in pairing.left_out if unpaired.side == "memory"]
    matched = _match([pair.memory for pair in pairing.pairs] + left_out, _runs(lines))
    cards_by_pair = {pair: matched[pair.memory] for pair in pairing.pairs if pair.memory in matched}
    shown_in: dict[str, list[Pair]] = defaultdict(list)
    for pair, logged in cards_by_pair.items():
        for card_id in logged.cards:
            shown_in[card_id].append(pair)
    held_out = [pair for pair, logged in cards_by_pair.items() if logged.withheld == "holdout"]
    effects = (_effect(card_id, pairs, held_out) for card_id, pairs in shown_in.items())
    served = [logged.tokens for logged in cards_by_pair.values() if not logged.withheld]
    return Cards(
        effects=tuple(sorted(effects, key=lambda effect: (-effect.lost, -effect.shown.runs, effect.card_id))),
        shown=sum(bool(logged.cards) for logged in cards_by_pair.values()),
        held_out=len(held_out),
        not_in_log=len(pairing.pairs) - len(cards_by_pair),
        memory_tokens=sum(served) / len(served) if served else None,
    )


def _effect(card_id: str, pairs: Sequence[Pair], held_out: Iterable[Pair]) -> CardEffect:
    tasks = {pair.task_key for pair in pairs}
    by_task = [[pair.change for pair in pairs if pair.task_key == task] for task in sorted(tasks)]
    changes = [TaskChange(sum(changes), len(changes)) for changes in by_task]
    return CardEffect(
        card_id=card_id,
        tasks=len(tasks),
        shown=_outcomes(pair.memory for pair in pairs),
        base=_outcomes(pair.base for pair in pairs),
        gained=sum(pair.change > 0 for pair in pairs),
        lost=sum(pair.change < 0 for pair in pairs),
        tasks_gained=sum(task.change > 0 for task in changes),
        tasks_lost=sum(task.change < 0 for task in changes),
        interval=bootstrap_interval([changes], Random(SEED)),
        held_out=_outcomes(pair.memory for pair in held_out if pair.task_key in tasks),
    )


def _outcomes(attempts: Iterable[Attempt]) -> RunOutcomes:
    passed = [bool(attempt.passed) for attempt in attempts]
    return RunOutcomes(sum(passed), len(passed) - sum(passed))


def _runs(lines: Iterable[Line]) -> list[_LoggedRun]:
    """The log grouped by run, without runs for which memory was switched off."""
    by_run: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        by_run[line.run, line.task].append(line)
    runs = []
    for (run, task), run_lines in by_run.items():
        withheld: Withheld = next((line.withheld for line in run_lines if line.withheld), "")
        cards = frozenset(card_id for line in run_lines for card_id in line.cards)
        runs.append(_LoggedRun(run, task, cards, sum(line.tokens for line in run_lines), withheld))
    return [run for run in runs if run.withheld != "off"]


def _match(attempts: Sequence[Attempt], runs: Iterable[_LoggedRun]) -> dict[Attempt, _LoggedRun]:
    by_name: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        for name in _task_names(attempt):
            by_name[name].append(attempt)
    by_task: dict[str, list[_LoggedRun]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    matched: dict[Attempt, _LoggedRun] = {}
    for task, logged in by_task.items():
        matched |= dict(_match_task(by_name[task], logged))
    return matched


def _match_task(attempts: Sequence[Attempt], logged: Sequence[_LoggedRun]) -> Iterator[tuple[Attempt, _LoggedRun]]:
    by_id: dict[Attempt, _LoggedRun] = {}
    for run in logged:
        candidates = [attempt for attempt in attempts if run.run in _run_names(attempt)]
        if len(candidates) == 1:
            by_id[candidates[0]] = run
    yield from by_id.items()
    unmatched_attempts = [attempt for attempt in attempts if attempt not in by_id]
    unmatched_runs = [run for run in logged if run not in by_id.values()]
    one_task = len({attempt.task_key for attempt in unmatched_attempts}) == 1
    shown_the_same = len({(run.cards, run.withheld) for run in unmatched_runs}) == 1
    if one_task and shown_the_same and len(unmatched_attempts) == len(unmatched_runs):
        yield from zip(unmatched_attempts, unmatched_runs, strict=True)


def _task_names(attempt: Attempt) -> set[str]:
    whole = f"{attempt.environment}/{attempt.task_id}"
    return {attempt.task_id, whole, attempt.task_key, attempt.task_digest}


def _run_names(attempt: Attempt) -> tuple[str, ...]:
    """The names a run may have in a log: its trial, with or without task and source, or its file."""
    task, source, trial = attempt.task_id, attempt.source, attempt.trial
    file = PurePath(attempt.origin.file).name.partition(".")[0]
    return trial, f"{task}/{trial}", f"{source}/{task}/{trial}", file
