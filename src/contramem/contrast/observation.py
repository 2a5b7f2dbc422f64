"""Observation: one call of one function, without the task around it. Function Cards are made from observations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from contramem.contrast.flow import NOWHERE
from contramem.contrast.form import ResultForm
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import scalars
from contramem.traces.effects import words
from contramem.traces.trajectory import Effect

MOVES = frozenset("cd open load select use switch".split())
"""Verbs of functions that write nothing but change what the next call sees."""

_THING = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.points_at_thing))})_\d+>")
"""Types whose values refer to one thing, which another call can refer to as well."""


class AlternativeCall(msgspec.Struct, frozen=True, gc=False):
    """A function with effects that was tried on the same thing as a call, in the same run."""

    function: str
    worked: bool


class ResultUse(msgspec.Struct, frozen=True, order=True, gc=False):
    """An argument of a later call whose value came from a result."""

    giver: str
    function: str
    argument: str


class Observation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One call by the agent, redacted."""

    function: str
    effect: Effect
    arguments: dict[str, Any]
    forms: dict[str, str]
    origins: dict[str, str]
    """Where each argument's value was first seen. Values that only this function's own results repeated are absent."""
    form: ResultForm | None
    error: str
    fix: tuple[str, ...]
    """After an error: the arguments that differ in the function's next call, if that call worked."""
    repeated: bool
    """The same call with the same arguments was made earlier in this run."""
    passed: bool | None
    task_key: str
    cite: Cite
    redundant: bool = False
    """A repetition, and since the same call worked nothing happened except what this agent said and read."""
    looped: bool = False
    """The same call was made earlier in this run and ended the same way: it shows nothing new."""
    between: tuple[str, ...] = ()
    """After an error: the functions that were called without error before the next call of this one."""
    earlier: tuple[str, ...] = ()
    """The functions with effects that had already worked in this run."""
    looked: tuple[str, ...] = ()
    """The read-only functions that had already worked in this run."""
    before: dict[str, tuple[AlternativeCall, ...]] = {}
    """By argument: functions with effects tried earlier on the thing it refers to; worked: at least once."""
    later: dict[str, tuple[AlternativeCall, ...]] = {}
    """By argument: functions with effects tried later on the same thing; worked: at the first attempt."""
    feeds: tuple[ResultUse, ...] = ()
    """For the first successful call in a run: the arguments of other functions whose value first came from it."""
    instead: tuple[str, ...] = ()
    """After an error, until this function works: the functions that then worked for the first time in the run."""
    rescued: tuple[ResultUse, ...] = ()
    """What those functions supplied to later calls."""
    fields: dict[str, str] = {}
    """For arguments whose value came from a result: the field that contained it."""
    returned: str = ""
    """The redacted result, if it is a short plain text."""


def observe(packet: Packet) -> Iterator[Observation]:
    """Every call that an agent made in the runs of a packet. Runs cut off by their provider also show their calls."""
    for run in packet.runs:
        yield from _observe_run(packet.task_key, run)


