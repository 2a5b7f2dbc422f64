"""What spans and platforms call things: a model, a tool, its arguments, the messages that a model was sent.

The names of OpenTelemetry's GenAI conventions are the common ones; `use_known_names` translates others into them.
OpenInference, which many exporters write, is read beside them. OpenLLMetry, Vercel's AI SDK and PydanticAI's first
versions have attributes of their own, home-made instrumentation has others. A tool's name is under `...tool.name` or
`...tool_name` nearly everywhere. Its arguments and its result, and a model's messages, are recognised by how an
attribute's name ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import decode
from contramem.traces.normalize import text_of
from contramem.traces.readers.frameworks import (
    from_langchain,
    from_pydantic,
    is_langchain_message,
    is_pydantic_message,
)
from contramem.traces.readers.messages import call_entry, call_in, result_in, tool_message


@dataclass(slots=True, eq=False)
class Span:
    """One span, or one log record of a trace, with its attributes as plain values under dotted names."""

    trace: str
    parent: str
    start: float
    attributes: dict[str, Any]
    resource: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: str | None = None
    """The message, when the span's status is an error."""

    def get(self, *names: str) -> Any:
        """The first of these attributes that is set."""
        return next((value for name in names if (value := self.attributes.get(name)) is not None), None)


def is_model(span: Span) -> bool:
    operations = ("chat", "generate_content", "text_completion")
    return bool(span.get("openinference.span.kind") == "LLM" or span.get("gen_ai.operation.name") in operations)


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


