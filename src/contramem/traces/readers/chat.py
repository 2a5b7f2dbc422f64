"""Messages as providers and frameworks keep them: a dialect only says how its messages read as chat messages.

A file is a bare list of messages, or records (one per line, a list, one object) that hold such a list beside the fields
that chat records have. So `--map`, outcomes and tools work the same for all dialects (records.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.map import at
from contramem.traces.reader import Reading, ReadOptions, first_of
from contramem.traces.readers.messages import (
    LOOKED_AT,
    ROLES,
    call_entry,
    has_anthropic_blocks,
    has_typed_parts,
    read_calls,
    split_tags,
    tool_message,
)
from contramem.traces.readers.records import first_messages, is_step, read_records

Message = Mapping[str, Any]
ChatMessages = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Dialect:
    """How a framework writes the messages of a run."""

    is_message: Callable[[object], bool]
    """Is this one message of the dialect?"""
    translate: Callable[[Message], ChatMessages]
    """The chat messages that one message stands for; none if it adds nothing to a run."""
    keys: tuple[str, ...] = ("messages",)
    """Where a record keeps its messages."""
    facts: Callable[[Mapping[str, Any], list[Any]], dict[str, Any]] = lambda record, messages: {}
    """Fields under the names of chat records that the framework keeps elsewhere. The record's own fields win."""

    def claims(self, file: TraceFile) -> bool:
        head = file.head if self.is_message(first_of(file.head)) else first_of(file.head)
        if file.is_lines and self.is_message(head):
            return True
        messages = self._messages(head)
        return not is_step(head) and bool(messages) and all(map(self.is_message, messages[:LOOKED_AT]))

    def read(self, file: TraceFile, options: ReadOptions) -> Reading:
        return read_records(file, options, self.chat_record, self.is_message)

    def chat_record(self, record: Any) -> Any:
        messages = self._messages(record)
        if not messages:
            return record
        # A message of another dialect stays as it is: records.py says what is wrong with it.
        chat = [said for message in messages
                for said in (self.translate(message) if self.is_message(message) else (message,))]  # fmt: skip
        own = record if isinstance(record, dict) else {}
        return {**self.facts(own, messages), **own, "messages": chat}

    def _messages(self, record: Any) -> list[Any]:
        if isinstance(record, list):
            return record
        return next((value for key in self.keys if isinstance(value := at(record, key), list)), [])


def is_openai_chat(file: TraceFile) -> bool:
    """OpenAI chat messages: JSONL of records, a list of them, one record, or a bare list of messages.

    {"task_id": "t1", "model": "...", "passed": true, "messages": [
      {"role": "user", "content": "Mail Bob."},
      {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "send", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "sent"}]}

    Nothing but the messages is standard, so the rest is found by our names or by the user's map. The messages are under
    `messages`, or in the only list of them that a record has; a call may bring its `result` itself."""
    messages = first_messages(file)
    return bool(messages) and not any(map(has_anthropic_blocks, messages))


def is_anthropic(file: TraceFile) -> bool:
    """The same files, whose messages call tools in content blocks.

    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Bob"}}]}
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sent"}]}
    """
    return any(map(has_anthropic_blocks, first_messages(file)))


# Gemini `contents` (role and parts), and sessions of Google's Agent Development Kit, whose events hold contents.
#
#     {"role": "user", "parts": [{"text": "Mail Bob."}]}
#     {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "send", "args": {"to": "Bob"}}}]}
#     {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "send", "response": {"result": "sent"}}}]}
#
#     {"appName": "mail", "events": [{"author": "user", "content": {"role": "user", "parts": [...]}}]}

_PARTS = (
    "text functionCall function_call functionResponse function_response inlineData inline_data fileData file_data "
    "executableCode executable_code codeExecutionResult code_execution_result thought"
).split()


def _is_gemini(value: object) -> bool:
    if isinstance(value, dict) and "author" in value:  # an ADK event; one that only changes state has no content
        return value.get("content") is None or _is_content(value["content"])
    return _is_content(value)


def _is_content(value: object) -> bool:
    parts = value.get("parts") if isinstance(value, dict) else None
    if not isinstance(parts, list) or not parts or has_typed_parts(value) or "kind" in value:  # type: ignore[operator]
        return False
    return all(isinstance(part, dict) and any(key in part for key in _PARTS) for part in parts)


