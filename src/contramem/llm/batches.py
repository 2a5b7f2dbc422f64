"""Requests answered later: by a provider's batch service at half the price, or through files in the format of OpenAI's
batch API, so that a model behind a queue, or a person, can answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from contramem.errors import UsageError
from contramem.llm.client import Finish, ModelFailure, ModelReply, Price, ProviderModel, Request, messages_of
from contramem.whole_file import replacing

if TYPE_CHECKING:
    from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest


UNRUN = "unrun in batch"
"""The failure kind of requests that a batch ended without answering."""
LOST = "batch lost"
PROVIDERS = ("openai", "openai-chat", "openai-responses", "anthropic")
"""Providers whose batch services are supported, by model prefix. Others may work through pydantic-ai, but how they fail
is untested, and a lost batch has been paid for."""


@dataclass(frozen=True)
class Ticket:
    """A batch at the provider. Plain text, so that another process can pick it up."""

    batch_id: str
    handle: str
    """What the provider's client needs to find it again, as JSON."""
    ended: bool = False


class Batches(Protocol):
    """A provider's batch service. Every method may raise a ModelFailure."""

    @property
    def name(self) -> str:
        """The name of the model, as in every request."""

    def submit(self, requests: Sequence[Request]) -> Iterator[tuple[Ticket, Sequence[Request]]]:
        """Submit the requests in as few batches as possible. Yields each batch with its requests once it is created."""

    def look(self, ticket: Ticket) -> Ticket:
        """The current state of a batch."""

    def collect(self, ticket: Ticket, requests: Sequence[Request]) -> dict[str, ModelReply | ModelFailure]:
        """The reply to each request of an ended batch, or why there is none, by digest."""


def check_batches(model: str, base_url: str | None = None) -> None:
    """Raise UsageError if the model's provider has no supported batch service. Cheap: opens nothing."""
    if base_url is not None or model.partition(":")[0] not in PROVIDERS:
        raise _no_batches(f"{model} at {base_url}" if base_url else model)


def _no_batches(where: str) -> UsageError:
    return UsageError(
        f"--batch: {where} has no batch service here; openai: and anthropic: have, at their own addresses. Drop "
        "--batch to make ordinary calls, or hand the requests to a queue of your own with --export-requests FILE."
    )


class ProviderBatches:
    """The batch service of a provider, through pydantic-ai: OpenAI's and Anthropic's."""

    def __init__(self, model: ProviderModel) -> None:
        check_batches(model.name, model.base_url)
        if model.opened.batch_max_requests is None:
            raise _no_batches(model.name)
        self.name = model.name
        self._model = model

    def submit(self, requests: Sequence[Request]) -> Iterator[tuple[Ticket, Sequence[Request]]]:
        from pydantic_ai import exceptions

        by_digest = {request.digest: request for request in requests}
        try:
            encoded = [
                self._model.run(self._model.opened.batch_encode(self._batch_request(request))) for request in requests
            ]
            for part in self._parts(encoded):
                batch = self._model.run(self._model.opened.batch_create(part))
                yield self._ticket(batch), [by_digest[request.custom_id] for request in part]
        except (exceptions.AgentRunError, exceptions.UserError, UserWarning) as error:
            raise self._model.trouble(error) from error

    def look(self, ticket: Ticket) -> Ticket:
        from pydantic_ai import exceptions

        try:
            return self._ticket(self._model.run(self._model.opened.batch_status(_batch(ticket))))
        except (exceptions.AgentRunError, exceptions.UserError) as error:
            if isinstance(error, exceptions.ModelHTTPError) and error.status_code == 404:
                raise ModelFailure(LOST, f"the provider does not know {ticket.batch_id}", again=False) from error
            raise self._model.trouble(error) from error

    def collect(self, ticket: Ticket, requests: Sequence[Request]) -> dict[str, ModelReply | ModelFailure]:
        from pydantic_ai import exceptions

        try:
            results = self._model.run(self._model.opened.batch_results(_batch(ticket)))
        except (exceptions.AgentRunError, exceptions.UserError) as error:
            raise self._model.trouble(error) from error
        by_id = {result.custom_id: result for result in results}  # they come in any order
        missing = ModelFailure(UNRUN, "the batch ended without it", again=True)
        return {
            request.digest: self._outcome(by_id[request.digest], request) if request.digest in by_id else missing
            for request in requests
        }

    def _outcome(self, result: BatchResult, request: Request) -> ModelReply | ModelFailure:
        from pydantic_ai import exceptions

        if result.status == "expired":
            return ModelFailure(UNRUN, "the batch expired before its turn", again=True)
        if result.status == "canceled":  # somebody stopped it on purpose, so it is not retried automatically
            return ModelFailure(UNRUN, "the batch was cancelled before its turn", again=False)
        try:
            return self._model.reply(self._model.opened.batch_decode(result, self._batch_request(request)))
        except exceptions.ContentFilterError:
            return ModelReply("", "content_filter")
        except exceptions.AgentRunError as error:
            trouble = self._model.trouble(error)
            return trouble if isinstance(trouble, ModelFailure) else ModelFailure("rejected", str(trouble), again=False)

    def _batch_request(self, request: Request) -> BatchRequest:
        from pydantic_ai.models.batch import BatchRequest

        return BatchRequest(
            custom_id=request.digest,
            messages=messages_of(request),
            model_settings=self._model.settings(request),
            model_request_parameters=self._model.parameters(request),
        )

    def _parts(self, encoded: Sequence[EncodedBatchRequest]) -> Iterator[list[EncodedBatchRequest]]:
        """Split into batches: requests of one group, up to the limits of the provider."""
        model = self._model.opened
        for group in dict.fromkeys(item.group for item in encoded):
            part: list[EncodedBatchRequest] = []
            size = 0
            for encoded_request in (item for item in encoded if item.group == group):
                bytes_more = model.batch_request_size(encoded_request)
                too_large = model.batch_max_bytes is not None and size + bytes_more > model.batch_max_bytes
                if part and (too_large or len(part) == model.batch_max_requests):
                    yield part
                    part, size = [], 0
                part.append(encoded_request)
                size += bytes_more
            yield part

    def _ticket(self, batch: Batch) -> Ticket:
        from pydantic import TypeAdapter
        from pydantic_ai.models.batch import Batch

        text = TypeAdapter(Batch).dump_json(batch).decode()
        return Ticket(batch.id, text, batch.status == "ended")


