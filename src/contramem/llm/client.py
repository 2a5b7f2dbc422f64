"""A request to a model and its reply, tools that it may call, prices, and any provider that pydantic-ai supports.

Requests and replies are plain values, so that a provider, a script, a file or a person can answer. pydantic-ai is
imported when the first model is opened. The provider's own client reads keys from the environment; they are never
stored or logged here."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from inspect import cleandoc, signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import msgspec
from pydantic import BaseModel, ConfigDict, create_model

from contramem.counting import count_tokens
from contramem.errors import ModelError, UsageError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings as ProviderSettings


PaperStage: TypeAlias = Literal["builder", "reflector", "curator"]
Stage: TypeAlias = PaperStage | Literal["author"]
PAPER_STAGES: tuple[PaperStage, ...] = ("builder", "reflector", "curator")
STAGES: tuple[Stage, ...] = (*PAPER_STAGES, "author")
"""`author` is a model with tools that explores all runs."""
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["stop", "length", "content_filter", "refusal"]
"""How a reply ended: by itself, cut off at the token limit, withheld by the provider, or refused by the model."""

TIMEOUT = "timeout"
TIMEOUT_S = 300.0
MAX_REPLY_TOKENS = 16_000
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_REPLY_TOKENS_WITH_EFFORT = {"medium": 26_000, "high": 48_000, "xhigh": 64_000, "max": 64_000}
"""Reasoning counts as part of a reply, and some providers refuse a request that leaves no room for the reply itself."""


def reply_tokens(reasoning_effort: str | None) -> int:
    """The default limit for the length of a reply."""
    return _REPLY_TOKENS_WITH_EFFORT.get(reasoning_effort or "", MAX_REPLY_TOKENS)


class PromptMessage(NamedTuple):
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a call besides the prompt. None means the provider's default."""

    reasoning_effort: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = MAX_REPLY_TOKENS
    """For the reply, including reasoning."""


@dataclass(frozen=True)
class Request:
    """One call. Two requests with the same digest are the same, and the second is never paid for."""

    model: str
    settings: ModelSettings
    messages: tuple[PromptMessage, ...]
    schema: dict[str, Any] = field(hash=False)
    """JSON schema of the reply, an object."""
    stage: Stage = "builder"
    subject: str = ""
    """What it is about (a function, a task), shown to people."""
    prompt: str = ""
    """Digest of the template."""
    tools: tuple[ToolOffer, ...] = field(default=(), hash=False)
    """The tools the model may call. With tools, the text of the reply is a `ToolReply`, and `schema` is empty."""
    turns: tuple[ToolTurn, ...] = ()
    """The conversation since `messages`."""

    @cached_property
    def digest(self) -> str:
        parts: list[Any] = [self.model, asdict(self.settings), self.messages, self.schema]
        if self.tools:
            parts += [self.tools, self.turns]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def tokens(self) -> int:
        """The tokens of the messages and the schema, counted offline."""
        schema = json.dumps(self.tools or self.schema, separators=(",", ":"))  # as clients send it
        turns = [text for turn in self.turns for text in (turn.reply, *turn.answers)]
        return sum(map(count_tokens, [schema, *turns, *(message.text for message in self.messages)]))

    @property
    def news(self) -> tuple[PromptMessage, ...]:
        """The messages that earlier requests of the same conversation did not contain."""
        if not self.turns:
            return self.messages
        return tuple(PromptMessage("tool", answer) for answer in self.turns[-1].answers)


@dataclass(frozen=True)
class ModelReply:
    """The reply of a model, and what it cost."""

    text: str
    finish: Finish = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """None if the price is unknown."""


class Model(Protocol):
    """Answers requests. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Part of every request's digest."""

    def ask(self, request: Request) -> ModelReply:
        """The reply. Raises a ModelFailure that says whether a retry may help."""


class ModelFailure(Exception):
    """No reply was received. Handled by the code that makes the calls; users see a ModelError."""

    def __init__(self, kind: str, what: str, *, again: bool, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.kind = kind
        """What it is counted as: `rate limit`, `timeout`, `server error`, `connection`, `rejected`."""
        self.what = what
        self.again = again
        self.retry_after_s = retry_after_s


class ToolOffer(NamedTuple):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments, an object."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> ToolOffer:
        """An offer made from the signature and docstring of a function."""
        schema = parameters_of(function).model_json_schema()
        return cls(function.__name__, cleandoc(function.__doc__ or ""), schema)


def parameters_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A pydantic model that validates and describes the arguments of a function."""
    parameters = signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for parameter in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


class RequestedCall(msgspec.Struct, frozen=True):
    """A call that a model asks for."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn of a model: text and calls. Written as JSON, it is the text of the reply to a request with tools."""

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()
    message: Any = None
    """The whole message as the client library writes it, with the reasoning and signatures that the provider wants
    back."""

    def write(self) -> str:
        return msgspec.json.encode(self).decode()


def read_tool_reply(text: str) -> ToolReply:
    """Parse what `ToolReply.write` wrote; any other text is a reply without calls."""
    try:
        return msgspec.json.decode(text, type=ToolReply)
    except msgspec.MsgspecError:
        return ToolReply(text)


class ToolTurn(NamedTuple):
    """A reply, and the answers to its calls in order."""

    reply: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    @property
    def in_batch(self) -> Price:
        """The price through the provider's batch service: half, for every supported provider."""
        return Price(self.input / 2, self.output / 2)

    def of(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


def price_of(model: str) -> Price | None:
    """The list price of `provider:name`. None if unknown, as for a local model."""
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None
    provider, _, name = model.rpartition(":")
    try:
        # Priced at one thousand tokens, because some prices rise with the length of the prompt.
        listed = calc_price(
            Usage(input_tokens=1000, output_tokens=1000), name, provider_id=provider.partition("-")[0] or None
        )
    except LookupError:
        return None
    return Price(float(listed.input_price) * 1000, float(listed.output_price) * 1000)


def read_price(text: str) -> Price:
    """Parse the value of --price: `IN,OUT` in dollars per million tokens."""
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != 2 or min(numbers) < 0:
        raise UsageError(f"--price takes two numbers, dollars per million tokens in and out: 1.25,10; got {text!r}.")
    return Price(*numbers)


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

    def settings(self, request: Request) -> ProviderSettings:
        """The settings as pydantic-ai takes them. A setting that the model would silently ignore is an error."""
        from pydantic_ai.settings import ModelSettings as ProviderSettings

        wanted = request.settings
        settings = ProviderSettings(max_tokens=wanted.max_tokens)
        if wanted.temperature is not None:
            settings["temperature"] = wanted.temperature
        if wanted.seed is not None:
            if "seed" in self.opened.unsupported_settings:
                raise ModelError(f"{self.name} does not accept a seed. Drop --seed.")
            settings["seed"] = wanted.seed
        if wanted.reasoning_effort is not None:
            if self.base_url is not None:  # the capabilities of the model are unknown, so it is sent anyway
                settings = cast("Any", settings | {"openai_reasoning_effort": wanted.reasoning_effort})
            elif not self.opened.profile.get("supports_thinking"):
                raise ModelError(f"{self.name} does not accept a reasoning effort. Drop --reasoning-effort.")
            else:
                settings["thinking"] = cast("Any", wanted.reasoning_effort)
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
