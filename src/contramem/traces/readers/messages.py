"""Chat messages, however a provider or framework writes calls and results in them; every dialect ends here.

Calls are in `tool_calls`, in content blocks, or in the text between tags; results are messages of the role `tool` or
blocks. The ways do not collide, so one reading serves them all, and a record that mixes them loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import decode, number
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.sanitize import plain_label
from contramem.traces.trajectory import Actor, RunUsage

LOOKED_AT = 20
"""Messages of a list that are looked at to recognise what it is."""
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")


def is_message(value: object) -> bool:
    """Is this a chat message, by its role?"""
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(role, str) or role not in ROLES:
        return False
    # With parts alone it is Gemini's, with parts of named types Vercel's.
    return "parts" not in value or ("content" in value and not has_typed_parts(value))  # type: ignore[operator]


def unwrap_message(value: Any) -> Any:
    """The message of a pair `[time, message]`, which some harnesses log; any other value as it is."""
    return value[1] if isinstance(value, list) and len(value) == 2 and is_message(value[1]) else value


def messages_in(items: list[Any]) -> list[Any]:
    """The messages of a list. A harness that logs pairs `[time, entry]` logs other things there as well, without a
    role: these are none."""
    if not items or not isinstance(items[0], list):
        return items
    messages = [unwrap_message(item) for item in items]
    return [said for said in messages if not _is_pair_without_role(said)]


def _is_pair_without_role(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and isinstance(item[1], dict) and "role" not in item[1]


def conversation_in(record: Any) -> str:
    """The name under which a record keeps its chat messages: `messages`, else the only list of them. Empty: none."""
    if not isinstance(record, dict):
        return ""
    names = [name for name, value in record.items() if isinstance(value, list) and value and _is_conversation(value)]
    return "messages" if "messages" in names else names[0] if len(names) == 1 else ""


def _is_conversation(items: list[Any]) -> bool:
    messages = messages_in(items[:LOOKED_AT])
    return bool(messages) and all(map(is_message, messages))


def has_typed_parts(message: object) -> bool:
    """Does the message consist of parts that each name their type?"""
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list) or not parts:
        return False
    return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)


def tool_message(call_id: object, content: object, *, error: object = None) -> dict[str, Any]:
    """A result as a chat message. `error` as in `Recorder.result`: True, False, or None where nothing says so."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, "is_error": error}


