"""Google ADK: `Runner(..., plugins=[MemoryPlugin(memory)])`. A session is a run, whatever is asked in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

from contramem.inject.adapters.guided_run import GuidedRun, is_ending_tool
from contramem.inject.adapters.starter import Conversation, Runs, Starter, StartOptions, missing
from contramem.inject.adapters.wrapper import has_room
from contramem.inject.run import Memory, Run

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing(__name__, "google", "google-adk", error) from error

_ENDING = frozenset({"transfer_to_agent", "set_model_response", "exit_loop"})


class MemoryPlugin(BasePlugin):
    """Guidance in the system instruction, or before the later request that it fits, a line in the descriptions of
    tools, notes in results. A call that would do harm is held, unless its reply may end the run or hand it on, or
    `max_llm_calls` leaves too few replies."""

    def __init__(
        self, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
    ) -> None:
        """`on_start` is told of each run that starts; `options` are those of `Memory.start`."""
        super().__init__(name="contramem")
        self._starter = Starter(memory, options, on_start)
        self._sessions: Runs[_Session] = Runs()

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        self._session(invocation_context).ask(_text(user_message))

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        session = self._session(callback_context)
        session.count_request(callback_context)
        session.run(tuple(llm_request.tools_dict))
        if guidance := session.notes.get(0):
            llm_request.append_instructions([guidance])
        session.insert_notes(llm_request.contents)
        for tool in llm_request.config.tools or ():
            for declared in getattr(tool, "function_declarations", None) or ():
                line = session.run().describe(declared.name)
                if line and line not in (declared.description or ""):
                    declared.description = f"{declared.description or ''}\n{line}".strip()

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        parts = (llm_response.content and llm_response.content.parts) or ()
        calls = [part.function_call.name for part in parts if part.function_call]
        self._session(callback_context).begin_turn(callback_context.agent_name, calls)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        session = self._session(tool_context)
        turn = session.turn_of(tool_context.agent_name)
        held = session.run().hold(tool.name, tool_args, turn=turn.number, ends_run=turn.may_be_last)
        return {"error": held} if held else None

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        content = result.get("result", result) if isinstance(result, dict) and len(result) == 1 else result
        note = self._session(tool_context).run().tell(tool.name, tool_args, content=content)
        return {**(result if isinstance(result, dict) else {"result": result}), "note": note} if note else None

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> Any:
        """None leaves the error to the framework, which ends the run with it."""
        self._session(tool_context).run().tell(tool.name, tool_args, error=error)

    def _session(self, context: Any) -> _Session:
        session_id = str(context.session.id)
        return self._sessions.get(session_id, lambda: _Session(self._starter, session_id))


@dataclass(frozen=True)
class _Turn:
    """A reply of an agent with calls."""

    number: int
    may_be_last: bool


class _Session:
    """What was asked in a session, and the replies that its calls are from. Several agents may work at once."""

    def __init__(self, starter: Starter, session_id: str) -> None:
        self._conversation = Conversation(starter, session_id)
        self._requests: list[str] = []
        self._turns: dict[str, _Turn] = {}
        """By agent: its last."""
        self._turn_count = 0
        self._invocation, self._sent, self._limit = "", 0, 0

    def ask(self, request: str) -> None:
        self._requests.append(request)

    def run(self, tools: tuple[str, ...] | None = None) -> GuidedRun:
        return self._conversation.at(self._requests, tools)

    @property
    def notes(self) -> dict[int, str]:
        return self._conversation.notes

    def insert_notes(self, contents: list[Any]) -> None:
        """Put what later requests brought before those requests: the system instruction never changes."""
        number = 0
        for place, content in enumerate(contents):
            if number == len(self._requests) or content.role != "user" or _text(content) != self._requests[number]:
                continue
            if number and (note := self.notes.get(number)):
                contents[place] = types.Content(role="user", parts=[types.Part(text=note), *content.parts])
            number += 1

    def count_request(self, context: Any) -> None:
        """Count a request to the model. `max_llm_calls` is for each invocation, and ADK keeps its own count private."""
        if context.invocation_id != self._invocation:
            self._invocation, self._sent = context.invocation_id, 0
        self._sent += 1
        self._limit = context.run_config.max_llm_calls if context.run_config else 0

    def begin_turn(self, agent: str, calls: list[str]) -> None:
        """A tool may end the run (`skip_summarization`, a long-running one), so only a reply with calls of a single
        function surely leads to another reply."""
        self._turn_count += 1
        ending = any(name in _ENDING or is_ending_tool(name) for name in calls)
        left = self._limit - self._sent if self._limit > 0 else None
        self._turns[agent] = _Turn(self._turn_count, ending or len(set(calls)) > 1 or not has_room(left))

    def turn_of(self, agent: str) -> _Turn:
        return self._turns.get(agent, _Turn(0, True))


def _text(content: Any) -> str:
    return "".join(part.text or "" for part in content.parts or ())
