"""The table of guard templates: how each is written, what it demands, how it is worded, and how it is checked.

A template is a fold over the actions of a run: a row says what breaks it and what it notes. A new template is a row
here and, if the rules are to learn it, a file in build/rules/kinds/. No other code branches on the template of a guard.

States are those of RV-LTL (Bauer, Leucker, Schallhart 2010), a four-valued semantics of LTL on unfinished traces:

    satisfied   it holds, whatever follows            (true)
    holding     it holds if the run stops now         (presumably true)
    pending     it is broken if the run stops now, but can still be met: something is owed   (presumably false)
    broken      it is broken, whatever follows        (false)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.guards.actions import Action
from contramem.guards.conditions import keep_unmet, keep_unmet_by_task, parse_pattern

if TYPE_CHECKING:
    from contramem.guards.guard import Guard

Template: TypeAlias = Literal[
    "existence",
    "absence",
    "at_most_once",
    "at_most",
    "at_least",
    "precedence",
    "response",
    "not_succession",
    "last",
    "known_value",
    "covers",
]
State: TypeAlias = Literal["satisfied", "holding", "pending", "broken"]
Verdict: TypeAlias = Literal["holds", "broken", "vacuous"]
"""Vacuous: nothing that the guard applies to happened, so it holds without having been tested."""
Demand: TypeAlias = Literal["a call", "no call"]
Parameters: TypeAlias = Literal["F", "F by argument", "F by argument, N", "F.argument", "A, B", "A.field, B.argument"]
"""The parameters in the parentheses. ` by argument` is optional."""


class Automaton:
    """One guard on one run. Feed it every action in order, or at least those of the guard's `relevant_functions`."""

    def __init__(self, guard: Guard, task: str = "") -> None:
        self.guard, self.form = guard, guard.form
        self.first = parse_pattern(guard.function)
        self.then = parse_pattern(guard.then) if guard.then else self.first
        self._conditions = keep_unmet_by_task(guard.conditions, task) if guard.when else []
        self._exceptions = keep_unmet_by_task(guard.exceptions, task) if guard.unless else []
        self._broken = False
        self._clock: float | None = None
        # What the rows of the table note:
        self.done = self.settled = False
        """Whether the first function has worked; whether nothing can break the guard any more."""
        self.owed = self.form.is_owed_at_start and not (self.form.counts and guard.argument)
        self.tried = self.form.is_tried_at_start and not (self.form.counts and guard.argument)
        """Whether the guard was tested at all: a rule about deleting holds vacuously in a run that deletes nothing."""
        self.since: float | None = None
        """When the deadline began."""
        self.counts: dict[object, int] = {}
        self.returned: set[str] = set()
        self.given: set[str] = set()

    @property
    def due(self) -> float | None:
        """The deadline of what is owed, on the clock of the run. None if nothing is due."""
        if not self.owed or self.since is None or self.guard.within is None or self.form.demand != "a call":
            return None
        return self.since + self.guard.within

    def observe(self, action: Action) -> bool:
        """Process an action and its result. Returns True if it broke the guard for good."""
        was_broken = self._broken and self._in_scope
        if action.time is not None:
            self._run_out(action.time)
        if self._conditions:
            self._conditions = keep_unmet(self._conditions, action)
        if self._exceptions:
            self._exceptions = keep_unmet(self._exceptions, action)
        if not self._broken:
            if self.form.breaks(self, action):
                self._broken = True
            else:
                self.form.note(self, action)
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
        return self._would_be_in_scope(action) and (self._broken or self.form.breaks(self, action))

    def goes_against(self, action: Action) -> bool:
        """Whether this call would break the guard, or is made in another way than the guard demands."""
        if self.would_break(action):
            return True
        demands_a_way = self.guard.demand == "a call" and not self.guard.then and self.first.conditions
        if not demands_a_way or action.function != self.first.function or self.state == "satisfied":
            return False
        return self._would_be_in_scope(action) and not self.first.matches(action)

    @property
    def state(self) -> State:
        if self.settled and not self._broken:
            return "satisfied"
        if not self._in_scope:
            return "holding"  # nothing is owed in a run that the guard does not apply to
        return "broken" if self._broken else "pending" if self.owed else "holding"

    @property
    def verdict(self) -> Verdict:
        """The verdict on a run that ends here. A deadline in a run without a clock counts as untested."""
        if not self._in_scope or (self.guard.within is not None and self._clock is None):
            return "vacuous"
        if self.state in ("broken", "pending"):
            return "broken"
        return "holds" if self.tried else "vacuous"

    @property
    def _in_scope(self) -> bool:
        return not self._conditions and (self.guard.unless is None or bool(self._exceptions))

    def _would_be_in_scope(self, action: Action) -> bool:
        """Whether the guard would apply to the run after this action."""
        if keep_unmet(self._conditions, action):
            return False
        return self.guard.unless is None or bool(keep_unmet(self._exceptions, action))

    def _run_out(self, time: float) -> None:
        if self.since is None and self.form.is_owed_at_start:
            self.since = time
        due = self.due
        self._clock = time if self._clock is None else max(self._clock, time)
        if due is not None and time > due:
            self._broken = True

    # What the rows of the table ask

    def is_first(self, action: Action) -> bool:
        """Has the first function worked?"""
        return action.worked and self.first.matches(action)

    def is_then(self, action: Action) -> bool:
        return action.worked and self.then.matches(action)

    def is_prepared(self, action: Action) -> bool:
        """Had the first function worked before this action, and not too long ago? A run without a clock is in time."""
        if not self.done or self.guard.within is None or self.since is None or action.time is None:
            return self.done
        return action.time <= self.since + self.guard.within

    def count(self, action: Action) -> int:
        """How often such a call has worked."""
        return self.counts.get(self.key(action), 0)

    def key(self, action: Action) -> object:
        """Equal for calls that are counted together."""
        value = repr(action.arguments.get(self.guard.argument)) if self.guard.argument else ""
        return value if self.form.counts else (action.function, value or action.key())


