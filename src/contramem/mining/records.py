"""Records: which of the records that a list shows a call is about, and whether all of them are dealt with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from contramem.guards.values import write_number, write_value
from contramem.mining.facts import Record, canon, day_of, number_of, rank_of, time_of
from contramem.mining.matrix import Domain, Statement
from contramem.mining.sources import Expected
from contramem.study.atoms import names_an_amount

if TYPE_CHECKING:
    from contramem.mining.sources import Sources
    from contramem.mining.statements import Argument

RowTest = tuple[str, Callable[[int, Record], bool]]
"""A filter in guard syntax, and whether a record of a task satisfies it."""
MAX_WORDS = 12
"""A field with more different words is no category."""
MAX_TESTS = 14
ONE_ORDER = 6
"""How many times as large as another an amount may be that is added to it."""
_CATEGORY = re.compile(r"[A-Za-z][\w\- ]{0,23}|[A-Z]{0,3}\d{0,2}")


def write_word(value: Any) -> str:
    """A word as guards write it: `true`, not `True`."""
    if isinstance(value, bool):
        return str(value).lower()
    return write_number(value) if isinstance(value, float) else str(value)


def is_category(value: Any) -> bool:
    """Could it be a word of a closed vocabulary?"""
    return isinstance(value, bool) or (
        isinstance(value, str)
        and _CATEGORY.fullmatch(value) is not None
        and value.count(" ") < 3
        and day_of(value) is None
    )


def write_test(name: str, operator: str, value: Any) -> str:
    return f"{name} {operator} {write_value(write_word(value))}"


class Choices:
    """The lists whose records an argument may name, or take a value from."""

    def __init__(
        self,
        domain: Domain,
        function: str,
        argument: str,
        wanted: Mapping[int, Any],
        canons: Sequence[Sequence[Any]],
    ) -> None:
        self.domain, self.function, self.argument = domain, function, argument
        self.wanted, self.canons = wanted, canons
        self.acting = {int(domain.task_of[place]) for place, given in enumerate(canons) if given}

    def expect(self, sources: Sources) -> Iterator[Expected]:
        """By the best of a field, the first or the last, among records that pass a test."""
        columns = Counter(
            (place, name)
            for task in self.wanted
            for place, rows in self.domain.tasks[task].lists.items()
            if len(rows) > 1 and not place.startswith(f"{self.function}.")
            for name in rows[0]
        )
        for (place, name), _ in columns.items():
            yield from self._of_column(place, name, sources)

    def _of_column(self, place: str, name: str, sources: Sources) -> Iterator[Expected]:
        lists = {n: rows for n in self.acting if len(rows := self.domain.tasks[n].lists.get(place, ())) > 1}
        chosen = {n: self._find(rows, name, self.wanted[n]) for n, rows in lists.items() if n in self.wanted}
        named = sum(row is not None for row in chosen.values())
        distinct = {repr(canon(row.get(name))) for rows in lists.values() for row in rows}
        if named < max(2, 0.5 * len(chosen)) or len(distinct) <= 3:
            return
        names_record = all(len({repr(canon(row.get(name))) for row in rows}) == len(rows) for rows in lists.values())
        tests = self._passed_by(filters_of(self.domain, place, list(lists)), lists, chosen)
        for label, good in self._among(tests, place):
            rows_of = {n: some for n, rows in lists.items() if (some := [row for row in rows if good(n, row)])}
            if len(rows_of) >= 2:
                yield from self._ranked(place, name, rows_of, label, names_record)
                if label and names_record:
                    yield self._having(place, name, rows_of, label)

    def _find(self, rows: Sequence[Record], name: str, value: Any) -> Record | None:
        return next((row for row in rows if canon(row.get(name)) == value), None)

    def _passed_by(
        self, tests: Iterator[RowTest], lists: Mapping[int, Sequence[Record]], chosen: Mapping[int, Record | None]
    ) -> list[RowTest]:
        """The tests that the chosen records pass and others do not."""
        kept = []
        for label, good in tests:
            passed = [good(n, row) for n, row in chosen.items() if row is not None]
            shut = sum(any(not good(n, row) for row in rows) for n, rows in lists.items())
            if sum(passed) >= 0.85 * len(passed) and shut >= (0.6 if "!=" in label else 0.2) * len(lists):
                kept.append((label, good))
        return kept[:MAX_TESTS]

    def _among(self, tests: Sequence[RowTest], place: str) -> Iterator[RowTest]:
        yield "", lambda n, row: True
        yield from tests
        for (one, good), (two, also) in combinations(tests[:9], 2):
            if one.split(" ")[0] != two.split(" ")[0]:
                yield f"{one}, {two}", partial(_both, good, also)

    def _ranked(
        self, place: str, name: str, rows_of: Mapping[int, Sequence[Record]], label: str, names_record: bool
    ) -> Iterator[Expected]:
        where = f" where {label}" if label else ""
        extra = 0.3 * bool(label) + 0.4 * (", " in label)
        for end, index in (("first", 0), ("last", -1)):
            values = {n: canon(rows[index].get(name)) for n, rows in rows_of.items()}
            yield self._choose(f"{end} of {place}{where}", name, values, 3, 0.8 + extra, names_record)
        some = next(iter(rows_of.values()))[0]
        for key, measure in _orders(some, rows_of).items():
            for end, best in (("lowest", min), ("highest", max)):
                values = {}
                for n, rows in rows_of.items():
                    measured = [(found, row) for row in rows if (found := measure(row)) is not None]
                    if measured and len({type(found) for found, _ in measured}) == 1:
                        edge = best(found for found, _ in measured)
                        tied = frozenset(canon(row.get(name)) for found, row in measured if found == edge)
                        values[n] = tied if len(tied) > 1 else next(iter(tied))
                test = f"{end} {key} of {place}{where}"
                yield self._choose(test, name, values, 2, extra + 0.5 * (" " in key), names_record)

    def _choose(
        self, choice: str, name: str, values: Mapping[int, Any], least: int, cost: float, names_record: bool
    ) -> Expected:
        test = f"picks {choice}" if names_record else f"equals {name} of {choice}"
        return Expected("pick", test, values, least, cost + 0.3 * (not names_record))

    def _having(self, place: str, name: str, rows_of: Mapping[int, Sequence[Record]], label: str) -> Expected:
        values = {n: frozenset(canon(row.get(name)) for row in rows) for n, rows in rows_of.items()}
        return Expected("pick", f"picks {label} of {place}", values, 2, 0.4 + 0.4 * (", " in label))

    # Every record

    def cover(self, asked: Argument) -> Iterator[Statement]:
        """All records of a list are dealt with; or all that pass a test, or no others."""
        domain = self.domain
        sets = [
            {item for value in given for item in (value if isinstance(value, tuple) else (value,))}
            for given in self.canons
        ]
        wanted = dict[int, set[Any]]()
        for number, given in enumerate(sets):
            if given and domain.passed[number]:
                wanted.setdefault(int(domain.task_of[number]), given)
        columns = Counter(
            (place, name)
            for n in wanted
            for place, rows in domain.tasks[n].lists.items()
            if len(rows) > 1 and not place.startswith(f"{self.function}.")
            for name in rows[0]
        )
        for place, name in columns:
            lists = {n: rows for n, task in enumerate(domain.tasks) if (rows := task.lists.get(place))}
            inside = [n for n in wanted if n in lists and wanted[n] <= {canon(row.get(name)) for row in lists[n]}]
            if len(inside) < max(2, 0.5 * sum(n in lists for n in wanted)) or all(len(wanted[n]) < 2 for n in inside):
                continue
            yield from self._cover_column(asked, place, name, lists, sets, wanted, inside)

    def _cover_column(
        self,
        asked: Argument,
        place: str,
        name: str,
        lists: Mapping[int, Sequence[Record]],
        sets: Sequence[set[Any]],
        wanted: Mapping[int, set[Any]],
        inside: Sequence[int],
    ) -> Iterator[Statement]:
        task_of, far = self.domain.task_of, 0.6 * asked.reads
        every: RowTest = ("", lambda n, row: True)
        for label, good in (every, *filters_of(self.domain, place, list(lists))):
            full = {n: {canon(row.get(name)) for row in rows if good(n, row)} for n, rows in lists.items()}
            if sum(wanted[n] == full[n] for n in inside) < 2:
                continue
            known = np.array([bool(given) and bool(full.get(int(task_of[p]))) for p, given in enumerate(sets)])
            all_done = np.array([given >= full.get(int(task_of[p]), set()) for p, given in enumerate(sets)])
            only = np.array([given <= full.get(int(task_of[p]), set()) for p, given in enumerate(sets)])
            subject = self.function, self.argument
            if not label:
                column = np.where(known, np.where(all_done, 1, -1), 0).astype(np.int8)
                lister = ".".join(place.split(".")[:2])
                guard = f"covers({lister}.{name}, {self.function}.{self.argument})"
                yield Statement("every", guard, self.function, *subject, column, 0.4 + far)
                continue
            column = np.where(known, np.where(all_done & only, 1, -1), 0).astype(np.int8)
            words = f"Call {self.function} for the {name} of every item of {place} where {label}, and for no other."
            yield Statement("every", "", self.function, *subject, column, 0.9 + far, words)
            if (reverse := _reverse(label)) is not None:
                column = np.where(known, np.where(only, 1, -1), 0).astype(np.int8)
                yield asked.forbid("every", f"picks {reverse} of {place}", column, 0.5 + far)


def _reverse(label: str) -> str | None:
    """A filter that is true exactly if this is not."""
    found = re.fullmatch(r"(\S+) (!=|=|>=|<=|>|<) (.+)", label)
    opposite = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
    return f"{found[1]} {opposite[found[2]]} {found[3]}" if found else None


def _orders(some: Record, rows_of: Mapping[int, Sequence[Record]]) -> dict[str, Callable[[Record], Any]]:
    """The fields that records can be ordered by, and differences of two amounts."""
    sample = [row for rows in list(rows_of.values())[:6] for row in rows]
    fields = [
        name
        for name in some
        if 2 * sum(rank_of(row.get(name)) is not None for row in sample) > len(sample)
        and len({repr(row.get(name)) for row in sample}) > 1
    ]
    orders: dict[str, Callable[[Record], Any]] = {name: partial(_rank, name) for name in fields}
    amounts = [name for name in fields if number_of(some.get(name)) is not None and names_an_amount(name)][:5]
    sizes = {name: float(np.median([abs(number_of(row.get(name)) or 0.0) for row in sample])) for name in amounts}
    for one in amounts:
        for two in amounts:
            if one != two and are_of_one_order(sizes[one], sizes[two]):
                orders[f"{one} minus {two}"] = partial(_minus, one, two)
    return orders


def are_of_one_order(one: float, two: float) -> bool:
    """May the difference of two amounts mean something? Of years and prices it does not."""
    return min(one, two) * ONE_ORDER >= max(one, two)


def _rank(name: str, row: Record) -> float | str | None:
    return rank_of(row.get(name))


def _minus(one: str, two: str, row: Record) -> float | None:
    a, b = number_of(row.get(one)), number_of(row.get(two))
    return None if a is None or b is None else a - b


def filters_of(domain: Domain, place: str, tasks: Sequence[int]) -> Iterator[RowTest]:
    """Conditions on a record of a list: a word, an amount above zero, or the same as, or at least, what was seen
    elsewhere."""
    rows = [(n, row) for n in tasks for row in domain.tasks[n].lists.get(place, ())]
    if not rows:
        return
    for name in rows[0][1]:
        given = [row.get(name) for _, row in rows]
        words = Counter(value for value in given if is_category(value) and _may_say(domain, place, name, value))
        if len(words) <= MAX_WORDS and not _identifies(domain, place, name, tasks):
            for value, count in sorted(words.items(), key=lambda pair: str(pair[0])):
                if count >= 2 and len({n for n, row in rows if row.get(name) == value}) >= 2:
                    yield write_test(name, "=", value), partial(_is_equal, name, value)
                    if len(words) > 2:
                        yield (
                            write_test(name, "!=", value),
                            partial(_is_other, name, value),
                        )
        numeric = 2 * sum(number_of(value) is not None for value in given) > len(given)
        if numeric and any(number_of(value) == 0 for value in given):
            yield f"{name} > 0", partial(_is_positive, name)
        yield from _compared(domain, place, name, tasks, rows, numeric)


def _may_say(domain: Domain, place: str, name: str, value: Any) -> bool:
    app, function, *inside = place.split(".", 2)
    return domain.may_say(f"{app}.{function}", ".".join((*inside, name)), value)


def _identifies(domain: Domain, place: str, name: str, tasks: Sequence[int]) -> bool:
    """Does the field tell the records of every list apart?"""
    lists = [rows for n in tasks if len(rows := domain.tasks[n].lists.get(place, ())) > 1]
    return all(len({str(row.get(name)) for row in rows}) == len(rows) for rows in lists)


def _compared(
    domain: Domain, place: str, name: str, tasks: Sequence[int], rows: Sequence[tuple[int, Record]], numeric: bool
) -> Iterator[RowTest]:
    """Filters that compare a field with what was seen elsewhere or asked for."""
    if numeric and names_an_amount(name):
        single = {n: domain.tasks[n].numbers for n in tasks if domain.tasks[n].numbers}
        if len(single) >= 0.6 * len(tasks):
            yield f"{name} >= task", partial(_reaches_one, name, single)
    counts = Counter(other for n in tasks for other in domain.tasks[n].scalars if not other.startswith(place))
    given = [row.get(name) for _, row in rows]
    for other, count in counts.items():
        if count < 0.6 * len(tasks):
            continue
        theirs = {n: canon(domain.tasks[n].scalars.get(other)) for n in tasks}
        if len(set(map(repr, theirs.values()))) < 2:
            continue
        if numeric:
            numbers = {n: value for n, value in theirs.items() if isinstance(value, float)}
            if 2 * len(numbers) > count and names_an_amount(name) and names_an_amount(other):
                yield f"{name} >= {other}", partial(_reaches, name, numbers)
        elif isinstance(given[0], tuple):
            if any(theirs[n] in canon(row.get(name) or ()) for n, row in rows if isinstance(theirs[n], str)):
                yield f"{name} = {other}", partial(_contains, name, theirs)
        else:
            found = sum(
                any(canon(row.get(name)) == theirs[n] for row in domain.tasks[n].lists.get(place, ()))
                for n in tasks
                if theirs[n] is not None
            )
            if 2 * found >= len(tasks):
                yield f"{name} = {other}", partial(_matches, name, theirs)
        if time_of(given[0]) is not None and any(day_of(domain.tasks[n].scalars.get(other)) for n in tasks):
            days = {n: time_of(domain.tasks[n].scalars.get(other)) for n in tasks}
            yield f"{name} falls after {other}", partial(_is_later, name, days)


def _both(one: Callable[[int, Record], bool], two: Callable[[int, Record], bool], task: int, row: Record) -> bool:
    return one(task, row) and two(task, row)


def _is_equal(name: str, value: Any, task: int, row: Record) -> bool:
    return bool(row.get(name) == value)


def _is_other(name: str, value: Any, task: int, row: Record) -> bool:
    return bool(row.get(name) != value)


def _is_positive(name: str, task: int, row: Record) -> bool:
    return (number_of(row.get(name)) or 0) > 0


def _reaches(name: str, least: Mapping[int, float], task: int, row: Record) -> bool:
    return task in least and (number_of(row.get(name)) or 0) >= least[task]


def _reaches_one(name: str, least: Mapping[int, Sequence[float]], task: int, row: Record) -> bool:
    return any((number_of(row.get(name)) or 0) >= number for number in least.get(task, ()))


def _contains(name: str, wanted: Mapping[int, Any], task: int, row: Record) -> bool:
    return wanted.get(task) in canon(row.get(name) or ())


def _matches(name: str, wanted: Mapping[int, Any], task: int, row: Record) -> bool:
    return bool(canon(row.get(name)) == wanted.get(task))


def _is_later(name: str, days: Mapping[int, datetime | None], task: int, row: Record) -> bool:
    time, other = time_of(row.get(name)), days.get(task)
    return time is not None and other is not None and time > other
