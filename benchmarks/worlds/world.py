"""What a made-up domain consists of: tools that keep state, tasks, agents with known weaknesses, and the truth."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

Claim = tuple[str, ...]
"""One thing that a card says: ("precedence", first, then), ("words", function, argument, ...)."""


class Refused(Exception):
    """A tool's own no."""


@dataclass(frozen=True)
class Agent:
    """A source: how likely it makes each mistake, and what it does that makes no difference."""

    name: str
    faults: dict[str, float]
    habits: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Planted:
    """A rule of the domain. It is found when a card makes one of the claims."""

    name: str
    claims: tuple[Claim, ...]


class Session:
    """One attempt: the agent's calls on a fresh world, as chat messages."""

    def __init__(self, world: World, task: str, agent: Agent, rng: random.Random) -> None:
        self.world, self.agent, self.rng = world, agent, rng
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
        self.spoiled = False
        """Something that the request or a silent rule of the domain forbids was done, or left out."""

    def slips(self, fault: str) -> bool:
        """Does the agent make this mistake now?"""
        return self.rng.random() < self.agent.faults.get(fault, 0.0)

    def does(self, habit: str) -> bool:
        return self.rng.random() < self.agent.habits.get(habit, 0.0)

    def breaks(self, rule: str) -> bool:
        """Does the agent break this silent rule now? Then the run has failed, whatever else it does."""
        broken = self.slips(rule)
        self.spoiled = self.spoiled or broken
        return broken

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The tool's answer; None when it refuses."""
        number = f"call_{len(self.messages)}"
        asked = {"name": tool, "arguments": msgspec.json.encode(arguments).decode()}
        self.messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": number, "type": "function", "function": asked}],
            }
        )
        try:
            answer = self.world.tools[tool](**arguments)
            content = msgspec.json.encode(answer).decode()
        except Refused as refusal:
            answer, content = None, f"Error: {refusal}"
        self.messages.append({"role": "tool", "tool_call_id": number, "content": content})
        return answer

    def say(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})


@dataclass(frozen=True)
class HouseRule:
    """A rule that no tool enforces and no document mentions. Runs show that it is there, by how they end."""

    name: str
    """What `Session.breaks` is asked about."""
    kind: str
    """condition, several conditions, exception, deadline, weekday, form, source, joined (a source that another record
    points at), choice, unit, cap, constant, letter (what a text must or must not say), order, each, once, or
    not to act."""
    says: str
    guard: str
    """One guard that states it; others may do so as well (worlds/house_rules.py)."""


class World:
    """State and tools of one domain. A subclass says what is in it and what is true of it."""

    name = ""
    tasks = 30
    """How many are worked on, unless somebody asks for another number."""
    house_rules: tuple[HouseRule, ...] = ()
    planted: tuple[Planted, ...] = ()
    implied: frozenset[Claim] = frozenset()
    """True without being planted: what follows from how values flow."""
    agents: tuple[Agent, ...] = ()

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        raise NotImplementedError

    def ask(self, number: int) -> str:
        """Sets the world up for task `number`, and gives the request."""
        raise NotImplementedError

    def attempt(self, session: Session) -> None:
        """What an agent does; afterwards `solved` says whether that was right."""
        raise NotImplementedError

    def solved(self) -> bool:
        raise NotImplementedError


NOISE = 0.05
"""Runs that fail of nothing that can be seen."""


def runs(world: type[World], tasks: int, seed: int) -> Iterator[dict[str, Any]]:
    """Every agent at every task, as chat records. All agents meet the same world in the same state."""
    for number in range(tasks):
        for agent in world.agents:
            made = world(random.Random(f"{world.name} {seed} {number}"))
            session = Session(made, made.ask(number), agent, random.Random(f"{agent.name} {seed} {number}"))
            made.attempt(session)
            passed = made.solved() and not session.spoiled and session.rng.random() >= NOISE
            yield {
                "task_id": f"{world.name}-{number:02}",
                "model": agent.name,
                "environment": world.name,
                "passed": passed,
                "messages": session.messages,
            }
