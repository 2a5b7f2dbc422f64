"""ProviderModel: any provider that pydantic-ai supports, and any OpenAI-compatible URL.

pydantic-ai is imported when the first model is opened. The provider's own client reads keys from the environment; they
are never stored or logged here.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from contramem.errors import ModelError, UsageError
from contramem.llm.price import Price, price_of
from contramem.llm.request import TIMEOUT, TIMEOUT_S, Finish, ModelFailure, ModelReply, Request
from contramem.llm.tool_use import RequestedCall, ToolReply, ToolTurn, read_tool_reply

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

NEEDS_EXTRA = "a model author needs pydantic-ai: pip install 'contramem[llm]'."

Result = TypeVar("Result")


class ProviderModel:
    """Asks a provider. Threads share one event loop, and therefore one connection pool."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        key_from: str | None = None,
        price: Price | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`key_from` is the environment variable with the key of `base_url`, OPENAI_API_KEY when left out."""
        self.name = name
        self.price = price or price_of(name)
        self._given_price = price
        self.base_url = base_url
        self._timeout_s = timeout_s
        self.opened = open_model(name, base_url, key_from)
        """The pydantic-ai model."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="contramem-llm", daemon=True)
        self._thread.start()
        self.run(self.opened.__aenter__())

    def close(self) -> None:
        """Close the connections. Calls in progress are cancelled."""
        if not self._loop.is_closed():
            self.run(self._close_client())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _close_client(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.opened.__aexit__(None, None, None)

    def ask(self, request: Request) -> ModelReply:
        from pydantic_ai import exceptions

        try:
            response = self.run(self._ask(request))
            return self._tool_reply(response) if request.tools else self.reply(response)
        except exceptions.ContentFilterError:
            return ModelReply("", "content_filter")
        except (exceptions.AgentRunError, exceptions.UserError, UserWarning) as error:
            raise self.trouble(error) from error

    async def _ask(self, request: Request) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.models.instrumented import InstrumentationSettings

        # Only calls.py retries: its retries are counted, obey Retry-After and can be stopped.
        settings = self.settings(request) | {"timeout": self._timeout_s, "max_retries": 0}
        return await model_request(
            self.opened,
            messages_of(request),
            model_settings=settings,
            model_request_parameters=self.parameters(request),
            # Spans go to the user's OpenTelemetry configuration, if there is one, and never include message texts.
            instrument=InstrumentationSettings(include_content=False),
        )

    def settings(self, request: Request) -> ModelSettings:
        """The settings as pydantic-ai takes them. A setting that the model would silently ignore is an error."""
        from pydantic_ai.settings import ModelSettings

        wanted = request.settings
        settings = ModelSettings(max_tokens=wanted.max_tokens)
        if wanted.temperature is not None:
            settings["temperature"] = wanted.temperature
        if wanted.seed is not None:
            if "seed" in self.opened.unsupported_settings:
                raise ModelError(f"{self.name} does not accept a seed. Drop --seed.")
            settings["seed"] = wanted.seed
        if wanted.reasoning_effort is not None:
            if self.base_url is not None:  # the capabilities of the model are unknown, so it is sent anyway
                settings = cast(Any, settings | {"openai_reasoning_effort": wanted.reasoning_effort})
            elif not self.opened.profile.get("supports_thinking"):
                raise ModelError(f"{self.name} does not accept a reasoning effort. Drop --reasoning-effort.")
            else:
                settings["thinking"] = cast(Any, wanted.reasoning_effort)
        return settings

    def parameters(self, request: Request) -> ModelRequestParameters:
        """The tools, or the schema of the reply: enforced by the provider if it can, otherwise put into the prompt."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        if request.tools:
            offers = [
                ToolDefinition(name=name, description=description, parameters_json_schema=parameters)
                for name, description, parameters in request.tools
            ]
            return ModelRequestParameters(function_tools=offers, allow_text_output=True)
        native = bool(self.opened.profile.get("supports_json_schema_output"))
        return ModelRequestParameters(
            output_mode="native" if native else "prompted",
            output_object=OutputObjectDefinition(json_schema=request.schema, name=request.stage),
            allow_text_output=True,
        )

    def reply(self, response: ModelResponse) -> ModelReply:
        """The text of a response, how it ended, and what it cost."""
        finish: Finish = "stop"
        if response.finish_reason == "length":
            finish = "length"
        elif response.finish_reason == "content_filter":
            finish = "content_filter"
        details = response.provider_details or {}
        if details.get("refusal"):
            return self._price_reply(response, str(details["refusal"]), "refusal")
        return self._price_reply(response, response.text or "", finish)

    def _tool_reply(self, response: ModelResponse) -> ModelReply:
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        reply = self.reply(response)
        calls = tuple(
            RequestedCall(part.tool_call_id, part.tool_name, part.args_as_json_str()) for part in response.tool_calls
        )
        (message,) = ModelMessagesTypeAdapter.dump_python([response], mode="json")
        return replace(reply, text=ToolReply(reply.text, calls, message).write())

    def _price_reply(self, response: ModelResponse, text: str, finish: Finish) -> ModelReply:
        usage = response.usage
        cost = None
        if self._given_price is not None:
            cost = self._given_price.of(usage.input_tokens, usage.output_tokens)
        elif self.price is not None:
            try:
                cost = float(response.cost().total_price)  # knows what cached and batched tokens cost
            except (LookupError, AssertionError):
                cost = self.price.of(usage.input_tokens, usage.output_tokens)
        return ModelReply(text, finish, usage.input_tokens, usage.output_tokens, cost)

    def trouble(self, error: Exception) -> ModelFailure | ModelError:
        """Translate an error of pydantic-ai into one that the caller knows how to handle."""
        from pydantic_ai import exceptions

        if isinstance(error, exceptions.UserError | UserWarning):
            return ModelError(f"{self.name}: {first_line(str(error))}.")
        if isinstance(error, exceptions.ModelQuotaExceededError):
            return ModelFailure(
                "quota", _error_message(getattr(error, "body", None)) or "the account has nothing left", again=False
            )
        if isinstance(error, exceptions.ModelHTTPError):
            return _http_trouble(error.status_code, error.retry_after, _error_message(error.body))
        if isinstance(error, exceptions.ModelTimeoutError) or _is_timeout(error):
            return ModelFailure(
                TIMEOUT, f"no answer within {self._timeout_s:g} s; --timeout gives it longer", again=True
            )
        kind = "connection" if isinstance(error, exceptions.ModelAPIError) else "broken response"
        return ModelFailure(kind, first_line(str(error)), again=True)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def open_model(name: str, base_url: str | None = None, key_from: str | None = None) -> Any:
    """Open a pydantic-ai model. Raises UsageError with what the user can do if it cannot be opened."""
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ModuleNotFoundError as error:
        raise UsageError(NEEDS_EXTRA) from error
    try:
        if base_url is None:
            return infer_model(name)
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        # Local servers need no key, but the client insists on a value.
        provider = OpenAIProvider(base_url=base_url, api_key=os.environ.get(key_from or "OPENAI_API_KEY") or "none")
        return OpenAIChatModel(name.rpartition(":")[2], provider=provider)
    except UserError as error:
        raise UsageError(f"--model {name}: {first_line(str(error))}") from error
    except ModuleNotFoundError as error:
        raise UsageError(f"--model {name}: {first_line(str(error))}. {NEEDS_EXTRA}") from error
    except ImportError as error:
        raise UsageError(f"--model {name}: {first_line(str(error))}") from error


def messages_of(request: Request) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    messages: list[ModelMessage] = []
    for role, text in request.messages:
        if role == "assistant":
            messages.append(ModelResponse(parts=[TextPart(text)]))
        elif role == "system":
            messages.append(ModelRequest(parts=[SystemPromptPart(text)]))
        elif messages and isinstance(messages[-1], ModelRequest):
            messages[-1] = ModelRequest(parts=[*messages[-1].parts, UserPromptPart(text)])
        else:
            messages.append(ModelRequest(parts=[UserPromptPart(text)]))
    for turn in request.turns:
        messages += _turn_messages(turn)
    return messages


def _turn_messages(turn: ToolTurn) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )

    reply = read_tool_reply(turn.reply)
    if reply.message is not None:
        (response,) = ModelMessagesTypeAdapter.validate_python([reply.message])
    else:
        calls = [ToolCallPart(call.name, call.arguments, call.id) for call in reply.calls]
        response = ModelResponse(parts=[*([TextPart(reply.text)] if reply.text else []), *calls])
    answers = zip(reply.calls, turn.answers, strict=True)
    return [response, ModelRequest(parts=[ToolReturnPart(call.name, answer, call.id) for call, answer in answers])]


def _http_trouble(status: int, retry_after_s: float | None, message: str) -> ModelFailure:
    what = f"HTTP {status}{f' ({message})' if message else ''}"
    if status == 429:
        return ModelFailure("rate limit", what, again=True, retry_after_s=retry_after_s)
    if status in (408, 504):
        return ModelFailure(TIMEOUT, what, again=True, retry_after_s=retry_after_s)
    if status >= 500:
        return ModelFailure("server error", what, again=True, retry_after_s=retry_after_s)
    return ModelFailure("rejected", what, again=False)


def _error_message(body: object) -> str:
    """The provider's own message, on one line, with anything that looks like a key removed."""
    if isinstance(body, dict) and isinstance(body.get("errors"), list) and body["errors"]:
        body = body["errors"][0]  # the whole batch failed
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", "") if isinstance(inner, dict) else inner
    words = first_line(str(body or "")).split()
    return " ".join("…" if word.startswith(("sk-", "key-")) or len(word) > 40 else word for word in words)


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300].rstrip(".")


def _is_timeout(error: BaseException | None) -> bool:
    while error is not None:
        if "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__
    return False
