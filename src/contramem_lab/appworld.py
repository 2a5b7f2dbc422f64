"""AppWorld, reached over HTTP: its pins (pydantic < 2) do not touch ours.

A code agent thinks, runs one Python cell, and reads what the cell printed.

Tested against AppWorld 0.1.3's own server and apps with a task of ours, and against a server of ours with the same
routes and two small apps. Its own tasks were not run: their data has to be downloaded separately.
"""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider, MemoryRun
from contramem.prompts import render
from contramem.retrieve.hit import Query
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.readers.appworld import record_cell
from contramem.traces.trajectory import Origin, Outcome, RunUsage, ShownMemory, Tool, Trajectory
from contramem_lab.agent import add_usage
from contramem_lab.environment import Limits, Task
from contramem_lab.target import ChatMessage, Target, WindowFullError


def tools_of(docs: Mapping[str, Any]) -> tuple[Tool, ...]:
    """Every API as a tool, so that Function Cards can say only what the documentation does not."""
    return tuple(
        Tool(f"{app}.{name}", str(doc.get("description") or ""), _schema(doc.get("parameters") or ()))
        for app, apis in sorted(docs.items())
        for name, doc in sorted(apis.items())
    )


def _schema(parameters: Any) -> dict[str, Any]:
    described = {
        str(each["name"]): {"type": each.get("type") or "string", "description": str(each.get("description") or "")}
        for each in parameters
    }
    required = [str(each["name"]) for each in parameters if each.get("required")]
    return {"type": "object", "properties": described, "required": required}


def app_names(docs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(docs))


@dataclass(frozen=True)
class AppWorldServer:
    """One server. It has one world at a time, so it serves one run at a time."""

    url: str
    timeout_s: float = 120.0

    def task(self, task_id: str) -> dict[str, Any]:
        """`instruction`, `supervisor` and `datetime` of a task."""
        output: dict[str, Any] = self._request(f"/tasks/{task_id}")["output"]
        return output

    def api_docs(self) -> dict[str, Any]:
        """App by app, API by API."""
        return self._request("/api_docs")

    def initialize(self, task_id: str, experiment: str) -> dict[str, Any]:
        output: dict[str, Any] = self._post("/initialize", task_id=task_id, experiment_name=experiment)
        return output

    def execute(self, task_id: str, code: str) -> str:
        """What the cell printed, or the traceback."""
        return str(self._post("/execute", task_id=task_id, code=code))

    def task_completed(self, task_id: str) -> bool:
        return bool(self._post("/task_completed", task_id=task_id))

    def evaluate(self, task_id: str) -> dict[str, Any]:
        """`success`, `passes` and `failures`."""
        output: dict[str, Any] = self._post("/evaluate", task_id=task_id, suppress_errors=True, report=False)
        return output

    def close(self, task_id: str) -> None:
        self._post("/close", task_id=task_id)

    def _post(self, route: str, **body: Any) -> Any:
        return self._request(route, body).get("output")

    def _request(self, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{route}", data, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                document: dict[str, Any] = json.loads(response.read())
                return document
        except urllib.error.HTTPError as error:
            answer = error.read().decode(errors="replace")[:300]
            raise UsageError(f"AppWorld at {self.url} refuses {route} ({error.code}): {answer}") from None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"AppWorld does not answer at {self.url}{route} ({error}). Start it in its own environment with "
                "`appworld serve environment --port 8000`."
            ) from None


NAME = "appworld"
START = "prompts/appworld.jinja"
_CELL = re.compile(r"```(?:python)?\s*\n(.*?)```", re.DOTALL)
NO_CELL = "There was no Python cell in that reply. Write one between ```python and ```."


@dataclass(frozen=True)
class AppWorldEnvironment:
    """The tasks of some data sets, on one server."""

    url: str
    root: Path
    """AppWorld's root: `data/datasets/NAME.txt` in it lists the ids of a data set."""
    datasets: tuple[str, ...] = ("train", "test_normal", "test_challenge")
    experiment: str = "contramem"

    @property
    def name(self) -> str:
        return NAME

    @property
    def problems(self) -> tuple[str, ...]:
        """Always empty: the tasks come from AppWorld's own lists."""
        return ()

    @cached_property
    def _server(self) -> AppWorldServer:
        return AppWorldServer(self.url.rstrip("/"))

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        ids = {task_id: name for name in self.datasets for task_id in read_dataset(self.root, name)}
        return {task_id: self._task(task_id, dataset) for task_id, dataset in ids.items()}

    def _task(self, task_id: str, dataset: str) -> Task:
        wording = str(self._server.task(task_id)["instruction"])
        return Task(task_id, (wording,), app_names(self._docs), ability=dataset, family=task_id.partition("_")[0])

    @cached_property
    def _docs(self) -> dict[str, Any]:
        return self._server.api_docs()

    def tasks(self) -> Mapping[str, Task]:
        return self._tasks

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return tools_of(self._docs)

    def attempt(
        self, task_id: str, target: Target, provider: MemoryProvider | None, limits: Limits, *, trial: str = "0"
    ) -> Trajectory:
        """One run. It ends when the agent completes the task, or at a limit, and is then judged as it stands."""
        task = self.tasks().get(task_id)
        if task is None:
            raise UsageError(f"AppWorld's data sets {', '.join(self.datasets)} have no task {task_id!r}.")
        with _one_at_a_time(self.url):
            run = _CodeRun(self._server, task, target, limits, self.tools(task_id))
            run.begin(self._server.initialize(task_id, self.experiment), provider, f"{NAME}/{task_id}/{trial}")
            return run.finish(trial)


