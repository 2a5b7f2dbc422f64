"""Request and ModelReply: plain values, so that a provider, a script, a file or a person can answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from contramem.counting import count_tokens
from contramem.llm.tool_use import ToolOffer, ToolTurn

PaperStage: TypeAlias = Literal["builder", "reflector", "curator"]
Stage: TypeAlias = PaperStage | Literal["author"]
PAPER_STAGES: tuple[PaperStage, ...] = ("builder", "reflector", "curator")
STAGES: tuple[Stage, ...] = (*PAPER_STAGES, "author")
"""`author` is a model with tools that explores all runs."""
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["stop", "length", "content_filter", "refusal"]
"""How a reply ended: by itself, cut off at the token limit, withheld by the provider, or refused by the model."""

TIMEOUT = "timeout"
TIMEOUT_S = 300.0
MAX_REPLY_TOKENS = 16_000
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_REPLY_TOKENS_WITH_EFFORT = {"medium": 26_000, "high": 48_000, "xhigh": 64_000, "max": 64_000}
"""Reasoning counts as part of a reply, and some providers refuse a request that leaves no room for the reply itself."""


def reply_tokens(reasoning_effort: str | None) -> int:
    """The default limit for the length of a reply."""
    return _REPLY_TOKENS_WITH_EFFORT.get(reasoning_effort or "", MAX_REPLY_TOKENS)


class PromptMessage(NamedTuple):
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a call besides the prompt. None means the provider's default."""

    reasoning_effort: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = MAX_REPLY_TOKENS
    """For the reply, including reasoning."""


@dataclass(frozen=True)
class Request:
    """One call. Two requests with the same digest are the same, and the second is never paid for."""

    model: str
    settings: ModelSettings
    messages: tuple[PromptMessage, ...]
    schema: dict[str, Any] = field(hash=False)
    """JSON schema of the reply, an object."""
    stage: Stage = "builder"
    subject: str = ""
    """What it is about (a function, a task), shown to people."""
    prompt: str = ""
    """Digest of the template."""
    tools: tuple[ToolOffer, ...] = field(default=(), hash=False)
    """The tools the model may call. With tools, the text of the reply is a `ToolReply`, and `schema` is empty."""
    turns: tuple[ToolTurn, ...] = ()
    """The conversation since `messages`."""

    @cached_property
    def digest(self) -> str:
        parts: list[Any] = [self.model, asdict(self.settings), self.messages, self.schema]
        if self.tools:
            parts += [self.tools, self.turns]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def tokens(self) -> int:
        """The tokens of the messages and the schema, counted offline."""
        schema = json.dumps(self.tools or self.schema, separators=(",", ":"))  # as clients send it
        turns = [text for turn in self.turns for text in (turn.reply, *turn.answers)]
        return sum(map(count_tokens, [schema, *turns, *(message.text for message in self.messages)]))

    @property
    def news(self) -> tuple[PromptMessage, ...]:
        """The messages that earlier requests of the same conversation did not contain."""
        if not self.turns:
            return self.messages
        return tuple(PromptMessage("tool", answer) for answer in self.turns[-1].answers)


@dataclass(frozen=True)
class ModelReply:
    """The reply of a model, and what it cost."""

    text: str
    finish: Finish = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """None if the price is unknown."""


class Model(Protocol):
    """Answers requests. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Part of every request's digest."""

    def ask(self, request: Request) -> ModelReply:
        """The reply. Raises a ModelFailure that says whether a retry may help."""


class ModelFailure(Exception):
    """No reply was received. Handled by the code that makes the calls; users see a ModelError."""

    def __init__(self, kind: str, what: str, *, again: bool, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.kind = kind
        """What it is counted as: `rate limit`, `timeout`, `server error`, `connection`, `rejected`."""
        self.what = what
        self.again = again
        self.retry_after_s = retry_after_s