def _observe_run(task_key: str, run: PacketRun) -> Iterator[Observation]:
    calls = [step for step in run.actions if step.function]
    changes = [step.position for step in run.steps if _may_change(step)]
    run_calls = _RunCalls(calls)
    echoes: dict[tuple[str, str], bool] = {}
    made: dict[bytes, set[str]] = {}
    worked: dict[bytes, int] = {}
    acted: dict[str, None] = {}
    looked: dict[str, None] = {}
    for index, step in enumerate(calls):
        call = msgspec.json.encode((step.function, step.arguments), order="deterministic")
        before = worked.get(call)
        instead = run_calls.instead(index) if step.error else ()
        yield Observation(
            function=step.function,
            effect=step.effect,
            arguments=step.arguments,
            forms=step.forms,
            origins=_origins(step, echoes),
            form=step.form,
            error=step.error,
            fix=run_calls.fix(index) if step.error else (),
            repeated=call in made,
            passed=run.passed,
            task_key=task_key,
            cite=Cite(run.letter, step.position),
            redundant=before is not None and _last(changes, step.position) <= before,
            looped=step.error in made.get(call, ()),
            between=run_calls.between(index) if step.error else (),
            earlier=tuple(acted),
            looked=tuple(looked),
            before=run_calls.before[index],
            later=run_calls.later[index],
            feeds=run_calls.feeds(step),
            instead=instead,
            rescued=run_calls.find_rescues(step, instead),
            fields=step.fields,
            returned=step.returned if step.form is not None and step.form.kind == "text" else "",
        )
        made.setdefault(call, set()).add(step.error)
        for value in step.arguments.values():
            key = (step.function, str(value))
            echoes[key] = echoes.get(key, False) or not step.error
        if not step.error:
            worked[call] = step.position
            (acted if _acts(step) else looked)[step.function] = None


def _may_change(step: Step) -> bool:
    """Could the same call return something else after this step? Reads that move about (`cd`) change what later ones
    see."""
    if step.actor != "agent" or step.kind == "wait":
        return True
    return _acts(step)


def _acts(step: Step) -> bool:
    return bool(step.function) and (step.effect != "read" or not MOVES.isdisjoint(words(step.function)))


def _last(positions: list[int], before: int) -> int:
    index = bisect_left(positions, before)
    return positions[index - 1] if index else -1


# Where values came from, and what they were used for


def _origins(step: Step, echoes: dict[tuple[str, str], bool]) -> dict[str, str]:
    """Origins without values that only this function's own results repeated: a value it refused before is still
    unknown."""
    if step.function not in step.origins.values():
        return step.origins
    origins = {}
    for name, place in step.origins.items():
        worked = echoes.get((step.function, str(step.arguments[name]))) if place == step.function else None
        if worked is None:
            origins[name] = place
        elif not worked:
            origins[name] = NOWHERE
    return origins


def _first_to_work(calls: Sequence[Step]) -> dict[str, int]:
    first: dict[str, int] = {}
    for step in calls:
        if not step.error:
            first.setdefault(step.function, step.position)
    return first


def _uses(calls: Sequence[Step], first: dict[str, int]) -> Iterator[tuple[int, ResultUse]]:
    """The arguments that refer to a thing by a value from a result, with the position of the call."""
    for step in calls:
        for name, place in step.origins.items():
            if first.get(place, step.position) < step.position and place != step.function and _names_things(step, name):
                yield step.position, ResultUse(place, step.function, name)


def _names_things(step: Step, argument: str) -> bool:
    return any(isinstance(value, str) and _THING.fullmatch(value) for _, value in scalars(step.arguments[argument]))


class _RunCalls:
    """What precedes and follows each call of a run. Computed once for all calls, because runs may make thousands."""

    def __init__(self, calls: Sequence[Step]) -> None:
        self._calls = calls
        self._first = _first_to_work(calls)
        self._first_by_position = sorted((position, function) for function, position in self._first.items())
        self._uses: dict[str, list[tuple[int, ResultUse]]] = defaultdict(list)
        for position, use in _uses(calls, self._first):
            self._uses[use.giver].append((position, use))
        self._next = _next_of_function(calls)
        self._next_that_worked = _next_of_function(calls, worked=True)
        things = [_CallThings.of(step) for step in calls]
        self.before = list(_find_tries_before(calls, things))
        self.later = list(_find_tries_later(calls, things))[::-1]

    def feeds(self, step: Step) -> tuple[ResultUse, ...]:
        if self._first.get(step.function) != step.position:
            return ()
        return tuple(sorted({use for _, use in self._uses.get(step.function, ())}))

    def instead(self, index: int) -> tuple[str, ...]:
        until = self._next_that_worked[index]
        first = bisect_right(self._first_by_position, (self._calls[index].position, _LAST_NAME))
        last = None if until is None else bisect_left(self._first_by_position, (self._calls[until].position, ""))
        return tuple(sorted(function for _, function in self._first_by_position[first:last]))

    def find_rescues(self, step: Step, instead: Sequence[str]) -> tuple[ResultUse, ...]:
        uses = (use for giver in instead for use in self._uses.get(giver, ()))
        return tuple(sorted({use for position, use in uses if position > step.position}))

    def fix(self, index: int) -> tuple[str, ...]:
        following = self._next[index]
        if following is None or self._calls[following].error:
            return ()
        failed, again = self._calls[index].arguments, self._calls[following].arguments
        return tuple(sorted(name for name in failed.keys() | again.keys() if failed.get(name) != again.get(name)))

    def between(self, index: int) -> tuple[str, ...]:
        following = self._next[index]
        if following is None:
            return ()
        return tuple(dict.fromkeys(step.function for step in self._calls[index + 1 : following] if not step.error))


