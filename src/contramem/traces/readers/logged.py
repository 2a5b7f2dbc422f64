"""What proxies, gateways and trainers log about a model: what it was sent and what it replied."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.map import ABSENT, value_at
from contramem.traces.normalize import text_of
from contramem.traces.reader import Reading, ReadOptions, first_of
from contramem.traces.readers.messages import call_in, is_message, result_in, split_tags
from contramem.traces.readers.records import Records, is_step, read_records, records_in

_REQUESTS = ("", "request", "request.body", "request_body", "body", "input", "kwargs")
_REPLIES = ("response", "response.body", "response_body", "output", "completion")
_SESSIONS = ("session_id", "trace_id", "litellm_trace_id", "conversation_id", "thread_id", "metadata.session_id",
             "metadata.trace_id", "request.metadata.session_id")  # fmt: skip


def holds_model_calls(file: TraceFile) -> bool:
    return is_model_call(first_of(file.head)) and not is_step(first_of(file.head))


def is_model_call(row: object) -> bool:
    """Does this row hold messages that were sent to a model, and its reply?"""
    return _request(row) is not None and _reply(row) is not None


def read_model_calls(file: TraceFile, options: ReadOptions) -> Reading:
    """Logs of calls to a model: a row has the messages that were sent and the reply.

    {"session_id": "s1", "model": "...", "messages": [...], "response": {"choices": [{"message": {...}}]}}
    {"session_id": "s1", "request": {"model": "...", "messages": [...]}, "response": {...}}

    An agent asks its model once for each step and sends all that happened before. So a row whose messages begin with
    the conversation of an earlier row continues it, and the longest conversation is the run."""
    return read_records(file, options, records=join_calls(records_in(file, options, is_message)))


@dataclass
class _Conversation:
    position: object
    row: Mapping[str, Any]
    messages: list[Any] = field(default_factory=list)


def join_calls(rows: Records) -> Iterator[tuple[object, Any]]:
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
            system = text_of(request.get("system"))  # Anthropic's way to give it, beside the messages
            conversation = _Conversation(position, row, [{"role": "system", "content": system}] if system else [])
            conversations.append(conversation)
        conversation.row = row
        conversation.messages += [*request["messages"][known:], reply]
        (*_, end) = _digest_prefixes([*request["messages"], reply], _session(row))
        waiting.setdefault(end, []).append(conversation)
    yield from ((each.position, _conversation_record(each)) for each in conversations)


def _request(row: object) -> dict[str, Any] | None:
    for place in _REQUESTS if isinstance(row, dict) else ():
        request = value_at(row, place) if place else row
        messages = request.get("messages") if isinstance(request, dict) else None
        if isinstance(request, dict) and isinstance(messages, list) and messages and all(map(is_message, messages)):
            return request
    return None


def _reply(row: object) -> dict[str, Any] | None:
    """The message of the model, with what it cost."""
    for place in _REPLIES if isinstance(row, dict) else ():
        response = value_at(row, place)
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


def _digest_prefixes(messages: list[Any], session: str) -> Iterator[bytes]:
    """Digests of the first 0, 1, 2, ... messages: of what they say, not of how a client wrote it."""
    so_far = hashlib.blake2b(session.encode("utf-8", "replace"), digest_size=16)
    yield so_far.digest()
    for message in messages:
        so_far.update(msgspec.json.encode(_essence(message)))
        yield so_far.digest()


def _essence(message: Mapping[str, Any]) -> list[Any]:
    content, calls = message.get("content"), message.get("tool_calls")
    blocks = [str(call_in(block) or result_in(block)) for block in content] if isinstance(content, list) else []
    ids = [str(call.get("id")) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [str(message.get("role")), text_of(content).strip(), blocks, ids, str(message.get("tool_call_id"))]


def _conversation_record(conversation: _Conversation) -> dict[str, Any]:
    request = _request(conversation.row) or {}
    facts = {"model": request.get("model"), "tools": request.get("tools"), "trial": _session(conversation.row) or None}
    said = {name: value for name, value in facts.items() if value is not None}
    own = {name: value for name, value in conversation.row.items() if name != "usage"}  # that of the last call alone
    return {**said, **own, "messages": conversation.messages}


def holds_rollouts(file: TraceFile) -> bool:
    return _rollout(first_of(file.head)) is not None


def read_rollouts(file: TraceFile, options: ReadOptions) -> Reading:
    """Rollouts of reinforcement learning: what a model was prompted with, what it did, and the reward.

    {"example_id": 3, "prompt": [{"role": "user", "content": "Mail Bob."}], "reward": 1.0, "completion": [
      {"role": "assistant", "tool_calls": [...]}, {"role": "tool", "content": "sent"}, ...]}

    `example_id` names the task where there is one. Trainers that keep texts instead of messages are read if calls
    stand in them between tags."""
    return read_records(file, options, _rollout_record)


def _rollout(record: object) -> list[Any] | None:
    """The conversation of a rollout; None for any other record."""
    if not isinstance(record, dict) or "messages" in record:
        return None
    prompt, completion = record.get("prompt"), record.get("completion")
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if isinstance(completion, str) and split_tags(completion).calls:
        completion = [{"role": "assistant", "content": completion}]
    if not isinstance(prompt, list) or not isinstance(completion, list) or not completion:
        return None
    messages = [*prompt, *completion]
    return messages if all(map(is_message, messages)) else None


def _rollout_record(record: Any) -> Any:
    messages = _rollout(record)
    if messages is None:
        return record
    if "example_id" not in record:
        return {**record, "messages": messages}
    # Environments are given the name of a kind of tasks as `task`: many examples share it.
    own = {name: value for name, value in record.items() if name != "task"}
    return {"task_id": record["example_id"], "ability": record.get("task"), **own, "messages": messages}
