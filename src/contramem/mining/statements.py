"""Statements: everything that can be said about a run, in guard syntax. A kind of rule is a function here that yields
statements; guards that say a thing, and rows of words.toml that word it, are all that others need to know of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from operator import eq
from typing import Any

import numpy as np

from contramem.guards.values import shape_of, write_number, write_value
from contramem.mining.facts import canon, day_of, number_of
from contramem.mining.matrix import NEVER, Column, Domain, Statement, Statements, canons_of
from contramem.mining.records import Choices, write_word
from contramem.mining.sources import Sources

COST = {
    "call": 0.0, "nocall": 0.2, "once": 0.5, "order": 0.4, "after": 0.5, "value": 0.3, "notvalue": 1.2, "source": 0.0,
    "pick": 0.2, "form": 0.6, "cap": 0.9, "every": 0.4, "formula": 0.4, "phrase": 1.0, "nophrase": 2.0, "mention": 0.6,
    "nomention": 1.3, "length": 1.2, "given": 0.5,
}  # fmt: skip
"""In nats, how much less likely a family is meant: exact sources come before limits, limits before "not"."""
DOING = frozenset({"call", "nocall", "after"})
"""What is to be done, and not how."""
MAX_VALUES = 60
"""An argument with more different values is open."""
MAX_ACTIONS = 250
MAX_GRAMS = 400
MAX_CAPS = 12
WORDY = 3
"""Spaces in a value that is a text."""


def collect_statements(domain: Domain) -> Statements:
    """Everything that can be said about the runs of a domain and is true of some of them only."""
    statements = Statements()
    sources = Sources(domain)
    for statement in _about_calls(domain):
        statements.add(statement)
    for (function, argument), values in domain.arguments.items():
        asked = Argument(domain, function, argument, values)
        for statement in about_texts(asked, sources) if asked.is_text else asked.about_values(sources):
            statements.add(statement)
    finals = [[run.final] if run.final else [] for run in domain.runs]
    for statement in about_texts(Argument(domain, "finalize", "text", finals), sources):
        statements.add(statement)
    return statements


# Which functions, how often, in which order


@dataclass
class _Action:
    """A function, perhaps with one value of an argument, and when a run calls it."""

    pattern: str
    function: str
    first: Any
    last: Any
    extra: float = 0.0


def _about_calls(domain: Domain) -> Iterator[Statement]:
    actions = list(_actions(domain))
    idle = np.array([not any(c.worked and domain.changes(c.function) for c in run.calls) for run in domain.runs])
    for action in actions:
        did, function = action.last >= 0, action.function
        far = action.extra + 2.0 * (not domain.changes(function))
        tried = domain.tried[function] if not action.extra else did
        # To do what was asked for is no rule, and who changes nothing may have given up.
        silent = idle | (domain.is_asked(function) if not action.extra else False)
        yield _say("call", f"existence({action.pattern})", function, np.where(silent, 0, np.where(did, 1, -1)), far)
        yield _say("nocall", f"absence({action.pattern})", function, np.where(tried, -1, 1), far)
    for action in actions:
        did = action.last >= 0
        for other in actions:
            if other.function == action.function or (other.extra and action.extra) or not did.any():
                continue
            far = action.extra + other.extra
            both = did & (other.last >= 0)
            if other.first is not NEVER and both.any():
                column = np.where(did, np.where(other.first < action.first, 1, -1), 0)
                yield _say("order", f"precedence({other.pattern}, {action.pattern})", action.function, column, far)
            if both.sum() <= 3 or not domain.changes(other.function):
                continue
            if domain.changes(action.function):
                told = did & ~domain.is_asked(other.function)
                column = np.where(told, np.where(other.last > action.last, 1, -1), 0)
                yield _say("after", f"response({action.pattern}, {other.pattern})", other.function, column, far)
                column = np.where(did, np.where(other.last > action.first, -1, 1), 0)
                guard = f"not_succession({action.pattern}, {other.pattern})"
                yield _say("order", guard, other.function, np.where(both, column, 0), far + 0.3)
    for function in domain.functions:
        count = np.array([len(calls) for calls in domain.calls[function]])
        if domain.changes(function):
            column = np.where(count > 0, np.where(count == 1, 1, -1), 0)
            yield _say("once", f"at_most({function}, 1)", function, column)


def _actions(domain: Domain) -> Iterator[_Action]:
    for function in domain.functions:
        yield _Action(function, function, domain.first[function], domain.last[function])
    found = list[tuple[int, _Action]]()
    for (function, argument), values in domain.arguments.items():
        if not domain.changes(function):
            continue
        places = defaultdict[str, set[int]](set)
        for place, given in enumerate(values):
            for value in given:
                if isinstance(value, (str, bool)) and len(str(value)) < 40 and str(value).count(" ") < WORDY:
                    places[write_word(value)].add(place)
        if len(places) > 25 + len(domain.tasks) / 4:
            continue
        for word, where in places.items():
            if (
                len(where) > 2
                and len(places) > 1
                and domain.is_shared(where)
                and domain.may_say(function, argument, word)
            ):
                first, last = np.full(len(domain.runs), NEVER), np.full(len(domain.runs), -1)
                for place in where:
                    for number, call in enumerate(domain.runs[place].calls):
                        is_it = call.worked and call.function == function
                        if is_it and write_word(call.arguments.get(argument)) == word:
                            first[place], last[place] = min(first[place], number), number
                pattern = f"{function}[{argument} = {write_value(word)}]"
                found.append((len(where), _Action(pattern, function, first, last, 0.2)))
    yield from (action for _, action in sorted(found, key=lambda pair: -pair[0])[:MAX_ACTIONS])


def _say(family: str, guard: str, function: str, column: Any, far: float = 0.0) -> Statement:
    return Statement(family, guard, "", function, "", np.asarray(column, dtype=np.int8), COST[family] + far)


# One argument


class Argument:
    """What runs passed for one argument of a function."""

    def __init__(self, domain: Domain, function: str, argument: str, values: Sequence[Sequence[Any]]) -> None:
        self.domain, self.function, self.argument, self.values = domain, function, argument, values
        self.canons = canons_of(values)
        self.flat = [value for given in values for value in given]
        self.reads = function in domain.reads
        several = [len(set(map(str, given))) > 1 for given in self.canons if given]
        self.is_repeated = bool(several) and sum(several) > 0.15 * len(several)
        """Do many runs make the call with several values?"""

    @property
    def is_text(self) -> bool:
        texts = sum(isinstance(value, str) and value.count(" ") >= WORDY for value in self.flat)
        return 2 * texts > len(self.flat)

    def ask(self, family: str, test: str, column: Column, cost: float = 0.0) -> Statement:
        """A statement that the argument satisfies a test."""
        guard = f"existence({self.function}[{self.argument} {test}])"
        when = "" if self.function == "finalize" else self.function
        return Statement(family, guard, when, self.function, self.argument, column, COST[family] + cost)

    def forbid(self, family: str, test: str, column: Column, cost: float = 0.0, more: str = "") -> Statement:
        """A statement that no call satisfies a test."""
        guard = f"absence({self.function}[{self.argument} {test}{more}])"
        when = "" if self.function == "finalize" else self.function
        return Statement(family, guard, when, self.function, self.argument, column, COST[family] + cost)

    def judge(self, good: Callable[[Any], bool | None], canons: bool = False) -> Column:
        return self.domain.judge(self.canons if canons else self.values, good)

    def about_values(self, sources: Sources) -> Iterator[Statement]:
        if not self.domain.changes(self.function) and len(self._spread()) > MAX_VALUES:
            return
        far = 0.3 * self.reads
        yield from self._constants(far)
        yield from self._forms()
        yield from self._given()
        yield from self._limits()
        wanted = self.domain.wanted(self.canons)
        if len(wanted) < 2:
            return
        yield from self._from_sources(sources, wanted, far)

    def _spread(self) -> dict[Any, set[int]]:
        places = defaultdict[Any, set[int]](set)
        for place, given in enumerate(self.canons):
            for value in given:
                places[value].add(place)
        return places

    def _constants(self, far: float) -> Iterator[Statement]:
        places = self._spread()
        if len(places) > MAX_VALUES:
            return
        written = {canon(value): value for value in self.flat if not isinstance(value, (list, dict))}
        for value, where in places.items():
            if value in written and self._may_say(written[value]) and self.domain.is_shared(where):
                column = self.judge(partial(eq, value), canons=True)
                test = f"= {write_value(write_word(written[value]))}"
                yield self.ask("value", test, column, far)
                yield self.forbid("notvalue", test, -column, far)

    def _may_say(self, value: Any) -> bool:
        return len(str(value)) <= 40 and self.domain.may_say(self.function, self.argument, value)

    def _given(self) -> Iterator[Statement]:
        """Whether the argument is given at all."""
        called = np.array([bool(calls) for calls in self.domain.calls.get(self.function, [])], dtype=np.bool_)
        has = np.array([bool(given) for given in self.values])
        if called.any() and not self.reads:
            yield self.ask("given", "given", np.where(called, np.where(has, 1, -1), 0).astype(np.int8))

    def _forms(self) -> Iterator[Statement]:
        texts = [value for value in self.flat if isinstance(value, str) and len(value) < 40]
        for shape, count in Counter(map(shape_of, texts)).items():
            if count > 3 and re.search(r"\d|A", shape.replace("Aa", "")) and '"' not in shape and "9" in shape:
                column = self.judge(partial(_is_written, shape_of, shape))
                yield self.ask("form", f"like {write_value(shape)}", column)
        padded = Counter(_exact_shape(text) for text in texts if re.search(r"(?<!\d)0\d", text))
        for shape, count in padded.items():
            if count > 3:
                column = self.judge(partial(_is_written, _exact_shape, shape))
                yield self.ask("form", f"like {write_value(shape)}", column, 0.2)
        days = [day for value in self.flat if (day := day_of(value)) is not None]
        if 2 * len(days) > len(self.flat) and len(set(days)) >= 3:
            for name, good in _DAYS.items():
                column = self.judge(partial(_falls, good))
                yield self.ask("form", f"falls on {name}", column, 0.3)
        numbers = [number for value in self.flat if (number := number_of(value)) is not None]
        if 2 * len(numbers) > len(self.flat):
            for step in (1, 5, 10, 50, 100, 1000):
                column = self.judge(partial(_is_multiple, step))
                test = f"equals {self.argument} rounded to {step}"
                yield self.ask("form", test, column, 0.6 if step > 1 else 0.0)

    def _limits(self) -> Iterator[Statement]:
        numbers = [number_of(value) for value in self.flat]
        if 2 * sum(number is not None for number in numbers) > len(self.flat):
            yield from self._limits_of_numbers(self.values, "", 0.0)
            for other, word, values in self._slices():
                yield from self._limits_of_numbers(values, f" and {other} = {write_value(word)}", 0.5)
        sizes = [[len(value) for value in given if isinstance(value, list)] for given in self.values]
        for limit in sorted({size for given in sizes for size in given})[:MAX_CAPS]:
            column = self.domain.judge(sizes, partial(_is_up_to, limit))
            yield self.forbid("cap", f"has at least {limit + 1} items", column)

    def _slices(self) -> Iterator[tuple[str, str, list[list[Any]]]]:
        """The values in calls with one word of another argument."""
        for (function, other), theirs in self.domain.arguments.items():
            if function != self.function or other == self.argument:
                continue
            words = Counter(v for given in theirs for v in given if isinstance(v, str))
            if len(words) > 8:
                continue
            for word, count in words.items():
                if count > 3:
                    yield (
                        other,
                        word,
                        [
                            [
                                call.arguments[self.argument]
                                for call in calls
                                if self._is_in(call.arguments, other, word)
                            ]
                            for calls in self.domain.calls[function]
                        ],
                    )

    def _is_in(self, arguments: Mapping[str, Any], other: str, word: str) -> bool:
        return arguments.get(other) == word and arguments.get(self.argument) is not None

    def _limits_of_numbers(self, values: Sequence[Sequence[Any]], more: str, far: float) -> Iterator[Statement]:
        passed = self.domain.passed
        right = sorted(
            {n for p, given in enumerate(values) if passed[p] for v in given if (n := number_of(v)) is not None}
        )
        for limit in right[-MAX_CAPS:]:
            column = self.domain.judge(values, partial(_is_up_to, limit))
            yield self.forbid("cap", f"> {write_number(limit)}", column, far, more)
        for limit in right[: MAX_CAPS // 2]:
            column = self.domain.judge(values, partial(_is_from, limit))
            yield self.forbid("cap", f"< {write_number(limit)}", column, far + 0.5, more)

    def _from_sources(self, sources: Sources, wanted: Mapping[int, Any], far: float) -> Iterator[Statement]:
        choices = Choices(self.domain, self.function, self.argument, wanted, self.canons)
        single = self.canons if not self.is_repeated else [given[:1] for given in self.canons]
        for expected in (
            *sources.expect(self.function, self.argument, wanted, self.flat),
            *choices.expect(sources),
        ):
            if expected.hits(wanted) >= expected.least:
                column = self.domain.judge_by_task(single, expected.check)
                yield self.ask(expected.family, expected.test, column, expected.cost + far)
        yield from choices.cover(self)


def _is_written(shape: Callable[[str], str], wanted: str, value: Any) -> bool:
    return isinstance(value, str) and shape(value) == wanted


def _falls(good: Callable[[date], bool], value: Any) -> bool | None:
    return None if (day := day_of(value)) is None else good(day)


def _is_multiple(step: int, value: Any) -> bool:
    return (number := number_of(value)) is not None and number % step == 0


def _is_up_to(limit: float, value: Any) -> bool:
    return (number := number_of(value)) is not None and number <= limit


def _is_from(limit: float, value: Any) -> bool:
    return (number := number_of(value)) is not None and number >= limit


def _is_weekday(number: int, day: date) -> bool:
    return day.weekday() == number


def _exact_shape(text: str) -> str:
    """`A-0042` as `A-9999`: doubled, characters are counted."""
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "9", text)))


def _last_of_month(day: date) -> bool:
    return (date.fromordinal(day.toordinal() + 1)).day == 1


_DAYS: dict[str, Callable[[date], bool]] = {
    **{
        name: partial(_is_weekday, n)
        for n, name in enumerate("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
    },
    "weekday": lambda day: day.weekday() < 5,
    "weekend": lambda day: day.weekday() > 4,
    "month end": _last_of_month,
    "month start": lambda day: day.day == 1,
}


# Texts


def about_texts(asked: Argument, sources: Sources) -> Iterator[Statement]:
    """What a text says. Only of texts that go to others: of calls that change something, and of final answers."""
    domain, is_final = asked.domain, asked.function == "finalize"
    if not is_final and (asked.function in domain.reads or _is_everywhere(domain, asked.function)):
        return
    texts = [" \n ".join(map(str, given)).casefold() for given in asked.values]
    has = np.array([bool(text) for text in texts])
    if has.sum() < 4:
        return
    far = 0.8 * is_final
    for place, forms, cost in sources.written():
        if place.startswith(f"{asked.function}."):
            continue
        known = np.array([bool(each) for each in forms])
        found = [bool(has[n]) and any(form in text for form in forms[n]) for n, text in enumerate(texts)]
        if sum(found) >= 2:
            column = np.where(has & known, np.where(found, 1, -1), 0).astype(np.int8)
            yield asked.ask("mention", f"mentions {place}", column, far + cost)
            if not is_final:
                yield asked.forbid("nomention", f"mentions {place}", -column, far + cost)
    if is_final:  # which words an answer has tells what was done, and is hardly ever why a run fails
        return
    for gram, inside in find_phrases(domain, texts, has):
        column = np.where(has, np.where(inside, 1, -1), 0).astype(np.int8)
        test, cost = f"contains {_quote(gram)}", 0.3 * (" " not in gram)
        yield asked.ask("phrase", test, column, cost)
        yield asked.forbid("nophrase", test, -column, cost)
    sizes = np.array([max((len(str(value)) for value in given), default=0) for given in asked.values])
    passing = np.sort(sizes[has & domain.passed])
    if len(passing) > 3:
        for limit in sorted({int(passing[-1]), int(passing[int(0.97 * (len(passing) - 1))])}):
            beyond = min((int(n) for n in sizes if n > limit), default=limit)
            limit = _round_up(limit, beyond)
            column = np.where(has, np.where(sizes <= limit, 1, -1), 0).astype(np.int8)
            yield asked.forbid("length", f"has at least {limit + 1} characters", column)


def _quote(text: str) -> str:
    written = write_value(text)
    return written if written.startswith('"') else f'"{text}"'


def _round_up(low: int, high: int) -> int:
    """The roundest number from `low` up to, and without, `high`."""
    for step in (1000, 500, 100, 50, 20, 10, 5):
        if low <= (rounded := -(-low // step) * step) < high:
            return rounded
    return low


def _is_everywhere(domain: Domain, function: str) -> bool:
    """Is it what every step of the agent is wrapped in? Then its texts are the agent's own."""
    calls = [(len(domain.calls[function][n]), len(run.calls)) for n, run in enumerate(domain.runs) if run.calls]
    return sum(2 * own > every > 3 for own, every in calls) > 0.5 * len(calls)


