"""Makes the calls of a round: in parallel, with retries, within the budget; replies are yielded as they arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock
from time import monotonic

from contramem.errors import BudgetError, ModelError
from contramem.llm.price import Price
from contramem.llm.request import TIMEOUT, Model, ModelFailure, ModelReply, Request

PARALLEL = 8
MAX_TRIES, MAX_TIMEOUTS = 6, 3
"""How often a call is tried. Fewer times after timeouts: each costs the whole wait, and a slow call stays slow."""
FIRST_WAIT_S, MAX_WAIT_S = 1.0, 60.0
INPUT_MARGIN = 1.15
"""Safety margin for input tokens: providers count differently, and add tokens of their own around our messages."""

POLL_S = 0.2
"""How often a request to stop is checked for."""

Sleep = Callable[[float], object]


def make_stop_error() -> ModelError:
    return ModelError("stopped at your request. Every paid reply is saved; run the same command again to continue.")


@dataclass
class Budget:
    """What may still be spent. Before a call is made, the most it can cost is reserved."""

    limit_usd: float
    price: Price
    spent_usd: float = 0.0
    reserved_usd: float = 0.0

    def worst(self, request: Request) -> float:
        return self.price.of(request.tokens * INPUT_MARGIN, request.settings.max_tokens)

    def room_for(self, request: Request) -> bool:
        return self.spent_usd + self.reserved_usd + self.worst(request) <= self.limit_usd + 1e-9

    def charge(self, reply: ModelReply) -> None:
        cost = reply.cost_usd
        self.spent_usd += cost if cost is not None else self.price.of(reply.tokens_in, reply.tokens_out)

    def over_budget_error(self, request: Request) -> BudgetError:
        return BudgetError(
            f"stopped at ${self.spent_usd:.4f} of ${self.limit_usd:.2f}: the next call could cost up to "
            f"${self.worst(request):.4f}. Every paid reply is saved; the same command continues from here, "
            "with a fresh budget."
        )


@dataclass
class ModelCaller:
    """Asks a model. One per build; `troubles` counts failures that were retried, by kind."""

    model: Model
    parallel: int = PARALLEL
    budget: Budget | None = None
    sleep: Sleep | None = None
    """How to wait before a retry. None means a wait that ends early if the round is given up."""
    rng: Random = field(default_factory=lambda: Random(0))
    troubles: Counter[str] = field(default_factory=Counter)
    stop: Event = field(default_factory=Event)
    """Set it to stop: no further call is started; calls in progress are awaited and their replies yielded."""
    _lock: Lock = field(default_factory=Lock)
    _given_up: Event = field(default_factory=Event)

    def ask_all(self, requests: Sequence[Request]) -> Iterator[tuple[Request, ModelReply]]:
        """Yield replies as they arrive. If a call fails for good, or `stop` is set, no further call is started; calls
        in progress are awaited and yielded, and then the error is raised."""
        self._given_up.clear()
        waiting = list(requests)
        failed: BaseException | None = None
        under_way: dict[Future[ModelReply], Request] = {}
        pool = ThreadPoolExecutor(self.parallel, thread_name_prefix="contramem-call")
        try:
            while under_way or (waiting and failed is None):
                if failed is None and self.stop.is_set():
                    failed = make_stop_error()
                if failed is None:
                    failed = self._begin(waiting, under_way, pool)
                done, _ = wait(under_way, POLL_S, return_when=FIRST_COMPLETED)
                for future in done:
                    request = under_way.pop(future)
                    self._account(request, future)
                    if (error := future.exception()) is None:
                        yield request, future.result()
                    else:
                        failed = failed or error
                        self._given_up.set()
        finally:
            self._given_up.set()  # wakes threads that are waiting to retry
            pool.shutdown(wait=False, cancel_futures=True)
        if failed is not None:
            raise failed

    def _begin(
        self, waiting: list[Request], under_way: dict[Future[ModelReply], Request], pool: ThreadPoolExecutor
    ) -> BaseException | None:
        while waiting and len(under_way) < self.parallel:
            if self.budget is not None and not self.budget.room_for(waiting[0]):
                return None if under_way else self.budget.over_budget_error(waiting[0])
            request = waiting.pop(0)
            if self.budget is not None:
                self.budget.reserved_usd += self.budget.worst(request)
            under_way[pool.submit(self._ask, request)] = request
        return None

    def _account(self, request: Request, future: Future[ModelReply]) -> None:
        if self.budget is None:
            return
        self.budget.reserved_usd -= self.budget.worst(request)
        if future.exception() is None:
            self.budget.charge(future.result())

    def _ask(self, request: Request) -> ModelReply:
        timeouts = 0
        for tries in range(1, MAX_TRIES + 1):
            try:
                return self.model.ask(request)
            except ModelFailure as trouble:
                timeouts += trouble.kind == TIMEOUT
                with self._lock:
                    self.troubles[trouble.kind] += 1
                    pause = self._pause(trouble, tries)
                if not trouble.again:
                    raise ModelError(f"{self.model.name} refuses the call about {request.subject}: {trouble.what}. "
                                     "Every paid reply is saved.") from trouble  # fmt: skip
                if tries == MAX_TRIES or timeouts == MAX_TIMEOUTS or self._wait_or_give_up(pause):
                    raise ModelError(
                        f"{self.model.name} does not answer ({trouble.kind}: {trouble.what}; tried {tries} times). "
                        "Every paid reply is saved; run the same command again to continue."
                    ) from trouble
        raise AssertionError("unreachable")

    def _wait_or_give_up(self, pause_s: float) -> bool:
        """Wait before a retry. Returns True if the round was given up in the meantime."""
        if self.sleep is not None:
            self.sleep(pause_s)
            return self._given_up.is_set()
        until = monotonic() + pause_s
        while (left := until - monotonic()) > 0 and not self.stop.is_set():
            if self._given_up.wait(min(left, POLL_S)):
                return True
        return self.stop.is_set()

    def _pause(self, trouble: ModelFailure, tries: int) -> float:
        if trouble.retry_after_s is not None:
            return min(trouble.retry_after_s, 10 * MAX_WAIT_S)
        return min(FIRST_WAIT_S * 2.0 ** (tries - 1), MAX_WAIT_S) * self.rng.uniform(0.8, 1.2)
