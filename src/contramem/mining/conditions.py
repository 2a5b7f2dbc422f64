"""Conditions: facts that are true of some tasks and not of others, as masks over tasks. Those come first that a person
would name first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contramem.guards.values import write_number, write_value
from contramem.mining.facts import Task, day_of, number_of
from contramem.mining.matrix import Domain
from contramem.mining.records import is_category, write_word
from contramem.study.atoms import find_boundary, names_an_amount

MAX_THRESHOLDS = 30
MAX_WORDS = 12
MAX_FIELDS = 14
"""How many amounts or dates of a task are compared with one another."""
MIN_KNOWN = 0.5
"""The share of a scope's tasks in which a fact must be known."""


@dataclass(slots=True)
class Condition:
    """What is true of some tasks."""

    text: str
    """In guard syntax."""
    about: str
    """The fact that it is about: one of several conditions on the same fact is enough."""
    mask: NDArray[np.bool_]
    """Over all tasks of the domain."""
    cost: float
    gap: tuple[str, str] | None = None
    """The two numbers between which its boundary lies."""
    function: str = ""
    """The function whose arguments it is about, if any."""
    argument: str = ""


@dataclass(slots=True)
class Fact:
    """What is known about tasks."""

    name: str
    cost: float
    write: Callable[[str, Any], str]
    """The condition for an operator and a value; empty if no guard asks for it."""
    values: dict[int, Any] = field(default_factory=dict)
    function: str = ""
    argument: str = ""


def find_facts(domain: Domain) -> list[Fact]:
    """Everything known about tasks that may decide when a rule applies."""
    book = _Book(domain)
    for number, task in enumerate(domain.tasks):
        _scalars(book, number, task)
        _lists(book, number, task)
        _dates(book, number, task)
        _amounts(book, number, task)
        _given(book, number, task)
        for word in set(re.findall(r"[a-z]{4,}", task.request.casefold())):
            if domain.may_say_word(word):
                book.put(f"task {word}", number, True, 0.9, _saying(word))
    book.complete(domain.tasks)
    return [fact for fact in book.facts.values() if _tells(fact)]


class _Book:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.facts: dict[str, Fact] = {}

    def is_word(self, place: str, value: Any) -> bool:
        """Is it a public word of a category? `place` is `App.function.field`."""
        app, function, *name = place.split(".", 2)
        return is_category(value) and self.domain.may_say(f"{app}.{function}", "".join(name), value)

    def put(
        self,
        name: str,
        task: int,
        value: Any,
        cost: float,
        write: Callable[[str, Any], str],
        function: str = "",
        argument: str = "",
    ) -> None:
        if name not in self.facts:
            self.facts[name] = Fact(name, cost, write, {}, function, argument)
        self.facts[name].values[task] = value

    def complete(self, tasks: Sequence[Task]) -> None:
        """What one list does not have is false where the list was seen."""
        for name, fact in self.facts.items():
            kind, _, rest = name.partition(" ")
            for number, task in enumerate(tasks):
                if kind == "task" or (kind in ("item", "inside") and _has(task, rest.partition(" ")[0])):
                    fact.values.setdefault(number, False)


def _has(task: Task, place: str) -> bool:
    return place in task.lists or place in task.scalars


def _tells(fact: Fact) -> bool:
    values = list(fact.values.values())
    texts = {value for value in values if isinstance(value, str)}
    return len(values) >= 2 and len({repr(value) for value in values}) > 1 and len(texts) <= max(3, 0.5 * len(values))


def _scalars(book: _Book, number: int, task: Task) -> None:
    for place, value in task.scalars.items():
        if isinstance(value, tuple):
            for item in value:
                if book.is_word(place, item):
                    word = write_word(item)
                    book.put(f"inside {place} {word}", number, True, 0.4, _equal_or_not(place, word))
        elif value is None or value == "":
            book.put(f"given {place}", number, False, 0.1, _given_or_missing(place))
        else:
            book.put(f"given {place}", number, True, 0.1, _given_or_missing(place))
            if (amount := number_of(value)) is not None:
                if names_an_amount(place.rpartition(".")[2]):
                    book.put(place, number, amount, 0.3, _compare(place))
            elif book.is_word(place, value):
                book.put(place, number, value, 0.0, _compare(place))