@lru_cache
def _one_at_a_time(url: str) -> Any:
    """A server has one world, and a second run would end the first."""
    return threading.Lock()


def read_dataset(root: Path, name: str) -> list[str]:
    """The ids of a data set, as AppWorld lists them."""
    path = root / "data" / "datasets" / f"{name}.txt"
    try:
        lines = path.read_text(encoding="utf-8").split()
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}). `appworld download data` puts it there."
        ) from None
    return lines


class _CodeRun:
    """The state of one run."""

    def __init__(
        self, server: AppWorldServer, task: Task, target: Target, limits: Limits, tools: tuple[Tool, ...]
    ) -> None:
        self._server, self._task, self._target, self._limits, self._tools = server, task, target, limits, tools
        self._recorder = Recorder(Naming(NAME))
        self._memory_run: MemoryRun | None = None
        self._messages: list[ChatMessage] = []
        self._shown: list[ShownMemory] = []
        self._usage = RunUsage(model_calls=0, tokens_in=0, tokens_out=0)
        self._began = time.monotonic()

    def begin(self, world: Mapping[str, Any], provider: MemoryProvider | None, run_id: str) -> None:
        """Guidance comes once, at the start. No ability is passed: the data set is not a label of cards."""
        text = ""
        if provider is not None:
            query = Query(self._task.wording, None, None, frozenset(tool.function for tool in self._tools))
            query = replace(query, task_id=self._task.id, scenario_id=self._task.family)
            self._memory_run = provider.begin(query, run_id=run_id)
            guidance = self._memory_run.guidance
            text = guidance.text
            self._shown = [ShownMemory(1, text, "", guidance.card_ids, guidance.tokens)] if text else []
        start = render(
            START, "contramem_lab", supervisor=world["supervisor"], datetime=world["datetime"], apps=self._task.apps,
            task=self._task.wording, guidance=text,
        )  # fmt: skip
        self._messages.append(ChatMessage("user", start.text.strip()))
        self._recorder.message("user", self._task.wording)

    def finish(self, trial: str) -> Trajectory:
        met = self._work()
        outcome = self._judge(met)
        self._server.close(self._task.id)
        if self._memory_run is not None:
            self._memory_run.finish(outcome)
        return Trajectory(
            environment=NAME, task_id=self._task.id, source=self._target.name, origin=Origin(NAME, self._task.id),
            events=self._recorder.events(finalize=False), outcome=outcome, run=trial, task=self._task.wording,
            authored=True, scenario_id=self._task.family, ability=self._task.ability, apps=self._task.apps,
            tools=self._tools, usage=self._usage, guidance=tuple(self._shown),
        )  # fmt: skip

    def _work(self) -> str:
        """Run step by step until the task is complete. Returns the limit that was reached, if any."""
        while not (met := self._limit()):
            try:
                reply = self._target.reply(tuple(self._messages), ())
            except WindowFullError:
                return "the context window was full"
            self._usage = add_usage(self._usage, reply.usage)
            self._messages.append(ChatMessage("assistant", reply.text))
            code = _CELL.search(reply.text)
            self._recorder.message("agent", (reply.text[: code.start()] if code else reply.text).strip())
            self._messages.append(ChatMessage("user", self._execute(code[1]) if code else NO_CELL))
            if code and self._server.task_completed(self._task.id):
                return ""
        return met

    def _execute(self, code: str) -> str:
        output = self._server.execute(self._task.id, code)
        before = len(self._recorder.events(finalize=False))
        record_cell(self._recorder, code, output, deque())
        if self._memory_run is not None:
            for event in self._recorder.events(finalize=False)[before:]:
                self._memory_run.observe(event)
        return f"Output:\n```\n{output}\n```"

    def _limit(self) -> str:
        limits, usage = self._limits, self._usage
        if (usage.model_calls or 0) >= limits.steps:
            return f"the limit of {limits.steps} steps was met"
        if limits.tokens is not None and (usage.tokens_in or 0) + (usage.tokens_out or 0) >= limits.tokens:
            return f"the limit of {limits.tokens} tokens was met"
        if limits.seconds is not None and time.monotonic() - self._began >= limits.seconds:
            return f"the limit of {limits.seconds:g} seconds was met"
        return ""

    def _judge(self, met: str) -> Outcome:
        verdict = self._server.evaluate(self._task.id)
        passed = bool(verdict["success"])
        failures = [str(failure.get("requirement") or "") for failure in verdict.get("failures") or ()]
        feedback = "; ".join(filter(None, [met, *failures]))
        return Outcome(passed, float(passed), feedback, "limit" if met else "complete")
