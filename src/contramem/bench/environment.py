"""A real environment: tasks, the tools an agent may call, a fresh world for every run, and a verdict on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from contramem.bench.limits import Limits
from contramem.inject.provider import MemoryProvider
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Outcome, Result, Tool, Trajectory


@dataclass(frozen=True)
class Task:
    """What an agent is asked to do. What only the verifier may know is kept by the environment's own subclass."""

    id: str
    turns: tuple[str, ...]
    """What the user says, turn by turn. The next turn is said when the agent has answered the one before."""
    apps: tuple[str, ...]
    ability: str | None = None
    family: str | None = None
    """The group of sibling tasks: other content, same procedure."""
    context: str = field(default="", kw_only=True)
    """What the agent is told beside the user's words: who the user is, the rules of the house."""
    later: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """Functions that the agent has not got at the start, and the turn from which on it has them."""

    @property
    def wording(self) -> str:
        """All that the user says."""
        return "\n\n".join(self.turns)

    def query(self, tools: Iterable[Tool]) -> Query:
        """As a memory is asked about it, without what would keep from it the cards it taught."""
        return Query(self.wording, self.ability, frozenset(self.apps), frozenset(tool.function for tool in tools))


@dataclass(frozen=True)
class EnvironmentCall:
    """One call of a function."""

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Solution:
    """A way to solve a task that its makers wrote down. Never shown to an agent that is measured."""

    turns: tuple[tuple[EnvironmentCall, ...], ...]
    """Turn by turn, with `App.function` names."""
    answer: str = ""
    """What is said at the end, where the verdict depends on it."""


class Session(Protocol):
    """One run at one task, in a world of its own."""

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        """Call `App.function` and give what the agent gets to read. A call that fails comes back as its error."""

    def end_turn(self, answer: str = "") -> None:
        """The agent has answered; calls from here on belong to the user's next turn."""

    def verify(self) -> Outcome:
        """The environment's own verdict on the calls so far and the last answer. Asking changes nothing."""


class Environment(Protocol):
    """Where tasks live. Sessions share nothing: what one run breaks, no other run sees."""

    @property
    def name(self) -> str:
        """What runs call it: benchmark and suite."""

    def tasks(self) -> Mapping[str, Task]:
        """All tasks by id."""

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        """Everything that can be called in this task."""

    def start(self, task_id: str) -> Session:
        """A new run at this task."""

    def solution(self, task_id: str) -> Solution | None:
        """How the task can be solved, where its makers say so."""


@runtime_checkable
class SelfRunningEnvironment(Protocol):
    """An environment with an agent loop of its own. It is given the target and the memory, and gives back the run."""

    @property
    def name(self) -> str:
        """What runs call it."""

    def tasks(self) -> Mapping[str, Task]:
        """All tasks by id."""

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        """What can be called in this task, as far as it is known before the run."""

    @property
    def problems(self) -> Sequence[str]:
        """What was found among the tasks that is none, in words."""

    def attempt(
        self, task_id: str, target: Any, provider: MemoryProvider | None, limits: Limits, *, trial: str = "0"
    ) -> Trajectory:
        """Let the target try the task once. `target` is what this environment takes for one."""


AnyEnvironment: TypeAlias = Environment | SelfRunningEnvironment
