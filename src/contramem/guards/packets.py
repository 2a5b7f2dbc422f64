"""A guard on the runs of one packet: which passing runs keep it, and which failing runs break it.

What one run of a task looked up is true for all runs of that task: all start from the same data. A run that never
looked a customer up deals with the same customer as one that did, so a guard `when Shop.find_customer.tier = A` applies
to both; the run that did not look is the one that the guard is meant for. The result of a call that changes something
is a fact about its own run only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from contramem.chance import OutcomeTable
from contramem.grading import contradicts, supports
from contramem.guards.actions import Action, actions_of_run, actions_of_steps
from contramem.guards.conditions import CallOccurs, Condition, TaskSays, deciding_functions
from contramem.guards.guard import Guard, heard_functions, relevant_functions
from contramem.guards.templates import Automaton, Verdict

if TYPE_CHECKING:
    from contramem.contrast.packet import Packet, PacketRun

HowMet: TypeAlias = Literal["", "in this run", "as a fact"]
"""Whether a condition became true in a run. A fact is true of its task, and so of all runs of the task."""


def find_how_met(condition: Condition, actions: Iterable[Action]) -> HowMet:
    """Whether one of the actions makes the condition true. Not for a condition on the request."""
    met: HowMet = ""
    for action in actions:
        shows_fact = action.effect == "read" and not isinstance(condition, CallOccurs)
        if (shows_fact or not met) and not isinstance(condition, TaskSays) and condition.matches(action):
            if shows_fact:
                return "as a fact"
            met = "in this run"
    return met


def drop_facts(guard: Guard, is_fact: Callable[[Condition], bool]) -> Guard:
    """The guard for the runs of one task, without the conditions known to be true of it."""
    when, unless = (
        " and ".join(str(condition) for condition in asked if not is_fact(condition))
        for asked in (guard.conditions, guard.exceptions)
    )
    return guard._replace(when=when, unless=None if guard.unless is None else unless)


class GuardReplay(NamedTuple):
    """The runs of one packet, by letter, sorted by whether they kept a guard."""

    guard: Guard
    held: tuple[str, ...]
    """Passing runs that it applies to and that kept it."""
    broken: tuple[str, ...]
    """Failing runs that broke it."""
    contradicted: tuple[str, ...]
    """Passing runs that broke it."""
    kept_in_vain: tuple[str, ...] = ()
    """Failing runs that it applies to and that kept it."""

    @property
    def table(self) -> OutcomeTable:
        return OutcomeTable(len(self.held), len(self.kept_in_vain), len(self.contradicted), len(self.broken))

    def verdict_on(self, letter: str) -> Verdict:
        """What one run did with the guard."""
        if letter in self.broken or letter in self.contradicted:
            return "broken"
        return "holds" if letter in self.held or letter in self.kept_in_vain else "vacuous"

    @property
    def supports(self) -> bool:
        """Whether passing runs keep the guard, with few exceptions, and failing runs break it more often."""
        return supports(self.table)

    @property
    def contradicts(self) -> bool:
        """Whether too many passing runs break the guard."""
        return contradicts(self.table)


def replay(guard: Guard, packet: Packet) -> GuardReplay:
    """Check the guard on every passing and failing run of the packet. Kept with the packet: a build asks for the same
    several times."""
    return packet.memo.get(guard, lambda: _replay(guard, packet))


def _replay(guard: Guard, packet: Packet) -> GuardReplay:
    fitted = _fit_to_task(guard, packet)
    if fitted != guard:  # many guards that differ in their conditions are the same for this task
        return replay(fitted, packet)._replace(guard=guard)
    check = partial(_check, _HeardGuard.of(guard), packet)
    passing, failing = ({run.letter: check(run) for run in runs} for runs in (packet.passing, packet.failing))
    return GuardReplay(
        guard,
        held=tuple(letter for letter, verdict in passing.items() if verdict == "holds"),
        broken=tuple(letter for letter, verdict in failing.items() if verdict == "broken"),
        contradicted=tuple(letter for letter, verdict in passing.items() if verdict == "broken"),
        kept_in_vain=tuple(letter for letter, verdict in failing.items() if verdict == "holds"),
    )


class _HeardGuard(NamedTuple):
    """A guard and the calls that matter to it."""

    guard: Guard
    functions: frozenset[str] | None
    """None: any action matters."""
    without_calls: Verdict | None
    """The verdict on every run that calls none of the functions. None: it depends on the request."""

    @classmethod
    def of(cls, guard: Guard) -> _HeardGuard:
        functions = relevant_functions(guard) if guard.within is None else None
        return cls(guard, functions, None if heard_functions(guard) is None else Automaton(guard).verdict)


def _check(heard: _HeardGuard, packet: Packet, run: PacketRun) -> Verdict:
    actions, functions = _actions_of(run, packet)
    if heard.functions is not None:
        if heard.without_calls is not None and heard.functions.isdisjoint(functions):
            return heard.without_calls
        actions = [action for action in actions if action.function in heard.functions]
    recorded = packet.recorded.get(run.letter)
    watcher = Automaton(heard.guard, recorded.task if recorded else "")
    for action in actions:
        watcher.observe(action)
    return watcher.verdict


class _RunActions(NamedTuple):
    """The actions of one run, and the functions they call."""

    actions: list[Action]
    functions: frozenset[str]


def _actions_of(run: PacketRun, packet: Packet) -> _RunActions:
    """Hundreds of guards are replayed on them."""

    def find() -> _RunActions:
        actions = [*actions_of_steps(run.actions, packet.recorded.get(run.letter))]
        return _RunActions(actions, frozenset(action.function for action in actions))

    return packet.memo.get(("actions", run.letter), find)


def _fit_to_task(guard: Guard, packet: Packet) -> Guard:
    """The guard without the conditions that are known to be true of the packet's task."""
    asked = (*guard.conditions, *guard.exceptions)
    if len(packet.task_keys) > 1 or all(isinstance(condition, (CallOccurs, TaskSays)) for condition in asked):
        return guard  # a fact about one task need not hold for the others
    return drop_facts(guard, packet.memo.get("task facts", lambda: _TaskFacts(packet)).holds)


class _TaskFacts:
    """What reads of any run of a task showed."""

    def __init__(self, packet: Packet) -> None:
        self._reads = defaultdict[str, list[Action]](list)
        for run in packet.recorded.values():
            for action in actions_of_run(run):
                if action.effect == "read":
                    self._reads[action.function].append(action)
        self._known: dict[Condition, bool] = {}

    def holds(self, condition: Condition) -> bool:
        if isinstance(condition, (CallOccurs, TaskSays)):
            return False
        if condition not in self._known:
            reads = (action for function in deciding_functions(condition) for action in self._reads.get(function, ()))
            self._known[condition] = any(map(condition.matches, reads))
        return self._known[condition]
