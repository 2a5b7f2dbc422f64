"""Is what a guard asks for a rule of the house? Held against runs of agents whose faults are known, one at a time.

An agent without faults keeps whatever is true; an agent with one fault breaks the rule of that name and no other. So a
guard is true when the faultless agent keeps it, habits and all, and some faulty one breaks it; it states a rule when
it is broken by most runs that broke this rule. How the guard is written does not matter, and a condition that is
missing or wrong shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from contramem.guards.guard import Guard
from contramem.study.recorded_actions import RecordedActions
from contramem.traces.read import read_traces
from worlds.world import Agent, Session, World

TASKS = 180
MAX_WRONG = 0.02
"""The share of faultless runs, of those that a guard speaks about, which may break it."""
MIN_STATED = 0.6
"""The share of runs with one fault that must break a guard which states the rule."""
MIN_TOUCHED = 0.2
"""The share of runs with one fault that must break a guard for it to be about that rule in part."""


class Reference:
    """Runs of one domain by agents whose faults are known."""

    def __init__(self, world: type[World]) -> None:
        self._world = world

    @cached_property
    def faultless(self) -> list[RecordedActions]:
        habits = {habit: 0.5 for agent in self._world.agents for habit in agent.habits}
        return _record(_attempts(self._world, Agent("faultless", {}, habits), spoiled=False))

    @cached_property
    def faulty(self) -> dict[str, list[RecordedActions]]:
        """For each house rule, runs that broke it and nothing else."""
        return {
            rule.name: _record(_attempts(self._world, Agent(rule.name, {rule.name: 1.0}), spoiled=True))
            for rule in self._world.house_rules
        }

    def is_true(self, guards: Sequence[Guard]) -> bool:
        """Does nobody go wrong by keeping them, and somebody by breaking them?"""
        return bool(guards) and self._is_kept(guards) and bool(self._broken_by(guards, MIN_TOUCHED))

    def rules_stated(self, guards: Sequence[Guard]) -> set[str]:
        """The house rules that the guards state, conditions included."""
        return self._broken_by(guards, MIN_STATED) if guards and self._is_kept(guards) else set()

    def _is_kept(self, guards: Sequence[Guard]) -> bool:
        for guard in guards:
            verdicts = [run.replay(guard) for run in self.faultless]
            spoken = [verdict for verdict in verdicts if verdict != "vacuous"]
            if spoken.count("broken") > MAX_WRONG * len(spoken):
                return False
        return True

    def _broken_by(self, guards: Sequence[Guard], share: float) -> set[str]:
        return {
            rule
            for rule, runs in self.faulty.items()
            if sum(any(run.replay(guard) == "broken" for guard in guards) for run in runs) >= share * len(runs)
        }


def _attempts(world: type[World], agent: Agent, *, spoiled: bool) -> Iterator[dict[str, Any]]:
    """Runs of the agent at tasks that no benchmark uses. `spoiled`: only those that broke a house rule."""
    for number in range(TASKS):
        made = world(random.Random(f"{world.name} reference {number}"))
        session = Session(made, made.ask(number), agent, random.Random(f"{agent.name} reference {number}"))
        made.attempt(session)
        if session.spoiled is spoiled:
            yield {
                "task_id": f"reference-{number:02}",
                "model": agent.name,
                "environment": world.name,
                "passed": not spoiled,
                "messages": session.messages,
            }


def _record(records: Iterator[dict[str, Any]]) -> list[RecordedActions]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_bytes(b"\n".join(map(msgspec.json.encode, records)))
        return [RecordedActions(run) for run in read_traces([path])]
