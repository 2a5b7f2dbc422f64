"""The suites of AgentDojo (workspace, travel, banking, slack) as environments, without its attacks.

Needs `pip install 'contramem[agentdojo]'`. The package imports every model client, which takes seconds, so it is
imported only when an environment is created.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from contramem.errors import UsageError
from contramem.traces.trajectory import Outcome, Result, Tool
from contramem_lab.environment import EnvironmentCall, Solution, Task

SUITES = ("banking", "slack", "travel", "workspace")
VERSION = "v1.2.2"

LEFT_OUT = {"banking": ("user_task_5", "user_task_6", "user_task_8", "user_task_9", "user_task_10")}
"""Tasks whose verifier accepts a run that does nothing."""


class AgentDojoEnvironment:
    """One suite. Tasks that pass by doing nothing are left out unless `everything` is set."""

    def __init__(self, suite: str, version: str = VERSION, *, everything: bool = False) -> None:
        if suite not in SUITES:
            raise UsageError(f"AgentDojo has no suite {suite!r} (suites: {', '.join(SUITES)}).")
        self.suite = suite
        self._suite = _suite(suite, version)
        self.left_out = () if everything else LEFT_OUT.get(suite, ())
        context = _import("agentdojo.agent_pipeline.agent_pipeline").load_system_message(None)
        self._tasks = {
            task_id: Task(task_id, (task.PROMPT,), (suite,), ability=suite, context=context.strip())
            for task_id, task in self._suite.user_tasks.items()
            if task_id not in self.left_out
        }

    @property
    def name(self) -> str:
        return f"agentdojo/{self.suite}"

    def tasks(self) -> Mapping[str, Task]:
        return self._tasks

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return tuple(
            Tool(f"{self.suite}.{tool.name}", tool.description, _inline_references(tool.parameters.model_json_schema()))
            for tool in self._suite.tools
        )

    def start(self, task_id: str) -> AgentDojoSession:
        return AgentDojoSession(self._suite, self._suite.user_tasks[self._tasks[task_id].id])

    def solution(self, task_id: str) -> Solution:
        task = self._suite.user_tasks[self._tasks[task_id].id]
        calls = task.ground_truth(task.init_environment(self._suite.load_and_inject_default_environment({})))
        made = tuple(EnvironmentCall(f"{self.suite}.{call.function}", dict(call.args)) for call in calls)
        return Solution((made,), task.GROUND_TRUTH_OUTPUT)


class AgentDojoSession:
    """One run, in its own world, which ends with it."""

    def __init__(self, suite: Any, task: Any) -> None:
        runtime = _import("agentdojo.functions_runtime")
        self._suite_name: str = suite.name
        self._task = task
        self._world = task.init_environment(suite.load_and_inject_default_environment({}))
        self._before = self._world.model_copy(deep=True)
        self._runtime = runtime.FunctionsRuntime(suite.tools)
        self._call = runtime.FunctionCall
        self._made: list[Any] = []
        self._answer = ""

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        app, _, name = function.rpartition(".")
        if app != self._suite_name or name not in self._runtime.functions:
            return _error_result(f"There is no function {function}.")
        try:
            # JSON only: AgentDojo would execute a call hidden in an argument.
            arguments_json = json.loads(json.dumps(dict(arguments), allow_nan=False))
        except (TypeError, ValueError) as error:
            return _error_result(f"The arguments are not JSON: {error}")
        self._made.append(self._call(function=name, args=arguments_json))
        value, complaint = self._runtime.run_function(self._world, name, arguments_json)
        return Result(_format_result(value)) if complaint is None else _error_result(complaint)

    def end_turn(self, answer: str = "") -> None:
        self._answer = answer

    def verify(self) -> Outcome:
        """Some verifiers check the calls, others the world and the answer."""
        task, world, made = self._task, self._world.model_copy(deep=True), list(self._made)
        try:
            passed = task.utility_from_traces(self._answer, self._before, world, made)
            if passed is None:
                passed = task.utility(self._answer, self._before, world)
        except Exception as error:  # verifiers assume that what they look for exists
            return Outcome(
                passed=False, feedback=f"the verifier did not find what it looks at ({type(error).__name__})"
            )
        return Outcome(passed=bool(passed))


def _error_result(message: str) -> Result:
    return Result(message, message)


def _format_result(value: object) -> str:
    """The result as AgentDojo's own agents read it."""
    try:
        return str(_import("agentdojo.agent_pipeline.tool_execution").tool_result_to_str(value))
    except TypeError:  # a list of an unknown type
        return str(value)


def _inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's JSON schema without references and titles, which only make it longer."""
    definitions = schema.get("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, list):
            return [inline(child) for child in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return inline(definitions[value["$ref"].rpartition("/")[2]])
        return {
            key: {name: inline(child) for name, child in under.items()} if key == "properties" else inline(under)
            for key, under in value.items()
            if key not in ("$defs", "title")
        }

    inlined: dict[str, Any] = inline(dict(schema))
    return inlined


def _suite(suite: str, version: str) -> Any:
    try:
        return _import("agentdojo.task_suite.load_suites").get_suite(version, suite)
    except KeyError:
        raise UsageError(f"this agentdojo has no benchmark version {version!r}.") from None


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"AgentDojo tasks need a package that is not installed ({error.name}). "
            "Install it with: pip install 'contramem[agentdojo]'"
        ) from None
