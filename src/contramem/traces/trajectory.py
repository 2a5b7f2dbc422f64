"""Trajectory: one attempt at one task by one source, as an ordered sequence of events, with its outcome.

These are the nouns of the first stage. They are msgspec structs, not dataclasses: thousands of them are made per
second, and the same definition is the schema of contramem's own trace format (docs/formats.md). They hold plain JSON
values, which cannot form cycles, so the garbage collector need not look at them (`gc=False`).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from contramem.traces.task_key import TaskKey

Actor: TypeAlias = Literal["agent", "app", "user", "environment", "verifier"]
Kind: TypeAlias = Literal["message", "call", "observation", "notification", "wait", "final", "feedback"]
Effect: TypeAlias = Literal["read", "write", "wait", "finalize", "unknown"]
Ending: TypeAlias = Literal["complete", "interrupted", "limit"]
Label: TypeAlias = Annotated[str, msgspec.Meta(extra={"secrets": "none"})]
"""A short name that `sanitize` lets in, or a digest. Secrets are searched for in every other text of these structs."""
Schema: TypeAlias = Annotated[dict[str, Any], msgspec.Meta(extra={"secrets": "in texts"})]
"""A JSON schema: an argument that is called `password` holds no secret here, but a text may."""


class Result(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a call gave back."""

    content: Any = None
    """Text or a JSON value, as the trace holds it."""
    error: str | None = None
    """The message, when the call failed. The content may repeat it."""


class Event(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One step of a run. A call carries its result, so an `observation` is only what belongs to no single call."""

    position: int
    actor: Actor
    kind: Kind
    text: str = ""
    """Of a message, notification, final answer or feedback."""
    function: Label = ""
    """`App.function`, of calls and of the waits and finalizations that are made by calling."""
    arguments: dict[str, Any] = {}
    effect: Effect = "unknown"
    result: Result | None = None
    """None: the trace does not show what came back."""
    time: float | None = None
    """Seconds, on the clock of the environment."""
    effect_given: bool = False
    """The trace or the user says the effect. Otherwise it is told from the name, and runs may show another."""


class Tool(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One function an agent could call, as it was described to it."""

    function: Label
    """`App.function`."""
    description: str = ""
    parameters: Schema = {}
    """JSON schema of the arguments."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the verifier said. Unknown stays unknown."""

    passed: bool | None = None
    reward: float | None = None
    feedback: str = ""
    ended: Ending = "complete"
    """`interrupted`: the provider cut the run off, no evidence of a contrast. `limit`: steps or time ran out."""


class ShownMemory(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Text that a memory showed the agent."""

    before: int
    """The position of the event that followed it."""
    text: str
    function: str = ""
    """`App.function` of the call that it was shown before; empty at the start of the run."""
    cards: tuple[str, ...] = ()
    tokens: int | None = None


class RunUsage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the run cost. None: the trace does not say."""

    model_calls: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    agent_events: int | None = None
    """As the benchmark counts them, where its own log tells more than the calls of the agent."""


class Origin(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Where a run was read: a file (`archive!member` inside an archive) and the place in it."""

    file: Label
    position: Label = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.position}" if self.position else self.file


class Trajectory(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One attempt at one task by one source."""

    environment: Label
    """Where the task lives: benchmark and suite, domain, user mode. Task ids are unique only inside it."""
    task_id: Label
    source: Label
    """The model or agent that ran."""
    origin: Origin
    events: tuple[Event, ...]
    outcome: Outcome = Outcome()
    run: Label = "0"
    """The trial. Runs of one task and source that claim the same trial are told apart when they are pooled."""
    task: str = ""
    """The text of the task: what the user asked."""
    authored: bool = False
    """The text was written with the task, so another text is another task. False for a simulated user's first turn."""
    text_digest: Label = ""
    """Of the text as it was, where a secret in it was masked: the task stays the same task."""
    scenario_id: Label | None = None
    """The group of sibling tasks this one belongs to."""
    ability: Label | None = None
    apps: tuple[str, ...] = ()
    """Available apps, where the trace names them."""
    tools: tuple[Tool, ...] = ()
    usage: RunUsage = RunUsage()
    system: str = ""
    """The system prompt: what the agent was told before the task."""
    guidance: tuple[ShownMemory, ...] = ()
    """What a memory told the agent. It is no event: a later build must not learn from a memory what the memory said."""

    @property
    def task_key(self) -> str:
        """What makes two runs attempts at the same task: environment, id and, where it was authored, the text."""
        text = (self.text_digest or _digest_once(self.task))[:6] if self.authored else ""
        return str(TaskKey(f"{self.environment}/{self.task_id}", text))

    @property
    def task_identity(self) -> tuple[str, ...]:
        """Digests of what gives the task away: id, key, text and scenario. Cards are told by them what taught them."""
        text = self.text_digest or (digest(self.task) if self.task else "")
        named = [digest(name) if name else "" for name in (self.task_id, self.task_key)]
        return tuple(filter(None, (*named, text, digest(self.scenario_id) if self.scenario_id else "")))

    @property
    def calls(self) -> tuple[Event, ...]:
        """What the agent called, in order. Calls that a simulated user makes on its own device are not the agent's."""
        return tuple(event for event in self.events if event.function and event.actor == "agent")


def digest(text: str) -> str:
    """A short, stable name for `text`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


_digest_once = lru_cache(maxsize=1024)(digest)  # all runs of a task have its text
