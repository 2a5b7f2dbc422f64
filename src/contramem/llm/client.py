"""A provider's model through pydantic-ai: any provider it knows, and any OpenAI-compatible URL.

pydantic-ai is imported when the first model is opened. Keys are read by the provider's own client, from the
environment; nothing here keeps or repeats them.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from contramem.errors import ModelError, UsageError
from contramem.llm.price import Price, price_of
from contramem.llm.request import Finish, Reply, Request, Trouble

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

TIMEOUT_S = 300.0
NEEDS_EXTRA = "a model author needs pydantic-ai: pip install 'contramem[llm]'."

Result = TypeVar("Result")


class ProviderModel:
    """Answers by asking a provider. Threads share one event loop, and so one pool of connections."""

    def __init__(
        self, name: str, *, base_url: str | None = None, price: Price | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.name = name
        self.price = price or price_of(name)
        self._given_price = price
        self._timeout_s = timeout_s
        self._model = _open(name, base_url)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="contramem-llm", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give the connections back."""
        if not self._loop.is_closed():
            self._run(self._closed())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _closed(self) -> None:
        client = getattr(self._model, "client", None)
        if client is not None and hasattr(client, "close"):
            await client.close()

    def ask(self, request: Request) -> Reply:
        from pydantic_ai import exceptions

        try:
            return self._reply(self._run(self._ask(request)))
        except exceptions.ContentFilterError:
            return Reply("", "content_filter")
        except exceptions.UserError as error:
            raise ModelError(f"{self.name}: {_first_line(str(error))}") from error
        except exceptions.ModelHTTPError as error:
            raise _http_trouble(error.status_code, error.retry_after, _said(error.body)) from error
        except exceptions.ModelTimeoutError as error:
            raise Trouble("timeout", f"no answer within {self._timeout_s:g} s", again=True) from error
        except (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior) as error:
            if _is_timeout(error):
                raise Trouble("timeout", f"no answer within {self._timeout_s:g} s", again=True) from error
            kind = "connection" if isinstance(error, exceptions.ModelAPIError) else "broken response"
            raise Trouble(kind, _first_line(str(error)), again=True) from error

    async def _ask(self, request: Request) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.models.instrumented import InstrumentationSettings
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        settings = ModelSettings(
            max_tokens=request.settings.max_tokens, timeout=self._timeout_s, max_retries=0
        )  # our own loop retries: it counts, waits as told and can be stopped
        if request.settings.temperature is not None:
            settings["temperature"] = request.settings.temperature
        if request.settings.seed is not None:
            settings["seed"] = request.settings.seed
        if request.settings.reasoning_effort is not None:
            settings["thinking"] = cast(Any, request.settings.reasoning_effort)
        native = bool(self._model.profile.get("supports_json_schema_output"))
        parameters = ModelRequestParameters(
            output_mode="native" if native else "prompted",
            output_object=OutputObjectDefinition(json_schema=request.schema, name=request.stage),
            allow_text_output=True,
        )
        return await model_request(
            self._model,
            _messages(request),
            model_settings=settings,
            model_request_parameters=parameters,
            # Spans go to whatever OpenTelemetry the user has configured, and nowhere without; never with the texts.
            instrument=InstrumentationSettings(include_content=False),
        )

    def _reply(self, response: ModelResponse) -> Reply:
        finish: Finish = "stop"
        if response.finish_reason == "length":
            finish = "length"
        elif response.finish_reason == "content_filter":
            finish = "content_filter"
        details = response.provider_details or {}
        if details.get("refusal"):
            return self._priced(response, str(details["refusal"]), "refusal")
        return self._priced(response, response.text or "", finish)

    def _priced(self, response: ModelResponse, text: str, finish: Finish) -> Reply:
        usage = response.usage
        cost = None
        if self._given_price is not None:
            cost = self._given_price.of(usage.input_tokens, usage.output_tokens)
        elif self.price is not None:
            try:
                cost = float(response.cost().total_price)
            except (LookupError, AssertionError):
                cost = self.price.of(usage.input_tokens, usage.output_tokens)
        return Reply(text, finish, usage.input_tokens, usage.output_tokens, cost)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _open(name: str, base_url: str | None) -> Any:
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

        # Servers on one's own machine take no key, but the client insists on some word.
        provider = OpenAIProvider(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none")
        return OpenAIChatModel(name.rpartition(":")[2], provider=provider)
    except UserError as error:
        raise UsageError(f"--model {name}: {_first_line(str(error))}") from error
    except ModuleNotFoundError as error:
        raise UsageError(f"--model {name}: {_first_line(str(error))}. {NEEDS_EXTRA}") from error
    except ImportError as error:
        raise UsageError(f"--model {name}: {_first_line(str(error))}") from error


def _messages(request: Request) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[ModelMessage] = []
    for role, text in request.messages:
        if role == "assistant":
            made.append(ModelResponse(parts=[TextPart(text)]))
        elif role == "system":
            made.append(ModelRequest(parts=[SystemPromptPart(text)]))
        elif made and isinstance(made[-1], ModelRequest):
            made[-1] = ModelRequest(parts=[*made[-1].parts, UserPromptPart(text)])
        else:
            made.append(ModelRequest(parts=[UserPromptPart(text)]))
    return made


def _http_trouble(status: int, retry_after_s: float | None, said: str) -> Trouble:
    what = f"HTTP {status}{f' ({said})' if said else ''}"
    if status == 429:
        return Trouble("rate limit", what, again=True, retry_after_s=retry_after_s)
    if status in (408, 504):
        return Trouble("timeout", what, again=True, retry_after_s=retry_after_s)
    if status >= 500:
        return Trouble("server error", what, again=True, retry_after_s=retry_after_s)
    return Trouble("rejected", what, again=False)


def _said(body: object) -> str:
    """The provider's own message, one line, without what looks like a key."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", "") if isinstance(inner, dict) else inner
    words = _first_line(str(body or "")).split()
    return " ".join("…" if word.startswith(("sk-", "key-")) or len(word) > 40 else word for word in words)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300].rstrip(".")


def _is_timeout(error: BaseException | None) -> bool:
    while error is not None:
        if "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__
    return False
