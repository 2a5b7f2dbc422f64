"""Automata: a guard as something that watches a run, action by action. Replay and live monitoring use the same ones.

States are those of RV-LTL (Bauer, Leucker, Schallhart 2010), the four-valued reading of LTL on a trace that goes on:

    satisfied   whatever follows, it holds            (true)
    holding     it holds if the run stops now         (presumably true)
    pending     it is broken if the run stops now, and can still be met: something is owed   (presumably false)
    broken      whatever follows, it is broken        (false)

Beside its state an automaton knows whether it was tried at all: a rule about deleting holds, vacuously, in a run that
deletes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Literal, TypeAlias

from contramem.monitor.action import Action
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import Condition, TaskSays

State: TypeAlias = Literal["satisfied", "holding", "pending", "broken"]


class Automaton(ABC):
    """One guard on one run. Feed it every action in order, or at least those that it `hears`."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        self.guard = guard
        self._first = parse_pattern(guard.function)
        self._then = parse_pattern(guard.then) if guard.then else self._first
        self._open_conditions = [condition for condition in guard.conditions if not _is_met_by_task(condition, task)]
        self._broken = False
        self._clock: float | None = None

    @property
    def hears(self) -> frozenset[str] | None:
        """The functions whose calls can change its state. None: any action can."""
        names = [self._first.function, self._then.function]
        names += [condition.hears for condition in self._open_conditions if not isinstance(condition, TaskSays)]
        return frozenset(names) if all(names) else None

    @property
    def due(self) -> float | None:
        """When what is owed must have happened, on the clock of the run. None: there is no deadline now."""
        return None

    def observe(self, action: Action) -> bool:
        """Take in what was done, result included. True: this has broken the guard for good."""
        was_broken = self._broken and self._in_scope
        if action.time is not None:
            self._run_out(action.time)
        self._open_conditions = [condition for condition in self._open_conditions if not _is_met(condition, action)]
        if not self._broken:
            if self._breaks(action):
                self._broken = True
            else:
                self._note(action)
        return self._broken and self._in_scope and not was_broken

    def tick(self, time: float) -> bool:
        """The clock of the run shows `time`. True: a deadline that has passed has broken the guard for good."""
        was_broken = self._broken and self._in_scope
        self._run_out(time)
        return self._broken and self._in_scope and not was_broken

    def would_break(self, action: Action) -> bool:
        """Would this action, if it works, break the guard for good?"""
        if self.state == "broken":
            return False
        in_scope = all(_is_met(condition, action) for condition in self._open_conditions)
        return in_scope and (self._broken or self._breaks(action))

    @property
    def state(self) -> State:
        inner: State = "broken" if self._broken else self._state()
        if self._in_scope or inner == "satisfied":
            return inner
        return "holding"  # nothing is owed in a run that the guard does not speak about

    @property
    def vacuous(self) -> bool:
        """Nothing the guard speaks about has happened yet."""
        return not self._in_scope or not (self._broken or self._is_tried())

    @property
    def verdict(self) -> Verdict:
        """What a run that ends here did with the guard. A deadline in a run without a clock was never tried."""
        if not self._in_scope or (self.guard.within is not None and self._clock is None):
            return "vacuous"
        if self.state in ("broken", "pending"):
            return "broken"
        return "holds" if self._is_tried() else "vacuous"

    @property
    def _in_scope(self) -> bool:
        return not self._open_conditions

    def _run_out(self, time: float) -> None:
        due = self.due
        self._clock = time if self._clock is None else max(self._clock, time)
        if due is not None and time > due:
            self._broken = True

    def _is_late(self, action: Action, since: float | None) -> bool:
        """Did the action come after the deadline that began at `since`? Never in a run without a clock."""
        if self.guard.within is None or since is None or action.time is None:
            return False
        return action.time > since + self.guard.within

    @abstractmethod
    def _breaks(self, action: Action) -> bool:
        """Does this action break the guard for good? Changes nothing."""

    @abstractmethod
    def _note(self, action: Action) -> None:
        """Take in an action that breaks nothing."""

    @abstractmethod
    def _state(self) -> State:
        """Of the guard without its `when`, while it is not broken."""

    def _is_tried(self) -> bool:
        return True


class _Existence(Automaton):
    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._done = False
        self._start: float | None = None

    @property
    def due(self) -> float | None:
        if self._done or self._start is None or self.guard.within is None:
            return None
        return self._start + self.guard.within

    def _run_out(self, time: float) -> None:
        self._start = time if self._start is None else self._start
        super()._run_out(time)

    def _breaks(self, action: Action) -> bool:
        return False

    def _note(self, action: Action) -> None:
        self._done = self._done or (action.worked and self._first.matches(action))

    def _state(self) -> State:
        return "satisfied" if self._done else "pending"


class _Absence(Automaton):
    def _breaks(self, action: Action) -> bool:
        return self._first.matches(action)

    def _note(self, action: Action) -> None:
        return

    def _state(self) -> State:
        return "holding"


