"""Target: the agent's model, as the loop sees it. It gets messages and tools and says what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from contramem.counting import count_tokens
from contramem.traces.trajectory import RunUsage, Tool

ONE_CALL = RunUsage(model_calls=1)

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for, under the name the function has for it."""

    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    """Links the result to the call, if a provider needs that."""


@dataclass(frozen=True)
class ChatMessage:
    """One message of the conversation. The target knows how to send it."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """For the assistant: its calls."""
    answers: ToolCall | None = None
    """For a tool: the call whose result this is."""


@dataclass(frozen=True)
class AgentReply:
    """What the model does next: calls, or the answer that ends its turn, or neither."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""
    """Why the reply is neither a call nor an answer, in words that the model can act on."""
    usage: RunUsage = ONE_CALL


class WindowFullError(Exception):
    """The conversation no longer fits the model's window. The loop ends the run; no user sees this."""


class Target(Protocol):
    """A model that acts. It may serve several runs at once."""

    @property
    def name(self) -> str:
        """The name of its runs."""

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        """What it does next. A model that cannot be reached raises a ModelError, and the run is not evidence."""


Move: TypeAlias = ToolCall | str | AgentReply
Policy: TypeAlias = Callable[[Sequence[ChatMessage], Sequence[Tool]], Move]


class ScriptedTarget:
    """Follows a policy instead of asking a model: a call, or text as the answer. For tests, yours and ours."""

    def __init__(self, policy: Policy, name: str = "scripted") -> None:
        self.name = name
        self._policy = policy

    @classmethod
    def playing(cls, moves: Iterable[Move], name: str = "scripted") -> ScriptedTarget:
        """Make these moves in order, whatever happens, and then say nothing more."""
        left = iter(moves)
        return cls(lambda messages, tools: next(left, ""), name)

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        move = self._policy(messages, tools)
        if isinstance(move, AgentReply):
            return move
        read = sum(count_tokens(message.text) for message in messages)
        written = move if isinstance(move, str) else f"{move.function} {move.arguments}"
        usage = RunUsage(model_calls=1, tokens_in=read, tokens_out=count_tokens(written))
        return AgentReply(move, usage=usage) if isinstance(move, str) else AgentReply(calls=(move,), usage=usage)
