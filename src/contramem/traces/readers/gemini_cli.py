"""Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-*.json`, or `.jsonl` with one message a line.

    {"sessionId": "...", "projectHash": "...", "messages": [
      {"id": "1", "type": "user", "content": "Fix it."},
      {"id": "2", "type": "gemini", "model": "...", "content": "", "tokens": {"input": 9, "output": 2}, "toolCalls": [
        {"id": "c", "name": "replace", "args": {...}, "status": "success",
         "result": [{"functionResponse": {"response": {"output": "..."}}}]}]}]}

In a `.jsonl`, a line with a known id replaces that message, and `$rewindTo` takes back everything from a message on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message
from contramem.traces.readers.gemini import unwrap_result
from contramem.traces.readers.records import read_records
from contramem.traces.readers.session import ENVIRONMENT
from contramem.traces.trajectory import Trajectory

_PROGRAM = ("info", "warning", "error")
"""Messages of the program itself."""


class GeminiCliReader(ConversationReader):
    name = "gemini-cli"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and "sessionId" in head and "projectHash" in head

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("type") in ("user", "gemini", *_PROGRAM) and "content" in value

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        records = _join_lines(file) if file.is_lines else None
        return read_records(file, options, self._as_chat_record, self.is_message, records)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        if message["type"] == "user":
            yield {"role": "user", "content": text_of(message["content"])}
        elif message["type"] == "gemini":
            yield from _agent_messages(message)

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        return {"environment": ENVIRONMENT, "trial": record.get("sessionId")}


def _agent_messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    listed, tokens = message.get("toolCalls"), message.get("tokens")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    counts = tokens if isinstance(tokens, dict) else {}
    yield {
        "role": "assistant",
        "content": text_of(message["content"]),
        "tool_calls": [call_entry(call.get("id"), str(call.get("name")), call.get("args")) for call in calls],
        "model": message.get("model"),
        "usage": {"prompt_tokens": counts.get("input"), "completion_tokens": counts.get("output")},
    }
    for call in calls:
        if (result := _result(call)) is not None:
            yield tool_message(call.get("id"), result, error=call.get("status") in ("error", "cancelled"))


def _result(call: Mapping[str, Any]) -> object:
    """What came back: the function's response, else what the user was shown."""
    parts = call.get("result")
    for part in parts if isinstance(parts, list) else ():
        answer = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(answer, dict):
            return unwrap_result(answer.get("response"))
    return call.get("resultDisplay")


def _join_lines(file: TraceFile) -> list[tuple[object, Any]]:
    """One record of the lines of a file."""
    session: dict[str, Any] = {}
    messages: dict[object, Any] = {}
    broken: list[tuple[object, Any]] = []
    for number, line in file.lines():
        if isinstance(line, TraceError) or not isinstance(line, dict):
            broken.append((number, line))
        elif "$rewindTo" in line:
            messages = dict(_before(messages, line["$rewindTo"]))
        elif "type" in line:
            messages[str(line.get("id", number))] = line
        else:
            changed = line.get("$set")
            session |= changed if isinstance(changed, dict) else line
    return [*broken, ("", {**session, "messages": list(messages.values())})]


def _before(messages: Mapping[object, Any], message_id: object) -> Iterator[tuple[object, Any]]:
    for known, message in messages.items():
        if known == str(message_id):
            return
        yield known, message