def _batch(ticket: Ticket) -> Batch:
    from pydantic import TypeAdapter
    from pydantic_ai.models.batch import Batch

    return TypeAdapter(Batch).validate_json(ticket.handle)


def write_requests(path: Path, requests: Sequence[Request]) -> None:
    """Write one request per line, atomically."""
    try:
        with replacing(path, private=True) as file:
            file.writelines(json.dumps(as_line(request)).encode() + b"\n" for request in requests)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error


def as_line(request: Request) -> dict[str, Any]:
    """The request as a line of the file. `custom_id` is its digest; a reply must repeat it."""
    settings = request.settings
    body: dict[str, Any] = {
        "model": request.model.rpartition(":")[2],
        "messages": [{"role": role, "content": text} for role, text in request.messages],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": request.stage, "schema": request.schema},
        },
        "max_completion_tokens": settings.max_tokens,
    }
    optional = {
        "temperature": settings.temperature, "seed": settings.seed, "reasoning_effort": settings.reasoning_effort
    }  # fmt: skip
    body |= {name: value for name, value in optional.items() if value is not None}
    return {"custom_id": request.digest, "method": "POST", "url": "/v1/chat/completions", "body": body}


def read_replies(path: Path, price: Price | None = None) -> dict[str, ModelReply]:
    """Read replies by `custom_id` from a batch output file, or from lines `{"custom_id": ..., "reply": text or JSON}`.

    Lines with a provider's error are skipped: those requests stay open.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from error
    replies = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                custom_id, reply = _reply(json.loads(line), price)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise UsageError(
                    f"{path}:{number}: not a reply ({type(error).__name__}: {error}). Each line needs `custom_id` and "
                    "either `response`, as the batch API writes it, or `reply`."
                ) from error
            if reply is not None:
                replies[custom_id] = reply
    return replies


def _reply(line: dict[str, Any], price: Price | None) -> tuple[str, ModelReply | None]:
    custom_id = str(line["custom_id"])
    if "reply" in line:
        reply = line["reply"]
        return custom_id, ModelReply(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False))
    if line.get("error") or line["response"]["status_code"] != 200:
        return custom_id, None
    body = line["response"]["body"]
    choice = body["choices"][0]
    message, usage = choice["message"], body.get("usage") or {}
    tokens = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
    cost = price.of(*tokens) if price is not None else None
    if message.get("refusal"):
        return custom_id, ModelReply(str(message["refusal"]), "refusal", *tokens, cost)
    ended = choice.get("finish_reason")
    finish: Finish = ended if ended in ("length", "content_filter") else "stop"
    return custom_id, ModelReply(str(message.get("content") or ""), finish, *tokens, cost)
