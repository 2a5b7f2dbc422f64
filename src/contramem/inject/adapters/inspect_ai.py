"""Inspect: `eval(guided(task, memory))`. Every attempt at a sample is a run; its score is how the run ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from contramem.inject.adapters.guided_run import GuidedRun, describe_held_call, is_ending_tool
from contramem.inject.adapters.starter import Starter, StartOptions, missing
from contramem.inject.adapters.wrapper import has_room, is_hardly_used
from contramem.inject.run import Memory, Run
from contramem.traces.trajectory import Outcome

try:
    from inspect_ai import Task, task_with
    from inspect_ai.approval import Approval, ApprovalPolicy, Approver, approver, auto_approver
    from inspect_ai.hooks import BeforeModelGenerate, Hooks, SampleAttemptEnd, SampleEnd, SampleScoring, hooks
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.scorer import value_to_float
    from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
    from inspect_ai.tool import ToolCall, ToolCallView, ToolInfo
    from inspect_ai.util import Limit, sample_limits
except ImportError as error:
    raise missing(__name__, "inspect_ai", "inspect", error) from error


def guided(
    task: Task, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
) -> Task:
    """`task`, its samples guided by `memory`: guidance in every request of the agent, a line of a function's card in
    its tool's description, and notes beside results. Of what is still open when it submits, or stops calling tools, the
    agent is told once. Like `task_with`, this changes the task and returns it.

    The sample's id is the task id, so no card is shown that was learned from that very sample, unless `options` say
    otherwise. Approval policies of the task come after ours; those given to `eval` itself would replace both.
    """
    starter = Starter(memory, options, on_start)
    _MemoryHooks.guiding = True

    @solver(name="contramem/begin")
    def begin() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            _ATTEMPTS[state.uuid] = attempt = _SampleRun.at(state, starter)
            _ATTEMPT.set(attempt)
            return state

        return solve

    policies = task.approval or [ApprovalPolicy(auto_approver(), "*")]
    return task_with(
        task,
        setup=[begin(), *_list_setup(task.setup)],
        solver=chain(task.solver, _remind()),
        approval=[ApprovalPolicy(_cards(), "*"), *policies],
    )


@dataclass
class _SampleRun:
    """One attempt at one sample. It becomes a run with the agent's first request: only then its tools are known."""

    starter: Starter
    uuid: str
    sample_id: str
    task: str
    asked: frozenset[str | None]
    """Ids and texts of the user's messages: solvers change the text, and bridges to other frameworks the id."""
    run: GuidedRun | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """By id of a result that was looked at: what to say beside it, in every request from then on."""
    held: set[str] = field(default_factory=set)
    """Ids of calls that were held."""
    submitted: bool = False
    scored: bool = False
    """The agent is done: what is asked from now on is asked by scorers."""

    @classmethod
    def at(cls, state: TaskState, starter: Starter) -> _SampleRun:
        asked = [message for message in state.messages if message.role == "user"]
        names = frozenset({message.id for message in asked} | {message.text for message in asked if message.text})
        task = "\n\n".join(message.text for message in asked)
        return cls(starter, state.uuid, str(state.sample_id), task, names)

    def begin(self, tools: Sequence[str] | None = None) -> GuidedRun:
        if self.run is None:
            options: StartOptions = {"task_id": self.sample_id}
            starter = replace(self.starter, options=options | self.starter.options)
            self.run = starter.start(self.task, run_id=self.uuid, tools=tools)
        return self.run

    def is_of_agent(self, messages: Sequence[ChatMessage]) -> bool:
        """Graders, simulated users and sub-agents have conversations of their own, without the sample's input."""
        users = [message for message in messages if message.role == "user"]
        return not self.scored and any(message.id in self.asked or message.text in self.asked for message in users)

    def look_through(self, history: Sequence[ChatMessage]) -> None:
        """Tell what came of the calls since the last look."""
        arguments = {call.id: call.arguments for message in history for call in _calls(message)}
        for message in history:
            if isinstance(message, ChatMessageTool) and message.id and message.id not in self.notes:
                self.notes[message.id] = self._tell(message, arguments.get(message.tool_call_id or "", {}))

    def _tell(self, message: ChatMessageTool, arguments: dict[str, Any]) -> str:
        if message.error is not None and message.error.type == "approval":  # what was not approved was not made
            return ""
        failed = message.error and (message.error.message or message.error.type)
        return self.begin().tell(message.function or "", arguments, content=message.text, error=failed)

    def hold(self, call: ToolCall, history: Sequence[ChatMessage]) -> str | None:
        """What to answer a call with instead of making it."""
        reply = _reply(history)
        ends = any(is_ending_tool(other.function) for other in _calls(reply))
        if ends and len(_calls(reply)) == 1 and (note := self.before_final(history)):
            return describe_held_call(call.function, note)
        self.submitted = self.submitted or ends
        turn, last = reply.id if reply else None, ends or not _has_room(history)
        text = self.begin().hold(call.function, call.arguments, turn=turn, call=call.id, ends_run=last)
        if text is not None:
            self.held.add(call.id)
        return text

    def ends_with_held_call(self, history: Sequence[ChatMessage]) -> bool:
        last = history[-1] if history else None
        return isinstance(last, ChatMessageTool) and last.tool_call_id in self.held

    def before_final(self, history: Sequence[ChatMessage]) -> str:
        """What is still open, once, if there is room for another reply."""
        return self.run.before_final() if self.run is not None and _has_room(history) else ""

    def with_notes(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """`messages`, results with what there is to say beside them."""
        self.look_through(messages)
        return [_with_note(message, self.notes.get(message.id or "", "")) for message in messages]


ROOM = 6
"""Messages beside the results of this reply: another call, the call again and the answer, each with its result."""
_ATTEMPT: ContextVar[_SampleRun | None] = ContextVar("contramem_attempt", default=None)
_ATTEMPTS: dict[str, _SampleRun] = {}
"""Those that are going on, for the hooks that are called from outside of a sample."""


@approver(name="contramem/cards")
def _cards() -> Approver:
    async def approve(message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]) -> Approval:
        attempt = _ATTEMPT.get()
        if attempt is not None:
            attempt.look_through(history)
            text = attempt.hold(call, history)
            if text is not None:
                return Approval(decision="reject", explanation=text, metadata={"contramem": "held"})
        return Approval(decision="escalate")

    return approve


