"""Automata: the state machine of a guard, fed one action at a time. Replay and live monitoring use the same ones.

States are those of RV-LTL (Bauer, Leucker, Schallhart 2010), a four-valued semantics of LTL on unfinished traces:

    satisfied   it holds, whatever follows            (true)
    holding     it holds if the run stops now         (presumably true)
    pending     it is broken if the run stops now, but can still be met: something is owed   (presumably false)
    broken      it is broken, whatever follows        (false)

An automaton also knows whether its guard was tested at all: a rule about deleting holds vacuously in a run that deletes
nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Literal, TypeAlias

from contramem.monitor.action import Action
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import keep_unmet, keep_unmet_by_task

State: TypeAlias = Literal["satisfied", "holding", "pending", "broken"]


class Automaton(ABC):
    """One guard on one run. Feed it every action in order, or at least those of the guard's `relevant_functions`."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        self.guard = guard
        self._first = parse_pattern(guard.function)
        self._then = parse_pattern(guard.then) if guard.then else self._first
        self._open_conditions = keep_unmet_by_task(guard.conditions, task) if guard.when else []
        self._open_exceptions = keep_unmet_by_task(guard.exceptions, task) if guard.unless else []
        self._broken = False
        self._clock: float | None = None

    @property
    def due(self) -> float | None:
        """The deadline of what is owed, on the clock of the run. None if nothing is due."""
        return None

    def observe(self, action: Action) -> bool:
        """Process an action and its result. Returns True if it broke the guard for good."""
        was_broken = self._broken and self._in_scope
        if action.time is not None:
            self._run_out(action.time)
        if self._open_conditions:
            self._open_conditions = keep_unmet(self._open_conditions, action)
        if self._open_exceptions:
            self._open_exceptions = keep_unmet(self._open_exceptions, action)
        if not self._broken:
            if self._breaks(action):
                self._broken = True
            else:
                self._note(action)
        return self._broken and self._in_scope and not was_broken

    def tick(self, time: float) -> bool:
        """Advance the clock of the run to `time`. Returns True if a missed deadline broke the guard for good."""
        was_broken = self._broken and self._in_scope
        self._run_out(time)
        return self._broken and self._in_scope and not was_broken

    def would_break(self, action: Action) -> bool:
        """Whether this action, if it succeeds, would break the guard for good."""
        if self.state == "broken":
            return False
        return self._would_be_in_scope(action) and (self._broken or self._breaks(action))

    def goes_against(self, action: Action) -> bool:
        """Whether this call would break the guard, or is made in another way than the guard demands."""
        if self.would_break(action):
            return True
        demands_a_way = self.guard.demand == "a call" and not self.guard.then and self._first.conditions
        if not demands_a_way or action.function != self._first.function or self.state == "satisfied":
            return False
        return self._would_be_in_scope(action) and not self._first.matches(action)

    @property
    def state(self) -> State:
        inner: State = "broken" if self._broken else self._state()
        if self._in_scope or inner == "satisfied":
            return inner
        return "holding"  # nothing is owed in a run that the guard does not apply to

    @property
    def vacuous(self) -> bool:
        """Whether nothing that the guard applies to has happened yet."""
        return not self._in_scope or not (self._broken or self._is_tried())

    @property
    def verdict(self) -> Verdict:
        """The verdict on a run that ends here. A deadline in a run without a clock counts as untested."""
        if not self._in_scope or (self.guard.within is not None and self._clock is None):
            return "vacuous"
        if self.state in ("broken", "pending"):
            return "broken"
        return "holds" if self._is_tried() else "vacuous"

    @property
    def _in_scope(self) -> bool:
        return not self._open_conditions and (self.guard.unless is None or bool(self._open_exceptions))

    def _would_be_in_scope(self, action: Action) -> bool:
        """Whether the guard would apply to the run after this action."""
        if keep_unmet(self._open_conditions, action):
            return False
        return self.guard.unless is None or bool(keep_unmet(self._open_exceptions, action))

    def _run_out(self, time: float) -> None:
        due = self.due
        self._clock = time if self._clock is None else max(self._clock, time)
        if due is not None and time > due:
            self._broken = True

    def _is_late(self, action: Action, since: float | None) -> bool:
        """Whether the action missed the deadline that started at `since`. False in a run without a clock."""
        if self.guard.within is None or since is None or action.time is None:
            return False
        return action.time > since + self.guard.within

    @abstractmethod
    def _breaks(self, action: Action) -> bool:
        """Whether this action breaks the guard for good. Must not change any state."""

    @abstractmethod
    def _note(self, action: Action) -> None:
        """Update the state for an action that does not break the guard."""

    @abstractmethod
    def _state(self) -> State:
        """The state while the guard is not broken, leaving its `when` aside."""

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
    """Counts the calls that succeed, grouped by the guard's argument."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        super().__init__(guard, task)
        self._times: Counter[object] = Counter()

    def _counts(self, action: Action) -> bool:
        return action.worked and self._first.matches(action)

    def _note(self, action: Action) -> None:
        if self._counts(action):
            self._times[self._key(action)] += 1

    def _key(self, action: Action) -> object:
        value = repr(action.arguments.get(self.guard.argument)) if self.guard.argument else ""
        if self.guard.template == "at_most_once":
            return action.function, value or action.key()
        return value


class _AtMost(_Counted):
    def _breaks(self, action: Action) -> bool:
        return self._counts(action) and self._times[self._key(action)] >= (self.guard.times or 1)

    def _state(self) -> State:
        return "holding"

    def _is_tried(self) -> bool:
        return bool(self._times)


class _AtLeast(_Counted):
    """Without an argument to group by, a run with no call has too few; with one, only values that occur are counted."""

    def _breaks(self, action: Action) -> bool:
        return False

    def _state(self) -> State:
        return "pending" if self._is_tried() and self._is_short() else "holding"

    def _is_short(self) -> bool:
        return min(self._times.values(), default=0) < self.guard.times

    def _is_tried(self) -> bool:
        return bool(self._times) or not self.guard.argument


class _Precedence(Automaton):
    """A failed call that the agent retried later does not count; a failed call that it left at that does."""

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
        """The deadline of the earliest A that B has not followed yet."""
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
    def relevant_functions(self) -> None:
        return None

    def _breaks(self, action: Action) -> bool:
        return False

    def _note(self, action: Action) -> None:
        # The final answer is not a call: `last(Mail.send)` is about the last call before it.
        if action.kind == "call" or self._first.kind == "finalize" or self._first.kind == action.kind:
            self._is_last = action.worked and self._first.matches(action)

    def _state(self) -> State:
        return "holding" if self._is_last else "pending"


class _KnownValue(Automaton):
    """A refused guess does not count if the agent then gives a value it has seen; if it leaves it at that, it does."""

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
    """Vacuous on redacted steps, which do not keep what a call returned."""

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
    """A new automaton for one run at `task`. Raises GuardError if the guard is malformed."""
    return _AUTOMATA[guard.template](guard, task)