@dataclass(slots=True)
class SpanCall:
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
class SpanMessage:
    """One message that a model was sent or gave back."""

    role: str
    text: str = ""
    calls: list[SpanCall] = field(default_factory=list)
    answers: list[SpanCall] = field(default_factory=list)

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies a message that a later span repeats: models are sent the whole conversation each time."""
        calls = tuple((call.id, call.name, _write_arguments(call.arguments)) for call in self.calls)
        return self.role, self.text, calls, tuple((answer.id, text_of(answer.result)) for answer in self.answers)


def _write_arguments(arguments: Any) -> str:
    """Arguments in one spelling: a reply has them as text, the next request often as an object."""
    if arguments in ("", None):
        return "{}"
    value = json_of(arguments)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def messages_of(span: Span) -> list[SpanMessage]:
    """The conversation that a model was sent, and its reply."""
    sources = [span.attributes, *(attributes for _, attributes in span.events)]
    messages: list[SpanMessage] = []
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        raw = next((source[key] for source in sources if source.get(key)), None)
        messages += [_message(message) for message in json_of(raw) or () if isinstance(message, dict)]
    return messages or _flat_messages(span.attributes)


def _message(raw: dict[str, Any]) -> SpanMessage:
    message = SpanMessage(str(raw.get("role") or "user"))
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
        message.answers.append(SpanCall(raw.get("tool_call_id"), result=result, error=failed))
        message.text = ""
    return message


def _call(call_id: Any, name: Any, arguments: Any) -> SpanCall:
    """A call that a model asks for. Some write its name in place of the id, which identifies no call."""
    return SpanCall(None if call_id == name else call_id, str(name), arguments)


def _calls_written_as_text(content: object) -> list[dict[str, Any]]:
    """The calls of a reply whose whole text is the list of them, as Koog logs it."""
    calls = json_of(content) if isinstance(content, str) and content.startswith("[{") else None
    is_calls = isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("function"), dict) and "name" in call["function"]
        for call in calls
    )
    return calls if is_calls and isinstance(calls, list) else []


def _take_call_or_answer(message: SpanMessage, part: dict[str, Any]) -> bool:
    """Record the call or answer in a part of a message. False if there is none."""
    asked = part.get("functionCall") or part.get("function_call")  # Gemini's
    answered = part.get("functionResponse") or part.get("function_response")
    if call := call_in(part):
        message.calls.append(_call(call.call_id, call.name, call.arguments))
    elif result := result_in(part):
        message.answers.append(SpanCall(result.call_id, result=result.content, error=result.error))
    elif isinstance(asked, dict):
        message.calls.append(_call(asked.get("id"), asked["name"], asked.get("args")))
    elif isinstance(answered, dict):
        name = str(answered.get("name") or "")
        message.answers.append(SpanCall(answered.get("id"), name, result=answered.get("response")))
    else:
        return False
    return True


def tool_call(span: Span) -> SpanCall:
    """The call that a tool span stands for. Its id is None if the instrumentation does not record it."""
    name = str(span.get("gen_ai.tool.name", "tool.name") or "unnamed")
    if span.get("gen_ai.operation.name") == "execute_tool":
        arguments, result = span.get("gen_ai.tool.call.arguments"), span.get("gen_ai.tool.call.result")
        return SpanCall(span.get("gen_ai.tool.call.id"), name, arguments, result, span.error)
    arguments, result = json_of(span.get("input.value")), span.get("output.value")
    if isinstance(arguments, dict) and isinstance(arguments.get("kwargs"), dict) and "args" in arguments:
        arguments = arguments["kwargs"]  # smolagents
    call = SpanCall(span.get("tool_call.id", "tool.call_id", "tool.id"), name, arguments, result, span.error)
    wrapped = json_of(result)
    data = wrapped.get("data") if isinstance(wrapped, dict) and wrapped.get("type") == "tool" else None
    if isinstance(data, dict):  # LangChain, whose failed tools have status OK
        call.id, call.result = data.get("tool_call_id") or call.id, data.get("content")
        call.error = call.error or (True if data.get("status") == "error" else None)
    return call


# Conversations that are spread over attributes: `llm.input_messages.0.message.role` by OpenInference,
# `gen_ai.prompt.0.role`, `gen_ai.completion.0.content` by OpenLLMetry.

_FLAT = re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.(\d+)\.tool_call\.(id|function\.name|function\.arguments)")
_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)")
_INDEXED_CALL = re.compile(r"tool_calls\.(\d+)\.(id|name|arguments)")


def _spread_messages(attributes: dict[str, Any], pattern: re.Pattern[str]) -> list[tuple[str, dict[str, Any]]]:
    """(side, fields) of each message: what was sent, then the reply."""
    fields: dict[tuple[bool, int], tuple[str, dict[str, Any]]] = {}
    for name, value in attributes.items():
        if name.startswith(("llm.", "gen_ai.")) and (match := pattern.fullmatch(name)):
            is_reply = match[1] in ("output", "completion")
            fields.setdefault((is_reply, int(match[2])), (match[1], {}))[1][match[3]] = value
    return [fields[place] for place in sorted(fields)]


def _spread_calls(fields: dict[str, Any], pattern: re.Pattern[str]) -> list[dict[str, Any]]:
    calls: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if match := pattern.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2].removeprefix("function.")] = value
    return [calls[place] for place in sorted(calls)]


def _flat_messages(attributes: dict[str, Any]) -> list[SpanMessage]:
    messages = []
    for _, fields in _spread_messages(attributes, _FLAT):
        texts = [text_of(value) for name, value in fields.items()
                 if name == "content" or name.endswith(".message_content.text")]  # fmt: skip
        message = SpanMessage(str(fields.get("message.role") or fields.get("role") or "user"), "\n".join(texts))
        for call in _spread_calls(fields, _FLAT_CALL):
            message.calls.append(SpanCall(call.get("id"), str(call.get("name")), call.get("arguments")))
        if message.role == "tool":
            message.answers.append(SpanCall(fields.get("tool_call_id"), result=message.text))
            message.text = ""
        messages.append(message)
    return messages


_TOOL = re.compile(r"(?:^|[._])tool(?:_?call)?[._]?name$", re.IGNORECASE)
_CALL_ID = re.compile(r"(?:^|[._])tool[._]?call[._]?id$", re.IGNORECASE)
_ARGUMENTS = re.compile(r"(?:^|[._])(?:arguments|args|parameters|params|inputs?(?:[._]value)?)$", re.IGNORECASE)
_RESULT = re.compile(r"(?:^|[._])(?:results?|outputs?(?:[._]value)?|response|returned)$", re.IGNORECASE)
_MODEL = re.compile(r"(?:^|[._])(?:llm|ai|request|response)?[._]?model(?:[._]?(?:name|id))?$", re.IGNORECASE)
_SENT = re.compile(r"(?:^|[._])(?:messages|prompts?|inputs?(?:[._]value)?|events)$", re.IGNORECASE)
_REPLY = re.compile(
    r"(?:^|[._])(?:completions?|repl(?:y|ies)|answer|response(?:[._]text)?|outputs?(?:[._]value)?)$", re.I
)
_REPLY_CALLS = re.compile(r"(?:^|[._])tool_?calls$", re.IGNORECASE)


def use_known_names(span: Span) -> Span:
    """The span itself, with what it says also under the common names; unchanged where it uses them already."""
    if span.get("openinference.span.kind", "gen_ai.operation.name") is not None:
        return span
    if span.get("traceloop.span.kind") == "tool":
        _name_tool(span, span.get("traceloop.entity.name"))
    elif (tool := _matching(span, _TOOL)) is not None:
        _name_tool(span, tool)
    elif indexed := _spread_messages(span.attributes, _INDEXED):
        sides: dict[str, list[dict[str, Any]]] = {"prompt": [], "completion": []}
        for side, fields in indexed:
            sides[side].append(
                {
                    "role": fields.get("role") or ("user" if side == "prompt" else "assistant"),
                    "content": fields.get("content"),
                    "tool_call_id": fields.get("tool_call_id"),
                    "tool_calls": _spread_calls(fields, _INDEXED_CALL),
                }
            )
        _name_model(span, sides["prompt"], sides["completion"])
    elif isinstance(model := _matching(span, _MODEL), str) and (sent := _matching(span, _SENT)) is not None:
        reply = [*messages_in(json_of(_matching(span, _REPLY)), "assistant")]
        reply += messages_in(json_of(_matching(span, _REPLY_CALLS)), "assistant")
        span.attributes.setdefault("gen_ai.request.model", model)
        _name_model(span, [*messages_in(json_of(sent))], reply)
    return span


def _matching(span: Span, pattern: re.Pattern[str]) -> Any:
    """The value under the shortest name that matches: `tool.input` before `tool.input.mime.parameters`."""
    names = [name for name, value in span.attributes.items() if pattern.search(name) and value not in (None, "")]
    return span.attributes[min(names, key=len)] if names else None


def _name_tool(span: Span, name: object) -> None:
    given = json_of(_matching(span, _ARGUMENTS))
    if isinstance(given, dict):  # OpenLLMetry wraps what a function was given
        given = next((given[key] for key in ("inputs", "kwargs") if isinstance(given.get(key), dict)), given)
    span.attributes |= {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": str(name),
        "gen_ai.tool.call.id": _matching(span, _CALL_ID),
        "gen_ai.tool.call.arguments": given,
        "gen_ai.tool.call.result": _matching(span, _RESULT),
    }


def _name_model(span: Span, sent: list[dict[str, Any]], reply: list[dict[str, Any]]) -> None:
    if sent or reply:
        span.attributes |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": sent,
            "gen_ai.output.messages": reply,
        }


# The chat messages in what a model was sent or gave back, in the shapes in which instrumentations log them.

_HOLDERS = (
    "messages contents new_message input prompt question query choices candidates message generations output content "
    "text args"
).split()
"""Where an object that is no message itself keeps its messages; the first that is there counts."""
_SPEAKERS = ("system", "user", "human", "assistant", "ai")
_TURN = re.compile(r"^(system|developer|user|human|assistant|tool): ", re.MULTILINE)
_PRINTED = re.compile(r"role='(\w+)' content=(?:'(.*?)'|\"(.*?)\"|None) (?:name|tool_call_id)=", re.DOTALL)


def messages_in(value: Any, role: str = "user") -> Iterator[dict[str, Any]]:
    """Every message in `value`. Text without a speaker is said by `role`."""
    if isinstance(value, str):
        yield from _in_text(value, role)
    elif isinstance(value, list) and len(value) == 2 and value[0] in _SPEAKERS and isinstance(value[1], str):
        yield {"role": value[0], "content": value[1]}  # LangChain's short form
    elif isinstance(value, list):
        for item in value:
            yield from messages_in(item, role)
    elif isinstance(value, dict):
        yield from _in_object(value, role)


def _in_text(text: str, role: str) -> Iterator[dict[str, Any]]:
    """Plain text is one message; some log a conversation as text (`user: ...`), or the printed form of an object."""
    if printed := _PRINTED.match(text):
        printed_text = printed[2] if printed[3] is None else printed[3]
        yield {"role": printed[1], "content": (printed_text or "").replace("\\n", "\n")}
    elif _TURN.match(text):
        _, *turns = _TURN.split(text)
        for speaker, printed_text in zip(turns[::2], turns[1::2], strict=True):
            if printed_text.strip() not in ("", "None"):
                yield {"role": speaker, "content": printed_text.strip()}
    elif text != "None":  # an empty reply, printed
        yield {"role": role, "content": text}


def _in_object(value: Mapping[str, Any], role: str) -> Iterator[dict[str, Any]]:
    kind = value.get("type")
    if is_langchain_message(value):
        yield from from_langchain(value)
    elif is_pydantic_message(value):
        yield from from_pydantic(value)
    elif kind == "function_call" and "name" in value:  # an item of OpenAI's Responses API
        yield _asks(value.get("call_id") or value.get("id"), value["name"], value.get("arguments"))
    elif kind == "function_call_output":
        yield tool_message(value.get("call_id"), value.get("output"))
    elif "toolCallId" in value and "toolName" in value and "role" not in value:  # a call of Vercel's SDK
        yield _asks(value["toolCallId"], value["toolName"], value.get("input", value.get("args")))
    elif "role" in value:
        if not _is_tool_definition(value.get("content")):
            yield dict(value)
    elif kind in ("text", "tool_use"):  # a bare block of Anthropic's reply
        yield {"role": role, "content": [value]}
    else:
        inner = next((value[key] for key in _HOLDERS if value.get(key)), None)
        yield from messages_in(inner, role)
        for call in value.get("toolCalls") or ():  # Vercel's reply: text beside calls
            yield from messages_in(call, role)


def _asks(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [call_entry(call_id, name, arguments)]}


def _is_tool_definition(content: object) -> bool:
    """Langfuse's handler for LangChain appends the tools that a model was offered as messages."""
    return isinstance(content, dict) and content.get("type") == "function" and isinstance(content.get("function"), dict)
