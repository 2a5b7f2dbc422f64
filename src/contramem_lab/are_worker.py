"""Runs scenarios inside ARE's own environment, and asks contramem's process at every step over a socket.

It is started by the Python that ARE is installed for, and imports nothing but ARE and the standard library: ARE pins
versions that contramem cannot share. Each connection is a run, in a process of its own. One line of JSON each way: the
first line that a run reads is its job.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from are.simulation.agents.agent_builder import AgentBuilder
from are.simulation.agents.agent_log import BaseAgentLog, ObservationLog, TaskLog
from are.simulation.agents.are_simulation_agent_config import LLMEngineConfig
from are.simulation.agents.default_agent.base_agent import ConditionalStep
from are.simulation.agents.llm.litellm import litellm_engine
from are.simulation.agents.llm.llm_engine import LLMEngine
from are.simulation.agents.llm.llm_engine_builder import LLMEngineBuilder
from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.notification_system import Message, MessageType
from are.simulation.scenario_runner import ScenarioRunner
from are.simulation.scenarios.config import ScenarioRunnerConfig
from are.simulation.scenarios.scenario_imported_from_json.utils import preprocess_scenario
from are.simulation.validation.configs import (
    GraphPerEventJudgeConfig,
    ScriptedGraphPerEventJudgeConfig,
    create_judge_engine,
)
from are.simulation.validation.utils import llm_utils
from litellm.exceptions import ContextWindowExceededError


class Link:
    """The line to contramem's process."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer
        self.asked = 0
        """Questions about memory and the temporal runtime."""
        self.waited_s = 0.0
        """For the answers to them."""

    def tell(self, what: str, **fields: Any) -> None:
        self._writer.write(json.dumps({"what": what, **fields}, default=str) + "\n")
        self._writer.flush()

    def ask(self, what: str, **fields: Any) -> Any:
        began = time.perf_counter()
        self.tell(what, **fields)
        text = self.read().get("text")
        self.asked, self.waited_s = self.asked + 1, self.waited_s + time.perf_counter() - began
        return text

    def read(self) -> dict[str, Any]:
        line = self._reader.readline()
        if not line:
            os._exit(3)  # contramem's process is gone, so nobody wants this run any more
        document: dict[str, Any] = json.loads(line)
        return document


MOST_FAILURES = 3
"""Requests in a row that a model may leave unanswered before the run is given up."""


class LinkedEngine(LLMEngine):
    """A model that lives in contramem's process: a scripted one, or the user's own."""

    def __init__(self, link: Link, name: str) -> None:
        super().__init__(name)
        self._link = link

    def chat_completion(self, messages: Any, stop_sequences: Any = (), **kwargs: Any) -> tuple[str, dict[str, Any]]:
        plain = [{"role": str(getattr(m["role"], "value", m["role"])), "content": m["content"]} for m in messages]
        self._link.tell("reply", messages=plain)
        reply = self._link.read()
        text = reply["text"]
        for stop in stop_sequences:
            text = text.split(stop)[0]
        return text, {"completion_duration": reply.get("seconds", 0.0), **reply.get("usage", {})}


class LinkedEngineBuilder(LLMEngineBuilder):
    def __init__(self, link: Link) -> None:
        self._link = link

    def create_engine(self, engine_config: Any, mock_responses: Any = None) -> Any:
        return LinkedEngine(self._link, engine_config.model_name)


class ModelRequests:
    """Every request that ARE makes to a model, the target or the judge. ARE passes no settings on, forgets how many
    tokens a reply took, and continues for 80 steps with a model that does not answer; this corrects all three."""

    def __init__(self, link: Link, job: dict[str, Any]) -> None:
        self._link = link
        self._settings = {"target": dict(job["extra"]) | _key(job["key"]), "judge": _key(job["judge"]["key"])}
        self._asking = threading.local()
        self._failures = {"target": 0, "judge": 0}
        self.unanswered: dict[str, str] = {}
        """Who did not answer the last request, and why."""
        self._complete = litellm_engine.completion
        litellm_engine.completion = self._complete_request

    def mark_target(self, engine: Any) -> Any:
        """Mark this engine's requests as the target's. The judge may be the same model."""
        ask = engine.chat_completion

        def ask_target(*args: Any, **kwargs: Any) -> Any:
            self._asking.target = True
            try:
                return ask(*args, **kwargs)
            finally:
                self._asking.target = False

        engine.chat_completion = ask_target
        return engine

    def _complete_request(self, **request: Any) -> Any:
        who = "target" if getattr(self._asking, "target", False) else "judge"
        try:
            response = self._complete(**(request | self._settings[who]))
        except ContextWindowExceededError:
            raise  # the agent's own doing
        except Exception as error:
            self._fail(who, f"{type(error).__name__}: {error}")
            raise
        self._failures[who] = 0
        self.unanswered.pop(who, None)
        if who == "target":
            used = getattr(response, "usage", None)
            tokens_in, tokens_out = getattr(used, "prompt_tokens", None), getattr(used, "completion_tokens", None)
            self._link.tell("usage", tokens_in=tokens_in, tokens_out=tokens_out)
        return response

    def _fail(self, who: str, error: str) -> None:
        self.unanswered[who] = error
        self._failures[who] += 1
        if self._failures[who] >= MOST_FAILURES:
            self._link.tell("unanswered", who=who, error=error)
            os._exit(4)


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"api_key": key}


