"""Target: the agent's model. Scripted, or behind any OpenAI-compatible URL, with native tool calls or in JSON mode.

In JSON mode a model without native tool calls writes one JSON object, and nothing it writes is executed:

    {"function": "send_mail", "arguments": {"to": "..."}}      a call
    {"function": "finish", "arguments": {"answer": "..."}}     the answer that ends its turn

The client comes with `pip install 'contramem[llm]'` and is imported when the first target is made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from contramem.counting import count_tokens
from contramem.errors import ModelError, TraceError, UsageError
from contramem.prompts import render
from contramem.traces.normalize import check_depth
from contramem.traces.trajectory import RunUsage, Tool

ONE_CALL = RunUsage(model_calls=1)

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for, under the name the function has for it."""

    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    """Links the result to the call, if a provider needs that."""


@dataclass(frozen=True)
class ChatMessage:
    """One message of the conversation. The target knows how to send it."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """For the assistant: its calls."""
    answers: ToolCall | None = None
    """For a tool: the call whose result this is."""


@dataclass(frozen=True)
class AgentReply:
    """What the model does next: calls, or the answer that ends its turn, or neither."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""
    """Why the reply is neither a call nor an answer, in words that the model can act on."""
    usage: RunUsage = ONE_CALL


class WindowFullError(Exception):
    """The conversation no longer fits the model's window. The loop ends the run; no user sees this."""


class Target(Protocol):
    """A model that acts. It may serve several runs at once."""

    @property
    def name(self) -> str:
        """The name of its runs."""

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        """What it does next. A model that cannot be reached raises a ModelError, and the run is not evidence."""


Move: TypeAlias = ToolCall | str | AgentReply
Policy: TypeAlias = Callable[[Sequence[ChatMessage], Sequence[Tool]], Move]


class ScriptedTarget:
    """Follows a policy instead of asking a model: a call, or text as the answer. For tests, yours and ours."""

    def __init__(self, policy: Policy, name: str = "scripted") -> None:
        self.name = name
        self._policy = policy

    @classmethod
    def playing(cls, moves: Iterable[Move], name: str = "scripted") -> ScriptedTarget:
        """Make these moves in order, whatever happens, and then say nothing more."""
        left = iter(moves)
        return cls(lambda messages, tools: next(left, ""), name)

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        move = self._policy(messages, tools)
        if isinstance(move, AgentReply):
            return move
        read = sum(count_tokens(message.text) for message in messages)
        written = move if isinstance(move, str) else f"{move.function} {move.arguments}"
        usage = RunUsage(model_calls=1, tokens_in=read, tokens_out=count_tokens(written))
        return AgentReply(move, usage=usage) if isinstance(move, str) else AgentReply(calls=(move,), usage=usage)


FINISH = "finish"
PROMPT = "prompts/json_mode.jinja"

_ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_KEPT = ("type", "properties", "required", "items", "enum", "const", "anyOf", "minimum", "maximum")


def schema_of(tools: Iterable[Tool]) -> dict[str, Any]:
    """The JSON schema of a reply: one branch per tool, and one to finish."""
    branches = [_branch(tool.function, _compact(tool.parameters)) for tool in tools]
    return {"anyOf": [*branches, _branch(FINISH, _ANSWER)]}


def plain_messages(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> list[dict[str, str]]:
    """The conversation as plain messages: the tools in the system message, calls as JSON, results as user messages."""
    how = render(
        PROMPT,
        "contramem_lab",
        tools=[(tool.function, _signature(tool), tool.description) for tool in tools],
        finish=FINISH,
    )
    plain = []
    for message in messages:
        if message.role == "system":
            plain.append({"role": "system", "content": f"{message.text}\n\n{how.text.strip()}"})
        elif message.role == "assistant":
            plain.append({"role": "assistant", "content": message.text or _format_calls(message.calls)})
        elif message.answers is not None:
            plain.append({"role": "user", "content": f"Result of {message.answers.function}: {message.text}"})
        else:
            plain.append({"role": "user", "content": message.text})
    return _alternating(plain)


def reply_of(text: str, usage: RunUsage = ONE_CALL) -> AgentReply:
    """What the model meant. Any text gives a call, an answer, or a problem to report back."""
    document = _object_in(text)
    if document is None:
        return AgentReply(text, problem="That was no JSON object. Write one call as JSON, or finish.", usage=usage)
    function, arguments = document.get("function"), document.get("arguments", {})
    if not isinstance(function, str) or not function:
        return AgentReply(text, problem='The JSON object has no "function".', usage=usage)
    if not isinstance(arguments, dict):
        return AgentReply(text, problem='"arguments" must be a JSON object.', usage=usage)
    if function != FINISH:
        return AgentReply(calls=(ToolCall(function, arguments),), usage=usage)
    answer = arguments.get("answer", "")
    return AgentReply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), usage=usage)


def _object_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in the text: models like to wrap it in a fence or to say something first."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
            check_depth(value)
        except (ValueError, RecursionError, TraceError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _format_calls(calls: Iterable[ToolCall]) -> str:
    return "\n".join(
        json.dumps({"function": call.function, "arguments": call.arguments}, ensure_ascii=False) for call in calls
    )


def _alternating(said: list[dict[str, str]]) -> list[dict[str, str]]:
    """Merge adjacent messages of the same role: some chat templates insist on alternating turns."""
    joined: list[dict[str, str]] = []
    for message in said:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] += f"\n\n{message['content']}"
        else:
            joined.append(dict(message))
    return joined


