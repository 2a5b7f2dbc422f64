"""A target behind any OpenAI-compatible URL, with native tool calls or in JSON mode.

The client comes with `pip install 'contramem[llm]'` and is imported when the first target is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from contramem.errors import ModelError, TraceError, UsageError
from contramem.traces.normalize import check_depth
from contramem.traces.trajectory import RunUsage, Tool
from contramem_lab.bench.json_mode import plain_messages, reply_of, schema_of
from contramem_lab.bench.target import AgentReply, ChatMessage, ToolCall, WindowFullError

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
            request |= {"messages": _native(messages), "tools": [_tool_schema(tool) for tool in tools]}
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


def _native(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    return [_native_message(message) for message in messages]


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