def call_entry(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    """A call as an entry of a chat message's `tool_calls`."""
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def record_message(recorder: Recorder, message: Mapping[str, Any]) -> str:
    """Record one message. Returns what a user said in it; empty for everybody else."""
    role = message["role"]
    if role == "assistant":
        calls = message.get("tool_calls") or ()
        has_results = any("result" in call for call in calls)  # so the text was written when they were there
        if not has_results:
            record_content(recorder, "agent", message.get("content"))
        for call in calls:
            record_call(recorder, call)
        if has_results:
            record_content(recorder, "agent", message.get("content"))
        if message.get("function_call"):
            record_call(recorder, message["function_call"])
    elif role in ("tool", "function"):
        _record_results(recorder, message)
    elif role == "user":
        return record_content(recorder, "user", message.get("content"))
    elif role in ("system", "developer"):
        recorder.instruct(text_of(message.get("content")))
    else:
        raise unknown_role(role, f"The roles are {', '.join(sorted(ROLES))}.")
    return ""


def unknown_role(role: object, hint: str) -> TraceError:
    return TraceError(f"has a message with the unknown role {plain_label(str(role))!r}", hint)


def _record_results(recorder: Recorder, message: Mapping[str, Any]) -> None:
    """One result, or several in blocks."""
    content = message.get("content")
    if isinstance(content, list) and any(map(result_in, content)):
        record_content(recorder, "app", content)
    else:
        recorder.result(result_content(content), _call_id(message), error=_if_bool(message.get("is_error")))


def _call_id(message: Mapping[str, Any]) -> str | None:
    """The id of the call that a result answers. SWE-agent lists it as the only one of `tool_call_ids`."""
    listed = message.get("tool_call_ids")
    call_id = listed[0] if isinstance(listed, list) and listed else message.get("tool_call_id")
    return call_id if isinstance(call_id, str) else None if call_id is None else str(call_id)


def record_call(recorder: Recorder, call: Mapping[str, Any]) -> None:
    """One entry of `tool_calls`: OpenAI's `function` or `custom`, or name and arguments right there, perhaps with the
    result."""
    wrapped = call.get("function") or call.get("custom")
    spec = wrapped if isinstance(wrapped, dict) else call
    arguments = next((spec[key] for key in ("arguments", "args", "input") if key in spec), None)
    call_id = None if call.get("id") is None else str(call["id"])
    recorder.call(spec["name"], arguments, call_id)
    if "result" in call:
        recorder.result(result_content(call["result"]), call_id, error=call.get("error") or None)


def record_content(recorder: Recorder, actor: Actor, content: object, unmarked: bool | None = None) -> str:
    """The text and tool blocks of one message, in order. Returns the text.

    `unmarked` is the error of a tool result that carries no `is_error`: False where the writer marks every error,
    None where the text has to tell.
    """
    if not isinstance(content, list):
        text, calls, results = split_tags(text_of(content))
        recorder.message(actor, text)
        for entry in calls:
            record_call(recorder, entry)
        for tagged in results:
            recorder.result(tagged)
        return text
    texts: list[str] = []
    recorded = 0
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else ""
        call, result = call_in(block), result_in(block)
        if call or result:
            recorder.message(actor, "\n".join(texts[recorded:]))
            recorded = len(texts)
        if call:
            recorder.call(call.name, call.arguments, call.call_id, app=call.app)
        elif result:
            error = unmarked if result.error is None else result.error
            recorder.result(result.content, result.call_id, error=error)
        elif kind == "tool_call" and isinstance(block.get("value"), str):  # LLaMA-Factory: calls as JSON in a block
            written = decode(block["value"].encode("utf-8", "replace"))
            for entry in written if isinstance(written, list) else [written]:
                if isinstance(entry, dict):
                    record_call(recorder, entry)
        elif kind not in _THOUGHTS and (text := text_of([block])):
            texts.append(text)
    recorder.message(actor, "\n".join(texts[recorded:]))
    return "\n".join(texts)


# Content blocks:
#
#     Anthropic        {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Bob"}}
#                      {"type": "tool_result", "tool_use_id": "c1", "content": "sent"}
#     Amazon Bedrock   {"toolUse": {"toolUseId": "c1", "name": "send", "input": {"to": "Bob"}}}
#                      {"toolResult": {"toolUseId": "c1", "content": [{"text": "sent"}], "status": "success"}}
#     Vercel AI SDK    {"type": "tool-call", "toolCallId": "c1", "toolName": "send", "input": {"to": "Bob"}}
#                      {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "sent"}}
#     Haystack         {"tool_call": {"id": "c1", "tool_name": "send", "arguments": {"to": "Bob"}}}
#                      {"tool_call_result": {"origin": {"id": "c1", ...}, "result": "sent", "error": false}}
#     OpenTelemetry    {"type": "tool_call", "id": "c1", "name": "send", "arguments": {"to": "Bob"}}
#                      {"type": "tool_call_response", "id": "c1", "response": "sent"}


class CallBlock(NamedTuple):
    """A call in the content of a message."""

    name: str
    arguments: object
    call_id: str | None
    app: str = ""


class ResultBlock(NamedTuple):
    """A result in the content of a message."""

    content: object
    call_id: str | None
    error: bool | None
    """None where the block does not say."""


def call_in(block: object) -> CallBlock | None:
    """The call that a block makes, if it makes one."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if _ends_with(kind, "tool_use"):
        return CallBlock(block["name"], block.get("input"), block.get("id"), block.get("server_name") or "")
    if kind == "tool-call":
        return CallBlock(block["toolName"], block.get("input", block.get("args")), block.get("toolCallId"))
    if kind == "tool_call" and "name" in block:
        return CallBlock(block["name"], block.get("arguments"), block.get("id"))
    if isinstance(use := block.get("toolUse"), dict):
        return CallBlock(use["name"], use.get("input"), use.get("toolUseId"))
    if isinstance(call := block.get("tool_call"), dict):
        return CallBlock(call["tool_name"], call.get("arguments"), call.get("id"))
    return None


def result_in(block: object) -> ResultBlock | None:
    """The result that a block brings, if it brings one."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if _ends_with(kind, "tool_result"):
        error = _if_bool(block.get("is_error"))
        return ResultBlock(result_content(block.get("content")), block.get("tool_use_id"), error)
    if kind == "tool-result":
        return _sdk_result(block)
    if kind == "tool_call_response":
        return ResultBlock(result_content(block.get("response", block.get("result"))), block.get("id"), None)
    if isinstance(answer := block.get("tool_call_result"), dict):
        origin = answer.get("origin")
        call_id = origin.get("id") if isinstance(origin, dict) else None
        return ResultBlock(result_content(answer.get("result")), call_id, _if_bool(answer.get("error")))
    if isinstance(result := block.get("toolResult"), dict):
        error = {"error": True, "success": False}.get(str(result.get("status")))
        return ResultBlock(_bedrock_content(result.get("content")), result.get("toolUseId"), error)
    return None


def has_anthropic_blocks(message: object) -> bool:
    """Does this message call a tool or bring a result in Anthropic's way?"""
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict) and _ends_with(block.get("type"), "tool_use", "tool_result") for block in content
    )


