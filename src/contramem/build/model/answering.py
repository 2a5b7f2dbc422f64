"""Ways to answer a round of requests: asking a model now, reading replies from a file, or a provider's batch service.

Submitted batches are recorded in the store, so none is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import Event
from typing import Any, TypeVar

from contramem.bank.store import Store
from contramem.errors import ModelError, UsageError
from contramem.llm.batches import LOST, Batches, Ticket
from contramem.llm.client import ModelFailure, ModelReply, ModelSettings, PromptMessage, Request
from contramem.llm.exchange import MAX_TRIES, Budget, Exchange, ModelCaller, make_stop_error

Watch = Callable[[int, int], None]
"""Called with (answered, total) of the current round."""


@dataclass
class AskNow:
    """Sends every request of a round to the model, and keeps each reply as soon as it arrives."""

    caller: ModelCaller
    exchange: Exchange
    watch: Watch | None = None

    def __call__(self, requests: Sequence[Request]) -> bool:
        report = self.watch or (lambda answered, total: None)
        report(0, len(requests))
        for answered, (request, reply) in enumerate(self.caller.ask_all(requests), 1):
            self.exchange.take(request, reply)
            report(answered, len(requests))
        return True


@dataclass
class FromFile:
    """Answers with the replies of a file. `open` are the requests of the last round without a reply."""

    replies: dict[str, ModelReply]
    exchange: Exchange
    open: list[Request] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __call__(self, requests: Sequence[Request]) -> bool:
        answered = [request for request in requests if request.digest in self.replies]
        for request in answered:
            self.exchange.take(request, self.replies[request.digest])
            self.used.add(request.digest)
        self.open = [request for request in requests if request.digest not in self.replies]
        return bool(answered)

    @property
    def unused(self) -> int:
        """The number of replies that match no request."""
        return len(self.replies.keys() - self.used)


# Batches

MAX_BATCHES = 3
"""How often a request is submitted before the build gives up on it."""
FIRST_LOOK_S, LOOKS_GROW, MAX_LOOK_S = 10.0, 1.5, 300.0

Result = TypeVar("Result")
Tell = Callable[[str], None]
"""Called with a sentence about what happens to a batch."""


@dataclass(frozen=True)
class SentBatch:
    """A batch at the provider, with its requests."""

    ticket: Ticket
    requests: tuple[Request, ...]


def open_batches(store: Store, model: str) -> list[SentBatch]:
    """The batches of this model that have not been collected yet."""
    kept = [json.loads(state) for step, state in sorted(store.progress().items()) if _is_batch(step) and state]
    batches = [
        SentBatch(Ticket(**batch["ticket"]), tuple(_request(given) for given in batch["requests"])) for batch in kept
    ]
    return [batch for batch in batches if batch.requests[0].model == model]


@dataclass
class BatchQueue:
    """Submits requests and collects replies."""

    batches: Batches
    exchange: Exchange
    store: Store
    budget: Budget | None = None
    tell: Tell = lambda said: None
    stop: Event = field(default_factory=Event)
    wait: Callable[[float], object] | None = None
    """How to wait between two checks. None means a wait that ends early if `stop` is set."""
    troubles: Counter[str] = field(default_factory=Counter)

    def take_in(self, held: SentBatch) -> ModelError | None:
        """Keep every reply of a batch that has ended. Requests without a reply are open again. Returns an error if
        asking again would not help."""
        outcomes = self._patiently(lambda: self.batches.collect(held.ticket, held.requests))
        hopeless = None
        came = 0
        for request in held.requests:
            outcome = outcomes[request.digest]
            if isinstance(outcome, ModelFailure):
                self.troubles[outcome.kind] += 1
                hopeless = hopeless or (None if outcome.again else self._refusal_error(request, outcome))
            elif not self.exchange.has(request):  # a killed build may have collected some of them
                came += 1
                self.exchange.take(request, outcome)
                if self.budget is not None:
                    self.budget.charge(outcome)
        self._close(held)
        self.tell(f"{held.ticket.batch_id} has ended: {came} of {len(held.requests)} replies came.")
        return hopeless

    def look(self, held: SentBatch) -> SentBatch | None:
        """The current state of a batch. None if the provider no longer knows it; its requests are then open again."""
        try:
            return replace(held, ticket=self._patiently(lambda: self.batches.look(held.ticket)))
        except ModelFailure as lost:
            self.troubles[lost.kind] += 1
            self._close(held)
            self.tell(f"{lost.what}: its {len(held.requests)} requests are open again.")
            return None

    def hand_over(self, requests: Sequence[Request]) -> None:
        """Submit requests. Each batch is recorded in the store as soon as the provider has it."""
        if self.stop.is_set():
            raise make_stop_error()
        try:
            for ticket, part in self.batches.submit(requests):
                state = {"ticket": asdict(ticket), "requests": [asdict(request) for request in part]}
                self.store.record(progress={_step(ticket): json.dumps(state)})
                self.tell(f"{ticket.batch_id} is at the provider: {len(part)} requests.")
        except ModelFailure as trouble:
            self.troubles[trouble.kind] += 1
            raise ModelError(
                f"{self.batches.name} did not accept the batch ({trouble.what}). Everything paid for is kept; run "
                "the same command again to continue."
            ) from trouble

    def pass_time(self, seconds: float) -> None:
        (self.wait or self.stop.wait)(seconds)
        if self.stop.is_set():
            raise ModelError(
                "stopped on request. The batches continue at the provider; run the same command again to collect them."
            )

    def _patiently(self, call: Callable[[], Result]) -> Result:
        """Retry a call that costs nothing, such as checking or collecting. LOST is raised to the caller."""
        for tries in range(1, MAX_TRIES + 1):
            try:
                return call()
            except ModelFailure as trouble:
                if trouble.kind == LOST:
                    raise
                self.troubles[trouble.kind] += 1
                if not trouble.again or tries == MAX_TRIES:
                    raise ModelError(
                        f"{self.batches.name} does not report the status of a batch ({trouble.kind}: {trouble.what}). "
                        "It continues at the provider; run the same command again to collect it."
                    ) from trouble
                self.pass_time(trouble.retry_after_s or FIRST_LOOK_S * 2 ** (tries - 1))
        raise AssertionError("unreachable")

    def _refusal_error(self, request: Request, trouble: ModelFailure) -> ModelError:
        return ModelError(
            f"{self.batches.name}: {request.subject} ({request.stage}) came back without a reply ({trouble.what}). "
            "Everything else that came is kept; run the same command again to ask the rest."
        )

    def _close(self, held: SentBatch) -> None:
        self.store.record(progress={_step(held.ticket): ""})


@dataclass
class AskInBatches:
    """Submits every round as one or a few batches, and waits until all have ended."""

    desk: BatchQueue

    def __call__(self, requests: Sequence[Request]) -> bool:
        handed = Counter[str]()
        self._wait_for_all()  # for batches that an earlier build left at the provider
        while left := [request for request in requests if not self.desk.exchange.has(request)]:
            part = self._affordable(left)
            handed.update(request.digest for request in part)
            if max(handed.values()) > MAX_BATCHES:
                raise ModelError(
                    f"{self.desk.batches.name} does not answer: {len(part)} requests came back without a reply from "
                    f"{MAX_BATCHES} batches. Everything that came is kept; run the same command "
                    "again, or without --batch."
                )
            self.desk.hand_over(part)
            self._wait_for_all()
        return True

    def _wait_for_all(self) -> None:
        pause = FIRST_LOOK_S
        while running := open_batches(self.desk.store, self.desk.batches.name):
            hopeless = [error for batch in running if (error := self._look(batch)) is not None]
            if hopeless:
                raise hopeless[0]
            if open_batches(self.desk.store, self.desk.batches.name):
                self.desk.pass_time(pause)
                pause = min(pause * LOOKS_GROW, MAX_LOOK_S)

    def _look(self, held: SentBatch) -> ModelError | None:
        now = self.desk.look(held)
        return self.desk.take_in(now) if now is not None and now.ticket.ended else None

    def _affordable(self, requests: Sequence[Request]) -> list[Request]:
        budget = self.desk.budget
        if budget is None:
            return list(requests)
        part: list[Request] = []
        worst = 0.0
        for request in requests:
            if budget.spent_usd + worst + budget.worst(request) > budget.limit_usd:
                break
            worst += budget.worst(request)
            part.append(request)
        if not part:
            raise budget.over_budget_error(requests[0])
        return part


@dataclass
class TakeInFirst:
    """Collects the batches of an earlier build before asking directly, so that nothing is paid for twice."""

    desk: BatchQueue
    ask: Callable[[Sequence[Request]], bool]

    def __call__(self, requests: Sequence[Request]) -> bool:
        for batch in open_batches(self.desk.store, self.desk.batches.name):
            now = self.desk.look(batch)
            if now is not None and not now.ticket.ended:
                raise UsageError(
                    f"{batch.ticket.batch_id}, with {len(batch.requests)} requests of this build, is still at the "
                    "provider and will be billed. Continue with --batch; to abandon it, cancel it there first."
                )
            if now is not None:
                self.desk.take_in(now)
        left = [request for request in requests if not self.desk.exchange.has(request)]
        return self.ask(left) if left else True


def _step(ticket: Ticket) -> str:
    return f"batch {ticket.batch_id}"


def _is_batch(step: str) -> bool:
    return step.startswith("batch ")


def _request(kept: dict[str, Any]) -> Request:
    messages = tuple(PromptMessage(*message) for message in kept["messages"])
    return Request(**{**kept, "settings": ModelSettings(**kept["settings"]), "messages": messages})
