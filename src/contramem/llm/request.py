"""A question for a model and its reply: plain values, so that a provider, a script, a file or a person can answer."""

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
"""`author`: a model with tools that looks at all runs."""
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["stop", "length", "content_filter", "refusal"]
"""How a reply ended: by itself, cut off at the token limit, withheld by the provider, or refused by the model."""

TIMEOUT = "timeout"
MAX_REPLY_TOKENS = 16_000
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_WITH_EFFORT = {"medium": 26_000, "high": 48_000, "xhigh": 64_000, "max": 64_000}
"""Thoughts count as part of a reply, and some providers refuse a request whose reply has no room beside them."""


def reply_tokens(reasoning_effort: str | None) -> int:
    """How long a reply may be if nobody says."""
    return _WITH_EFFORT.get(reasoning_effort or "", MAX_REPLY_TOKENS)


class PromptMessage(NamedTuple):
    """One turn."""

    role: Role
    text: str


@dataclass(frozen=True)
class ModelSettings:
    """What shapes a reply beside the prompt. None: the provider's default."""

    reasoning_effort: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = MAX_REPLY_TOKENS
    """Of a reply, reasoning included."""


@dataclass(frozen=True)
class Request:
    """One call. Two with the same digest are the same question: the second is never paid for."""

    model: str
    settings: ModelSettings
    messages: tuple[PromptMessage, ...]
    schema: dict[str, Any] = field(hash=False)
    """JSON schema of the reply, an object."""
    stage: Stage = "builder"
    subject: str = ""
    """What it is about, for people: a function, a task."""
    prompt: str = ""
    """Digest of the template."""
    tools: tuple[ToolOffer, ...] = field(default=(), hash=False)
    """What the model may call. The text of the reply is then a `ToolReply`, and `schema` is empty."""
    turns: tuple[ToolTurn, ...] = ()
    """What was said since `messages`."""

    @cached_property
    def digest(self) -> str:
        asked: list[Any] = [self.model, asdict(self.settings), self.messages, self.schema]
        if self.tools:
            asked += [self.tools, self.turns]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def tokens(self) -> int:
        """Of the messages and the schema, as counted offline."""
        schema = json.dumps(self.tools or self.schema, separators=(",", ":"))  # as clients send it
        said = [text for turn in self.turns for text in (turn.reply, *turn.answers)]
        return sum(map(count_tokens, [schema, *said, *(message.text for message in self.messages)]))

    @property
    def news(self) -> tuple[PromptMessage, ...]:
        """What the model has not been told in an earlier request of the same conversation."""
        if not self.turns:
            return self.messages
        return tuple(PromptMessage("tool", answer) for answer in self.turns[-1].answers)


@dataclass(frozen=True)
class ModelReply:
    """What came back, and what it cost."""

    text: str
    finish: Finish = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """None: the price is not known."""


class Model(Protocol):
    """Answers requests, several threads at a time."""

    @property
    def name(self) -> str:
        """Part of every request's digest."""

    def ask(self, request: Request) -> ModelReply:
        """One reply, or a Trouble that says whether trying again helps."""


class ModelFailure(Exception):
    """No reply came. Caught by whoever makes the calls; a user sees a ModelError."""

    def __init__(self, kind: str, what: str, *, again: bool, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.kind = kind
        """The word it is counted under: `rate limit`, `timeout`, `server error`, `connection`, `rejected`."""
        self.what = what
        self.again = again
        self.retry_after_s = retry_after_s
