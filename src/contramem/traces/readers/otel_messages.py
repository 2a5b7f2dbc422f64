"""What the spans of a model and of a tool say, in both dialects, as messages and calls."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import decode
from contramem.traces.normalize import text_of
from contramem.traces.readers.otel_spans import Span

_MODEL_OPERATIONS = ("chat", "generate_content", "text_completion")
_FLAT = re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.(\d+)\.tool_call\.(id|function\.name|function\.arguments)")


@dataclass(slots=True)
class OtelCall:
    """A tool call, as a model asked for it or as a tool span shows it; or only its answer, often with no name."""

    id: str | None
    name: str = ""
    arguments: Any = None
    result: Any = None
    error: str | bool | None = None

    def __post_init__(self) -> None:
        if self.id is not None and not isinstance(self.id, str):  # the ids of a run and of a call, as a list
            self.id = json.dumps(self.id, default=str)


@dataclass(slots=True)
class OtelMessage:
    role: str
    text: str = ""
    calls: list[OtelCall] = field(default_factory=list)
    answers: list[OtelCall] = field(default_factory=list)

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies a message that a later span repeats: models are sent the whole conversation each time."""
        calls = tuple((call.id, call.name, _write_arguments(call.arguments)) for call in self.calls)
        return self.role, self.text, calls, tuple((answer.id, text_of(answer.result)) for answer in self.answers)


def _write_arguments(arguments: Any) -> str:
    """Arguments in one spelling: a reply has them as text, the next request often as an object."""
    if arguments in ("", None):
        return "{}"
    if not isinstance(arguments, str):
        return json.dumps(arguments, sort_keys=True, default=str)
    value = json_of(arguments)
    return arguments if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def is_model(span: Span) -> bool:
    return bool(span.get("openinference.span.kind") == "LLM" or span.get("gen_ai.operation.name") in _MODEL_OPERATIONS)


def is_tool(span: Span) -> bool:
    return bool(span.get("openinference.span.kind") == "TOOL" or span.get("gen_ai.operation.name") == "execute_tool")


