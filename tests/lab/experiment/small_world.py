"""A world of boxes, small enough to run an experiment in a second: a box must be unlocked before a thing is taken."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contramem.errors import ModelError
from contramem.traces.trajectory import Outcome, Result, RunUsage, Tool
from contramem_lab.environment import EnvironmentCall, Solution, Task
from contramem_lab.target import AgentReply, ChatMessage, ToolCall

THINGS = ("key", "map", "lamp", "rope", "coin", "seal", "bell", "drum", "flute", "glove", "scarf", "stone")


def wording(thing: str) -> str:
    return f"Please take the {thing} out of its box, the one in the {thing} room."


class Boxes:
    name = "boxes"

    def tasks(self) -> Mapping[str, Task]:
        return {
            thing: Task(thing, (wording(thing),), ("Box",), ("search", "execution")[number % 2], f"{thing}-room")
            for number, thing in enumerate(THINGS)
        }

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        text = {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}
        return tuple(Tool(f"Box.{name}", f"{name} a box", text) for name in ("unlock_box", "take_thing"))

    def start(self, task_id: str) -> Opened:
        return Opened(task_id)

    def solution(self, task_id: str) -> Solution:
        calls = tuple(EnvironmentCall(f"Box.{name}", {"thing": task_id}) for name in ("unlock_box", "take_thing"))
        return Solution((calls,))


class Opened:
    def __init__(self, thing: str) -> None:
        self._thing, self._unlocked, self._taken = thing, False, False

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        if arguments.get("thing") != self._thing:
            return Result("no such thing", "no such thing")
        if function == "Box.unlock_box":
            self._unlocked = True
            return Result("unlocked")
        if not self._unlocked:
            return Result("The box is locked.", "The box is locked.")
        self._taken = True
        return Result("taken")

    def end_turn(self, answer: str = "") -> None:
        pass

    def verify(self) -> Outcome:
        return Outcome(passed=self._taken)


class Agent:
    """Takes the thing; unlocks the box first if that is its habit, or if a text that it was shown says so."""

    def __init__(self, name: str, careful: bool) -> None:
        self.name, self._careful = name, careful

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        note_begun(messages)
        time.sleep(float(os.environ.get("SMALL_WORLD_SLEEP_S", "0")))
        told = any("unlock_box" in message.text for message in messages if message.role in ("user", "tool"))
        made = [m.answers.function for m in messages if m.answers and not m.text.startswith("Not executed")]
        plan = ["unlock_box"] * (self._careful or told) + ["take_thing"]
        thing = re.search(r"take the (\w+)", next(m.text for m in messages if m.role == "user"))
        assert thing is not None
        left = [name for name in plan if name not in made]
        usage = RunUsage(model_calls=1, tokens_in=10 * len(messages), tokens_out=5)
        if left:
            return AgentReply(calls=(ToolCall(left[0], {"thing": thing[1]}),), usage=usage)
        return AgentReply("Here it is.", usage=usage)


def note_begun(messages: Sequence[ChatMessage]) -> None:
    """Count the runs that were begun, in a file, so that a test can tell what was repeated."""
    if (log := os.environ.get("SMALL_WORLD_LOG")) and len(messages) == 2:
        with Path(log).open("a") as stream:
            stream.write("run\n")


class Unreachable:
    name = "unreachable"

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        raise ModelError("unreachable does not answer.")


def environment() -> Boxes:
    return Boxes()


def careful() -> Agent:
    return Agent("careful", careful=True)


def hasty() -> Agent:
    return Agent("hasty", careful=False)


def unreachable() -> Unreachable:
    return Unreachable()
