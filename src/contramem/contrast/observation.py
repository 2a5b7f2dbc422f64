"""Observation: one call of one function, with the run around it. Function Cards are made from observations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import msgspec

from contramem.contrast.flow import NOWHERE
from contramem.contrast.form import ResultForm
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import scalars
from contramem.traces.effects import words
from contramem.traces.trajectory import Effect, digest

MOVES = frozenset("cd open load select use switch".split())
"""Verbs of functions that write nothing but change what the next call sees."""

_THING = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.points_at_thing))})_\d+>")
"""Types whose values refer to one thing, which another call can refer to as well."""

Tries: TypeAlias = dict[str, dict[str, bool]]
"""By argument of a call: functions with effects that were tried on the thing it refers to, and whether one worked."""


class ResultUse(NamedTuple):
    """An argument of a call whose value came from a result."""

    giver: str
    function: str
    argument: str


class ObservedRun:
    """The calls that an agent made in a run, in order."""

    def __init__(self, task_key: str, run: PacketRun) -> None:
        self.task_key, self.letter, self.passed = task_key, run.letter, run.passed
        self.calls = tuple(step for step in run.actions if step.function)
        self._steps = run.steps

    @cached_property
    def content(self) -> str:
        """A digest of the run as far as Function Cards are made from it."""
        return digest(msgspec.json.encode([self.task_key, self.letter, self.passed, self._steps]).decode())

    @cached_property
    def first_worked(self) -> dict[str, int]:
        """The first call of each function that worked."""
        first: dict[str, int] = {}
        for index, step in enumerate(self.calls):
            if not step.error:
                first.setdefault(step.function, index)
        return first

    @cached_property
    def uses(self) -> list[ResultUse]:
        """The arguments that refer to a thing by a value from a result of another function."""
        return [
            ResultUse(place, step.function, name)
            for index, step in enumerate(self.calls)
            for name, place in step.origins.items()
            if place != step.function and self.first_worked.get(place, index) < index
            if any(map(_is_thing, (value for _, value in scalars(step.arguments[name]))))
        ]

    @cached_property
    def tries_before(self) -> list[Tries]:
        """For each call: what was tried earlier on the things it refers to; worked: at least once."""
        return list(_find_tries(self.calls, lambda before, worked: before or worked))

    @cached_property
    def tries_later(self) -> list[Tries]:
        """For each call: what was tried later on the same things; worked: at the first attempt."""
        return list(_find_tries(self.calls[::-1], lambda _, worked: worked))[::-1]

    @cached_property
    def changes(self) -> list[int]:
        """The positions of steps after which the same call could return something else."""
        return [step.position for step in self._steps if step.actor != "agent" or step.kind == "wait" or acts(step)]


class Observation(NamedTuple):
    """A call of a function: one step of a run."""

    step: Step
    run: ObservedRun
    number: int
    """Among the calls of the run."""
    origins: dict[str, str]
    """Where each argument's value was first seen. Values that only this function's own results repeated are absent."""
    repeated: bool = False
    """The same call with the same arguments had already worked in this run."""
    looped: bool = False
    """The same call was made earlier in this run and ended the same way: it shows nothing new."""
    redundant: bool = False
    """A repetition, and since the same call worked nothing happened except what this agent said and read."""

    @property
    def function(self) -> str:
        return self.step.function

    @property
    def arguments(self) -> dict[str, Any]:
        return self.step.arguments

    @property
    def forms(self) -> dict[str, str]:
        return self.step.forms

    @property
    def form(self) -> ResultForm | None:
        return self.step.form

    @property
    def error(self) -> str:
        return self.step.error

    @property
    def effect(self) -> Effect:
        return self.step.effect

    @property
    def task_key(self) -> str:
        return self.run.task_key

    @property
    def cite(self) -> Cite:
        return Cite(self.run.letter, self.step.position)


def acts(step: Step) -> bool:
    """Does the call change what others see? Reads that move about (`cd`) do."""
    return bool(step.function) and (step.effect != "read" or not MOVES.isdisjoint(words(step.function)))


def by_function(packets: Iterable[Packet]) -> dict[str, list[Observation]]:
    """All calls of each function, functions sorted by name. Runs cut off by their provider also show their calls."""
    found: dict[str, list[Observation]] = {}
    for packet in packets:
        for run in packet.runs:
            for observation in observe(ObservedRun(packet.task_key, run)):
                found.setdefault(observation.function, []).append(observation)
    return dict(sorted(found.items()))


def content_of(observations: Iterable[Observation]) -> list[str]:
    """Changes whenever a card made from these calls might: with their runs."""
    return sorted(run.content for run in {id(each.run): each.run for each in observations}.values())


def observe(run: ObservedRun) -> Iterator[Observation]:
    """Every call of a run."""
    echoes: dict[tuple[str, str], bool] = {}
    made: dict[bytes, set[str]] = {}
    worked: dict[bytes, int] = {}
    for index, step in enumerate(run.calls):
        key = msgspec.json.encode((step.function, step.arguments), order="deterministic")
        is_redundant = key in worked and _last(run.changes, step.position) <= worked[key]
        is_loop = step.error in made.get(key, ())
        yield Observation(step, run, index, _origins(step, echoes), key in worked, is_loop, is_redundant)
        made.setdefault(key, set()).add(step.error)
        for value in step.arguments.values():
            place = (step.function, str(value))
            echoes[place] = echoes.get(place, False) or not step.error
        if not step.error:
            worked[key] = step.position


def _last(positions: list[int], before: int) -> int:
    index = bisect_left(positions, before)
    return positions[index - 1] if index else -1


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


def _is_thing(value: object) -> bool:
    return isinstance(value, str) and value.startswith("<") and _THING.fullmatch(value) is not None


def _find_tries(calls: Sequence[Step], combine: Callable[[bool, bool], bool]) -> Iterator[Tries]:
    """For each call, in this order, the functions with effects tried so far on each thing it refers to."""
    tried: dict[str, dict[str, bool]] = {}
    for step in calls:
        yield {
            name: dict(tried[value]) for name, value in step.arguments.items() if _is_thing(value) and value in tried
        }
        for thing in {value for _, value in scalars(step.arguments) if _is_thing(value)} if acts(step) else ():
            of_thing = tried.setdefault(thing, {})
            of_thing[step.function] = combine(of_thing.get(step.function, False), not step.error)
