"""A guard on the runs of one packet: which passing runs keep it, and which failing ones break it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from contramem.monitor.action import actions_of_run
from contramem.monitor.guard import Guard
from contramem.monitor.task_facts import apply_task_facts

if TYPE_CHECKING:
    from contramem.contrast.packet import Packet

MAX_CONTRADICTING = 0.25
"""The share of the passing runs that a guard speaks about which may do otherwise before a task speaks against it."""


class GuardReplay(NamedTuple):
    """How the runs of one packet fared under a guard, by letter."""

    guard: Guard
    held: tuple[str, ...]
    """Passing runs that met it and kept it."""
    broken: tuple[str, ...]
    """Failing runs that broke it."""
    contradicted: tuple[str, ...]
    """Passing runs that broke it."""
    kept_in_vain: tuple[str, ...] = ()
    """Failing runs that met it and kept it."""

    @property
    def supports(self) -> bool:
        """Passing runs keep it, but for a few, and failing runs break it more often than they do."""
        if not (self.held and self.broken) or self.speaks_against:
            return False
        failing = len(self.broken) + len(self.kept_in_vain)
        return len(self.broken) / failing > len(self.contradicted) / self._passing

    @property
    def speaks_against(self) -> bool:
        return bool(self.contradicted) and len(self.contradicted) >= MAX_CONTRADICTING * self._passing

    @property
    def _passing(self) -> int:
        return len(self.held) + len(self.contradicted)


def replay(guard: Guard, packet: Packet) -> GuardReplay:
    """Check the guard on every run that is evidence."""
    fitted = fit_to_task(guard, packet)
    passing = {run.letter: fitted.check(run.actions, packet.recorded.get(run.letter)) for run in packet.passing}
    failing = {run.letter: fitted.check(run.actions, packet.recorded.get(run.letter)) for run in packet.failing}
    return GuardReplay(
        guard,
        held=tuple(letter for letter, verdict in passing.items() if verdict == "holds"),
        broken=tuple(letter for letter, verdict in failing.items() if verdict == "broken"),
        contradicted=tuple(letter for letter, verdict in passing.items() if verdict == "broken"),
        kept_in_vain=tuple(letter for letter, verdict in failing.items() if verdict == "holds"),
    )


def fit_to_task(guard: Guard, packet: Packet) -> Guard:
    """The guard without the conditions that are facts of the task of the packet."""
    if len(packet.task_keys) > 1:
        return guard  # a fact of one of its tasks is none of the others
    return apply_task_facts(
        guard, lambda: (action for run in packet.recorded.values() for action in actions_of_run(run))
    )
