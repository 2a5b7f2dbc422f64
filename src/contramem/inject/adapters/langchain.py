"""LangChain: `create_agent(..., middleware=[MemoryMiddleware(memory)])`. The same object serves a graph of your own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypeAlias, Unpack, cast
from uuid import uuid4

from typing_extensions import TypedDict  # pydantic, which makes schemas of states, refuses typing's before 3.12

from contramem.errors import UsageError
from contramem.inject.adapters.starter import Conversation, Runs, Starter, StartOptions, missing
from contramem.inject.run import Memory, Run

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool
    from langgraph.errors import GraphBubbleUp
    from langgraph.graph import add_messages
    from langgraph.managed.is_last_step import RemainingStepsManager
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise missing(__name__, "langchain", "langchain", error) from error

RUN = "contramem_run"
"""The key in the state of a graph that names the run."""

STEPS_LEFT = "contramem_steps_left"
"""The key under which the graph says how many steps its recursion limit leaves."""

COUNTERS = ("run_model_call_count", "thread_model_call_count", "run_tool_call_count", "thread_tool_call_count")
"""What LangChain's own limiting middleware keeps in the state. Its limits are not there."""

HANDOFF = "__handoff_destination"
"""In the metadata of LangGraph's tools that hand the conversation to another agent."""

ROOM = 10
"""Steps for what a held call leads to: another call, the call again and the answer, each with the steps around it."""

NOTE = {"contramem": "note"}
HELD = {"contramem": "held"}
"""Marks on messages of ours."""

ToolResult: TypeAlias = "ToolMessage | Command[Any]"


class GuidedState(TypedDict):
    """The state of a graph whose calls are guided: messages, which run they are of, and how many steps are left."""

    messages: Annotated[list[AnyMessage], add_messages]
    contramem_run: NotRequired[Annotated[str, PrivateStateAttr]]
    contramem_steps_left: NotRequired[Annotated[int, PrivateStateAttr, RemainingStepsManager]]


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Guidance in the system message, a line of a function's card in its tool's description, notes beside results.

    A conversation is a run: every invocation that goes on with the same state (a thread, where there is a checkpointer)
    is the same run, and without a state to go on with each is its own. The task is what the user wrote so far, in all
    human messages of the state.
    """

    state_schema = cast(type[AgentState[Any]], GuidedState)

    def __init__(
        self, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
    ) -> None:
        """`on_start` is told of each run that starts; `options` are those of `Memory.start`."""
        super().__init__()
        self._starter = Starter(memory, options, on_start)
        self._runs: Runs[Conversation] = Runs()

    def before_agent(self, state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Give the run its name, which a checkpointer keeps. In a graph of your own this is the first node."""
        return {RUN: _read(state, RUN) or uuid4().hex}

    def after_agent(self, state: Mapping[str, Any], runtime: Runtime[Any]) -> None:
        execution = getattr(runtime, "execution_info", None)
        if getattr(execution, "thread_id", None) is None:  # nobody can go on with it
            self._runs.drop(_read(state, RUN))

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Before the last answer: what is still open goes back to the model, once."""
        conversation = self._conversation(state)
        conversation.steps_left = _read(state, STEPS_LEFT)
        messages = _messages(state)
        last = messages[-1] if messages else None
        if not isinstance(last, AIMessage) or last.tool_calls or _read(state, "structured_response") is not None:
            return None
        if not _has_room(state, conversation.steps_left):
            return None
        note = conversation.at(_requests(state)).before_final()
        return {"messages": [HumanMessage(note, additional_kwargs=NOTE)], "jump_to": "model"} if note else None

    def guidance(self, state: Mapping[str, Any], tools: Iterable[str] | None = None) -> str:
        """What to show the model, for a graph of your own; empty when there is nothing."""
        conversation = self._conversation(state)
        conversation.at(_requests(state), tools)
        return "\n\n".join(conversation.notes.values())

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._with_guidance(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(self._with_guidance(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> ToolResult:
        if (answer := self._hold(request)) is not None:
            return answer
        try:
            result = handler(request)
        except Exception as error:
            self._tell_error(request, error)
            raise
        return self._tell(request, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        if (answer := self._hold(request)) is not None:
            return answer
        try:
            result = await handler(request)
        except Exception as error:
            self._tell_error(request, error)
            raise
        return self._tell(request, result)

    def _with_guidance(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        conversation = self._conversation(request.state)
        run = conversation.at(_requests(request.state), [*map(_tool_name, request.tools)])
        notes = conversation.notes
        changed: dict[str, Any] = {"tools": [_describe(tool, run.describe(_tool_name(tool))) for tool in request.tools]}
        if first := notes.pop(0, ""):
            changed["system_message"] = _with(request.system_message, first)
        if notes:
            changed["messages"] = _beside_requests(request.messages, notes)
        return request.override(**changed)

    def _hold(self, request: ToolCallRequest) -> ToolMessage | None:
        call = request.tool_call
        conversation = self._conversation(request.state)
        run = conversation.at(_requests(request.state), [*_tools(request)])
        steps_left = _read(request.state, STEPS_LEFT)  # in a graph of one's own; create_agent tells only the model
        has_room = _has_room(request.state, conversation.steps_left if steps_left is None else steps_left)
        last = not has_room or _ends(request) or _may_leave(request)
        text = run.hold(call["name"], call["args"], turn=_turn(request.state), call=call["id"], ends_run=last)
        if text is None:
            return None
        # An error, for nothing was done: neither the model nor code that looks through the history may think so.
        return ToolMessage(
            text, name=call["name"], tool_call_id=call["id"] or "", status="error", additional_kwargs=HELD
        )

    def _tell(self, request: ToolCallRequest, result: ToolResult) -> ToolResult:
        """The result, with what there is to say about it."""
        run, call = self._conversation(request.state).at(_requests(request.state)), request.tool_call
        if not isinstance(result, ToolMessage):
            run.tell(call["name"], call["args"])
            return result
        error = (str(result.text) or "failed") if result.status == "error" else None
        note = run.tell(call["name"], call["args"], str(result.text), error)
        if not note or _ends(request):  # the result of a tool that ends the run is what the caller gets
            return result
        return result.model_copy(update={"content": _append(result.content, note)})

    def _tell_error(self, request: ToolCallRequest, error: Exception) -> None:
        if not isinstance(error, GraphBubbleUp):  # an interrupt: the call is not over
            call = request.tool_call
            self._conversation(request.state).at(_requests(request.state)).tell(call["name"], call["args"], error=error)

    def _conversation(self, state: object) -> Conversation:
        key = _read(state, RUN)
        if not isinstance(key, str):
            raise UsageError(
                f"the state of this graph has no {RUN!r}, so its runs cannot be told apart. Make it a StateGraph "
                "of GuidedState, or give your state that key, and make MemoryMiddleware.before_agent its first node."
            )
        return self._runs.get(key, lambda: Conversation(self._starter, key))


def _read(state: object, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def _messages(state: object) -> Sequence[AnyMessage]:
    return _read(state, "messages") or ()


def _is_request(message: AnyMessage) -> bool:
    """Did the user write it? Not when it is a note of ours."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get("contramem")