@dataclass(frozen=True)
class TemplateForm:
    """One template. Its wordings can use {first}, {then}, {argument}, {field}, {same} ("the same arguments"), {count},
    {per} ("with the same argument", if calls are counted by one), {late} (the deadline, if there is one), {made} and
    {then_made} (a function is "called", an answer "given")."""

    parameters: Parameters
    sentence: str
    """What must hold, for people and the completion ledger."""
    instruction: str
    """The same as an instruction to an agent; {when} is the condition on the run."""
    at_call: str = ""
    """The instruction in fewer words, for a text that has named the call that triggers it. Empty: no shorter."""
    demand: Demand | None = None
    """Whether it demands a call or forbids one. None if it only restricts how a call is made."""
    broken: str = ""
    """What went wrong for good. Empty if the guard can always still be met."""
    owed: str = ""
    """What is still to do while the guard is pending. Empty if it never is."""
    timed: bool = False
    """Whether it can have a deadline."""
    guards_second: bool = False
    """Whether the second function triggers it; otherwise the first does."""
    follows_first: bool = False
    """Whether it demands something after every call of its first function."""
    distinct: bool = False
    """Whether its two functions must differ, because no run could keep it otherwise."""
    is_owed_at_start: bool = False
    """Whether an empty run breaks it."""
    is_tried_at_start: bool = False
    """Whether it says something about every run."""
    breaks: Callable[[Automaton, Action], bool] = lambda run, action: False
    """Whether this action breaks it for good. Changes nothing."""
    note: Callable[[Automaton, Action], None] = lambda run, action: None
    """Takes in an action that does not break it."""

    @property
    def takes_two(self) -> bool:
        """Whether it takes two functions."""
        return self.parameters in ("A, B", "A.field, B.argument")

    @property
    def counts(self) -> bool:
        """Whether its last parameter is a number."""
        return self.parameters == "F by argument, N"


def _note_existence(run: Automaton, action: Action) -> None:
    if run.is_first(action):
        run.settled, run.owed = True, False


def _note_count(run: Automaton, action: Action) -> None:
    """By an argument, only values that occur are counted; without one, a run with no call has too few."""
    if run.is_first(action):
        run.counts[run.key(action)] = run.count(action) + 1
        run.tried, run.owed = True, run.form.is_owed_at_start and min(run.counts.values()) < run.guard.times


def _note_first(run: Automaton, action: Action) -> None:
    if run.is_first(action):
        run.done, run.tried, run.since = True, True, action.time


def _note_precedence(run: Automaton, action: Action) -> None:
    """A failed call that the agent retried later does not count; a failed call that it left at that does."""
    if run.then.matches(action):
        run.tried, run.owed = True, not run.is_prepared(action)
    if run.is_first(action):
        run.done, run.since = True, action.time
    run.settled = run.done and not run.owed and run.guard.within is None


def _note_response(run: Automaton, action: Action) -> None:
    """The deadline is that of the earliest A that B has not followed yet."""
    if run.is_first(action):
        run.since = run.since if run.owed else action.time
        run.owed = run.tried = True
    elif run.owed and run.is_then(action):
        run.owed = False


def _note_last(run: Automaton, action: Action) -> None:
    """The final answer is not a call: `last(Mail.send)` is about the last call before it."""
    if action.kind == "call" or run.first.kind in ("finalize", action.kind):
        run.owed = not run.is_first(action)


