"""Replies by request, kept in a store so that nothing is paid for twice, and the calls that bring them: in parallel,
with retries, within the budget. Recorded and scripted models answer without a network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock
from time import monotonic
from typing import Any, TypeAlias

from contramem.bank.store import Store
from contramem.bank.tables import StoredExchange
from contramem.counting import count_tokens
from contramem.errors import BudgetError, ModelError, UsageError
from contramem.llm.client import STAGES, TIMEOUT, Model, ModelFailure, ModelReply, Price, Request
from contramem.whole_file import make_private


class NotYet(Exception):
    """There is no reply to this request yet. Not an error: whoever runs the round asks for it, or waits for a file."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"no reply yet about {request.subject}")
        self.request = request


@dataclass
class StageCost:
    """What one stage of this build used."""

    calls: int = 0
    """Calls that were made and paid for in this build."""
    cached: int = 0
    """Replies that were paid for earlier: by another build, or by this one before it was stopped."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Calls whose price is unknown."""


@dataclass
class Exchange:
    """All replies that a build may use. Not thread-safe."""

    store: Store | None
    """None means that nothing is kept, as in a dry run without a bank."""
    keep: bool = True
    """Whether prompts and replies are kept in the store. Counts and costs always are."""
    stages: dict[str, StageCost] = field(default_factory=lambda: {stage: StageCost() for stage in STAGES})
    oddities: Counter[str] = field(default_factory=Counter)
    """Unusable replies, by kind: `truncated`, `invalid`, `refusal`, `content filter`."""
    _replies: dict[str, StoredExchange] = field(default_factory=dict)

    def reply(self, request: Request) -> StoredExchange:
        """The reply to `request`. Raises NotYet if there is none."""
        if request.digest not in self._replies:
            stored = self.store.call(request.digest) if self.store is not None else None
            if stored is None:
                raise NotYet(request)
            self._replies[request.digest] = stored
            self.stages[request.stage].cached += 1
        return self._replies[request.digest]

    def has(self, request: Request) -> bool:
        try:
            self.reply(request)
        except NotYet:
            return False
        return True

    def take(self, request: Request, reply: ModelReply) -> None:
        """Store a new reply and count its cost."""
        call = StoredExchange(
            digest=request.digest,
            stage=request.stage,
            subject=request.subject,
            model=request.model,
            prompt=request.prompt,
            request=json.dumps(request.news, ensure_ascii=False) if self.keep else None,
            reply=reply.text if self.keep else None,
            finish=reply.finish,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost_usd=reply.cost_usd,
        )
        if self.store is not None:
            self.store.keep(call)
        self._replies[request.digest] = call._replace(reply=reply.text)
        stage = self.stages[request.stage]
        stage.calls += 1
        stage.tokens_in += reply.tokens_in
        stage.tokens_out += reply.tokens_out
        stage.cost_usd += reply.cost_usd or 0.0
        stage.unpriced += reply.cost_usd is None

    @property
    def spent_usd(self) -> float:
        return sum(stage.cost_usd for stage in self.stages.values())


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


_RECORDING = "contramem-exchanges"
_RECORDING_VERSION = 1


class RecordedModel:
    """Replays `path`. With a `live` model, requests that are not in the file are sent to it and recorded.

    The file is JSON lines: a header with the model's name, then one exchange per line (digest, subject, reply).
    """

    def __init__(self, path: Path, live: Model | None = None) -> None:
        self._path = path
        self._live = live
        self._lock = Lock()
        self._replies: dict[str, ModelReply] = {}
        if path.exists():
            self.name = self._read(path)
        elif live is not None:
            self.name = live.name
            header = {"format": _RECORDING, "version": _RECORDING_VERSION, "model": live.name}
            make_private(path).write_text(json.dumps(header) + "\n", encoding="utf-8")
        else:
            raise UsageError(f"{path}: there are no recorded exchanges here.")
        if live is not None and live.name != self.name:
            raise UsageError(f"{path}: holds exchanges with {self.name}, not with {live.name}. Record to another file.")

    def ask(self, request: Request) -> ModelReply:
        with self._lock:
            if request.digest in self._replies:
                return self._replies[request.digest]
        if self._live is None:
            raise ModelError(
                f"{self._path}: has no reply to this request about {request.subject} ({request.stage}). "
                "Prompts, runs or settings differ from those that were recorded."
            )
        reply = self._live.ask(request)
        line = {"digest": request.digest, "stage": request.stage, "subject": request.subject, "reply": asdict(reply)}
        with self._lock:
            self._replies[request.digest] = reply
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return reply

    def _read(self, path: Path) -> str:
        lines = path.read_text(encoding="utf-8").splitlines()
        try:
            header = json.loads(lines[0])
            if header["format"] != _RECORDING:
                raise ValueError(header["format"])
            name = str(header["model"])
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(f"{path}: not a file of recorded exchanges.") from error
        if header["version"] > _RECORDING_VERSION:
            raise UsageError(f"{path}: was recorded by a newer contramem (format {header['version']}).")
        for number, line in enumerate(lines[1:], 2):
            try:
                exchange = json.loads(line)
                self._replies[exchange["digest"]] = ModelReply(**exchange["reply"])
            except (ValueError, LookupError, TypeError) as error:
                raise UsageError(f"{path}:{number}: not an exchange ({error}).") from error
        return name


Scripted: TypeAlias = str | dict[str, Any] | ModelReply | ModelFailure
"""The text of a reply, its JSON, a whole reply, or a failure to raise."""


class ScriptedModel:
    """Answers from a list, in order, or with a function of the request. `asked` collects every request."""

    def __init__(
        self, *replies: Scripted, by: Callable[[Request], Scripted] | None = None, name: str = "scripted",
        price: Price | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.asked: list[Request] = []
        self._replies = list(replies)
        self._by = by
        self._price = price
        self._lock = Lock()

    def ask(self, request: Request) -> ModelReply:
        with self._lock:
            self.asked.append(request)
            if self._by is not None:
                scripted = self._by(request)
            elif self._replies:
                scripted = self._replies.pop(0)
            else:
                raise AssertionError(f"the script is at its end, and was asked about {request.subject}")
        if isinstance(scripted, ModelFailure):
            raise scripted
        return scripted if isinstance(scripted, ModelReply) else self._reply_of(request, scripted)

    def _reply_of(self, request: Request, scripted: str | dict[str, Any]) -> ModelReply:
        text = scripted if isinstance(scripted, str) else json.dumps(scripted, ensure_ascii=False)
        tokens_out = count_tokens(text)
        cost = self._price.of(request.tokens, tokens_out) if self._price else None
        return ModelReply(text, "stop", request.tokens, tokens_out, cost)
