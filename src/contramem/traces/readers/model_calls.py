"""Logs of calls to a model, as proxies and gateways write them: a row has the messages that were sent and the reply.

    {"session_id": "s1", "model": "...", "messages": [...], "response": {"choices": [{"message": {...}}]}}
    {"session_id": "s1", "request": {"model": "...", "messages": [...]}, "response": {...}}

An agent asks its model once for each step and sends all that happened before. So a row whose messages begin with the
conversation of an earlier row continues it, and the longest conversation is the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.messages import is_message
from contramem.traces.readers.records import ABSENT, is_step, read_records, records_in, value_at
from contramem.traces.readers.tool_blocks import call_in, result_in
from contramem.traces.trajectory import Trajectory

_REQUESTS = ("", "request", "request.body", "request_body", "body", "input", "kwargs")
_REPLIES = ("response", "response.body", "response_body", "output", "completion")
_SESSIONS = ("session_id", "trace_id", "litellm_trace_id", "conversation_id", "thread_id", "metadata.session_id",
             "metadata.trace_id", "request.metadata.session_id")  # fmt: skip


class ModelCallsReader:
    name = "model-calls"

    def claims(self, file: TraceFile) -> bool:
        row = file.head[0] if isinstance(file.head, list) and file.head else file.head
        return is_model_call(row) and not is_step(row)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        rows = records_in(file, is_message)
        return read_records(file, options, records=join_calls(rows))


def is_model_call(row: object) -> bool:
    """Does this row hold messages that were sent to a model, and its reply?"""
    return _request(row) is not None and _reply(row) is not None


@dataclass
class _Conversation:
    position: object
    row: Mapping[str, Any]
    messages: list[Any] = field(default_factory=list)


def join_calls(rows: Iterable[tuple[object, Any]]) -> Iterator[tuple[object, Any]]:
    """(position, chat record) for each conversation, from rows in the order in which they were logged."""
    conversations: list[_Conversation] = []
    waiting: dict[bytes, list[_Conversation]] = {}
    for position, row in rows:
        request, reply = _request(row), _reply(row)
        if isinstance(row, TraceError) or request is None or reply is None:
            yield position, row if isinstance(row, TraceError) else TraceError("is no call of a model with its reply")
            continue
        prefixes = list(_digest_prefixes(request["messages"], _session(row)))
        known = next((length for length in range(len(prefixes) - 1, 0, -1) if waiting.get(prefixes[length])), 0)
        if known:
            conversation = waiting[prefixes[known]].pop(0)
        else:
            conversation = _Conversation(position, row, _system(request))
            conversations.append(conversation)
        conversation.row = row
        conversation.messages += [*request["messages"][known:], reply]
        (*_, end) = _digest_prefixes([*request["messages"], reply], _session(row))
        waiting.setdefault(end, []).append(conversation)
    yield from ((each.position, _as_chat_record(each)) for each in conversations)


def _request(row: object) -> dict[str, Any] | None:
    for place in _REQUESTS if isinstance(row, dict) else ():
        request = row if not place else value_at(row, place)  # type: ignore[arg-type]
        messages = request.get("messages") if isinstance(request, dict) else None
        if isinstance(request, dict) and isinstance(messages, list) and messages and all(map(is_message, messages)):
            return request
    return None


def _reply(row: object) -> dict[str, Any] | None:
    """The message of the model, with what it cost."""
    for place in _REPLIES if isinstance(row, dict) else ():
        response = value_at(row, place)  # type: ignore[arg-type]
        if not isinstance(response, dict):
            continue
        choice = value_at(response, "choices.0.message")
        message = response if choice is ABSENT else choice
        if isinstance(message, dict) and message.get("role") == "assistant":
            return {**message, "usage": response.get("usage"), "model": response.get("model")}
    return None


def _session(row: Mapping[str, Any]) -> str:
    found = (value_at(row, place) for place in _SESSIONS)
    return next((value for value in found if isinstance(value, str)), "")


def _system(request: Mapping[str, Any]) -> list[Any]:
    """Anthropic's way to give the system prompt, beside the messages."""
    system = text_of(request.get("system"))
    return [{"role": "system", "content": system}] if system else []


def _digest_prefixes(messages: list[Any], session: str) -> Iterator[bytes]:
    """Digests of the first 0, 1, 2, ... messages: of what they say, not of how a client wrote it."""
    so_far = hashlib.blake2b(session.encode("utf-8", "replace"), digest_size=16)
    yield so_far.digest()
    for message in messages:
        so_far.update(msgspec.json.encode(_essence(message)))
        yield so_far.digest()


def _essence(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    blocks = [str(call_in(block) or result_in(block)) for block in content] if isinstance(content, list) else []
    calls = message.get("tool_calls")
    ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [
        str(message.get("role")),
        text_of(content).strip(),
        blocks,
        [*map(str, ids)],
        str(message.get("tool_call_id")),
    ]


def _as_chat_record(conversation: _Conversation) -> dict[str, Any]:
    row = conversation.row
    request = _request(row) or {}
    facts = {"model": request.get("model"), "tools": request.get("tools"), "trial": _session(row) or None}
    own = {name: value for name, value in row.items() if name != "usage"}  # that of the last call alone
    return {
        **{name: value for name, value in facts.items() if value is not None},
        **own,
        "messages": conversation.messages,
    }
