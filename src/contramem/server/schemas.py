"""The bodies of the HTTP API. Unknown fields are refused: a misspelled option is not obeyed in silence."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(max_length=500)]
RunId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/\\?#.][^\x00-\x1f/\\?#]*$")]
"""A part of an address. One that begins with a dot could be taken for a folder above it, as `..` is."""


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StartRun(Body):
    """A run that begins."""

    task: Annotated[str, Field(max_length=200_000)]
    ability: Name | None = None
    apps: list[Name] | None = None
    """The apps that the task is about; left out, its words tell."""
    tools: list[Name] | None = None
    """The functions that the agent has: it is shown cards of no others."""
    task_id: Name | None = None
    """No card comes back that was learned from this task."""
    scenario_id: Name | None = None
    run_id: RunId | None = None
    """Asking twice with the same id starts one run."""
    profile: Name | None = None


class BeforeCall(Body):
    """A call that is about to be made."""

    function: Name
    arguments: dict[str, Any] | None = None


class CallResult(Body):
    """What a call gave back."""

    content: Any = None
    error: str | None = None


class ObserveEvent(Body):
    """Something that happened in a run."""

    position: Annotated[int, Field(ge=0, le=2**53)] = 0
    actor: Literal["agent", "app", "user", "environment", "verifier"] = "agent"
    kind: Literal["message", "call", "observation", "notification", "wait", "final", "feedback"] = "call"
    text: str = ""
    function: Name = ""
    arguments: dict[str, Any] = {}
    effect: Literal["read", "write", "wait", "finalize", "unknown"] = "unknown"
    result: CallResult | None = None
    time: Annotated[float, Field(allow_inf_nan=False)] | None = None


class FinishRun(Body):
    """How a run ended. `passed` is null when nobody knows yet; it may be told again."""

    passed: bool | None = None
    reward: Annotated[float, Field(allow_inf_nan=False)] | None = None
    feedback: str = ""


class ReviewCard(Body):
    """A person's decision about a card."""

    answer: Literal["accept", "mute", "pin", "reject"]
    by: Annotated[str, Field(min_length=1, max_length=100)]
    reason: str = ""


class GuidanceBody(BaseModel):
    """Text for the agent. Empty: show nothing; `note` says why."""

    text: str
    tokens: int
    encoding: str
    card_ids: list[str]
    listed: list[str]
    note: str = ""


class ObligationBody(BaseModel):
    """What a card still asks for, or what was broken."""

    text: str
    guard: str
    card_id: str
    title: str
    state: str
    due: float | None = None


class RunBody(BaseModel):
    run_id: str
    profile: str
    withheld: str
    """Why the run gets nothing: `holdout` or `off`; empty otherwise."""
    guidance: GuidanceBody


class MaybeGuidance(BaseModel):
    guidance: GuidanceBody | None


class Obligations(BaseModel):
    obligations: list[ObligationBody]


class Finished(BaseModel):
    run_id: str


class CardBody(BaseModel):
    card_id: str
    kind: str
    name: str
    status: str
    reviewed: bool
    card: dict[str, Any]


class CardList(BaseModel):
    total: int
    cards: list[CardBody]


class FoundCard(BaseModel):
    card_id: str
    kind: str
    name: str
    score: float


class Found(BaseModel):
    hits: list[FoundCard]


class FrozenBody(BaseModel):
    content_sha256: str
    decision: int
    jsonl: str
    """The whole file, for `Memory.load`."""


class DecisionBody(BaseModel):
    number: int
    at: str
    decision: dict[str, Any]


class History(BaseModel):
    decisions: list[DecisionBody]


class ErrorDetail(BaseModel):
    status: int
    message: str


class ErrorBody(BaseModel):
    error: ErrorDetail