def _note_value(run: Automaton, action: Action) -> None:
    """A refused guess does not count if the agent then gives a value it has seen; if it leaves it at that, it does."""
    if run.first.matches(action) and (origin := action.origin(run.guard.argument)) is not None:
        run.tried, run.owed = True, origin == "nowhere"


def _note_covered(run: Automaton, action: Action) -> None:
    """Vacuous on redacted steps, which do not keep what a call returned."""
    if run.is_then(action):
        run.given |= action.values(run.guard.argument)
    if run.is_first(action):
        run.returned |= action.returned_values(run.guard.field) or frozenset()
    run.tried, run.owed = bool(run.returned), not run.returned <= run.given


FORMS: dict[Template, TemplateForm] = {
    "existence": TemplateForm(
        "F",
        "{first} is {made} and succeeds",
        "Call {first}{when}.",
        demand="a call",
        broken="{first} was not {made}{late}",
        owed="{first} still has to be {made}",
        timed=True,
        is_owed_at_start=True,
        is_tried_at_start=True,
        note=_note_existence,
    ),
    "absence": TemplateForm(
        "F",
        "{first} is not {made}",
        "Do not call {first}{when}.",
        demand="no call",
        broken="{first} was {made}",
        is_tried_at_start=True,
        breaks=lambda run, action: run.first.matches(action),
    ),
    "at_most_once": TemplateForm(
        "F by argument",
        "{first} does not succeed twice with {same}",
        "Call {first} only once with {same}{when}.",
        broken="{first} succeeded twice with {same}",
        breaks=lambda run, action: run.is_first(action) and run.count(action) >= 1,
        note=_note_count,
    ),
    "at_most": TemplateForm(
        "F by argument, N",
        "{first} succeeds at most {count}{per}",
        "Call {first} at most {count}{per}{when}.",
        broken="{first} succeeded more than {count}{per}",
        breaks=lambda run, action: run.is_first(action) and run.count(action) >= run.guard.times,
        note=_note_count,
    ),
    "at_least": TemplateForm(
        "F by argument, N",
        "{first} succeeds at least {count}{per}",
        "Call {first} at least {count}{per}{when}.",
        demand="a call",
        owed="{first} has to succeed at least {count}{per}",
        is_owed_at_start=True,
        is_tried_at_start=True,
        note=_note_count,
    ),
    "precedence": TemplateForm(
        "A, B",
        "{then} is {then_made} only after {first} has succeeded",
        "Call {first} and confirm that it succeeded before calling {then}{when}.",
        at_call="First call {first} and confirm that it succeeded.",
        broken="{then} was {then_made} before {first} had succeeded{late}",
        owed="{then} was refused; first {first}, then {then} again",
        timed=True,
        guards_second=True,
        distinct=True,
        breaks=lambda run, action: run.is_then(action) and not run.is_prepared(action),
        note=_note_precedence,
    ),
    "response": TemplateForm(
        "A, B",
        "after {first} succeeds, {then} is {then_made} and succeeds",
        "After {first}, call {then}{when}.",
        at_call="Afterwards call {then}.",
        demand="a call",
        broken="{first} succeeded, and {then} was not {then_made}{late}",
        owed="{first} has succeeded; {then} still has to be {then_made}",
        timed=True,
        follows_first=True,
        distinct=True,
        note=_note_response,
    ),
    "not_succession": TemplateForm(
        "A, B",
        "once {first} has succeeded, {then} is not {then_made} again",
        "Once {first} has succeeded, do not call {then} any more{when}.",
        demand="no call",
        broken="{then} was {then_made} after {first} had succeeded",
        timed=True,
        breaks=lambda run, action: run.is_then(action) and run.is_prepared(action),
        note=_note_first,
    ),
    "last": TemplateForm(
        "F",
        "{first} comes last and succeeds",
        "Call {first} last{when}.",
        demand="a call",
        owed="{first} has to come last",
        is_owed_at_start=True,
        is_tried_at_start=True,
        note=_note_last,
    ),
    "known_value": TemplateForm(
        "F.argument",
        "every {argument} given to {first} was seen before the call",
        "Give {first} only values of {argument} that you have seen before{when}.",
        broken="{first} got a value for {argument} that had not been seen before",
        owed="{first} was refused; give it a value of {argument} that the task or a result has shown",
        breaks=lambda run, action: run.is_first(action) and action.origin(run.guard.argument) == "nowhere",
        note=_note_value,
    ),
    "covers": TemplateForm(
        "A.field, B.argument",
        "every {field} that {first} returns is given as {argument} to {then}, which succeeds",
        "Call {then} for every {field} that {first} returns{when}.",
        owed="not every {field} of {first} has been given to {then} yet",
        note=_note_covered,
    ),
}