def _given(book: _Book, number: int, task: Task) -> None:
    for (function, argument), value in task.given.items():
        name = f"{function}[{argument}]"
        if (amount := number_of(value)) is not None:
            if names_an_amount(argument):
                book.put(name, number, amount, 0.5, _asked(function, argument), function, argument)
        elif book.is_word(f"{function}.{argument}", value):
            book.put(name, number, value, 0.2, _asked(function, argument), function, argument)
    for (function, argument, place), record in task.chosen.items():
        for field_name, value in record.items():
            name = f"{function}[{argument} picks {field_name} of {place}]"
            write = _picked(function, argument, field_name, place)
            if (amount := number_of(value)) is not None:
                if names_an_amount(field_name):
                    book.put(name, number, amount, 0.4, write, function, argument)
            elif book.is_word(f"{place}.{field_name}", value):
                book.put(name, number, value, 0.1, write, function, argument)


def _lists(book: _Book, number: int, task: Task) -> None:
    for place, rows in task.lists.items():
        book.put(f"size {place}", number, float(len(rows)), 0.5, _size(place))
        for name in rows[0] if len(rows) != 1 and rows else ():
            given = [row.get(name) for row in rows]
            column = f"{'.'.join(place.split('.')[:2])}.{name}"
            words = {value for value in given if book.is_word(f"{place}.{name}", value)}
            if len(words) == len(set(map(str, given))) and len(words) <= MAX_WORDS:
                for value in words:
                    word = write_value(write_word(value))
                    book.put(f"item {place} {name} = {word}", number, True, 0.3, _some(place, column, name, word))
                    every = all(own == value for own in given)
                    book.put(f"every {place} {name} = {word}", number, every, 0.7, _every(place, name, word))
            amounts = [number_of(value) for value in given]
            if all(amount is not None for amount in amounts) and names_an_amount(name):
                known = [amount for amount in amounts if amount is not None]
                book.put(f"sum {place} {name}", number, round(sum(known), 4), 0.9, _sum(column))
                book.put(f"highest {place} {name}", number, max(known), 1.0, _highest(column))
                book.put(f"lowest {place} {name}", number, min(known), 1.0, _lowest(column))


def _dates(book: _Book, number: int, task: Task) -> None:
    days = {place: day for place, value in task.scalars.items() if (day := day_of(value)) is not None}
    if len(task.dates) == 1 and (asked := day_of(task.dates[0])) is not None:
        days["task"] = asked
    for one, two in combinations(list(days)[:MAX_FIELDS], 2):
        first, then = (two, one) if one == "task" else (one, two)
        if first == "task" or then == first:
            continue
        distance = float((days[first] - days[then]).days)
        book.put(f"days {then} {first}", number, distance, 0.6, _days(then, first))
    for place, day in days.items():
        if place != "task":
            weekend = day.weekday() > 4
            book.put(f"weekend {place}", number, weekend, 0.9, _weekend(place))


def _amounts(book: _Book, number: int, task: Task) -> None:
    amounts = {
        place: amount
        for place, value in task.scalars.items()
        if (amount := number_of(value)) is not None and names_an_amount(place.rpartition(".")[2])
    }
    for one, two in combinations(list(amounts)[:MAX_FIELDS], 2):
        if amounts[one] != amounts[two]:
            book.put(f"{one} > {two}", number, amounts[one] > amounts[two], 0.7, _more(one, two))
    given = {
        slot: amount
        for slot, value in task.given.items()
        if (amount := number_of(value)) is not None and names_an_amount(slot[1])
    }
    for (function, argument), amount in given.items():
        for place, other in list(amounts.items())[:MAX_FIELDS]:
            if amount != other:
                name = f"{function}[{argument}] > {place}"
                book.put(name, number, amount > other, 0.8, _more_given(function, argument, place), function, argument)


# How conditions are written


