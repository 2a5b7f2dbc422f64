"""One agent loop for every environment, target and memory. Each run it makes is a trajectory like any other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import msgspec

from contramem.errors import UsageError
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.guidance import Guidance
from contramem.inject.provider import MemoryProvider, MemoryRun, NotedRun
from contramem.prompts import render
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.trajectory import Origin, Outcome, Result, RunUsage, ShownMemory, Tool, Trajectory
from contramem_lab.environment import DEFAULT_LIMITS, Environment, Limits, Task
from contramem_lab.target import AgentReply, ChatMessage, Target, ToolCall, WindowFullError

AGENT = "prompts/agent.jinja"
USER = "prompts/user.jinja"


CardsAt: TypeAlias = Literal["hold", "describe"]
"""How cards of functions reach the agent: the first call is held and answered with the card, as the adapters do; or the
card is in the tool's description from the start and again next to an error, which costs tokens but no step."""


def attempt(
    environment: Environment,
    task_id: str,
    target: Target,
    provider: MemoryProvider | None = None,
    limits: Limits = DEFAULT_LIMITS,
    *,
    trial: str = "0",
    source: str | None = None,
    seed: int | None = None,
    cards: CardsAt = "hold",
    clock: Callable[[], float] = time.monotonic,
) -> Trajectory:
    """Let `target` try the task once, helped by `provider`, in a fresh world.

    A run that meets a limit is judged as it is and names the limit. If the target cannot be reached, its ModelError is
    raised: a run that was cut off says nothing about anybody.
    """
    task = environment.tasks().get(task_id)
    if task is None:
        raise UsageError(f"{environment.name} has no task {task_id!r}.")
    run = _AgentRun(environment, task, target, limits, seed, clock)
    source = source or target.name
    memory_run = _begin(provider, task, run.tools, f"{environment.name}/{task_id}/{source}/{trial}")
    outcome = run.through(memory_run, cards)
    if memory_run is not None:
        memory_run.finish(outcome)
    return Trajectory(
        environment=environment.name,
        task_id=task_id,
        source=source,
        origin=Origin(environment.name, task_id),
        events=run.recorder.events(finalize=outcome.ended == "complete"),
        outcome=outcome,
        run=trial,
        task=task.wording,
        authored=True,
        scenario_id=task.family,
        ability=task.ability,
        apps=task.apps,
        tools=run.tools,
        usage=run.usage,
        guidance=tuple(run.shown),
    )


def _begin(provider: MemoryProvider | None, task: Task, tools: Sequence[Tool], run_id: str) -> MemoryRun | None:
    if provider is None:
        return None
    return provider.begin(replace(task.query(tools), task_id=task.id, scenario_id=task.family), run_id=run_id)


class _LimitError(Exception):
    """The run ends here; the message names the limit."""


