"""Customs: what nearly every run does around a write, whoever judges it. Most logs hold one run a task, of one agent
and without verdicts: they still show which rules are read before which write, where an amount is taken from that was
shown before, and that the user agrees in between.

Where runs have verdicts, only those that passed count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from contramem.collection.results import decode_result
from contramem.collection.slots import leaves_of
from contramem.mining.fixes import Call, Told, read_calls, short, write_lesson
from contramem.mining.fwords import code, join_list
from contramem.mining.lesson import Lesson
from contramem.traces.trajectory import Trajectory

MIN_CALLS, MIN_TASKS = 5, 3
NEARLY_ALWAYS = 0.95
MAX_NAMED = 4


class _Write(NamedTuple):
    """A write, and the same call before it without its switch, which only showed what it would do."""

    call: Call
    switch: str = ""
    preview: Call | None = None


def find_customs(runs: Sequence[Trajectory], ability: str) -> Iterator[Lesson]:
    """The customs of the runs of an ability: of those that passed, if verdicts say so."""
    judged = [run for run in runs if run.outcome.passed is not None]
    customs = _Customs([run for run in judged or runs if run.outcome.passed is not False], ability)
    yield from customs.looked_up()
    for function, writes in customs.writes.items():
        yield from (*customs.computed(function, writes), *customs.agreed(function, writes))


class _Customs:
    """The writes of an ability, and what came before them."""

    def __init__(self, runs: Sequence[Trajectory], ability: str) -> None:
        self.ability = ability
        writes = defaultdict[str, list[_Write]](list)
        self.given = defaultdict[str, Counter[tuple[str, str, str]]](Counter)
        """By write: the reads that had worked before, each with a word that it was given."""
        for run in runs:
            calls, looks = read_calls(run), set[tuple[str, str, str]]()
            for call in (call for call in calls if not call.error):
                texts = {name: value for name, value in call.event.arguments.items() if isinstance(value, str)}
                if call.event.effect == "read":
                    looks |= {(call.function, name, value) for name, value in texts.items()}
                elif call.event.effect == "write" and (write := _read_write(call, calls)) is not None:
                    writes[call.function].append(write)
                    self.given[call.function].update(looks)
        is_enough = {name: len(made) >= MIN_CALLS and _tasks(made) >= MIN_TASKS for name, made in writes.items()}
        self.writes = {name: made for name, made in sorted(writes.items()) if is_enough[name]}

    def looked_up(self) -> Iterator[Lesson]:
        """A look-up that is made before several writes, each time with another word: a rule of its own for each. A word
        that comes before all of them is that of a task."""
        words = defaultdict[tuple[str, str], dict[str, tuple[str, int]]](dict)
        for function, writes in self.writes.items():
            for (name, argument, value), count in self.given[function].items():
                if count >= NEARLY_ALWAYS * len(writes):
                    best = words[name, argument].get(function, ("", 0))
                    words[name, argument][function] = max(best, (value, count), key=lambda each: (each[1], each[0]))
        for (name, argument), by_write in sorted(words.items()):
            if len({value for value, _ in by_write.values()}) == len(by_write) > 1:
                named = dict(list(by_write.items())[:MAX_NAMED])
                each = [f"{value} before {code(short(function))}" for function, (value, _) in named.items()]
                writes = [write for function in named for write in self.writes[function]]
                share = f"{sum(count for _, count in named.values())} of {len(writes)}"
                guards = [
                    f"precedence({name}[{argument} = {value}], {function})" for function, (value, _) in named.items()
                ]
                calls = join_list([code(short(function)) for function in named], "or")
                values = {"look": code(short(name)), "argument": code(argument), "each": join_list(each)}
                values |= {"count": share, "calls": calls}
                yield self._lesson("looked up", [name, *named], guards, writes, values)

    def computed(self, function: str, writes: Sequence[_Write]) -> Iterator[Lesson]:
        """Where the amount of a confirmed call comes from: a field that its preview showed, or two of them."""
        found = defaultdict[str, Counter[str]](Counter)
        given = Counter[str]()
        for write in writes:
            if write.preview is not None:
                shown = _numbers(write.preview)
                for name, value in write.call.event.arguments.items():
                    if _is_number(value) and value and write.preview.event.arguments.get(name) != value:
                        given[name] += 1
                        found[name].update(_ways(value, shown))
        for name, ways in found.items():
            way, count = min(ways.items(), key=lambda item: (-item[1], len(item[0]), item[0]), default=("", 0))
            if count >= max(MIN_CALLS, NEARLY_ALWAYS * given[name]):
                values = {
                    "call": code(short(function)),
                    "argument": code(name),
                    "way": way,
                    "switch": code(writes[0].switch),
                    "count": f"{count} of {given[name]}",
                }
                yield self._lesson("computed", [function], [], writes, values)

    def agreed(self, function: str, writes: Sequence[_Write]) -> Iterator[Lesson]:
        """The user answers between the preview and the confirmed call."""
        shown = [write for write in writes if write.preview is not None]
        asked = [write for write in shown if write.preview is not None and _is_answered(write.preview, write.call)]
        if len(asked) >= max(MIN_CALLS, NEARLY_ALWAYS * len(shown)):
            values = {
                "call": code(short(function)),
                "switch": code(shown[0].switch),
                "count": f"{len(asked)} of {len(shown)}",
            }
            yield self._lesson("agreed", [function], [], writes, values)

    def _lesson(
        self,
        row: str,
        functions: Sequence[str],
        guards: Sequence[str],
        writes: Sequence[_Write],
        values: dict[str, Any],
    ) -> Lesson:
        runs = {id(write.call.run): (write.call.run, [write.call.event.position]) for write in writes}
        is_alone = len({run.source for run, _ in runs.values()}) == 1
        return write_lesson(
            Told("custom", row, functions, guards),
            {**values, "whose": " of one agent" if is_alone else ""},
            ability=self.ability,
            grade="observed",
            key=" ".join([*functions, *guards, values.get("way", "")]).strip(),
            topic=functions[0],
            shown=list(runs.values()),
        )


def _read_write(call: Call, calls: Sequence[Call]) -> _Write | None:
    """The write with its preview. None for a preview itself: a call whose switch is off, where another sets it."""
    switches = [name for name, value in call.event.arguments.items() if isinstance(value, bool)]
    for name in switches:
        value = call.event.arguments[name]
        same = [
            other
            for other in calls
            if other.function == call.function and not other.error and _same_thing(other, call, name)
        ]
        if value is False and any(
            other.event.arguments.get(name) is True for other in calls if other.function == call.function
        ):
            return None
        before = [other for other in same if other.number < call.number and not other.event.arguments.get(name)]
        if value is True and before:
            return _Write(call, name, before[-1])
    return _Write(call)


def _same_thing(one: Call, other: Call, switch: str) -> bool:
    texts = {name for name, value in other.event.arguments.items() if isinstance(value, str) and name != switch}
    return all(one.event.arguments.get(name) == other.event.arguments[name] for name in texts)


def _numbers(call: Call) -> dict[str, float]:
    content = decode_result(call.event.result.content) if call.event.result is not None else None
    return {path: float(value) for path, item, value in leaves_of(content) if _is_number(value) and not item}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _ways(value: float, shown: Mapping[str, float]) -> Iterator[str]:
    """How a value follows from what was shown."""
    yield from (f"the `{name}`" for name, number in shown.items() if abs(number - value) < 0.005)
    for one, other in combinations([name for name in shown if shown[name]], 2):
        for first, second in ((one, other), (other, one)):
            if abs(shown[first] - shown[second] - value) < 0.005:
                yield f"the `{first}` minus the `{second}`"
        if abs(shown[one] + shown[other] - value) < 0.005:
            yield f"the sum of `{one}` and `{other}`"


def _is_answered(preview: Call, call: Call) -> bool:
    return any(
        event.actor == "user" and preview.event.position < event.position < call.event.position
        for event in call.run.events
    )


def _tasks(writes: Iterable[_Write]) -> int:
    return len({write.call.run.task_key for write in writes})
