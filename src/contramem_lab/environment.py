"""A real environment: tasks, the tools an agent may call, a fresh world for every run, and a verdict on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Outcome, Result, Tool, Trajectory


@dataclass(frozen=True)
class Limits:
    """None: no such limit."""

    steps: int = 30
    """How often the target is asked."""
    tokens: int | None = None
    """Tokens read and written by the target over all steps."""
    seconds: float | None = None
    repeats: int = 3
    """How often the same call may return the same result."""


DEFAULT_LIMITS = Limits()


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

    def end_turn(self, answer: str = "") -> str | None:
        """The agent has answered; further calls belong to the user's next turn. What a simulated user says to it; None:
        the next turn is the task's."""

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


NAMES = (
    "agentdojo/banking",
    "agentdojo/slack",
    "agentdojo/travel",
    "agentdojo/workspace",
    "bfcl",
    "bfcl/base",
    "bfcl/long_context",
    "bfcl/miss_func",
    "bfcl/miss_param",
)

_NOT_HERE = {
    "are": "ARE has an agent loop of its own. Run its scenarios with `contramem lab bench are`, or name `are` in the "
    "[environment] of an experiment.",
    "appworld": "AppWorld has an agent loop of its own. Run its tasks with `contramem lab bench appworld`, or name "
    "`appworld` in the [environment] of an experiment.",
    "tau2": "tau2-bench is not run by contramem: it needs its repository and Python 3.12. Run it there, and give "
    "contramem its results (`--format tau2`).",
}


def open_environment(name: str) -> Environment:
    """The environment called `name`, with all its tasks. Its packages are imported here, and named if missing."""
    benchmark, _, part = name.partition("/")
    if benchmark == "agentdojo" and part:
        from contramem_lab.agentdojo import AgentDojoEnvironment

        return AgentDojoEnvironment(part)
    if benchmark == "bfcl":
        from contramem_lab.bfcl import official_environment

        return official_environment(part or None)
    if benchmark in _NOT_HERE:
        raise UsageError(_NOT_HERE[benchmark])
    raise UsageError(f"there is no environment {name!r} (environments: {', '.join(NAMES)}).")