def _from_gemini(message: Message) -> Iterator[dict[str, Any]]:
    content = message.get("content") if "author" in message else message
    if not isinstance(content, dict):
        return
    parts = content.get("parts") or []
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and part.get("thought") is not True]
    calls = [call for part in parts if isinstance(call := at(part, "functionCall", "function_call"), dict)]
    usage = at(message, "usageMetadata", "usage_metadata")
    if texts or calls:
        yield {
            "role": "user" if content.get("role") == "user" and not calls else "assistant",
            "content": "".join(texts),
            "tool_calls": [call_entry(call.get("id"), call["name"], call.get("args")) for call in calls],
            "usage": {
                "prompt_tokens": usage.get("promptTokenCount", usage.get("prompt_token_count")),
                "completion_tokens": usage.get("candidatesTokenCount", usage.get("candidates_token_count")),
            } if isinstance(usage, dict) else None,
            "model": at(message, "modelVersion", "model_version"),
        }  # fmt: skip
    for part in parts:
        answer = at(part, "functionResponse", "function_response")
        if isinstance(answer, dict):
            yield tool_message(answer.get("id"), unwrap_result(answer.get("response")))


def unwrap_result(response: object) -> object:
    """What a tool returned: the SDK wraps what is no object as `{"result": ...}` or `{"output": ...}`."""
    if isinstance(response, dict) and len(response) == 1:
        return response.get("result", response.get("output", response))
    return response


def _about_gemini(record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
    fields = {"environment": at(record, "appName", "app_name")}
    if "events" in record:
        fields["trial"] = record.get("id")
    if not (record.get("model") or record.get("source")):
        authors = (message.get("author") for message in messages if isinstance(message, dict))
        fields["model"] = next((author for author in authors if author and author != "user"), None)
    return fields


GEMINI = Dialect(
    _is_gemini, _from_gemini, ("contents", "history", "events", "messages", "session.events"), _about_gemini
)


# Chats of the Vercel AI SDK as they are stored: messages whose parts hold each call together with its result.
#
#     {"id": "m2", "role": "assistant", "parts": [
#       {"type": "tool-send", "toolCallId": "c1", "state": "output-available", "input": {"to": "Bob"}, "output": "ok"},
#       {"type": "text", "text": "Done."}]}
#
# The messages that the SDK sends to models have no parts: they are read as chat messages. Messages as OpenTelemetry
# records them have typed parts too, and are read here where they stand alone in a file.


def _is_sdk_message(value: object) -> bool:
    role = value.get("role") if isinstance(value, dict) else None
    return isinstance(role, str) and role in ROLES and has_typed_parts(value)


def _from_ai_sdk(message: Message) -> ChatMessages:
    blocks = [block for part in message["parts"] for block in _blocks(part)]
    yield {"role": message["role"], "content": blocks, "model": at(message, "metadata.model")}


def _blocks(part: Message) -> Iterator[Message]:
    kind = part["type"]
    call = part.get("toolInvocation") if kind == "tool-invocation" else part  # version 4 wraps it
    if not isinstance(call, dict) or not (kind.startswith("tool-") or kind == "dynamic-tool"):
        yield part
        return
    call_id, state = call.get("toolCallId"), call.get("state")
    yield {**call, "type": "tool-call", "toolName": call.get("toolName") or kind.removeprefix("tool-")}
    if state in ("output-available", "result"):
        yield {"type": "tool-result", "toolCallId": call_id, "result": call.get("output", call.get("result"))}
    elif state == "output-error":
        failed = {"type": "error-text", "value": call.get("errorText")}
        yield {"type": "tool-result", "toolCallId": call_id, "output": failed}


AI_SDK = Dialect(_is_sdk_message, _from_ai_sdk, facts=lambda record, messages: {"trial": record.get("id")})


# ShareGPT conversations, with the tool turns that function-calling data sets add.
#
#     {"id": "t1", "conversations": [{"from": "human", "value": "Mail Bob."},
#       {"from": "function_call", "value": "{\"name\": \"send\", \"arguments\": {\"to\": \"Bob\"}}"},
#       {"from": "observation", "value": "sent"}, {"from": "gpt", "value": "Done."}]}
#
# A call is a turn of `function_call`, or text between tags; its result is a turn of `observation` or `tool`.

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
          "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system"}  # fmt: skip
_CALLS = ("function_call", "tool_call", "function-call")
_RESULTS = ("observation", "tool", "function_response", "tool_response", "function")


def _is_turn(value: object) -> bool:
    spoke = value.get("from") if isinstance(value, dict) else None
    return isinstance(spoke, str) and spoke in (*_ROLES, *_CALLS, *_RESULTS) and "value" in value  # type: ignore[operator]


def _from_sharegpt(message: Message) -> ChatMessages:
    spoke, text = message["from"], message["value"] if isinstance(message["value"], str) else ""
    if spoke in _CALLS:
        yield {"role": "assistant", "tool_calls": read_calls(text)}
    elif spoke in _RESULTS:
        yield from (tool_message(None, result) for result in split_tags(text).results or [text])
    else:
        yield {"role": _ROLES[spoke], "content": text}


SHAREGPT = Dialect(
    _is_turn,
    _from_sharegpt,
    ("conversations", "conversation", "messages", "items"),
    lambda record, messages: {"task_id": record.get("id")},
)
