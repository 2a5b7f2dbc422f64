"""Six scripted agents, each with its own weaknesses, and how they call tools. scripts.py has what they do with them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

from northline.calls import Executed
from northline.rules import RULES
from northline.tasks import NorthlineTask
from northline.tools import run_tool
from northline.world import TODAY

SYSTEM = f"You work in the back office of Northline Supply. Today is {TODAY}. Carry out the request with the tools."
CHATTER = ("Next step.", "Let me look at this.", "I will do that now.")


class Agent(NamedTuple):
    """How likely an agent does what."""

    name: str
    breaks: Mapping[str, float] = {}
    """By rule: breaks it."""
    overdoes: Mapping[str, float] = {}
    """By rule: applies it where it does not hold."""
    habits: Mapping[str, float] = {}
    """What changes no verdict: comments on each step, reads again, tries a name as an id or a word of its own as a
    code, looks at more than it needs."""


PERFECT = Agent("perfect")
NAMES = ("alder-large", "birch-2", "cedar-mini", "dogwood-3", "elm-pro", "fir-chat")
HABITS = (
    {"chatty": 0.9, "rereads": 0.3, "id_error": 0.0, "word_error": 0.1, "peeks": 0.1},
    {"chatty": 0.2, "rereads": 0.0, "id_error": 0.3, "word_error": 0.3, "peeks": 0.4},
    {"chatty": 0.0, "rereads": 0.1, "id_error": 0.4, "word_error": 0.5, "peeks": 0.0},
    {"chatty": 0.5, "rereads": 0.6, "id_error": 0.1, "word_error": 0.2, "peeks": 0.3},
    {"chatty": 0.7, "rereads": 0.2, "id_error": 0.1, "word_error": 0.1, "peeks": 0.6},
    {"chatty": 0.1, "rereads": 0.4, "id_error": 0.2, "word_error": 0.4, "peeks": 0.2},
)


def draw_agents() -> list[Agent]:
    """The six agents. Who is weak at which rule is drawn, in the same way every time."""
    breaks: list[dict[str, float]] = [{} for _ in NAMES]
    overdoes: list[dict[str, float]] = [{} for _ in NAMES]
    for rule in RULES:
        rng = random.Random(f"agents {rule.id}")
        for weaknesses, levels in (
            (breaks, [0.05, 0.1, 0.25, 0.45, 0.65, 0.8]),
            (overdoes, [0.05, 0.15, 0.3, 0.4, 0.5, 0.6]),
        ):
            rng.shuffle(levels)
            for weakness, level in zip(weaknesses, levels, strict=True):
                weakness[rule.id] = level
    return [Agent(*row) for row in zip(NAMES, breaks, overdoes, HABITS, strict=True)]


class ScriptedRun:
    """One agent at one task: the calls it makes and the messages of the conversation."""

    def __init__(self, task: NorthlineTask, agent: Agent, seed: int) -> None:
        self.task = task
        self.rng = random.Random(f"{agent.name} {seed} {task.id}")
        self.calls: list[Executed] = []
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": task.request},
        ]
        self._agent = agent

    # Each of these draws, so the order in which a script asks is part of the recorded runs.

    def breaks(self, rule: str) -> bool:
        return self.rng.random() < self._agent.breaks.get(rule, 0)

    def overdoes(self, rule: str) -> bool:
        return self.rng.random() < self._agent.overdoes.get(rule, 0)

    def has_habit(self, name: str) -> bool:
        return self.rng.random() < self._agent.habits.get(name, 0)

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and give what it returned, as the agent reads it; None if it refused."""
        text, value = run_tool(self.task.world, tool, arguments)
        self.calls.append(Executed(tool, arguments, value))
        call_id = f"call_{len(self.calls):02d}"
        said = self.pick(*CHATTER, f"Using {tool}.") if self.has_habit("chatty") else None
        function = {"name": tool, "arguments": json.dumps(arguments)}
        self.messages += [
            {
                "role": "assistant",
                "content": said,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": call_id, "content": text},
        ]
        return None if value is None else json.loads(text)

    def answer(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})