def _requests(state: object) -> list[str]:
    return [str(message.text) for message in _messages(state) if _is_request(message)]


def _beside_requests(messages: Sequence[AnyMessage], notes: Mapping[int, str]) -> list[AnyMessage]:
    """`messages`, each note at the end of the request that brought it."""
    placed, number = list(messages), -1
    for place, message in enumerate(messages):
        number += _is_request(message)
        if _is_request(message) and number in notes:
            placed[place] = message.model_copy(update={"content": _append(message.content, notes[number])})
    return placed


def _tools(request: ToolCallRequest) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in request.runtime.tools}


def _ends(request: ToolCallRequest) -> bool:
    """Does the reply that this call is from end the run? A call of a tool that the agent does not run itself gives the
    structured answer; one of a tool that returns directly is the answer."""
    tools = _tools(request)
    return any(name not in tools or tools[name].return_direct for name in _called(request))


def _may_leave(request: ToolCallRequest) -> bool:
    """May a tool of this reply lead elsewhere than back to the model? It then hands off, or returns a `Command`."""
    tools = _tools(request)
    called = [tools[name] for name in _called(request) if name in tools]
    functions = [getattr(tool, "func", None) or getattr(tool, "coroutine", None) for tool in called]
    returned = [str(getattr(function, "__annotations__", {}).get("return", "")) for function in functions]
    return any(HANDOFF in (tool.metadata or {}) for tool in called) or any("Command" in text for text in returned)


def _called(request: ToolCallRequest) -> list[str]:
    reply = _reply(request.state)
    return [call["name"] for call in reply.tool_calls] if reply else []


def _has_room(state: object, steps_left: int | None) -> bool:
    """Is there surely room for a few more replies? Not if the graph does not say how many steps are left, nor if there
    are limits beside its own."""
    return steps_left is not None and steps_left >= ROOM and all(_read(state, name) is None for name in COUNTERS)


def _turn(state: object) -> object:
    """Which reply of the model the calls of this moment are from."""
    reply = _reply(state)
    return reply and (reply.id or tuple(call["id"] for call in reply.tool_calls))


def _reply(state: object) -> AIMessage | None:
    return next((message for message in reversed(_messages(state)) if isinstance(message, AIMessage)), None)


def _with(system: SystemMessage | None, text: str) -> SystemMessage:
    if system is None:
        return SystemMessage(text)
    return system.model_copy(update={"content": _append(system.content, text)})


def _append(content: str | list[Any], text: str) -> str | list[Any]:
    return f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": text}]


def _describe(tool: BaseTool | dict[str, Any], line: str) -> BaseTool | dict[str, Any]:
    if not line or isinstance(tool, dict):
        return tool
    return tool.model_copy(update={"description": f"{tool.description}\n{line}"})


def _tool_name(tool: BaseTool | dict[str, Any]) -> str:
    return str(tool.get("name", "")) if isinstance(tool, dict) else tool.name