def result_content(content: object) -> object:
    """The text of a result given as typed parts; any other value is what the tool returned, and stays."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        return text_of(content)
    return content


def _sdk_result(block: Mapping[str, Any]) -> ResultBlock:
    """Since version 5 the output says of what kind it is; before, `result` was what the tool returned."""
    output = block.get("output", block.get("result"))
    error = _if_bool(block.get("isError"))
    if isinstance(output, dict) and isinstance(output.get("type"), str) and ("value" in output or "reason" in output):
        error = output["type"].startswith(("error-", "execution-denied")) or error
        output = output.get("value", output.get("reason"))
    return ResultBlock(result_content(output), block.get("toolCallId"), error)


def _bedrock_content(content: object) -> object:
    """What a tool returned: a lone JSON value as it is, otherwise the texts."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return parts[0]["json"] if len(parts) == 1 and "json" in parts[0] else text_of(content)


def _ends_with(kind: object, *endings: str) -> bool:
    return isinstance(kind, str) and kind.endswith(endings)


def _if_bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


# Calls and results between tags, as many open models write them in their text:
#
#     assistant:  <tool_call>{"name": "send", "arguments": {"to": "Bob"}}</tool_call>
#     user:       <tool_response>sent</tool_response>

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


class TaggedText(NamedTuple):
    """A text, taken apart."""

    text: str
    """What stands around the tags."""
    calls: list[dict[str, Any]]
    """As entries of `tool_calls`."""
    results: list[str]


def split_tags(text: str) -> TaggedText:
    """A text without its calls and results, and these."""
    if "<tool_" not in text:
        return TaggedText(text, [], [])
    calls = [call for written in _CALL.findall(text) for call in read_calls(written)]
    return TaggedText(_RESULT.sub("", _CALL.sub("", text)), calls, _RESULT.findall(text))


def read_calls(text: str) -> list[dict[str, Any]]:
    """The calls that a text writes as JSON: one, or a list of them."""
    try:
        value = decode(text.encode("utf-8", "replace"))
    except TraceError:
        return [{"name": "unnamed", "arguments": text}] if text else []
    calls = value if isinstance(value, list) else [value]
    return [
        {"id": call.get("id"), "name": call["name"], "arguments": call.get("arguments", call.get("parameters"))}
        for call in calls
        if isinstance(call, dict) and isinstance(call.get("name"), str)
    ]


_IN = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUT = ("completion_tokens", "output_tokens")


class Meter:
    """Sums what model calls cost, under OpenAI's and Anthropic's names. What no call reports stays None, never 0."""

    def __init__(self) -> None:
        self.model_calls: int | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.cost_usd: float | None = None

    def add(self, usage: object, cost: object = None) -> None:
        if isinstance(usage, dict):
            self.model_calls = (self.model_calls or 0) + 1
            self.tokens_in = _plus(self.tokens_in, usage, _IN)
            self.tokens_out = _plus(self.tokens_out, usage, _OUT)
        if (amount := number(cost)) is not None:
            self.cost_usd = (self.cost_usd or 0.0) + amount

    def usage(self) -> RunUsage:
        """A harness that has no price for a model writes 0; tokens for nothing are an unknown price, not a saving."""
        priced = self.cost_usd or not self.tokens_in
        return RunUsage(self.model_calls, self.tokens_in, self.tokens_out, self.cost_usd if priced else None)


def _plus(total: int | None, usage: dict[str, object], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = usage.get(key)
        if type(value) is int:
            total = (total or 0) + value
    return total


def sum_numbers(rows: list[Any], *keys: str) -> float | None:
    """The sum of a number that rows hold under the first of `keys` that is there; None if no row has one."""
    values = [next((row[key] for key in keys if row.get(key) is not None), None) for row in rows]
    numbers = [value for value in map(number, values) if value is not None]
    return sum(numbers) if numbers else None


def whole(value: object) -> int | None:
    amount = number(value)
    return None if amount is None else int(amount)
