"""ARE's own agent with memory and the temporal runtime hooked into its loop: before each step and around each call."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

from are.simulation.agents.agent_builder import AgentBuilder
from are.simulation.agents.agent_log import BaseAgentLog, ObservationLog, TaskLog
from are.simulation.agents.default_agent.base_agent import ConditionalStep
from are.simulation.notification_system import Message, MessageType

from .engines import LinkedEngineBuilder, ModelRequests, TargetEngineBuilder
from .link import Link

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
