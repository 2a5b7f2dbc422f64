"""Rounds through a provider's batch service: nothing is paid twice, whatever ends how."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.batch_server import EXPIRED, MISSING, AnthropicBatches, BatchServer, Fate, OpenAIBatches, serving
from tests.model_replies import Runs, build, new_store
from tests.wires import IN, OUT, WIRES

from contramem.bank.frozen import freeze
from contramem.bank.store import Store
from contramem.build.model.answering import AskInBatches, BatchQueue, TakeInFirst, open_batches
from contramem.build.model.author import ModelAuthor, ModelChoice
from contramem.build.model.rounds import BuildPlan, Rounds
from contramem.errors import BudgetError, ModelError, UsageError
from contramem.llm.batches import LOST, UNRUN, ProviderBatches
from contramem.llm.client import ModelReply, Price, ProviderModel, Request
from contramem.llm.exchange import Budget, Exchange

pytestmark = pytest.mark.slow  # seconds a test

pytest.importorskip("pydantic_ai")


class Killed(BaseException):
    """What a SIGKILL is to a process: nothing catches it."""


@pytest.fixture(scope="module")
def runs() -> Runs:
    some = Runs.some()
    return Runs(some.packets[:2] + some.packets[4:6], some.vocabulary)


@pytest.fixture(scope="module")
def direct(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The bank that calls make, and how many there were."""
    model = runs.scripted(name=WIRES[0].model)
    with new_store(tmp_path_factory.mktemp("direct")) as store:
        build(runs, store, model, window=4)
        return freeze(store.bank()), len(model.asked)


class Provider:
    """A batch server, the model that talks to it, and a store that outlives builds."""

    def __init__(self, server: BatchServer, runs: Runs, folder: Path) -> None:
        self.server, self.runs, self.folder = server, runs, folder
        self.known: dict[str, Request] = {}
        self.looked = 0
        self.desk: BatchQueue | None = None

    def good(self, custom_id: str) -> dict[str, Any]:
        return self.server.wire.good(json.dumps(self.runs.reply(self.known[custom_id])))

    @contextmanager
    def opened(self) -> Iterator[tuple[Store, ProviderModel, Exchange]]:
        model = ProviderModel(self.server.wire.model, timeout_s=20)
        try:
            with new_store(self.folder) as store:
                yield store, model, Exchange(store)
        finally:
            model.close()

    def build(self, *, kill_at_look: int = 0, kill_at_reply: int = 0, budget: Budget | None = None) -> tuple[str, bool]:
        with self.opened() as (store, model, exchange), store.writing("build"):
            if kill_at_reply:
                exchange = Dying(store, kill_at_reply)
            self.desk = BatchQueue(ProviderBatches(model), exchange, store, budget, wait=self._pass_time(kill_at_look))
            author = ModelAuthor(ModelChoice(model.name), exchange, self.runs.checks, self.runs.packets)
            rounds = Rounds(BuildPlan(self.runs.packets, window=4), store, author, self.runs.checks)
            rounds.run(self._remembering(AskInBatches(self.desk)))
            return freeze(store.bank()), rounds.finished

    def _remembering(self, ask: Any) -> Any:
        def answer(requests: Sequence[Request]) -> bool:
            self.known |= {request.digest: request for request in requests}
            return bool(ask(requests))

        return answer

    def _pass_time(self, kill_at_look: int) -> Any:
        def pass_time(seconds: float) -> None:
            self.looked += 1
            if self.looked == kill_at_look:
                raise Killed

        return pass_time


class Dying(Exchange):
    """Takes some replies, and is no more."""

    def __init__(self, store: Store, left: int) -> None:
        super().__init__(store)
        self._left = left

    def take(self, request: Request, reply: ModelReply) -> None:
        if self._left == 0:
            raise Killed
        self._left -= 1
        super().take(request, reply)


@pytest.fixture(params=[(OpenAIBatches, WIRES[0]), (AnthropicBatches, WIRES[1])], ids=["openai", "anthropic"])
def provider(
    request: pytest.FixtureRequest, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Provider]:
    kind, wire = request.param
    server = kind(wire, lambda number, custom_id, body: found.good(custom_id))
    found = Provider(server, runs, tmp_path)
    with serving(server) as url:
        for name, value in wire.environment(url).items():
            monkeypatch.setenv(name, value)
        yield found


def cards(bank: str) -> list[dict[str, Any]]:
    """Without the header: another model's name is another digest."""
    return [json.loads(line) for line in bank.splitlines()[1:]]


def test_a_build_in_batches_is_the_build_by_calls_at_half_the_price(
    provider: Provider, direct: tuple[str, int]
) -> None:
    bank, finished = provider.build()
    assert finished
    assert cards(bank) == cards(direct[0])
    assert len(provider.server.asked) == len(set(provider.server.asked)) == direct[1]
    assert len(provider.server.jobs) < direct[1] / 3
    with provider.opened() as (store, model, _):
        assert not open_batches(store, model.name)
        assert {(call.tokens_in, call.tokens_out) for call in store.calls()} == {(IN, OUT)}
        full = provider.server.wire.cost_usd
        assert {round((call.cost_usd or 0) / full, 6) for call in store.calls()} == {0.5}


def test_a_killed_build_picks_its_batch_up_and_hands_nothing_over_twice(
    provider: Provider, direct: tuple[str, int]
) -> None:
    with pytest.raises(Killed):
        provider.build(kill_at_look=1)
    assert len(provider.server.jobs) == 1
    with pytest.raises(Killed):
        provider.build(kill_at_reply=3)  # in the middle of taking the replies in
    bank, finished = provider.build()
    assert finished
    assert cards(bank) == cards(direct[0])
    assert set(Counter(provider.server.asked).values()) == {1}
    with provider.opened() as (store, _, _):
        assert len(store.calls()) == direct[1]


