"""Target: the agent's model, as the loop sees it. It is given messages and tools and says what it does next."""

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
    """A call that the model asks for, with the name it was given for the function."""

    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    """What ties the result to it, where a provider wants that."""


@dataclass(frozen=True)
class ChatMessage:
    """One message of the conversation. How it is put on the wire is for the target to know."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of the assistant: what it asked for."""
    answers: ToolCall | None = None
    """Of a tool: the call that this is the result of."""


@dataclass(frozen=True)
class AgentReply:
    """What the model does next: calls, or the answer that ends its turn, or neither."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""
    """Why the reply is neither a call nor an answer, in words that the model can act on."""
    usage: RunUsage = ONE_CALL


class WindowFullError(Exception):
    """The conversation has outgrown what the model can read. The loop ends the run; no user sees this."""


class Target(Protocol):
    """A model that acts. One may serve several runs at once."""

    @property
    def name(self) -> str:
        """What its runs are called by."""

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        """What it does next. A model that cannot be asked raises a ModelError, and the run is nobody's evidence."""


Move: TypeAlias = ToolCall | str | AgentReply
Policy: TypeAlias = Callable[[Sequence[ChatMessage], Sequence[Tool]], Move]


class ScriptedTarget:
    """Plays a policy instead of asking a model: a call, or text as the answer. For tests, yours as well as ours."""

    def __init__(self, policy: Policy, name: str = "scripted") -> None:
        self.name = name
        self._policy = policy

    @classmethod
    def playing(cls, moves: Iterable[Move], name: str = "scripted") -> ScriptedTarget:
        """Makes these moves in order, whatever happens, and then has nothing more to say."""
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