def json_of(value: Any) -> Any:
    """Attributes hold structures as JSON text; exporters that can, as structures. What is no JSON stays text."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value.encode("utf-8", "surrogatepass"))
    except TraceError:
        return value


def messages_of(span: Span) -> list[OtelMessage]:
    """The conversation that a model was sent, and its reply."""
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    messages: list[OtelMessage] = []
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        raw = next((source[key] for source in sources if source.get(key)), None)
        messages += [_message(message) for message in json_of(raw) or () if isinstance(message, dict)]
    return messages or _flat_messages(span.attributes)


def _message(raw: dict[str, Any]) -> OtelMessage:
    message = OtelMessage(str(raw.get("role") or "user"))
    content = raw.get("content")
    texts = [content] if isinstance(content, str) else []
    if message.role == "assistant" and (written := _calls_written_as_text(content)):
        texts, raw = [], {**raw, "tool_calls": written}
    for part in [*(raw.get("parts") or ()), *(content if isinstance(content, list) else ())]:
        if not (isinstance(part, dict) and _take_call_or_answer(message, part)) and (text := text_of(part)):
            texts.append(text)
    for call in raw.get("tool_calls") or (raw.get("additional_kwargs") or {}).get("tool_calls") or ():
        spec = call["function"] if isinstance(call.get("function"), dict) else call
        message.calls.append(_call(call.get("id"), spec["name"], spec.get("arguments", spec.get("args"))))
    message.text = "\n".join(texts)
    if message.role == "tool" and not message.answers:
        failed = True if raw.get("is_error") is True else None
        result = message.text or (content if isinstance(content, dict) else "")
        message.answers.append(OtelCall(raw.get("tool_call_id"), result=result, error=failed))
        message.text = ""
    return message


def _call(call_id: Any, name: Any, arguments: Any) -> OtelCall:
    """A call that a model asks for. Some write its name in place of the id, which identifies no call."""
    return OtelCall(None if call_id == name else call_id, str(name), arguments)


def _calls_written_as_text(content: object) -> list[dict[str, Any]]:
    """The calls of a reply whose whole text is the list of them, as Koog logs it."""
    calls = json_of(content) if isinstance(content, str) and content.startswith("[{") else None
    is_calls = isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("function"), dict) and "name" in call["function"]
        for call in calls
    )
    return calls if is_calls and isinstance(calls, list) else []


def _take_call_or_answer(message: OtelMessage, part: dict[str, Any]) -> bool:
    """Record the call or answer in a part of a message. False if there is none."""
    kind = part.get("type")
    asked, answered = (
        part.get(f"function{end}") or part.get(f"function_{end.lower()}") for end in ("Call", "Response")
    )
    if kind == "tool_call":
        message.calls.append(_call(part.get("id"), part["name"], part.get("arguments")))
    elif kind == "tool_use":
        message.calls.append(_call(part.get("id"), part["name"], part.get("input")))
    elif kind == "tool-call":  # Vercel's SDK
        message.calls.append(_call(part.get("toolCallId"), part["toolName"], part.get("input", part.get("args"))))
    elif isinstance(asked, dict):  # Gemini
        message.calls.append(_call(asked.get("id"), asked["name"], asked.get("args")))
    elif kind == "tool_call_response":
        result = part["response"] if "response" in part else part.get("result")
        message.answers.append(OtelCall(part.get("id"), result=result))
    elif kind == "tool_result":
        failed = True if part.get("is_error") is True else None
        message.answers.append(OtelCall(part.get("tool_use_id"), result=text_of(part.get("content")), error=failed))
    elif kind == "tool-result":
        message.answers.append(OtelCall(part.get("toolCallId"), result=part.get("output", part.get("result"))))
    elif isinstance(answered, dict):
        name = str(answered.get("name") or "")
        message.answers.append(OtelCall(answered.get("id"), name, result=answered.get("response")))
    else:
        return False
    return True


def _flat_messages(attributes: dict[str, Any]) -> list[OtelMessage]:
    """OpenInference spreads a conversation over attributes: `llm.input_messages.0.message.role` and so on."""
    fields: dict[tuple[bool, int], dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith("llm.") and (match := _FLAT.fullmatch(name)):
            fields.setdefault((match[1] == "output", int(match[2])), {})[match[3]] = value
    return [_flat_message(fields[place]) for place in sorted(fields)]


def _flat_message(fields: dict[str, Any]) -> OtelMessage:
    message = OtelMessage(str(fields.get("message.role") or fields.get("role") or "user"))
    calls: dict[int, dict[str, Any]] = {}
    texts = []
    for name, value in fields.items():
        if match := _FLAT_CALL.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
        elif name == "content" or name.endswith(".message_content.text"):
            texts.append(text_of(value))
    message.text = "\n".join(texts)
    for _, call in sorted(calls.items()):
        message.calls.append(OtelCall(call.get("id"), str(call.get("function.name")), call.get("function.arguments")))
    if message.role == "tool":
        message.answers.append(OtelCall(fields.get("tool_call_id"), result=message.text))
        message.text = ""
    return message


def tool_call(span: Span) -> OtelCall:
    """The call that a tool span stands for. Its id is None if the instrumentation does not record it."""
    name = span.get("gen_ai.tool.name", "tool.name") or "unnamed"
    if span.get("gen_ai.operation.name") == "execute_tool":
        arguments, result = span.get("gen_ai.tool.call.arguments"), span.get("gen_ai.tool.call.result")
        return OtelCall(span.get("gen_ai.tool.call.id"), str(name), arguments, result, span.error)
    arguments, result = json_of(span.get("input.value")), span.get("output.value")
    if isinstance(arguments, dict) and isinstance(arguments.get("kwargs"), dict) and "args" in arguments:
        arguments = arguments["kwargs"]  # smolagents
    call = OtelCall(span.get("tool_call.id", "tool.call_id", "tool.id"), str(name), arguments, result, span.error)
    wrapped = json_of(result)
    data = wrapped.get("data") if isinstance(wrapped, dict) and wrapped.get("type") == "tool" else None
    if isinstance(data, dict):  # LangChain, whose failed tools have status OK
        call.id, call.result = data.get("tool_call_id") or call.id, data.get("content")
        call.error = call.error or (True if data.get("status") == "error" else None)
    return call