class _Counted(Automaton):
    """Counts the calls that work, by what makes them the same."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._times: Counter[object] = Counter()

    def _counts(self, action: Action) -> bool:
        return action.worked and self._first.matches(action)

    def _note(self, action: Action) -> None:
        if self._counts(action):
            self._times[self._key(action)] += 1

    def _key(self, action: Action) -> object:
        given = repr(action.arguments.get(self.guard.argument)) if self.guard.argument else ""
        if self.guard.template == "at_most_once":
            return action.function, given or action.key()
        return given


class _AtMost(_Counted):
    def _breaks(self, action: Action) -> bool:
        return self._counts(action) and self._times[self._key(action)] >= (self.guard.times or 1)

    def _state(self) -> State:
        return "holding"

    def _is_tried(self) -> bool:
        return bool(self._times)


class _AtLeast(_Counted):
    """Without an argument to count by, no call at all is too few; with one, it speaks about the values that occur."""

    def _breaks(self, action: Action) -> bool:
        return False

    def _state(self) -> State:
        return "pending" if self._is_tried() and self._is_short() else "holding"

    def _is_short(self) -> bool:
        return min(self._times.values(), default=0) < self.guard.times

    def _is_tried(self) -> bool:
        return bool(self._times) or not self.guard.argument


class _Precedence(Automaton):
    """A call that failed and was tried again later is only a try; one that was left at that is what the agent did."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._prepared = self._tried_it = self._owed = False
        self._since: float | None = None

    def _breaks(self, action: Action) -> bool:
        return action.worked and self._then.matches(action) and not self._is_prepared(action)

    def _note(self, action: Action) -> None:
        if self._then.matches(action):
            self._tried_it = True
            self._owed = not self._is_prepared(action)
        if action.worked and self._first.matches(action):
            self._prepared, self._since = True, action.time

    def _is_prepared(self, action: Action) -> bool:
        return self._prepared and not self._is_late(action, self._since)

    def _state(self) -> State:
        if self._owed:
            return "pending"
        return "satisfied" if self._prepared and self.guard.within is None else "holding"

    def _is_tried(self) -> bool:
        return self._tried_it


class _Response(Automaton):
    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._owed = self._asked = False
        self._since: float | None = None

    @property
    def due(self) -> float | None:
        """Of the first A that is not answered yet."""
        if not self._owed or self._since is None or self.guard.within is None:
            return None
        return self._since + self.guard.within

    def _breaks(self, action: Action) -> bool:
        return False

    def _note(self, action: Action) -> None:
        if action.worked and self._first.matches(action):
            self._since = self._since if self._owed else action.time
            self._owed = self._asked = True
        elif self._owed and action.worked and self._then.matches(action):
            self._owed = False

    def _state(self) -> State:
        return "pending" if self._owed else "holding"

    def _is_tried(self) -> bool:
        return self._asked


class _NotSuccession(Automaton):
    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._done = False
        self._since: float | None = None

    def _breaks(self, action: Action) -> bool:
        return self._done and action.worked and self._then.matches(action) and not self._is_late(action, self._since)

    def _note(self, action: Action) -> None:
        if action.worked and self._first.matches(action):
            self._done, self._since = True, action.time

    def _state(self) -> State:
        return "holding"

    def _is_tried(self) -> bool:
        return self._done


class _Last(Automaton):
    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._is_last = False

    @property
    def hears(self) -> None:
        return None

    def _breaks(self, action: Action) -> bool:
        return False

    def _note(self, action: Action) -> None:
        # The answer itself is no call: `last(Mail.send)` is about what was done before it.
        if action.kind == "call" or self._first.kind == "finalize" or self._first.kind == action.kind:
            self._is_last = action.worked and self._first.matches(action)

    def _state(self) -> State:
        return "holding" if self._is_last else "pending"


class _KnownValue(Automaton):
    """A guess that was refused is a try when a value that had been seen follows; left at that, it is what was done."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._given = self._guessed = False

    def _breaks(self, action: Action) -> bool:
        return action.worked and self._first.matches(action) and action.origin(self.guard.argument) == "nowhere"

    def _note(self, action: Action) -> None:
        if self._first.matches(action) and (origin := action.origin(self.guard.argument)) is not None:
            self._given = True
            self._guessed = origin == "nowhere"

    def _state(self) -> State:
        return "pending" if self._guessed else "holding"

    def _is_tried(self) -> bool:
        return self._given


class _Covers(Automaton):
    """Redacted steps do not keep what a call returned; on them the guard has nothing to say, and is vacuous."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._returned: set[str] = set()
        self._done: set[str] = set()

    def _breaks(self, action: Action) -> bool:
        return False

    def _note(self, action: Action) -> None:
        if action.worked and self._then.matches(action):
            self._done |= action.values(self.guard.argument)
        if action.worked and self._first.matches(action):
            self._returned |= action.returned_values(self.guard.field) or frozenset()

    def _state(self) -> State:
        return "holding" if self._returned <= self._done else "pending"

    def _is_tried(self) -> bool:
        return bool(self._returned)


_AUTOMATA: dict[str, type[Automaton]] = {
    "existence": _Existence,
    "absence": _Absence,
    "at_most_once": _AtMost,
    "at_most": _AtMost,
    "at_least": _AtLeast,
    "precedence": _Precedence,
    "response": _Response,
    "not_succession": _NotSuccession,
    "last": _Last,
    "known_value": _KnownValue,
    "covers": _Covers,
}


def automaton(guard: Guard, task: str = "") -> Automaton:
    """A fresh automaton for one run at `task`. Raises GuardError for a guard that was put together wrongly."""
    return _AUTOMATA[guard.template](guard, task)


def _is_met(condition: Condition, action: Action) -> bool:
    return not isinstance(condition, TaskSays) and condition.matches(action)


def _is_met_by_task(condition: Condition, task: str) -> bool:
    return isinstance(condition, TaskSays) and condition.matches_task(task)
