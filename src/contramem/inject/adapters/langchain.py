"""LangChain: `create_agent(..., middleware=[MemoryMiddleware(memory)])`. The same object serves a graph of your own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypeAlias, Unpack, cast
from uuid import uuid4

from typing_extensions import TypedDict  # pydantic, which makes schemas of states, refuses typing's before 3.12

from contramem.errors import UsageError
from contramem.inject.adapters.guided_run import Conversation, GuidedRun, Runs, Starter, StartOptions, missing
from contramem.inject.run import Memory, Run

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool
    from langgraph.errors import GraphBubbleUp
    from langgraph.graph import add_messages
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise missing(__name__, "langchain", "langchain", error) from error

RUN = "contramem_run"
"""The key in the state of a graph that names the run."""

ToolResult: TypeAlias = "ToolMessage | Command[Any]"


class GuidedState(TypedDict):
    """The state of a graph whose calls are guided: messages, and which run they are of."""

    messages: Annotated[list[AnyMessage], add_messages]
    contramem_run: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Guidance in the system message, and the card of a function as the answer to its first call.

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

    def guidance(self, state: Mapping[str, Any], tools: Iterable[str] | None = None) -> str:
        """What to show the model, for a graph of your own; empty when there is nothing."""
        return self._run(state, tools)[1]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._with_guidance(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(self._with_guidance(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> ToolResult:
        if (held := self._held(request)) is not None:
            return held
        try:
            result = handler(request)
        except Exception as error:
            self._tell(request, error)
            raise
        self._tell(request, result)
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        if (held := self._held(request)) is not None:
            return held
        try:
            result = await handler(request)
        except Exception as error:
            self._tell(request, error)
            raise
        self._tell(request, result)
        return result

    def _with_guidance(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        _, text = self._run(request.state, [*map(_tool_name, request.tools)])
        return request.override(system_message=_with(request.system_message, text)) if text else request

    def _held(self, request: ToolCallRequest) -> ToolMessage | None:
        call = request.tool_call
        run, _ = self._run(request.state, [tool.name for tool in request.runtime.tools])
        text = run.hold(call["name"], call["args"], turn=_turn(request.state), call=call["id"])
        if text is None:
            return None
        # An error, for nothing was done: neither the model nor code that looks through the history may think so.
        told = {"contramem": "held"}
        return ToolMessage(
            text, name=call["name"], tool_call_id=call["id"] or "", status="error", additional_kwargs=told
        )

    def _tell(self, request: ToolCallRequest, came_back: object) -> None:
        if isinstance(came_back, GraphBubbleUp):  # an interrupt: the call is not over
            return
        run, call = self._run(request.state)[0], request.tool_call
        if isinstance(came_back, ToolMessage):
            error = (str(came_back.text) or "failed") if came_back.status == "error" else None
            run.tell(call["name"], call["args"], str(came_back.text), error)
        else:
            run.tell(call["name"], call["args"], error=came_back if isinstance(came_back, Exception) else None)

    def _run(self, state: object, tools: Iterable[str] | None = None) -> tuple[GuidedRun, str]:
        key = _read(state, RUN)
        if not isinstance(key, str):
            raise UsageError(
                f"the state of this graph has no {RUN!r}, so its runs cannot be told apart. Make it a StateGraph "
                "of GuidedState, or give your state that key, and make MemoryMiddleware.before_agent its first node."
            )
        return self._runs.get(key, lambda: Conversation(self._starter, key)).at(_task(state), tools)


def _read(state: object, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def _messages(state: object) -> Sequence[AnyMessage]:
    return _read(state, "messages") or ()


def _task(state: object) -> str:
    return "\n\n".join(str(message.text) for message in _messages(state) if isinstance(message, HumanMessage))


def _turn(state: object) -> object:
    """Which reply of the model the calls of this moment are from."""
    reply = next((message for message in reversed(_messages(state)) if isinstance(message, AIMessage)), None)
    return reply and (reply.id or tuple(call["id"] for call in reply.tool_calls))


def _with(system: SystemMessage | None, text: str) -> SystemMessage:
    if system is None:
        return SystemMessage(text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})


def _tool_name(tool: BaseTool | dict[str, Any]) -> str:
    return str(tool.get("name", "")) if isinstance(tool, dict) else tool.name
