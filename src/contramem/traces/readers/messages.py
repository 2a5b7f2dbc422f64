"""Chat messages: calls in `tool_calls` and results with the role `tool`, or both in content blocks (tool_blocks.py).

The two ways do not collide, so one reading serves both, and a record that mixes them loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import decode
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.plain_names import plain_label
from contramem.traces.readers.tagged_calls import split_tags
from contramem.traces.readers.tool_blocks import call_in, result_content, result_in
from contramem.traces.trajectory import Actor

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")


def record_message(recorder: Recorder, message: Mapping[str, Any]) -> str:
    """Record one message. Returns what a user said in it; empty for everybody else."""
    role = message["role"]
    if role == "assistant":
        record_content(recorder, "agent", message.get("content"))
        for call in message.get("tool_calls") or ():
            record_call(recorder, call)
        if message.get("function_call"):
            record_call(recorder, message["function_call"])
    elif role in ("tool", "function"):
        _record_results(recorder, message)
    elif role == "user":
        return record_content(recorder, "user", message.get("content"))
    elif role in ("system", "developer"):
        recorder.instruct(text_of(message.get("content")))
    elif role not in ROLES:
        raise TraceError(
            f"has a message with the unknown role {plain_label(str(role))!r}",
            f"The roles are {', '.join(sorted(ROLES))}.",
        )
    return ""


def _record_results(recorder: Recorder, message: Mapping[str, Any]) -> None:
    """One result, or several in blocks."""
    content = message.get("content")
    if isinstance(content, list) and any(map(result_in, content)):
        record_content(recorder, "app", content)
        return
    marked = message.get("is_error")
    recorder.result(result_content(content), _call_id(message), error=marked if isinstance(marked, bool) else None)


def _call_id(message: Mapping[str, Any]) -> str | None:
    """The id of the call that a result answers. SWE-agent lists it as the only one of `tool_call_ids`."""
    listed = message.get("tool_call_ids")
    call_id = listed[0] if isinstance(listed, list) and listed else message.get("tool_call_id")
    return call_id if isinstance(call_id, str) else None if call_id is None else str(call_id)


def record_call(recorder: Recorder, call: Mapping[str, Any]) -> None:
    """One entry of `tool_calls`: OpenAI's `function` or `custom`, or name and arguments right in the entry."""
    wrapped = call.get("function") or call.get("custom")
    spec = wrapped if isinstance(wrapped, dict) else call
    arguments = next((spec[key] for key in ("arguments", "args", "input") if key in spec), None)
    recorder.call(spec["name"], arguments, call.get("id"))


def record_content(recorder: Recorder, actor: Actor, content: object, unmarked: bool | None = None) -> str:
    """The text and tool blocks of one message, in order. Returns the text.

    `unmarked` is the error of a tool result that carries no `is_error`: False where the writer marks every error,
    None where the text has to tell.
    """
    if not isinstance(content, list):
        return _record_text(recorder, actor, text_of(content))
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
            for entry in _calls_in(block["value"]):
                record_call(recorder, entry)
        elif kind not in _THOUGHTS and (text := text_of([block])):
            texts.append(text)
    recorder.message(actor, "\n".join(texts[recorded:]))
    return "\n".join(texts)


def _record_text(recorder: Recorder, actor: Actor, text: str) -> str:
    """A text, and the calls and results that stand in it between tags."""
    text, calls, results = split_tags(text)
    recorder.message(actor, text)
    for call in calls:
        record_call(recorder, call)
    for result in results:
        recorder.result(result)
    return text


def _calls_in(text: str) -> list[dict[str, Any]]:
    value = decode(text.encode("utf-8", "replace"))
    return [call for call in (value if isinstance(value, list) else [value]) if isinstance(call, dict)]


def is_message(value: object) -> bool:
    """Is this a chat message, by its role?"""
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(role, str) or role not in ROLES:
        return False
    # With parts alone it is Gemini's, with parts of named types Vercel's.
    return "parts" not in value or ("content" in value and not has_typed_parts(value))  # type: ignore[operator]


def has_typed_parts(message: object) -> bool:
    """Does the message consist of parts that each name their type?"""
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list) or not parts:
        return False
    return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)
