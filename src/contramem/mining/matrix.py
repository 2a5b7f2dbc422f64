"""Matrix: the runs of a domain, ready for statements; and statements as columns over runs: kept, broken, or silent."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contramem.guards.guard import Guard, parse_guard
from contramem.guards.values import write_value
from contramem.mining.facts import Call, canon, find_given, know, read_run
from contramem.privacy.public import Public
from contramem.privacy.public import canon as public_value
from contramem.traces.effects import words
from contramem.traces.trajectory import Effect, Trajectory

Column = NDArray[np.int8]
"""For each run: +1 kept, -1 broken, 0 it does not apply."""
MAX_RUNS_PER_TASK = 60
"""More runs of one task teach nothing more about it."""
NEVER = 1 << 30


@dataclass(slots=True)
class Statement:
    """What can be said about a run."""

    family: str
    guard: str
    """As a guard, without conditions. Empty: no guard says it."""
    when: str
    """The condition that it brings along: of a call, that it is made."""
    function: str
    """What it is about."""
    argument: str
    column: Column
    cost: float
    """In nats: how much less likely than others it is to be meant."""
    words: str = ""
    """What no guard says."""
    others: list[Statement] = field(default_factory=list)
    """Statements that these runs cannot tell apart from it."""

    @property
    def subject(self) -> tuple[str, str]:
        return self.function, self.argument

    def __str__(self) -> str:
        return self.words or (f"{self.guard} when {self.when}" if self.when else self.guard)

    def as_guard(self, *conditions: str) -> Guard | None:
        """The guard, with more conditions. Raises GuardError if one of them is none."""
        if not self.guard:
            return None
        when = " and ".join(dict.fromkeys(filter(None, (self.when, *conditions))))
        return parse_guard(f"{self.guard} when {when}" if when else self.guard)


class Domain:
    """The runs of a domain that are evidence."""

    def __init__(self, trajectories: Iterable[Trajectory], public: Public | None = None) -> None:
        """`public`: what may be said. None: what several tasks and sources share."""
        self.public = public
        counted = [run for run in trajectories if run.outcome.passed is not None and run.outcome.ended != "interrupted"]
        by_task = defaultdict[str, list[Trajectory]](list)
        for trajectory in join_shared(counted):
            by_task[trajectory.task_key].append(trajectory)
        sources = {source: n for n, source in enumerate(sorted({run.source for run in counted}))}
        self.reads = find_reads(counted)
        self.runs = [
            read_run(run, number, sources[run.source])
            for number, runs in enumerate(by_task.values())
            for run in spread(runs, MAX_RUNS_PER_TASK)
        ]
        places = defaultdict[int, list[int]](list)
        for place, run in enumerate(self.runs):
            places[run.task].append(place)
        self.tasks = [know(key, places[number], self.runs, self.reads) for number, key in enumerate(by_task)]
        find_given(self.tasks, self.runs, self.reads)
        self.passed = np.array([run.passed for run in self.runs], dtype=np.bool_)
        self.task_of = np.array([run.task for run in self.runs], dtype=np.intp)
        self.sources = np.array([run.source for run in self.runs], dtype=np.intp)
        self.source_count = len(sources)
        counts = Counter(call.function for run in self.runs for call in run.calls)
        self.functions = [function for function, count in sorted(counts.items()) if count > 2]
        self._index_calls()

    def _index_calls(self) -> None:
        size = len(self.runs)
        self.calls: dict[str, list[list[Call]]] = {function: [[] for _ in range(size)] for function in self.functions}
        """By function and run, the calls that worked."""
        self.tried = {function: np.zeros(size, dtype=np.bool_) for function in self.functions}
        self.first = {function: np.full(size, NEVER) for function in self.functions}
        self.last = {function: np.full(size, -1) for function in self.functions}
        for place, run in enumerate(self.runs):
            for number, call in enumerate(run.calls):
                if call.function in self.calls:
                    self.tried[call.function][place] = True
                    if call.worked:
                        self.calls[call.function][place].append(call)
                        self.first[call.function][place] = min(self.first[call.function][place], number)
                        self.last[call.function][place] = number

    @cached_property
    def arguments(self) -> dict[tuple[str, str], list[list[Any]]]:
        """By function and argument, what each run passed in calls that worked."""
        found: dict[tuple[str, str], list[list[Any]]] = {}
        for function, by_run in self.calls.items():
            for name in sorted({name for calls in by_run for call in calls for name in call.arguments}):
                values = [
                    [call.arguments[name] for call in calls if call.arguments.get(name) is not None] for calls in by_run
                ]
                if sum(map(bool, values)) >= 4:
                    found[function, name] = values
        return found

    @cached_property
    def patterns(self) -> dict[str, NDArray[np.bool_]]:
        """Calls, perhaps with an argument or one of its words, and the runs that make them."""
        found: dict[str, NDArray[np.bool_]] = {}
        for place, run in enumerate(self.runs):
            for call in run.calls:
                for pattern in patterns_of(call, self):
                    if pattern not in found:
                        found[pattern] = np.zeros(len(self.runs), dtype=np.bool_)
                    found[pattern][place] = True
        return found

    @cached_property
    def is_single(self) -> bool:
        """Has nearly every task one run? Then similar tasks are compared."""
        return sum(len(task.runs) > 1 for task in self.tasks) < 0.2 * len(self.tasks)

    def changes(self, function: str) -> bool:
        return function not in self.reads

    def is_asked(self, function: str) -> NDArray[np.bool_]:
        """The runs whose request names, by its verb, what the function does."""
        verb = next(iter(words(function.rpartition(".")[2])), "")
        stem = verb[: max(4, len(verb) - 2)]
        asked = [len(stem) > 3 and stem in task.request.casefold() for task in self.tasks]
        return np.array(asked, dtype=np.bool_)[self.task_of]

    def judge(self, values: Sequence[Sequence[Any]], good: Callable[[Any], bool | None]) -> Column:
        """Kept where every value is good, broken where one is not; silent without a value or a standard."""
        return self.judge_by_task(values, lambda value, task: good(value))

    def judge_by_task(self, values: Sequence[Sequence[Any]], good: Callable[[Any, int], bool | None]) -> Column:
        """The same by a standard that each task has."""
        column = np.zeros(len(values), dtype=np.int8)
        for place, given in enumerate(values):
            verdicts = [good(value, int(self.task_of[place])) for value in given]
            if verdicts and None not in verdicts:
                column[place] = 1 if all(verdicts) else -1
        return column

    def wanted(self, canons: Sequence[Sequence[Any]]) -> dict[int, Any]:
        """By task, the value that passing runs gave most."""
        counts = defaultdict[int, Counter[Any]](Counter)
        for place, given in enumerate(canons):
            if given and self.passed[place] and all(value == given[0] for value in given):
                counts[int(self.task_of[place])][given[0]] += 1
        return {task: counter.most_common(1)[0][0] for task, counter in counts.items()}

    def may_say(self, function: str, name: str, value: Any) -> bool:
        """Is a value of an argument or field public?"""
        if self.public is None or isinstance(value, bool):
            return True
        return public_value(value) in self._said.get((function, name), ())

    @cached_property
    def _said(self) -> dict[tuple[str, str], set[str]]:
        """By function and the last name of a path, the public values."""
        said = defaultdict[tuple[str, str], set[str]](set)
        for (function, path, _), values in (self.public.values if self.public else {}).items():
            for name in (path, path.rpartition(".")[2]):
                said[function, name].update(values)
        return said

    def may_say_word(self, word: str) -> bool:
        return self.public is None or self.public.word(word)

    def is_shared(self, places: Iterable[int]) -> bool:
        """Do runs of two tasks and, if there are several, of two sources show it?"""
        seen = list(places)
        least = min(2, self.source_count)
        return len({self.task_of[n] for n in seen}) >= 2 and len({self.sources[n] for n in seen}) >= least


class Statements:
    """All statements of a domain; of those that the same runs keep and break, the one that is likeliest meant."""

    def __init__(self) -> None:
        self.all: list[Statement] = []
        self._by_column: dict[bytes, Statement] = {}

    def add(self, statement: Statement) -> None:
        column = statement.column
        if not (column < 0).any() or not (column > 0).any():
            return
        key = column.tobytes()
        same = self._by_column.get(key)
        if same is None:
            self._by_column[key] = statement
            self.all.append(statement)
        elif statement.cost < same.cost:
            statement.others, same.others = [same, *same.others], []
            self._by_column[key] = statement
            self.all[next(n for n, each in enumerate(self.all) if each is same)] = statement
        elif len(same.others) < 20:
            same.others.append(statement)

    @cached_property
    def matrix(self) -> NDArray[np.int8]:
        """A row for each statement, a column for each run."""
        return np.array([statement.column for statement in self.all], dtype=np.int8)


def patterns_of(call: Call, domain: Domain) -> Iterator[str]:
    yield call.function
    for name, value in call.arguments.items():
        if value is not None and not isinstance(value, dict):
            yield f"{call.function}[{name} given]"
            if isinstance(value, (str, bool)) and len(str(value)) < 25 and domain.may_say(call.function, name, value):
                word = str(value).lower() if isinstance(value, bool) else value
                yield f"{call.function}[{name} = {write_value(word)}]"


def find_reads(runs: Sequence[Trajectory]) -> frozenset[str]:
    """The functions that only look, by most of their calls; of those whose effect nobody knows, those that inform."""
    effects = defaultdict[str, Counter[Effect]](Counter)
    answers = defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    for run in runs:
        for event in run.events:
            if event.function:
                effects[event.function][event.effect] += 1
                if event.effect == "unknown" and event.result is not None and event.result.error is None:
                    asked = f"{run.task_key} {sorted(event.arguments.items())}"
                    answers[event.function][asked].add(repr(event.result.content))
    usual = {function: counts.most_common(1)[0][0] for function, counts in effects.items()}
    informing = {name for name, effect in usual.items() if effect == "unknown" and _informs(answers[name])}
    return frozenset(name for name, effect in usual.items() if effect == "read" or name in informing)


def _informs(answers: Mapping[str, set[str]]) -> bool:
    """Does a function answer the same question alike, and others otherwise, by more than what it was asked?"""
    alike = sum(len(found) == 1 for found in answers.values())
    shown = {re.sub(r"\W+", " ", answer) for found in answers.values() for answer in found}
    fields = {re.sub(r"\d+", "9", answer) for answer in shown}
    return len(answers) > 3 and alike >= 0.95 * len(answers) and len(fields) > 0.3 * len(answers) and len(fields) > 3


def join_shared(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """Runs that cannot have a verdict of their own, as one: where no task and source ever has two verdicts though many
    have many runs, each run has the verdict of all."""
    groups = defaultdict[tuple[str, str], list[Trajectory]](list)
    for run in runs:
        groups[run.task_key, run.source].append(run)
    several = [group for group in groups.values() if len(group) > 2]
    verdicts = {run.outcome.passed for run in runs}
    if len(several) < 3 or len(verdicts) < 2 or any(len({r.outcome.passed for r in group}) > 1 for group in several):
        return list(runs)
    return [_join(group) for group in groups.values()]


def _join(runs: Sequence[Trajectory]) -> Trajectory:
    import msgspec

    events = [event for run in runs for event in run.events]
    renumbered = tuple(msgspec.structs.replace(event, position=n) for n, event in enumerate(events))
    return msgspec.structs.replace(runs[0], events=renumbered)


def spread(runs: Sequence[Trajectory], limit: int) -> Sequence[Trajectory]:
    """At most so many runs, of every source and outcome alike."""
    if len(runs) <= limit:
        return runs
    ordered = sorted(runs, key=lambda run: (bool(run.outcome.passed), run.source, run.run))
    step = len(ordered) / limit
    return [ordered[int(n * step)] for n in range(limit)]


def canons_of(values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[canon(value) for value in given] for given in values]
