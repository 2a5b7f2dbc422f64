"""Strands: `Agent(..., hooks=[MemoryHooks(memory)])`. The life of an agent is a run, whatever is asked in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from contramem.inject.adapters.starter import Conversation, Starter, StartOptions, missing
from contramem.inject.run import Memory, Run

try:
    from strands.hooks import (
        AfterInvocationEvent,
        AfterToolCallEvent,
        BeforeInvocationEvent,
        BeforeToolCallEvent,
        BeforeToolsEvent,
        HookProvider,
        HookRegistry,
    )
except ImportError as error:
    raise missing(__name__, "strands", "strands", error) from error


class MemoryHooks(HookProvider):
    """Guidance before the request that it fits, notes after results. For one agent: make one for each.

    Strands tells hooks nothing of the `limits` of an invocation, and a held call or a reminder at the end would be lost
    to them. So calls are made, with a warning after the result, unless you say that there are none.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        unlimited: bool = False,
        on_start: Callable[[Run], None] | None = None,
        **options: Unpack[StartOptions],
    ) -> None:
        """With `unlimited`, the agent is never called with `limits`: a call that would do harm is held, and what is
        still open is asked for once at the end. `on_start` is told of the run when it starts; `options` are those of
        `Memory.start`."""
        self._unlimited = unlimited
        self._conversation = Conversation(Starter(memory, options, on_start), None)
        self._requests: list[str] = []
        self._turn, self._may_be_last = 0, True
        self._asked_again = False
        """Whether the next request is our reminder at the end, and not the user's."""

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeInvocationEvent, self._start)
        registry.add_callback(BeforeToolsEvent, self._begin_turn)
        registry.add_callback(BeforeToolCallEvent, self._hold)
        registry.add_callback(AfterToolCallEvent, self._tell)
        registry.add_callback(AfterInvocationEvent, self._end)

    def _start(self, event: BeforeInvocationEvent) -> None:
        asked_again, self._asked_again = self._asked_again, False
        message = event.messages[-1] if event.messages and not asked_again else None
        texts = [block["text"] for block in message["content"] if "text" in block] if message else []
        if message is None or not texts:
            return
        self._requests.append("\n".join(texts))
        self._conversation.at(self._requests, event.agent.tool_names)
        kept = {block["text"] for old in event.agent.messages for block in old["content"] if "text" in block}
        # Those of earlier requests come again where the conversation manager has dropped them.
        if notes := [note for note in self._conversation.notes.values() if note not in kept]:
            message["content"][:0] = [{"text": note} for note in notes]

    def _begin_turn(self, event: BeforeToolsEvent) -> None:
        self._turn += 1
        # A structured answer is a tool of its own, which is named after its model and ends the run. Any tool may end it
        # (`stop_event_loop`), so only a reply with calls of a single tool surely leads to another reply.
        names = {block["toolUse"]["name"] for block in event.message["content"] if "toolUse" in block}
        registry = event.agent.tool_registry
        ends = any(name in registry.dynamic_tools or name not in registry.registry for name in names)
        self._may_be_last = not self._unlimited or ends or len(names) > 1

    def _hold(self, event: BeforeToolCallEvent) -> None:
        use = event.tool_use
        run = self._conversation.at(self._requests)
        last = self._may_be_last
        if held := run.hold(use["name"], use["input"], turn=self._turn, call=use["toolUseId"], ends_run=last):
            event.cancel_tool = held

    def _tell(self, event: AfterToolCallEvent) -> None:
        use, content = event.tool_use, event.result["content"]
        text = "\n".join(block["text"] for block in content if "text" in block)
        failed = event.exception or (text if event.result["status"] == "error" else None)
        if event.cancel_message is not None:  # it was held, by us or by somebody else: nothing was done
            return
        if note := self._conversation.at(self._requests).tell(use["name"], use["input"], content=text, error=failed):
            event.result = {**event.result, "content": [*content, {"text": note}]}

    def _end(self, event: AfterInvocationEvent) -> None:
        if self._unlimited and event.result is not None and event.result.stop_reason == "end_turn":
            event.resume = self._conversation.at(self._requests).before_final() or None
            self._asked_again = event.resume is not None
