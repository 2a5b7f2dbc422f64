"""Replays: rules as guards, held against every run by the evaluator that monitors agents. What a column says and no
guard bears out isn't claimed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contramem.chance import OutcomeTable
from contramem.errors import GuardError
from contramem.guards.conditions import Condition as GuardCondition
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.packets import drop_facts
from contramem.mining.conditions import Condition
from contramem.mining.matrix import Column, Domain, Statement
from contramem.mining.search import Rule
from contramem.study.recorded_actions import RecordedActions

MOST_EXCEPTIONS = 0.12
"""The share of the passing runs a guard applies to that may break it."""
MIN_EXPLAINED = 0.6
"""The share of the failures that a rule explains which its guard must explain, too."""
MAX_MARKS = 6
MAX_LEAK = 0.05
"""The share of other tasks that a word which marks a kind may be in."""
_VERDICTS = {"holds": 1, "broken": -1, "vacuous": 0}


class Replays:
    """What each run did with a guard."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._facts: dict[tuple[int, GuardCondition], bool] = {}
        self._columns: dict[Guard, Column] = {}

    @cached_property
    def runs(self) -> list[RecordedActions]:
        return [RecordedActions(run.trajectory) for run in self.domain.runs]

    def column(self, guard: Guard) -> Column:
        """+1 kept, -1 broken, 0 it does not apply. What one run of a task looked up is true for all of them."""
        if guard not in self._columns:
            column = np.zeros(len(self.domain.runs), dtype=np.int8)
            for number, task in enumerate(self.domain.tasks):
                fitted = drop_facts(guard, partial(self._is_fact, number))
                for place in task.runs:
                    column[place] = _VERDICTS[self.runs[place].replay(fitted)]
            self._columns[guard] = column
        return self._columns[guard]

    def _is_fact(self, task: int, condition: GuardCondition) -> bool:
        key = task, condition
        if key not in self._facts:
            runs = self.domain.tasks[task].runs
            self._facts[key] = any(self.runs[place].meets(condition) == "as a fact" for place in runs)
        return self._facts[key]

    def table(self, guard: Guard) -> OutcomeTable:
        column, passed = self.column(guard), self.domain.passed
        kept, broken = column > 0, column < 0
        return OutcomeTable(
            *(int(mask.sum()) for mask in (kept & passed, kept & ~passed, broken & passed, broken & ~passed))
        )


class Borne(NamedTuple):
    """A guard that says what a rule says."""

    guard: Guard
    table: OutcomeTable


def bear_out(
    rule: Rule, replays: Replays, condition: Condition | None, statement: Statement | None = None
) -> Borne | None:
    """The guard of a rule, under one of its conditions; None if no guard says it or all runs together contradict it."""
    statement = statement or rule.statement
    best: tuple[int, Borne] | None = None
    for guard in _ways_to_say(rule, statement, condition, replays):
        table, column = replays.table(guard), replays.column(guard)
        explained = int(((column < 0) & rule.explains).sum())
        if explained < max(1, MIN_EXPLAINED * rule.explains.sum()) or not table.kept_passed:
            continue
        if table.broke_passed <= MOST_EXCEPTIONS * table.passed and (best is None or explained > best[0]):
            best = explained, Borne(guard, table)
            if explained == rule.explains.sum():
                break
    return best[1] if best is not None else None


def _ways_to_say(rule: Rule, statement: Statement, condition: Condition | None, replays: Replays) -> Iterator[Guard]:
    text = condition.text if condition is not None else ""
    limits = ["", *_looks(statement), *list(find_marks(rule, condition, replays))[:MAX_MARKS]]
    guards = [statement.guard, *([] if (other := _by_forbidding(statement)) is None else [other])]
    for limit in limits:
        for guard in guards:
            if guard:
                when = " and ".join(dict.fromkeys(part for part in (statement.when, limit, text) if part))
                try:
                    yield parse_guard(f"{guard} when {when}" if when else guard)
                except GuardError:
                    continue


def _looks(statement: Statement) -> Iterator[str]:
    """That the agent has looked at what the statement compares with: where it has not, it went another way."""
    try:
        guard = statement.as_guard()
    except GuardError:
        return
    if guard is not None and statement.argument:
        yield from (function for function in guard.functions if function != statement.function)


def _by_forbidding(statement: Statement) -> str | None:
    """For calls that are made several times: what each of them must be, as what none may be."""
    found = _ONE_TEST.fullmatch(statement.guard)
    if found is None:
        return None
    function, argument, test, value = found.groups()
    if test in ("from", "equals") and "." in value:
        return f"absence({function}[{argument} != {value}])"
    opposite = _OPPOSITE.get(test)
    return f"absence({function}[{argument} {opposite} {value}])" if opposite else None


_OPPOSITE = {"=": "!=", "!=": "=", "contains": "lacks", "lacks": "contains", "mentions": "omits", "omits": "mentions"}
_ONE_TEST = re.compile(rf"existence\((.+?)\[(\S+) ({'|'.join((*_OPPOSITE, 'from', 'equals'))}) (.+)\]\)", re.DOTALL)


def find_marks(rule: Rule, condition: Condition | None, replays: Replays) -> Iterator[str]:
    """What tells the tasks in which the rule holds from all others: a call that most of their runs make, or a word of
    the request."""
    domain = replays.domain
    tasks = np.zeros(len(domain.tasks), dtype=np.bool_)
    tasks[rule.scope.tasks] = True
    if condition is not None and condition.about == "kind":
        tasks &= condition.mask
    if tasks.all():
        return
    spoken = rule.statement.column != 0
    inside, outside = tasks[domain.task_of] & spoken, ~tasks[domain.task_of] & spoken
    if not outside.any():
        outside = ~tasks[domain.task_of]
    yield from (mark for _, mark in sorted(_calls_that_mark(domain, inside, outside, rule.statement.function)))
    yield from _words_that_mark(domain, tasks)


def _calls_that_mark(
    domain: Domain, inside: NDArray[np.bool_], outside: NDArray[np.bool_], but: str
) -> Iterator[tuple[float, str]]:
    for pattern, called in domain.patterns.items():
        within, without = float(called[inside].mean()), float(called[outside].mean())
        if pattern.partition("[")[0] != but and within >= 0.7 and without <= 0.1:
            yield without - within + 0.01 * pattern.count("["), pattern


def _words_that_mark(domain: Domain, tasks: NDArray[np.bool_]) -> Iterator[str]:
    requests = [task.request.casefold() for task in domain.tasks]
    chosen = [request for request, is_in in zip(requests, tasks, strict=True) if is_in]
    others = [request for request, is_in in zip(requests, tasks, strict=True) if not is_in]
    words = set(re.findall(r"[a-z]{4,}", chosen[0])) if chosen else set()
    common = [word for word in words if all(word in request for request in chosen) and domain.may_say_word(word)]
    for word in sorted(common, key=lambda word: (-len(word), word)):
        if sum(word in request for request in others) <= MAX_LEAK * len(others):
            yield f"task contains {word}"


def sources_of(domain: Domain, places: Sequence[int]) -> set[str]:
    return {domain.runs[place].trajectory.source for place in places}
