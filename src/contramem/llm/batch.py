"""Batches: requests sent to a provider together, answered within a day at half the price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from contramem.errors import UsageError
from contramem.llm.client import ProviderModel, messages_of
from contramem.llm.request import ModelFailure, ModelReply, Request

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