class _AgentRun:
    """The state of one run."""

    def __init__(
        self,
        environment: Environment,
        task: Task,
        target: Target,
        limits: Limits,
        seed: int | None,
        clock: Callable[[], float],
    ) -> None:
        self.tools = environment.tools(task.id)
        self.recorder = Recorder(_naming(environment.name, self.tools))
        self.usage = RunUsage(model_calls=0, tokens_in=0, tokens_out=0)
        self.shown: list[ShownMemory] = []
        self._task, self._target, self._limits, self._seed = task, target, limits, seed
        self._session = environment.start(task.id)
        self._clock, self._started = clock, clock()
        self._messages = [ChatMessage("system", render(AGENT, "contramem_lab", context=task.context).text.strip())]
        self._guided: GuidedRun | None = None
        self._holds = True
        self._seen: dict[str, tuple[Result, int]] = {}
        self._cards: dict[str, str] = {}

    def through(self, memory_run: MemoryRun | None, cards: CardsAt) -> Outcome:
        """All turns of the user, and the verdict."""
        self._holds = cards == "hold"
        self._guided = None if memory_run is None else GuidedRun(NotedRun(memory_run, self._note), hold="first_call")
        met = ""
        try:
            turns = list(self._task.turns)
            for turn, text in enumerate(turns):
                self._hear(text, at_start=turn == 0)
                answer = self._answer(turn)
                self.recorder.message("agent", answer)
                if (reply := self._session.end_turn(answer)) is not None:
                    turns.append(reply)
        except _LimitError as limit:
            met = str(limit)
        verdict = self._session.verify()
        if not met:
            return verdict
        feedback = f"{met}; {verdict.feedback}" if verdict.feedback else met
        return msgspec.structs.replace(verdict, ended="limit", feedback=feedback)

    def _hear(self, text: str, at_start: bool) -> None:
        guidance = self._guided.run.guidance if self._guided and at_start else None
        if guidance:
            self._note(guidance)
        message = render(USER, "contramem_lab", text=text, guidance=guidance.text if guidance else "").text.strip()
        self._messages.append(ChatMessage("user", message))
        self.recorder.message("user", text)

    def _answer(self, turn: int) -> str:
        """Step by step until the target answers the user."""
        has = [self._describe_tool(tool) for tool in self.tools if self._task.later.get(tool.function, 0) <= turn]
        names = spellings(has)
        spelled = [msgspec.structs.replace(tool, function=name) for tool, name in zip(has, names, strict=True)]
        while True:
            reply = self._ask(spelled)
            if not reply.calls and not reply.problem:
                self._messages.append(ChatMessage("assistant", reply.text))
                return reply.text
            self._messages.append(ChatMessage("assistant", reply.text, reply.calls))
            self.recorder.message("agent", reply.text)
            if reply.problem:
                self._messages.append(ChatMessage("user", reply.problem))
            for call in reply.calls:
                text = self._call(call, names.get(call.function, call.function))
                self._messages.append(ChatMessage("tool", text, answers=call))

    def _describe_tool(self, tool: Tool) -> Tool:
        """The tool, with its card in the description unless cards are shown by holding calls."""
        if self._guided is None or self._holds:
            return tool
        if tool.function not in self._cards:
            card = self._guided.run.before_call(tool.function)
            self._cards[tool.function] = card.text if card else ""
        return msgspec.structs.replace(tool, description=f"{tool.description} {self._cards[tool.function]}".strip())

    def _ask(self, tools: Sequence[Tool]) -> AgentReply:
        self._check_limits()
        try:
            reply = self._target.reply(tuple(self._messages), tools, seed=self._next_seed())
        except WindowFullError:
            raise _LimitError("the context window was full") from None
        self.usage = add_usage(self.usage, reply.usage)
        return reply

    def _next_seed(self) -> int | None:
        # A new seed per step: with the same seed a sampler draws alike, and a run that circles would never leave the
        # circle.
        return None if self._seed is None else self._seed * 1000 + (self.usage.model_calls or 0)

    def _check_limits(self) -> None:
        limits, usage = self._limits, self.usage
        if (usage.model_calls or 0) >= limits.steps:
            raise _LimitError(f"the limit of {limits.steps} steps was reached")
        spent = (usage.tokens_in or 0) + (usage.tokens_out or 0)
        if limits.tokens is not None and spent >= limits.tokens:
            raise _LimitError(f"the limit of {limits.tokens} tokens was reached")
        if limits.seconds is not None and self._clock() - self._started >= limits.seconds:
            raise _LimitError(f"the limit of {limits.seconds:g} seconds was reached")

    def _call(self, call: ToolCall, function: str) -> str:
        """Make the call, or hold it once to show its card; return what the target reads."""
        if self._guided is not None and self._holds:
            turn = self.usage.model_calls
            if (held := self._guided.hold(function, call.arguments, ends_run=False, turn=turn)) is not None:
                return held
        result, times = self._execute(function, call.arguments)
        self.recorder.call(function, call.arguments)
        self.recorder.result(result.content, error=result.error or False)
        text = f"{_text_of(result)}\n(You have made this very call before.)" if times > 1 else _text_of(result)
        if self._guided is None:
            return text
        self._guided.run.observe(self.recorder.events(finalize=False)[-1])
        again = None if self._holds or result.error is None else self._guided.run.before_call(function, call.arguments)
        return f"{text}\n\n{again.text}" if again else text

    def _execute(self, function: str, arguments: Mapping[str, Any]) -> tuple[Result, int]:
        """The result, and how often this call has returned it. Too often ends the run."""
        call = f"{function} {json.dumps(arguments, sort_keys=True, default=str)}"
        before, times = self._seen.get(call, (None, 0))
        if times >= self._limits.repeats:
            raise _LimitError(f"the same call was made {times} times with the same result")
        result = self._session.call(function, arguments)
        times = times + 1 if result == before else 1
        self._seen[call] = result, times
        return result, times

    def _note(self, guidance: Guidance, function: str = "") -> None:
        before = len(self.recorder.events(finalize=False))
        self.shown.append(ShownMemory(before, guidance.text, function, guidance.card_ids, guidance.tokens))


def spellings(tools: Sequence[Tool]) -> dict[str, str]:
    """For each tool, a name that every provider accepts, and its function: the bare name, prefixed by the app if two
    apps share it."""
    bare = [tool.function.rpartition(".")[2] for tool in tools]
    return {
        name if bare.count(name) == 1 else tool.function.replace(".", "__"): tool.function
        for tool, name in zip(tools, bare, strict=True)
    }


def _naming(environment: str, tools: Sequence[Tool]) -> Naming:
    naming = Naming(environment)
    for tool in tools:
        naming.tool(tool.function, tool.description)
    return naming


def _text_of(result: Result) -> str:
    if result.error is not None:
        return result.error if result.error.lower().startswith("error") else f"Error: {result.error}"
    return result.content if isinstance(result.content, str) else json.dumps(result.content, ensure_ascii=False)


def add_usage(so_far: RunUsage, more: RunUsage) -> RunUsage:
    """The sum of both. What is unknown in one of them is unknown in the sum."""

    def both(first: Any, second: Any) -> Any:
        return None if first is None or second is None else first + second

    costs = [cost for cost in (so_far.cost_usd, more.cost_usd) if cost is not None]
    return RunUsage(
        model_calls=both(so_far.model_calls, more.model_calls),
        tokens_in=both(so_far.tokens_in, more.tokens_in),
        tokens_out=both(so_far.tokens_out, more.tokens_out),
        cost_usd=sum(costs) if costs else None,
    )