def find_phrases(domain: Domain, texts: Sequence[str], has: Any) -> Iterator[tuple[str, Any]]:
    """Words in a row that several tasks and sources share, and the texts with them; of those in the same texts, the
    longest."""
    grams = defaultdict[str, set[int]](set)
    for place, text in enumerate(texts):
        for words in _phrases_of(text):
            for size in range(1, 8):
                for start in range(len(words) - size + 1):
                    if size > 1 or len(words[start]) > 3:
                        grams[" ".join(words[start : start + size])].add(place)
    longest: dict[frozenset[int], str] = {}
    count = int(has.sum())
    for gram, places in grams.items():
        if 2 < len(places) < count and domain.is_shared(places) and all(map(domain.may_say_word, gram.split())):
            key = frozenset(places)
            if len(gram) > len(longest.get(key, "")):
                longest[key] = gram
    telling = sorted(longest.items(), key=lambda pair: -_contrast(domain, pair[0], has))
    for where, gram in telling[:MAX_GRAMS]:
        inside = np.zeros(len(texts), dtype=np.bool_)
        inside[list(where)] = True
        yield gram, inside


def _contrast(domain: Domain, where: frozenset[int], has: Any) -> float:
    inside = np.zeros(len(has), dtype=np.bool_)
    inside[list(where)] = True
    inside &= has
    outside = has & ~inside
    return abs(float(domain.passed[inside].mean()) - float(domain.passed[outside].mean())) if outside.any() else 0.0


def _phrases_of(text: str) -> Iterator[list[str]]:
    """The words of a text, cut where a value or the end of a sentence stands between them."""
    cleaned = re.sub(r"[^\s\d]+\d\S*|\d+[^\s\d.,]\S*|\d+[.,:]\d\S*|[.!?;:]\s", "\n", text)
    for line in re.split(r"\n|[^\w\s'’-]", cleaned):
        words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?= [a-z])", line)
        if words and " ".join(words) in " ".join(line.split()):
            yield words
