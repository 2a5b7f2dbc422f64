r"""AutoGen 0.4 messages (`TaskResult`, team state), and group chats of AG2 and Magentic-One.

    {"type": "TextMessage", "source": "user", "content": "Mail Bob."}
    {"type": "ToolCallRequestEvent", "source": "mailer", "content": [{"id": "c1", "name": "send", "arguments": "{}"}]}
    {"type": "ToolCallExecutionEvent", "content": [{"call_id": "c1", "content": "sent", "is_error": false}]}

    {"role": "assistant", "name": "mathproxyagent", "content": "exitcode: 0 (execution succeeded)\nCode output: 7"}
    {"role": "Orchestrator (-> WebSurfer)", "content": "Look up Bob."}

In a group chat everybody writes messages and the role only says whose view was saved. So the name decides: the human
asks, a terminal answers the code block before it, and a member that the orchestrator hands a step to is called like a
tool. What is left are the agent's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.normalize import text_of
from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message

_REQUESTS = ("ToolCallRequestEvent", "ToolCallMessage")
_RESULTS = ("ToolCallExecutionEvent", "ToolCallResultMessage")
_TEXTS = ("TextMessage", "StopMessage", "MultiModalMessage", "HandoffMessage", "UserMessage", "AssistantMessage")
_SILENT = ("ToolCallSummaryMessage", "ThoughtEvent", "MemoryQueryEvent", "UserInputRequestedEvent", "SelectorEvent",
           "SelectSpeakerEvent", "ModelClientStreamingChunkEvent", "CodeGenerationEvent", "SystemMessage")  # fmt: skip


class AutoGenReader(ConversationReader):
    name = "autogen"
    keys = ("messages", "message_thread", "task_result.messages", "llm_messages")

    def is_message(self, value: object) -> bool:
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in (*_REQUESTS, *_RESULTS, *_TEXTS, *_SILENT)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        kind, content = message["type"], message.get("content")
        usage = message.get("models_usage")
        if kind in _REQUESTS:
            calls = [call_entry(call.get("id"), call["name"], call.get("arguments")) for call in content or ()]
            yield {"role": "assistant", "tool_calls": calls, "usage": usage}
        elif kind in _RESULTS:
            for result in content or ():
                failed = result.get("is_error")
                yield tool_message(result.get("call_id"), result.get("content"), error=True if failed else None)
        elif kind in _TEXTS:
            asks = str(message.get("source") or "").lower().startswith(("user", "human")) or kind == "UserMessage"
            yield {"role": "user" if asks else "assistant", "content": content, "usage": usage}

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        return {"feedback": record.get("stop_reason")}


_CODE = re.compile(r"```(python|sh|bash|shell|py)?\s*\n(.*?)```", re.DOTALL)
_EXIT = re.compile(r"\s*exitcode:\s*(-?\d+)", re.IGNORECASE)
_HANDS_OVER = re.compile(r"(.+?) \(->\s*(.+?)\)")
_ASKS = re.compile(r"human|user(?!\w)|user_?proxy|mathproxyagent", re.IGNORECASE)
_TASK_KEYS = ("problem_statement", "question", "task", "problem")


class GroupChatReader(ConversationReader):
    """AG2 `chat_history`, the MAST and Who&When collections, and Magentic-One logs as lists of messages."""

    name = "group-chat"
    keys = ("trajectory", "history", "chat_history", "messages")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "content" not in value or not isinstance(value.get("role"), str):
            return False
        if value.get("tool_calls") or value.get("tool_call_id") or "agent" in value:
            return False
        return isinstance(value.get("name"), str) or value["role"] == "human" or bool(value["role"][:1].isupper())

    def translate(self, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        speaker = str(message.get("name") or message["role"])
        text = _text(message["content"])
        if (ran := _EXIT.match(text)) is not None:
            yield tool_message(None, {"exit_code": int(ran[1]), "output": text}, error=ran[1] != "0")
        elif hands_over := _HANDS_OVER.fullmatch(speaker):
            yield {"role": "assistant", "tool_calls": [call_entry(hands_over[2], hands_over[2], {"request": text})]}
        elif _ASKS.fullmatch(speaker):
            yield {"role": "user", "content": text}
        else:
            yield {"role": "assistant", "content": text, "speaker": speaker, "tool_calls": _code_calls(text)}

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        other = record.get("other_data") if isinstance(record.get("other_data"), dict) else {}
        verdicts = (record.get("is_correct"), record.get("is_corrected"), (other or {}).get("correct"))
        return {
            "task_id": record.get("instance_id") or record.get("question_ID"),
            "task": next((text for key in _TASK_KEYS if (text := _text(record.get(key)))), None),
            "passed": next((verdict for verdict in verdicts if verdict is not None), None),
            "environment": "group-chat",
        }

    def _as_chat_record(self, record: Any) -> Any:
        record = super()._as_chat_record(record)
        return {**record, "messages": list(_attach_results(record["messages"]))} if isinstance(record, dict) else record


def _text(content: object) -> str:
    return "\n".join(map(str, content)) if isinstance(content, list) else text_of(content)


def _code_calls(text: str) -> list[dict[str, Any]]:
    blocks = _CODE.findall(text)
    return [call_entry(None, "python" if language in ("python", "py", "") else "bash",
                       {"code" if language in ("python", "py", "") else "command": code})
            for language, code in blocks[:1]]  # fmt: skip


def _attach_results(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """Attach results: what a called member says is its result. Code that no terminal ran is only text."""
    for place, message in enumerate(messages):
        following = messages[place + 1] if place + 1 < len(messages) else {}
        speaker = message.get("speaker")
        called = [
            call["id"] for earlier in messages[max(0, place - 3) : place] for call in earlier.get("tool_calls") or ()
        ]
        if speaker and speaker in called:
            yield tool_message(speaker, message["content"])
        elif speaker and following.get("role") != "tool":
            yield {**message, "tool_calls": []}
        else:
            yield message