def _branch(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"function": {"const": function}, "arguments": arguments},
        "required": ["function", "arguments"],
    }


def _compact(schema: Any) -> Any:
    """The schema with what constrains a value and without descriptions, which the prompt already has."""
    if isinstance(schema, list):
        return [_compact(child) for child in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _compact(child) for name, child in value.items()} if key == "properties" else _compact(value)
        for key, value in schema.items()
        if key in _KEPT
    }


def _signature(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(schema)}"
        for name, schema in tool.parameters.get("properties", {}).items()
    )


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(member) for member in schema["anyOf"]))
    kind = str(schema.get("type", "any"))
    return f"{_kind(schema.get('items', {}))}[]" if kind == "array" else kind


Mode: TypeAlias = Literal["tools", "json"]

_WINDOW = ("context length", "context size", "context window", "context_length", "maximum context", "exceed_context")


class OpenAITarget:
    """Asks `model` at `base_url` (by default OpenAI's). Thread-safe.

    `mode` is how it makes calls: `tools` natively, `json` by writing an object under a schema. The key is read from the
    environment variable `key_from`; a server on your own machine needs none. `extra` is added to every request as it
    is, for options that only one server understands.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        mode: Mode = "tools",
        temperature: float | None = None,
        max_tokens: int = 1024,
        timeout_s: float = 300.0,
        retries: int = 4,
        key_from: str = "OPENAI_API_KEY",
        extra: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        if mode not in ("tools", "json"):
            raise UsageError(f"there is no mode {mode!r} (modes: tools, json).")
        self.name = name or model
        self.mode: Mode = mode
        self._model, self._temperature, self._max_tokens = model, temperature, max_tokens
        self._extra = dict(extra or {})
        self._client = _client(base_url, key_from, timeout_s, retries)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        request: dict[str, Any] = {"model": self._model, "max_tokens": self._max_tokens}
        if self._temperature is not None:
            request["temperature"] = self._temperature
        if seed is not None:
            request["seed"] = seed
        if self.mode == "tools":
            request["messages"] = [_native_message(message) for message in messages]
            if tools:  # servers refuse an empty list
                request["tools"] = [_tool_schema(tool) for tool in tools]
        else:
            shape = {"name": "call", "schema": schema_of(tools)}
            request["messages"] = plain_messages(messages, tools)
            request["response_format"] = {"type": "json_schema", "json_schema": shape}
        answer = self._send(request)
        return self._parse_answer(answer)

    def _send(self, request: dict[str, Any]) -> Any:
        import openai

        try:
            return self._client.chat.completions.create(**request, extra_body=self._extra or None)
        except openai.APIStatusError as error:
            message = str(error.message)
            if error.status_code in (400, 413) and any(words in message.lower() for words in _WINDOW):
                raise WindowFullError(message) from error
            raise ModelError(f"{self.name}: {message.strip().partition(chr(10))[0][:300]}") from error
        except openai.APIError as error:
            raise ModelError(f"{self.name} does not answer: {error.message}") from error

    def _parse_answer(self, answer: Any) -> AgentReply:
        usage = _usage(answer)
        if not answer.choices:
            raise ModelError(f"{self.name} answered without a choice. Is this URL an OpenAI-compatible one?")
        choice = answer.choices[0]
        text = choice.message.content or ""
        if self.mode == "json":
            reply = reply_of(text, usage)
            cut = choice.finish_reason == "length" and reply.problem
            return (
                AgentReply(text, problem="The reply was too long and was cut off. Be brief.", usage=usage)
                if cut
                else reply
            )
        return _native_reply(text, choice.message.tool_calls or (), usage)


def _native_reply(text: str, asked_for: Sequence[Any], usage: RunUsage) -> AgentReply:
    calls = []
    for call in asked_for:
        arguments = _arguments(call.function.arguments)
        if arguments is None:
            problem = f"The arguments of {call.function.name} were no JSON object. Call again."
            return AgentReply(text, problem=problem, usage=usage)
        calls.append(ToolCall(call.function.name, arguments, call.id))
    return AgentReply(text, tuple(calls), usage=usage)


def _arguments(written: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(written or "{}")
        check_depth(value)
    except (msgspec.DecodeError, RecursionError, TraceError):
        return None
    return value if isinstance(value, dict) else None


def _native_message(message: ChatMessage) -> dict[str, Any]:
    if message.answers is not None:
        return {"role": "tool", "tool_call_id": message.answers.id, "content": message.text}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function, "arguments": msgspec.json.encode(call.arguments).decode()},
        }
        for call in message.calls
    ]
    return {"role": message.role, "content": message.text or None, "tool_calls": calls}


def _tool_schema(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.function, "description": tool.description, "parameters": parameters},
    }


def _usage(answer: Any) -> RunUsage:
    usage = answer.usage
    if usage is None:
        return RunUsage(model_calls=1)
    return RunUsage(model_calls=1, tokens_in=usage.prompt_tokens, tokens_out=usage.completion_tokens)


def _client(base_url: str | None, key_from: str, timeout_s: float, retries: int) -> Any:
    try:
        from openai import OpenAI
    except ModuleNotFoundError as error:
        raise UsageError("a target needs the openai client: pip install 'contramem[llm]'.") from error
    key = os.environ.get(key_from)
    if not key and base_url is None:
        raise UsageError(f"OpenAI's own models need a key: set {key_from}, or give the URL of another server.")
    # Servers on your own machine take no key, but the client insists on one.
    return OpenAI(base_url=base_url, api_key=key or "none", timeout=timeout_s, max_retries=retries)