@pytest.mark.parametrize("fate", [EXPIRED, MISSING, 500, 429])
def test_what_a_batch_ends_without_is_asked_again_and_the_rest_is_kept(
    provider: Provider, direct: tuple[str, int], fate: Fate
) -> None:
    def decide(number: int, custom_id: str, body: dict[str, Any]) -> Fate:
        half = sorted(provider.known)[::2]
        return fate if number == 1 and custom_id in half else provider.good(custom_id)

    provider.server.decide = decide
    bank, finished = provider.build()
    assert finished
    assert cards(bank) == cards(direct[0])
    first = provider.server.jobs["batch_1"]
    lost = {custom_id for custom_id, end in first.fates.items() if end == fate}
    assert lost
    assert set(provider.server.jobs["batch_2"].requests) == lost
    assert len(provider.server.asked) == direct[1] + len(lost)
    assert provider.desk is not None
    assert provider.desk.troubles.total() == len(lost)
    if fate in (EXPIRED, MISSING):
        assert set(provider.desk.troubles) == {UNRUN}


def test_a_request_that_is_refused_stops_the_build_after_all_that_came_is_kept(provider: Provider) -> None:
    def decide(number: int, custom_id: str, body: dict[str, Any]) -> Fate:
        return 400 if custom_id == min(provider.known) else provider.good(custom_id)

    provider.server.decide = decide
    with pytest.raises(
        ModelError, match=r"came back without a reply .*told to fail.*Everything else that came is kept"
    ):
        provider.build()
    with provider.opened() as (store, model, _):
        assert len(store.calls()) == len(provider.server.asked) - 1
        assert not open_batches(store, model.name)


def test_what_never_comes_back_is_given_up_after_three_batches(provider: Provider) -> None:
    provider.server.decide = lambda number, custom_id, body: EXPIRED
    with pytest.raises(ModelError, match="without a reply from 3 batches"):
        provider.build()
    assert len(provider.server.jobs) == 3


def test_failed_status_checks_are_repeated_and_a_batch_is_kept_while_the_provider_is_down(
    provider: Provider, direct: tuple[str, int]
) -> None:
    provider.server.stumbles = [503] * 40
    with pytest.raises(ModelError, match=r"does not report the status of a batch .*run the same command again"):
        provider.build()
    provider.server.stumbles = [503, 503]
    bank, finished = provider.build()
    assert finished
    assert cards(bank) == cards(direct[0])
    assert set(Counter(provider.server.asked).values()) == {1}


def test_a_batch_that_the_provider_has_forgotten_is_asked_again(provider: Provider) -> None:
    with pytest.raises(Killed):
        provider.build(kill_at_look=1)
    provider.server.jobs["batch_x"] = provider.server.jobs.pop("batch_1")
    provider.server.jobs["batch_y"] = provider.server.jobs["batch_x"]  # so that numbers are not given twice
    _, finished = provider.build()
    assert finished
    assert provider.desk is not None
    assert provider.desk.troubles[LOST] == 1


def test_a_budget_hands_over_only_what_it_can_pay(provider: Provider, direct: tuple[str, int]) -> None:
    price = Price(provider.server.wire.price_in, provider.server.wire.price_out).in_batch
    budget = Budget(12 * price.of(0, 16_000), price)
    bank, finished = provider.build(budget=budget)
    assert finished
    assert cards(bank) == cards(direct[0])
    assert max(len(job.requests) for job in provider.server.jobs.values()) < 12
    assert budget.spent_usd == pytest.approx(direct[1] * provider.server.wire.cost_usd / 2)
    (provider.folder / "bank.db").unlink()
    with pytest.raises(BudgetError, match=r"of \$0.00"):
        provider.build(budget=Budget(0.001, price))


def test_calls_take_in_what_batches_left_and_wait_for_none_that_still_runs(provider: Provider) -> None:
    provider.server.looks_needed = 3
    with pytest.raises(Killed):
        provider.build(kill_at_look=1)
    with provider.opened() as (store, model, exchange), store.writing("build"):
        (held,) = open_batches(store, model.name)
        asked: list[Request] = []
        answer = TakeInFirst(BatchQueue(ProviderBatches(model), exchange, store), lambda left: not asked.extend(left))
        extra = Request(model.name, held.requests[0].settings, (), {}, "builder", "another")
        with pytest.raises(UsageError, match=r"batch_1, with .* is still at the provider.*Continue with --batch"):
            answer([*held.requests, extra])
        assert answer([*held.requests, extra])
        assert asked == [extra]
        assert len(store.calls()) == len(held.requests)


def test_a_batch_that_fails_as_a_whole_says_why(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = WIRES[0]
    server = OpenAIBatches(wire, lambda number, custom_id, body: MISSING, fails_with="Line 1 is too long.")
    with serving(server) as url:
        for name, value in wire.environment(url).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ModelError, match="Line 1 is too long"):
            Provider(server, runs, tmp_path).build()


def test_a_server_without_batches_says_so() -> None:
    model = ProviderModel("openai:some", base_url="http://127.0.0.1:9/v1")
    try:
        with pytest.raises(UsageError, match=r"openai:some at http://127\.0\.0\.1:9/v1 has no batch service here"):
            ProviderBatches(model)
    finally:
        model.close()