def _saying(word: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"task contains {word}" if value else f"task lacks {word}"


def _compare(place: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{place} {operator} {write_value(write_word(value))}"


def _equal_or_not(place: str, word: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{place} {'=' if value else '!='} {write_value(word)}" if value else ""


def _given_or_missing(place: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{place} {'given' if value else 'missing'}"


def _asked(function: str, argument: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{function}[{argument} {operator} {write_value(write_word(value))}]"


def _picked(function: str, argument: str, name: str, place: str) -> Callable[[str, Any], str]:
    return lambda op, value: f"{function}[{argument} picks {name} {op} {write_value(write_word(value))} of {place}]"


def _size(place: str) -> Callable[[str, Any], str]:
    def write(operator: str, value: Any) -> str:
        if operator == ">":
            return f"{place} has {'several' if value == 1 else f'at least {int(value) + 1}'}"
        return f"{place} has {'none' if value == 0 else f'at most {int(value)}'}"

    return write


def _some(place: str, column: str, name: str, word: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{column} = {word}" if value else f"{place} has none where {name} = {word}"


def _every(place: str, name: str, word: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{place} has {'none' if value else 'at least 1'} where {name} != {word}"


def _sum(column: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{column} sums {operator} {write_word(value)}"


def _highest(column: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{column} > {write_word(value)}" if operator == ">" else ""


def _lowest(column: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{column} <= {write_word(value)}" if operator == "<=" else ""


def _days(then: str, first: str) -> Callable[[str, Any], str]:
    def write(operator: str, value: Any) -> str:
        days = int(value)
        if operator == ">":
            return f"{first} falls {_at_least(days + 1)} after {then}" if days >= 0 else ""
        return (
            f"{first} falls {_at_least(-days)} before {then}"
            if days < 0
            else f"{first} falls {_at_most(days)} after {then}"
        )

    return write


def _at_least(days: int) -> str:
    return f"at least {days} day{'' if days == 1 else 's'}"


def _at_most(days: int) -> str:
    return f"at most {days} day{'' if days == 1 else 's'}"


def _weekend(place: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{place} falls on {'weekend' if value else 'weekday'}"


def _more(one: str, two: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{one} {'>' if value else '<'} {two}"


def _more_given(function: str, argument: str, place: str) -> Callable[[str, Any], str]:
    return lambda operator, value: f"{function}[{argument} {'>' if value else '<='} {place}]"


# Conditions of a scope


def find_conditions(facts: Iterable[Fact], tasks: Sequence[int], total: int) -> list[Condition]:
    """One condition for every way in which a fact divides these tasks."""
    best: dict[tuple[bytes, str], Condition] = {}
    inside = set(tasks)
    for fact in facts:
        here = {task: value for task, value in fact.values.items() if task in inside}
        if len(here) < MIN_KNOWN * len(tasks):
            continue
        for text, holds, cost, gap in _divide(fact, here):
            mask = np.zeros(total, dtype=np.bool_)
            mask[list(holds)] = True
            if text and 2 <= mask.sum() < len(tasks):
                key = mask.tobytes(), fact.name
                if key not in best or cost < best[key].cost:
                    best[key] = Condition(text, fact.name, mask, cost, gap, fact.function, fact.argument)
    return list(best.values())


def _divide(fact: Fact, here: Mapping[int, Any]) -> Iterator[tuple[str, Iterable[int], float, tuple[str, str] | None]]:
    values = list(here.values())
    if all(isinstance(value, bool) for value in values):
        for wanted in (True, False):
            cost = fact.cost + 0.2 * (not wanted)
            text = fact.write("=" if _is_field(fact) else "", wanted)
            yield text, [task for task, value in here.items() if value is wanted], cost, None
    elif all(isinstance(value, float) for value in values):
        levels = sorted(set(values))
        steps = list(pairwise(levels))
        for low, high in steps[:: max(1, len(steps) // MAX_THRESHOLDS)]:
            boundary = find_boundary(low, high)
            gap = write_number(low), write_number(high)
            above = [task for task, value in here.items() if value >= high]
            yield fact.write(">", boundary), above, fact.cost + 0.3, gap
            below = [task for task, value in here.items() if value <= low]
            yield fact.write("<=", boundary), below, fact.cost + 0.3, gap
    else:
        groups = defaultdict[str, list[int]](list)
        for task, value in here.items():
            groups[write_word(value)].append(task)
        if len(groups) <= max(8, 0.4 * len(here)):
            for word, where in groups.items():
                yield fact.write("=", word), where, fact.cost, None
                if len(groups) > 2:
                    yield fact.write("!=", word), set(here) - set(where), fact.cost + 0.2, None


def _is_field(fact: Fact) -> bool:
    """Is it a field or an argument that is true or false?"""
    return " " not in fact.name or fact.name.endswith("]")