class TargetEngineBuilder(LLMEngineBuilder):
    """Builds engines that ARE asks itself."""

    def __init__(self, requests: ModelRequests) -> None:
        self._requests = requests

    def create_engine(self, engine_config: Any, mock_responses: Any = None) -> Any:
        return self._requests.mark_target(super().create_engine(engine_config, mock_responses))


SAY = "AgentUserInterface__send_message_to_user"
WAIT = "SystemApp__wait_for_notification"
RESERVE_S = 5
"""Simulated seconds that a clipped wait leaves for what comes after it."""
MOST_HOLDS = 2
"""Times a run that its last message may be held while something is pending."""
AFTER_MAX_STEPS = "Max iterations ("


class MemoryLog(BaseAgentLog):
    """Text of a memory. The agent's role and message tables get a `memory` entry, so it becomes part of its prompt."""

    def __init__(self, content: str, timestamp: float, agent_id: str) -> None:
        self.content, self.timestamp, self.agent_id, self.id = content, timestamp, agent_id, "memory"

    def get_content_for_llm(self) -> str:
        return self.content

    def get_type(self) -> str:
        return "memory"


class GuidedAgentBuilder(AgentBuilder):
    """ARE's own agent, with memory and the temporal runtime hooked into its loop."""

    def __init__(self, link: Link, job: dict[str, Any], scenario: Any, requests: ModelRequests) -> None:
        super().__init__(LinkedEngineBuilder(link) if job["engine"] == "linked" else TargetEngineBuilder(requests))
        self._link, self._job, self._scenario = link, job, scenario

    def build(self, agent_config: Any, env: Any = None, mock_responses: Any = None) -> Any:
        agent = super().build(agent_config, env, mock_responses)
        agent.react_agent.max_iterations = self._job["max_steps"]
        hooks = AgentHooks(self._link, self._job, self._scenario, env, agent.react_agent)
        hooks.install()
        return agent