@solver(name="contramem/remind")
def _remind() -> Solver:
    """After the task's own solver: an agent that ended by calling no more tools goes on if something is open, and one
    that was allowed a single round of calls if one of them was held."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        attempt = _ATTEMPTS.get(state.uuid)
        if attempt is None or attempt.submitted or state.completed or not state.tools:
            return state
        attempt.look_through(state.messages)
        if attempt.ends_with_held_call(state.messages):
            return await generate(state)
        if not (note := attempt.before_final(state.messages)):
            return state
        state.messages.append(ChatMessageUser(content=note))
        return await generate(state)

    return solve


@hooks(name="contramem", description="Shows agents what earlier runs teach.")
class _MemoryHooks(Hooks):
    """One object for the whole process, as Inspect wants it; samples that no `guided` task began are left alone."""

    guiding = False
    """Some task of this process is guided. Inspect prints which hooks are enabled."""

    def enabled(self) -> bool:
        return self.guiding

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        attempt = _ATTEMPT.get()
        if attempt is None or not attempt.is_of_agent(data.input):
            return
        run = attempt.begin([tool.name for tool in data.tools])
        text = run.guidance
        data.input[:] = attempt.with_notes(data.input)
        data.tools[:] = [_describe(tool, run.describe(tool.name)) for tool in data.tools]
        leading = next((place for place, message in enumerate(data.input) if message.role != "system"), 0)
        # A request that is tried again comes with what was inserted the first time.
        if text and not any(message.text == text for message in data.input[:leading]):
            data.input.insert(leading, ChatMessageSystem(content=text))

    async def on_sample_scoring(self, data: SampleScoring) -> None:
        if data.sample_id in _ATTEMPTS:
            _ATTEMPTS[data.sample_id].scored = True

    async def on_sample_attempt_end(self, data: SampleAttemptEnd) -> None:
        if data.will_retry:
            _ATTEMPTS.pop(data.sample_id, None)

    async def on_sample_end(self, data: SampleEnd) -> None:
        attempt = _ATTEMPTS.pop(data.sample_id, None)
        if attempt is not None and attempt.run is not None:
            attempt.run.run.finish(_outcome(data.sample))


def _has_room(history: Sequence[ChatMessage]) -> bool:
    """Do the limits of the sample, and of the part of it that is going on, leave room for a few more replies? Neither a
    held call nor an answer must be lost to them."""
    roots = sample_limits()
    needed = ROOM + len(_calls(_reply(history)))
    messages = [limit.limit for limit in _limits("message", roots.message)]
    used = [limit for kind in _MEASURED for limit in _limits(kind, getattr(roots, kind))]
    return (
        all(has_room(limit - len(history), needed) for limit in messages if limit is not None)
        and all(has_room(limit.remaining) for limit in _limits("turn", roots.turn))
        and all(is_hardly_used(limit.usage, limit.limit) for limit in used)
    )


_MEASURED = ("token", "cost", "time", "working")


def _limits(kind: str, root: Limit) -> list[Limit]:
    """The limits of this kind that are in force here. Inspect offers only the sample's; those of an agent within it
    (`run(agent, limits=...)`) are taken from where Inspect keeps them, if they are still there."""
    tree = getattr(sys.modules[Limit.__module__], f"{kind}_limit_tree", None)
    limits, node = [root], tree.get() if tree is not None else None
    while node is not None and node is not root:
        limits.append(node)
        node = node.parent
    return limits


def _outcome(sample: EvalSample) -> Outcome:
    """By the first scorer; a score of several parts is unknown."""
    score = next(iter((sample.scores or {}).values()), None)
    if score is None or not isinstance(score.value, str | int | float):
        return Outcome()
    reward = value_to_float()(score.value)
    return Outcome(passed=reward >= 1, reward=reward)


def _reply(history: Sequence[ChatMessage]) -> ChatMessageAssistant | None:
    """The reply that the calls of this moment are from."""
    return next((message for message in reversed(history) if isinstance(message, ChatMessageAssistant)), None)


def _calls(message: ChatMessage | None) -> Sequence[ToolCall]:
    return (message.tool_calls or ()) if isinstance(message, ChatMessageAssistant) else ()


def _with_note(message: ChatMessage, note: str) -> ChatMessage:
    # A request that is tried again comes with what was added the first time.
    if not note or not isinstance(message, ChatMessageTool) or message.text.endswith(note):
        return message
    if message.error is not None:
        error = message.error.__class__(message.error.type, f"{message.error.message}\n\n{note}")
        return message.model_copy(update={"error": error, "content": f"{message.text}\n\n{note}"})
    return message.model_copy(update={"content": f"{message.text}\n\n{note}"})


def _describe(tool: ToolInfo, line: str) -> ToolInfo:
    if not line or tool.description.endswith(line):
        return tool
    return tool.model_copy(update={"description": f"{tool.description}\n{line}"})


def _list_setup(setup: Any) -> list[Solver]:
    if setup is None:
        return []
    return list(setup) if isinstance(setup, Sequence) else [setup]
