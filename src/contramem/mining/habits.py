"""Habits: what runs leave out, how they end, and calls that change nothing. No condition on data says when these apply.

Runs that never looked, gave up after a first try, ended with a question that nobody answers, or wrote a call into their
answer: outcomes show it, within tasks. Wasted calls need none but that the runs passed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from contramem.bank.bank import Grade
from contramem.chance import OutcomeTable, chance
from contramem.contrast.form import parse_recorded
from contramem.contrast.vocabulary import scalars
from contramem.guards.dates import read_time
from contramem.guards.values import read_number
from contramem.mining.fixes import Call, Told, read_calls, short, write_lesson
from contramem.mining.fwords import code, join_list, verb_of
from contramem.mining.lesson import Lesson
from contramem.traces.effects import words
from contramem.traces.trajectory import Trajectory

MAX_CHANCE = 0.01
"""Within tasks. Few such habits are tried, so there is no correction."""
MAX_CONTRADICTING = 0.05
"""The share of passing runs that may have done so as well."""
MAX_PASSING = 0.1
"""The share of the runs that ended in a certain way that may have passed."""
MIN_TASKS, MIN_FAILING = 2, 4
MAX_NAMED = 4
_CLOSING_CHARS = 300
"""How much of the last text is read for a question."""
_SENTENCE = re.compile(r"[^.!?？\n]+[.!?？]?")
_ASKING = re.compile(r"[?？]|\bplease (?:provide|confirm|specify|clarify|share|tell|give|send) ", re.IGNORECASE)
_COURTESY = re.compile(
    r"\b(?:anything|something) else\b|\b(?:further|more) (?:assistance|help)\b|\bassist you\b|\bhelp you\b",
    re.IGNORECASE,
)
"""A question that needs no answer."""

Ending: TypeAlias = Literal["question", "written call", "answer", "silence"]


class _Run(NamedTuple):
    trajectory: Trajectory
    calls: list[Call]
    ending: Ending

    @property
    def passed(self) -> bool:
        return bool(self.trajectory.outcome.passed)

    def worked(self, functions: Collection[str]) -> bool:
        return any(call.function in functions and not call.error for call in self.calls)

    def tried(self, functions: Collection[str]) -> bool:
        return any(call.function in functions for call in self.calls)


def find_habits(runs: Sequence[Trajectory], ability: str) -> Iterator[Lesson]:
    """The habits that the runs of an ability show."""
    counted = [run for run in runs if run.outcome.passed is not None and run.outcome.ended != "interrupted"]
    habits = _Habits(counted, ability)
    yield from (*habits.look_first(), *habits.last_words(), *habits.try_again(), *habits.stop_when_done())


@dataclass(frozen=True)
class _Habits:
    """What the runs of an ability do and leave out."""

    trajectories: Sequence[Trajectory]
    ability: str

    @cached_property
    def runs(self) -> list[_Run]:
        made = [(run, read_calls(run)) for run in self.trajectories]
        names = {short(call.function) for _, calls in made for call in calls}
        return [_Run(run, calls, ending_of(run, names)) for run, calls in made]

    @cached_property
    def effects(self) -> dict[str, str]:
        return {call.function: call.event.effect for run in self.runs for call in run.calls}

    def functions(self, effect: str) -> frozenset[str]:
        return frozenset(name for name, own in self.effects.items() if own == effect)

    @cached_property
    def gets_replies(self) -> bool:
        """Does a user write again in some run, after the agent has said or done something?"""
        after = (dropwhile(lambda event: event.actor != "agent", run.events) for run in self.trajectories)
        return any(event.actor == "user" for events in after for event in events)

    # What failing runs leave out

    def look_first(self) -> Iterator[Lesson]:
        """Passing runs read before they answer. A refused run did try, and a run that changed something without looking
        failed for another reason."""
        app, own = self._usual(self.functions("read"))
        acting = self.functions("read") | self.functions("write")
        blind = [run for run in self.runs if not run.tried(acting) and run.ending in ("question", "answer")]
        if own and self._is_sure(blind):
            asked = any(run.ending == "question" and not run.passed for run in blind)
            values = {
                "app": app, "calls": ", ".join(code(short(name)) for name in own),
                "act": "answer or ask" if asked else "answer", "failed": _failed(blind),
                "reason": "" if not asked else "; ask only for what you did not find there" if self.gets_replies
                else ", and nobody replies to a question in these runs",
            }  # fmt: skip
            yield self._lesson("look first", own, [f"precedence(reads({app}), finalize)"], blind, values)

    def last_words(self) -> Iterator[Lesson]:
        """Ways in which runs that changed nothing ended and failed. In a conversation, a question is answered."""
        writes = self.functions("write")
        app, own = self._usual(writes)
        endings: list[Ending] = ["written call"] if self.gets_replies else ["question", "written call"]
        for ending in endings if own else ():
            ended = [run for run in self.runs if run.ending == ending and not run.worked(writes)]
            table = self._table(ended)
            is_fatal = table.broke_failed >= MIN_FAILING and table.broke_passed <= MAX_PASSING * table.broke
            if is_fatal and self._is_shown(ended):
                fate = "hardly any such run passes" if table.broke_passed else "it fails"
                passed = str(table.broke_passed or "none")
                values = {"fate": fate, "failed": table.broke_failed, "passed": passed, "calls": _named(own)}
                yield self._lesson(ending, own, self._demands(app), ended, values)

    def _demands(self, app: str) -> list[str]:
        """What shows that the change was made: a change of the app, if every request asks for one; if not, the changes
        that words of requests order. In a conversation, what is to be changed is agreed on later."""
        every, own = (
            f"existence(writes({app}))",
            {name for name in self.functions("write") if name.startswith(f"{app}.")},
        )
        if self._is_sure([run for run in self.runs if not run.worked(own)]):
            return [every]
        ordered = dict[str, list[_Run]]()
        for verb in sorted({verb_of(short(name)) for name in own} if not self.gets_replies else ()):
            asked = [run for run in self.runs if verb in words(run.trajectory.task)]
            if self._is_sure([run for run in asked if not run.worked(own)], asked):
                ordered[verb] = [run for run in asked if not run.worked(own) and not run.passed]
        chosen = sorted(ordered, key=lambda verb: (-len(ordered[verb]), verb))[:MAX_NAMED]
        return [f"{every} when task contains {verb}" for verb in chosen]

    def try_again(self) -> Iterator[Lesson]:
        """Searches that failing runs gave up on, with the argument to which passing runs gave another value. With
        another value, a change is another change."""
        by_argument = defaultdict[str, list[tuple[str, list[_Run]]]](list)
        for function in sorted(self.functions("read")):
            tried = [run for run in self.runs if run.tried({function})]
            gave_up = [run for run in tried if not _finds(run, function)]
            changed = Counter(name for run in tried if run.passed for name in _changes(run, function))
            if changed and self._is_sure(gave_up, tried):
                by_argument[min(changed, key=lambda name: (-changed[name], name))].append((function, gave_up))
        for argument, found in by_argument.items():
            functions = [function for function, _ in found[:MAX_NAMED]]
            gave_up = list({id(run.trajectory): run for _, runs in found for run in runs}.values())
            ends = [f"{_failed(runs)} at {code(short(function))}" for function, runs in found[:MAX_NAMED]]
            values = {"argument": argument, "ends": join_list(ends), "calls": _named(functions, "or"),
                      "functions": join_list(list(map(short, functions)), "or")}  # fmt: skip
            guards = [f"existence({function}) when {function}" for function in functions]
            yield self._lesson("try again", functions, guards, gave_up, values)

    # Calls that change nothing

    def stop_when_done(self) -> Iterator[Lesson]:
        """Once a write has worked, looking at what it changed made no difference to runs of tasks that all passed."""
        solved = {task for task, runs in self._by_task().items() if all(run.passed for run in runs)}
        looks, stops = defaultdict[str, dict[int, tuple[_Run, tuple[str, ...]]]](dict), Counter[str]()
        for run in (run for run in self.runs if run.trajectory.task_key in solved):
            writes = [call for call in run.calls if not call.error and self.effects[call.function] == "write"]
            later = [call for call in run.calls[writes[-1].number + 1 :] if writes] if writes else []
            about = {str(value) for _, value in scalars(writes[-1].event.arguments)} if writes else set()
            checks = [call for call in later if self.effects[call.function] == "read" and _is_about(call, about)]
            if writes and checks:
                looks[writes[-1].function][id(run)] = run, tuple({call.function for call in checks})
            elif writes and not later:
                stops[writes[-1].function] += 1
        for function, found in sorted(looks.items()):
            wasted = [run for run, _ in found.values()]
            if len(wasted) >= MIN_TASKS and stops[function] > len(wasted) and _tasks(wasted) >= MIN_TASKS:
                usual = Counter(name for _, names in found.values() for name in names).most_common(2)
                named = [function, *(name for name, _ in usual)]
                values = {"call": code(short(function)), "looks": _named(named[1:]), "stops": stops[function],
                          "wasted": len(wasted)}  # fmt: skip
                yield self._lesson("stop when done", named, [], wasted, values, "observed")

    # Counting

    def _usual(self, functions: Collection[str]) -> tuple[str, list[str]]:
        """The app of the function that most passing runs called, and its functions, the most usual first."""
        worked = Counter(name for run in self.runs if run.passed for name in functions if run.worked({name}))
        usual = sorted(worked, key=lambda name: (-worked[name], name))
        app = usual[0].partition(".")[0] if usual else ""
        return app, [name for name in usual if name.startswith(f"{app}.")][:MAX_NAMED]

    def _by_task(self, runs: Iterable[_Run] | None = None) -> dict[str, list[_Run]]:
        """Runs that are compared: those of a task; all of them, if no task has several."""
        tasks = defaultdict[str, list[_Run]](list)
        for run in self.runs if runs is None else runs:
            tasks[run.trajectory.task_key].append(run)
        return dict(tasks)

    def _table(self, broke: Sequence[_Run], among: Sequence[_Run] | None = None) -> OutcomeTable:
        own, counts = {id(run.trajectory) for run in broke}, Counter[tuple[bool, bool]]()
        for run in self.runs if among is None else among:
            counts[id(run.trajectory) in own, run.passed] += 1
        return OutcomeTable(counts[False, True], counts[False, False], counts[True, True], counts[True, False])

    def _is_sure(self, broke: Sequence[_Run], among: Sequence[_Run] | None = None) -> bool:
        table = self._table(broke, among)
        contradicted = table.broke_passed > MAX_CONTRADICTING * table.passed
        return table.broke_failed >= MIN_FAILING and not contradicted and self._is_shown(broke, among)

    def _is_shown(self, broke: Sequence[_Run], among: Sequence[_Run] | None = None) -> bool:
        tasks = self._by_task(among)
        strata = list(tasks.values()) if any(len(runs) > 1 for runs in tasks.values()) else [list(among or self.runs)]
        tables = [self._table(broke, runs) for runs in strata]
        return _tasks(run for run in broke if not run.passed) >= MIN_TASKS and chance(tables) <= MAX_CHANCE

    def _lesson(
        self, row: str, functions: Sequence[str], guards: Sequence[str], shown: Sequence[_Run], values: dict[str, Any],
        grade: Grade = "proven",
    ) -> Lesson:  # fmt: skip
        is_of_functions = row in ("try again", "stop when done")
        runs = sorted(shown, key=lambda run: run.passed)
        return write_lesson(
            Told("habit", row, functions, guards),
            values,
            ability=self.ability,
            grade=grade,
            key=" ".join(sorted(functions)) if is_of_functions else "",
            topic=functions[0] if is_of_functions else "",
            shown=[(run.trajectory, [call.event.position for call in run.calls[-1:]]) for run in runs],
        )


def ending_of(run: Trajectory, functions: Collection[str]) -> Ending:
    """How the run took leave. `functions`: the names of those that exist."""
    own = [event for event in run.events if event.actor == "agent"]
    text = own[-1].text.strip() if own else ""
    if not text:
        return "silence"
    if any(_writes_call(text, name) for name in functions):
        return "written call"
    closing = _SENTENCE.findall(text[-_CLOSING_CHARS:])
    asks = any(_ASKING.search(sentence) and not _COURTESY.search(sentence) for sentence in closing)
    return "question" if asks else "answer"


def _writes_call(text: str, name: str) -> bool:
    """Does the text contain a call of the function, as code or as JSON?"""
    if name not in text:
        return False
    called = re.escape(name)
    as_code = rf"(?<!\w){called}\(\s*(?:[\w.]+\s*[=:]|[\"'\[{{\d])"
    as_value = rf"\w[\"']?\s*[:=]\s*[\"']?(?:[\w]+\.)?{called}[\"'>]"
    return re.search(f"{as_code}|{as_value}", text) is not None


def _finds(run: _Run, function: str) -> bool:
    """Does some call of the function find something?"""
    return any(call.function == function and not call.error and not _is_empty(call) for call in run.calls)


def _is_empty(call: Call) -> bool:
    result = call.event.result
    return result is not None and parse_recorded(result.content).form.kind in ("empty", "nothing")


def _changes(run: _Run, function: str) -> Iterator[str]:
    """The arguments of which a passing run gave other words after a call that failed or found nothing."""
    made = [call for call in run.calls if call.function == function]
    for first, then in pairwise(made):
        if (first.error or _is_empty(first)) and not then.error and not _is_empty(then):
            for name, value in then.event.arguments.items():
                is_wording = isinstance(value, str) and read_number(value) is None and read_time(value) is None
                if is_wording and first.event.arguments.get(name) != value:
                    yield name


def _is_about(call: Call, values: Collection[str]) -> bool:
    return any(str(value) in values for _, value in scalars(call.event.arguments))


def _failed(runs: Iterable[_Run]) -> int:
    return sum(not run.passed for run in runs)


def _tasks(runs: Iterable[_Run]) -> int:
    return len({run.trajectory.task_key for run in runs})


def _named(functions: Iterable[str], last: str = "and") -> str:
    return join_list([code(short(name)) for name in functions], last)