class AgentHooks:
    """What happens before each step and around each call of one run."""

    def __init__(self, link: Link, job: dict[str, Any], scenario: Any, env: Any, agent: Any) -> None:
        self._link, self._env, self._agent = link, env, agent
        self._runtime: dict[str, bool] = job["runtime"]
        self._tick_s: float = job["tick_s"]
        self._duration_s: float = scenario.duration or float("inf")
        self._apps = {app.name: type(app).__name__ for app in scenario.apps}
        self._start = env.time_manager.time()
        self._started = False
        self._ticks = 0
        self._wait_until = 0.0
        self._is_final_shown = False
        self._holds = 0

    def install(self) -> None:
        agent = self._agent
        agent.role_dict = OrderedDict([*agent.role_dict.items(), ("memory", agent.role_dict["task"])])
        agent.message_dict = OrderedDict([*agent.message_dict.items(), ("memory", "[MEMORY]\n{content}\n")])
        if self._runtime["clock"]:
            for kind in ("observation", "error"):
                dated = agent.message_dict[kind].replace("STEP {i}]", "STEP {i} @ {timestamp} UTC]")
                agent.message_dict[kind] = dated
        if self._runtime["ticks"]:
            self._schedule_ticks()
        agent.conditional_pre_steps.append(ConditionalStep(condition=None, function=self._before_step, name="memory"))
        # On the instance: at the last step ARE asks whether the executor is of its own class and of no other.
        self._execute = agent.action_executor.execute_parsed_action
        agent.action_executor.execute_parsed_action = self._around_call

    def _schedule_ticks(self) -> None:
        """Schedule notifications that know nothing about the task. They end waits early, for what is pending."""
        many = int(min(self._duration_s, 1800) // self._tick_s)
        for number in range(1, many + 1):
            at = datetime.fromtimestamp(self._start + number * self._tick_s, tz=UTC)
            text = f"Clock: {at:%H:%M:%S} UTC, {number * self._tick_s:g} seconds since the start."
            self._env.notification_system.message_queue.put(Message(MessageType.ENVIRONMENT_NOTIFICATION, text, at))

    @property
    def _now(self) -> float:
        return float(self._env.time_manager.time())

    def _seconds_since_start(self) -> float:
        return float(self._now - self._start)

    def _before_step(self, agent: Any) -> None:
        if not self._started:
            self._started = True
            task = next((log.content for log in agent.logs if isinstance(log, TaskLog) and log.content), "")
            self._show(self._link.ask("start", task=task, tools=sorted(agent.tools), apps=self._apps, time=self._now))
        ticks = int(self._seconds_since_start() // self._tick_s)
        if self._runtime["ticks"] and ticks > self._ticks:
            self._ticks = ticks
            self._show(self._link.ask("tick", time=self._now))
        if self._runtime["final_card"] and not self._is_final_shown and self._at_last_boundary():
            self._is_final_shown = True
            self._show(self._link.ask("boundary", time=self._now))

    def _at_last_boundary(self) -> bool:
        """Whether the agent's last timer has expired, or the scenario ends within two ticks and before any timer."""
        if self._now < self._wait_until < self._start + self._duration_s:
            return False
        return bool(self._wait_until or self._duration_s - self._seconds_since_start() <= 2 * self._tick_s)

    def _show(self, text: str | None) -> None:
        if text:
            self._agent.append_agent_log(MemoryLog(text, self._now, self._agent.agent_id))

    def _around_call(self, parsed_action: Any, append_agent_log: Any, make_timestamp: Any, agent_id: str) -> None:
        """Hold the call, or make it and report its result. A held call is not in the tool log."""
        tool, arguments = parsed_action.tool_name, parsed_action.arguments
        arguments = dict(arguments) if isinstance(arguments, dict) else {}
        text = self._hold(tool, arguments)
        if text:
            append_agent_log(ObservationLog(content=text, timestamp=make_timestamp(), agent_id=agent_id))
            return
        if tool == WAIT and self._runtime["clip"]:
            parsed_action.arguments = arguments = self._clip(arguments)
        if tool == WAIT:
            self._wait_until = self._now + float(arguments.get("timeout") or 0)
        before = len(self._agent.logs)
        try:
            self._execute(parsed_action, append_agent_log, make_timestamp, agent_id)
        except Exception as error:
            self._link.tell("called", tool=tool, arguments=arguments, error=str(error), time=self._now)
            raise
        seen = [log.content for log in self._agent.logs[before:] if isinstance(log, ObservationLog)]
        content = seen[-1] if seen else None
        self._link.tell("called", tool=tool, arguments=arguments, content=content, time=self._now)

    def _hold(self, tool: str, arguments: dict[str, Any]) -> str | None:
        if tool == SAY:
            return self._hold_message(arguments)
        if tool == WAIT:
            return None
        text: str | None = self._link.ask("before_call", tool=tool, arguments=arguments, time=self._now)
        return text

    def _hold_message(self, arguments: dict[str, Any]) -> str | None:
        """The repair of the last boundary: a message that ends the turn waits while something is pending."""
        ended_by_are = str(arguments.get("content") or "").startswith(AFTER_MAX_STEPS)
        if not self._runtime["repair"] or self._holds >= MOST_HOLDS or ended_by_are:
            return None
        owed = self._link.ask("pending", time=self._now)
        timer = self._open_timer()
        if not owed and not timer:
            return None
        self._holds += 1
        return "\n".join(filter(None, ["This message was held: something is still pending.", timer, owed]))

    def _open_timer(self) -> str:
        left = self._wait_until - self._now
        if left < 1:
            return ""
        until = datetime.fromtimestamp(self._wait_until, tz=UTC)
        return (
            f"You asked to wait until {until:%H:%M:%S} UTC; that is in {left:.0f} seconds. Wait for it, or say why not."
        )

    def _clip(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Shorten a wait that would run past the end of the scenario: ARE would lose the run."""
        left = self._duration_s - self._seconds_since_start() - RESERVE_S
        asked = float(arguments.get("timeout") or 0)
        return {**arguments, "timeout": int(max(left, 0))} if asked > left else arguments


_VERDICT = re.compile(r"\[\[(true|false|success|failure)\]\]", re.IGNORECASE)


def load_scenario(job: dict[str, Any]) -> Any:
    """The scenario of a JSON file, of `file.py:Class`, or one that ARE has built in."""
    name = job["scenario"]
    if name.endswith(".json"):
        text = Path(name).read_text(encoding="utf-8")
        scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(text, load_completed_events=False)
        preprocess_scenario(scenario, judge_config=_judge(job), max_scenario_duration=job["duration_s"])
        return scenario
    scenario = _python_class(name)() if ".py:" in name else _load_built_in(name)
    scenario.initialize()
    return scenario


def _python_class(reference: str) -> Any:
    path, _, name = reference.rpartition(":")
    spec = importlib.util.spec_from_file_location("own_scenario", path)
    assert spec is not None and spec.loader is not None, f"{path} is no Python file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def _load_built_in(name: str) -> Any:
    from are.simulation.scenarios.utils.registry import registry

    return registry.get_scenario(name)()


def _judge(job: dict[str, Any]) -> Any:
    judge = job["judge"]
    if judge["kind"] == "none":
        return None
    if judge["kind"] == "scripted":
        return ScriptedGraphPerEventJudgeConfig(engine=None)
    engine = LLMEngineConfig(model_name=judge["model"], provider=judge["provider"], endpoint=judge["url"])
    return GraphPerEventJudgeConfig(engine=_spell_verdicts(create_judge_engine(engine)))


def _spell_verdicts(ask: Callable[..., Any]) -> Callable[..., Any]:
    """ARE 1.2.0 writes `[[true]]` for the `[[True]]` of its judge and then looks for `[[True]]`: whatever a model has
    to judge would fail (its issue 29)."""

    def ask_and_spell(*args: Any, **kwargs: Any) -> Any:
        text, metadata = ask(*args, **kwargs)
        return _VERDICT.sub(lambda match: f"[[{match[1].capitalize()}]]", text), metadata

    return ask_and_spell


def fill_templates_once() -> None:
    """Cache the templates of ARE's judge: it compiles the same few 4,000 times per scenario, in 11 CPU seconds."""
    fill: Callable[..., str] = llm_utils.jinja_format
    filled: dict[str, str] = {}

    def fill_once(template: str, skip_validation: bool = True, **values: Any) -> str:
        key = repr((template, skip_validation, sorted(values.items())))
        if key not in filled:
            filled[key] = fill(template, skip_validation, **values)
        return filled[key]

    llm_utils.jinja_format = fill_once
    llm_utils.build_llm_checkers(engine=None)  # here, so that every run finds them filled


DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run(link: Link, job: dict[str, Any]) -> None:
    requests = ModelRequests(link, job)
    scenario = load_scenario(job)
    tags = [str(getattr(tag, "value", tag)) for tag in scenario.tags or ()]
    link.tell("loaded", scenario_id=scenario.scenario_id, tags=tags)
    config = ScenarioRunnerConfig(
        agent="default",
        model=job["model"],
        model_provider=job["provider"],
        endpoint=job["url"],
        export=True,
        output_dir=job["out"],
        trace_dump_format="both",
        max_turns=None if job["scenario"].endswith(".json") else 1,
        use_custom_logger=False,
    )
    result = ScenarioRunner(agent_builder=GuidedAgentBuilder(link, job, scenario, requests)).run(config, scenario)
    error = result.exception
    link.tell(
        "done",
        success=result.success,
        rationale=result.rationale or "",
        exception=f"{type(error).__name__}: {error}" if error is not None else "",
        cause=str(error.__cause__ or "") if error is not None else "",
        disk=isinstance(error, OSError) and error.errno in DISK_FULL,
        exported=result.export_path,
        unanswered=requests.unanswered,
        asked=link.asked,
        waited_s=link.waited_s,
    )


def serve(path: str) -> None:
    """Wait for connections, and run one job for each in a child. Importing ARE takes seconds; a fork takes none."""
    logging.basicConfig(level=logging.CRITICAL)
    fill_templates_once()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            handle(connection)
            os._exit(0)  # threads of ARE's environment may still be running
        connection.close()


def _end_with_parent() -> None:
    sys.stdin.read()
    shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)  # it is ours alone: ARE's files and the socket are in it
    os._exit(0)


def handle(connection: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    link = Link(connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8"))
    link.tell("process", pid=os.getpid())
    job = link.read()
    try:
        run(link, job)
    except Exception as error:
        link.tell("refused", error=f"{type(error).__name__}: {error}")
