"""A real environment: tasks, the tools an agent may call, a fresh world for every run, and a verdict on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from contramem.inject.provider import MemoryProvider
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Outcome, Result, Tool, Trajectory
from contramem_lab.bench.limits import Limits


@dataclass(frozen=True)
class Task:
    """What an agent is asked to do. Anything only the verifier may know is in the environment's own subclass."""

    id: str
    turns: tuple[str, ...]
    """What the user says, turn by turn. The next turn follows once the agent has answered the previous one."""
    apps: tuple[str, ...]
    ability: str | None = None
    family: str | None = None
    """The group of sibling tasks: other content, same procedure."""
    context: str = field(default="", kw_only=True)
    """What the agent is told besides the user's words: who the user is, the rules that apply."""
    later: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """Functions that the agent does not have at the start, and the turn from which it has them."""

    @property
    def wording(self) -> str:
        """Everything the user says."""
        return "\n\n".join(self.turns)

    def query(self, tools: Iterable[Tool]) -> Query:
        """The query for a memory, without the ids that would exclude cards learned from this task."""
        return Query(self.wording, self.ability, frozenset(self.apps), frozenset(tool.function for tool in tools))


@dataclass(frozen=True)
class EnvironmentCall:
    """One call of a function."""

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Solution:
    """A solution written by the makers of a task. Never shown to an agent under test."""

    turns: tuple[tuple[EnvironmentCall, ...], ...]
    """Turn by turn, with `App.function` names."""
    answer: str = ""
    """The final answer, if the verdict depends on it."""


class Session(Protocol):
    """One run of one task, in its own world."""

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        """Call `App.function` and return what the agent reads. A failed call returns its error."""

    def end_turn(self, answer: str = "") -> None:
        """The agent has answered; further calls belong to the user's next turn."""

    def verify(self) -> Outcome:
        """The environment's own verdict on the calls so far and the last answer. Asking changes nothing."""


class Environment(Protocol):
    """Where tasks are run. Sessions share nothing: what one run breaks, no other run sees."""

    @property
    def name(self) -> str:
        """Its name in runs: benchmark and suite."""

    def tasks(self) -> Mapping[str, Task]:
        """All tasks by id."""

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        """Everything that can be called in this task."""

    def start(self, task_id: str) -> Session:
        """A new run at this task."""

    def solution(self, task_id: str) -> Solution | None:
        """A solution of the task, if its makers give one."""


@runtime_checkable
class SelfRunningEnvironment(Protocol):
    """An environment with its own agent loop. It takes the target and the memory, and returns the run."""

    @property
    def name(self) -> str:
        """Its name in runs."""

    def tasks(self) -> Mapping[str, Task]:
        """All tasks by id."""

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        """What can be called in this task, as far as known before the run."""

    @property
    def problems(self) -> Sequence[str]:
        """Entries among the tasks that are not tasks, in words."""

    def attempt(
        self, task_id: str, target: Any, provider: MemoryProvider | None, limits: Limits, *, trial: str = "0"
    ) -> Trajectory:
        """Let the target try the task once. `target` has the form that this environment needs."""


AnyEnvironment: TypeAlias = Environment | SelfRunningEnvironment
