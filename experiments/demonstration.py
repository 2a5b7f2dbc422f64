"""The environment and the agent of demonstration.toml: real tools and verdicts, and an agent that is a script.

The agent knows the calls that solve each task, since it was given the solutions. It forgets half of the functions,
by lot, unless a text it was shown names them. So a memory helps it as far as it names the calls that are needed.
That shows that the machinery works, from the runs to the report; it says nothing about any model, and nothing about how
much memory helps one.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from contramem.counting import count_tokens
from contramem.traces.trajectory import RunUsage, Tool
from contramem_lab.bfcl import BfclEnvironment
from contramem_lab.environment import EnvironmentCall
from contramem_lab.target import AgentReply, ChatMessage, ToolCall

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FORGETS = 0.5


@cache
def environment() -> BfclEnvironment:
    """The example tasks in BFCL's tool backends (examples/README.md)."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from tasks import EXAMPLES as examples
        from tools import DESCRIPTIONS
    finally:
        sys.path.remove(str(EXAMPLES))
    return BfclEnvironment([example.task for example in examples], DESCRIPTIONS)


class Forgetful:
    """Makes the calls of the solution in order, without those that it forgets."""

    name = "forgetful"

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        lot = (seed or 0) // 1000  # the loop draws a new seed for each step of a run
        read = sum(count_tokens(message.text) for message in messages)
        for call in self._left(messages):
            if not self._forgets(call.function, lot, messages):
                usage = RunUsage(model_calls=1, tokens_in=read, tokens_out=count_tokens(call.function))
                return AgentReply(calls=(ToolCall(call.function, dict(call.arguments)),), usage=usage)
        return AgentReply("Done.", usage=RunUsage(model_calls=1, tokens_in=read, tokens_out=1))

    def _left(self, messages: Sequence[ChatMessage]) -> Iterator[EnvironmentCall]:
        """The calls of this turn's solution that were not made yet."""
        starts = [place for place, message in enumerate(messages) if message.role == "user"]
        solution = _solutions()[_asked(messages[starts[0]])]
        starts = starts[: len(solution)]  # a reminder before the end opens no turn
        made = [
            (message.answers.function, message.answers.arguments)
            for message in messages[starts[-1] :]
            if message.answers is not None and not _is_held(message)
        ]
        for call in solution[len(starts) - 1]:
            if (call.function, dict(call.arguments)) in made:
                made.remove((call.function, dict(call.arguments)))
            else:
                yield call

    def _forgets(self, function: str, lot: int, messages: Sequence[ChatMessage]) -> bool:
        drawn = hashlib.sha256(f"{lot}/{function}".encode()).digest()[0] / 256
        shown = (message.text for message in messages if message.role == "user" or _is_held(message))
        return drawn < FORGETS and not any(re.search(rf"\b{re.escape(function)}\b", text) for text in shown)


def _is_held(message: ChatMessage) -> bool:
    return message.role == "tool" and message.text.startswith(HELD)


HELD = "Not executed yet"


def _asked(message: ChatMessage) -> str:
    """The task that a conversation begins with."""
    return next(first for first in _solutions() if first in message.text)


@cache
def _solutions() -> dict[str, tuple[tuple[EnvironmentCall, ...], ...]]:
    """By the user's first words."""
    return {task.turns[0]: task.ground_truth for task in environment().tasks().values()}


def target() -> Forgetful:
    return Forgetful()