_LAST_NAME = "\U0010ffff"


def _next_of_function(calls: Sequence[Step], *, worked: bool = False) -> list[int | None]:
    """For each call, the index of the next call of the same function, or of the next one that worked."""
    following: list[int | None] = [None] * len(calls)
    nearest: dict[str, int] = {}
    for index in range(len(calls) - 1, -1, -1):
        step = calls[index]
        following[index] = nearest.get(step.function)
        if not (worked and step.error):
            nearest[step.function] = index
    return following


# What was tried on the same thing


class _CallThings(NamedTuple):
    """The things that a call refers to."""

    named: dict[str, str]
    """By argument."""
    acted_on: set[str]
    """All of them, if the call may change them."""

    @classmethod
    def of(cls, step: Step) -> _CallThings:
        named = {name: value for name, value in step.arguments.items() if _is_thing(value)}
        acted_on = {value for _, value in scalars(step.arguments) if _is_thing(value)} if _acts(step) else set()
        return cls(named, acted_on)


def _is_thing(value: object) -> bool:
    return isinstance(value, str) and value.startswith("<") and _THING.fullmatch(value) is not None


def _find_tries_before(
    calls: Sequence[Step], things: Sequence[_CallThings]
) -> Iterator[dict[str, tuple[AlternativeCall, ...]]]:
    """For each call and argument that refers to a thing: functions with effects tried on it earlier, and whether one
    worked."""
    tried: dict[str, dict[str, bool]] = defaultdict(dict)
    for step, of_step in zip(calls, things, strict=True):
        yield _find_tries_on_things(of_step.named, tried)
        for thing in of_step.acted_on:
            tried[thing][step.function] = tried[thing].get(step.function, False) or not step.error


def _find_tries_later(
    calls: Sequence[Step], things: Sequence[_CallThings]
) -> Iterator[dict[str, tuple[AlternativeCall, ...]]]:
    """The same from the last call to the first: what was tried on it later, and whether that worked at the first
    attempt."""
    tried: dict[str, dict[str, bool]] = defaultdict(dict)
    for step, of_step in zip(reversed(calls), reversed(things), strict=True):
        yield _find_tries_on_things(of_step.named, tried)
        for thing in of_step.acted_on:
            tried[thing][step.function] = not step.error


def _find_tries_on_things(
    named: dict[str, str], tried: dict[str, dict[str, bool]]
) -> dict[str, tuple[AlternativeCall, ...]]:
    return {
        name: tuple(AlternativeCall(function, worked) for function, worked in sorted(tried[value].items()))
        for name, value in named.items()
        if value in tried
    }


def by_function(packets: Iterable[Packet]) -> dict[str, list[Observation]]:
    """All observations of each function, functions sorted by name."""
    observations: dict[str, list[Observation]] = defaultdict(list)
    for packet in packets:
        for observation in observe(packet):
            observations[observation.function].append(observation)
    return dict(sorted(observations.items()))
