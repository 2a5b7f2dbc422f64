"""The calls of one function: which worked, which failed, and what was tried next in the same run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from contramem.contrast.flow import NOWHERE
from contramem.contrast.observation import Observation

NULL, EMPTY_TEXT, EMPTY_LIST = "null", "empty text", "empty list"
ABSENT_FORMS = frozenset({NULL, EMPTY_TEXT, EMPTY_LIST, "list of empty texts", "list of nulls"})
"""Forms of an absent value."""
MIN_FAILURES, MIN_FAILURE_SHARE, MAX_CHANCE = 2, 0.25, 0.05
"""Fewer failures, a smaller share of the calls, or a likelier accident is no reason for a warning."""
MIN_RATIO = 2
"""Minimum difference between two shares. Over hundreds of calls chance explains little, but a small difference teaches
little."""
MIN_CALLS = 2

Found = TypeVar("Found")


@dataclass(frozen=True)
class Retry:
    """A call, and a later call of the same function in the same run."""

    first: Observation
    then: Observation

    @property
    def changed(self) -> frozenset[str]:
        """The arguments that differ in the second call."""
        before, after = self.first.arguments, self.then.arguments
        return frozenset(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


class Calls:
    """Every observed call of a function whose result is known, in any order."""

    def __init__(self, function: str, observations: Iterable[Observation]) -> None:
        self.function = function
        self.app, _, self.name = function.partition(".")
        ordered = sorted(observations, key=_place)
        visible = [call for call in ordered if call.error or call.form is not None]
        # A trace without results still shows arguments; its calls count as successful because nothing says otherwise.
        self.all: Sequence[Observation] = visible or ordered
        self.known: dict[tuple[str, str], Any] = {}
        """What was found about an argument; see `find_once`."""
        self.worked = [call for call in self.all if not call.error]
        self.failed = [call for call in self.all if call.error]

    @classmethod
    def of(cls, function: str, observations: Sequence[Observation]) -> Calls:
        """The calls in these observations. Those that were asked for last are kept: a card, and what is kept beside it,
        are made from them one after the other."""
        global _latest
        if _latest is None or _latest.calls.function != function or _latest.observations is not observations:
            _latest = _LatestCalls(observations, cls(function, observations))
        return _latest.calls

    @cached_property
    def argument_names(self) -> tuple[str, ...]:
        """Every argument that some call passes."""
        return tuple(sorted({name for call in self.all for name in call.arguments}))

    @cached_property
    def interface(self) -> frozenset[str]:
        """Names that the runs around these calls show: functions, arguments and fields of results."""
        names = {self.app, self.name, *self.argument_names}
        for call in self.all:
            names.update(call.earlier, call.looked, call.between, call.instead, call.fields.values())
            names.update(call.form.fields if call.form is not None else ())
        return frozenset(names)

    @cached_property
    def effect(self) -> str:
        """The effect of most calls."""
        effects = Counter(call.effect for call in self.all)
        return min(effects, key=lambda effect: (-effects[effect], effect), default="unknown")

    def refer_to(self, function: str) -> str:
        """Another function as this card names it: without the app if it is the same."""
        app, _, name = function.partition(".")
        return f"`{name}`" if app == self.app else f"`{function}`"

    @cached_property
    def runs(self) -> list[list[Observation]]:
        """The calls of each run, in order."""
        by_run: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        for call in self.all:
            by_run[call.task_key, call.cite.run].append(call)
        return list(by_run.values())

    @cached_property
    def retries(self) -> list[Retry]:
        """Every call together with the next one."""
        return [Retry(first, then) for run in self.runs for first, then in pairwise(run)]

    def repeats(self) -> Iterator[Retry]:
        """Calls that had already worked in their run with the same arguments, each with the last such call."""
        for run in self.runs:
            worked: dict[bytes, Observation] = {}
            for call in run:
                key = msgspec.json.encode(call.arguments, order="deterministic")
                if key in worked:
                    yield Retry(worked[key], call)
                if not call.error:
                    worked[key] = call


def find_once(find: Callable[[Calls, str], Found]) -> Callable[[Calls, str], Found]:
    """Keep with the calls what `find` finds about an argument: the card asks for it, and what is kept beside it."""

    @wraps(find)
    def find_or_recall(calls: Calls, name: str) -> Found:
        key = find.__name__, name
        if key not in calls.known:
            calls.known[key] = find(calls, name)
        return cast(Found, calls.known[key])

    return find_or_recall


class _LatestCalls(NamedTuple):
    observations: Sequence[Observation]
    calls: Calls


_latest: _LatestCalls | None = None


def _place(call: Observation) -> tuple[str, int, str, int]:
    return call.task_key, len(call.cite.run), call.cite.run, call.cite.position


def leaves_out(call: Observation, name: str) -> bool:
    """Does the call omit this argument? An explicit null omits it too; an empty text is a value."""
    return call.arguments.get(name) is None


def of_name(calls: Iterable[Observation], name: str) -> list[Observation]:
    """The calls that pass a meaningful value for this argument."""
    return [call for call in calls if name in call.arguments and call.forms.get(name) not in ABSENT_FORMS]


def is_guessed(call: Observation, name: str) -> bool:
    """Had the value been seen nowhere before the call?"""
    return call.origins.get(name) == NOWHERE


def is_failure(call: Observation) -> bool:
    return bool(call.error)


def is_empty(call: Observation) -> bool:
    """Did it work without returning anything?"""
    return not call.error and call.form is not None and call.form.kind in ("empty", "nothing")


def failures(calls: Iterable[Observation]) -> int:
    """How many of the calls failed."""
    return sum(bool(call.error) for call in calls)


def fail_more(
    some: Sequence[Observation],
    others: Sequence[Observation],
    bad: Callable[[Observation], bool] = is_failure,
    tests: int = 1,
) -> bool:
    """Do some calls fail so much more often than others that chance does not explain it?

    A run that repeats the same call counts once. `tests`: how many such questions are asked in all.
    """
    outcomes = [bad(call) for call in some if not call.looped]
    other = [bad(call) for call in others if not call.looped]
    return is_more(sum(outcomes), len(outcomes), sum(other), len(other), tests)


def is_more(part: int, whole: int, other_part: int, other_whole: int, tests: int = 1) -> bool:
    """Is one share at least twice the other, and so much larger that chance does not explain it?

    The tail of a binomial with the other rate (by Laplace's rule of succession: a single successful call proves
    little), with Bonferroni's correction for the number of tests.
    """
    if part < MIN_FAILURES or part < whole * MIN_FAILURE_SHARE or part * other_whole < MIN_RATIO * other_part * whole:
        return False
    rate = (other_part + 1) / (other_whole + 2)
    tail = sum(comb(whole, k) * rate**k * (1 - rate) ** (whole - k) for k in range(part, whole + 1))
    return tail * tests <= MAX_CHANCE


def by_form(calls: Iterable[Observation], name: str) -> dict[str, list[Observation]]:
    """The calls grouped by the form of an argument."""
    groups: dict[str, list[Observation]] = defaultdict(list)
    for call in calls:
        if name in call.forms:
            groups[call.forms[name]].append(call)
    return dict(groups)


def tasks(calls: Iterable[Observation]) -> int:
    """The number of tasks that the calls come from."""
    return len({call.task_key for call in calls})


def runs_of(calls: Iterable[Observation]) -> int:
    """The number of runs that the calls come from."""
    return len({(call.task_key, call.cite.run) for call in calls})
