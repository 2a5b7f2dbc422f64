"""OpenAI's Responses, Anthropic's Messages and Gemini, each in its own words, by a server on this machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.loopback import Answer, Loopback, loopback
from tests.wires import IN, KEY, OUT, WIRES, Wire

from contramem.build.model import replies
from contramem.errors import ModelError
from contramem.llm.client import ModelReply, ModelSettings, Price, PromptMessage, ProviderModel, Request, reply_tokens
from contramem.llm.exchange import ModelCaller

pytest.importorskip("pydantic_ai")

GOOD = '{"card": null}'
Says = Callable[[dict[str, Any], int], Answer]


@pytest.fixture(params=WIRES, ids=lambda wire: wire.model.partition(":")[0])
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


def request(wire: Wire, **settings: Any) -> Request:
    messages = (PromptMessage("system", "Be a builder."), PromptMessage("user", "About Mail.search"))
    schema = replies.schema_of(replies.BuilderReply)
    return Request(wire.model, ModelSettings(**settings), messages, schema, "builder", "Mail.search")


def said(body: dict[str, Any], **more: Any) -> Answer:
    return Answer(raw=json.dumps(body).encode(), **more)


@contextmanager
def served(wire: Wire, monkeypatch: pytest.MonkeyPatch, says: Says) -> Iterator[Loopback]:
    with loopback(says) as server:
        for name, value in wire.environment(server.url.removesuffix("/v1")).items():
            monkeypatch.setenv(name, value)
        yield server


def ask(asked: Request, price: Price | None = None) -> tuple[ModelReply, Counter[str], list[float]]:
    waits: list[float] = []
    model = ProviderModel(asked.model, price=price, timeout_s=20)
    try:
        caller = ModelCaller(model, sleep=waits.append)
        ((_, reply),) = caller.ask_all([asked])
    finally:
        model.close()
    return reply, caller.troubles, waits


def test_a_call_sends_instructions_data_and_schema_and_returns_usage_with_cached_tokens(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(wire, monkeypatch, lambda body, before: said(wire.good(GOOD))) as server:
        reply, troubles, _ = ask(request(wire))
    (body,) = server.bodies
    instructions, data, schema = wire.asked(body)
    assert (instructions, data) == ("Be a builder.", "About Mail.search")
    assert set(schema["properties"]) == {"card"}
    assert reply == ModelReply(GOOD, "stop", IN, OUT, pytest.approx(wire.cost_usd))
    assert wire.cost_usd < Price(wire.price_in, wire.price_out).of(IN, OUT)
    assert not troubles


def test_a_price_given_by_the_user_overrides_the_list_price(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(wire, monkeypatch, lambda body, before: said(wire.good(GOOD))):
        reply, _, _ = ask(request(wire), Price(1, 10))
    assert reply.cost_usd == pytest.approx((IN + 10 * OUT) / 1e6)


def test_after_a_rate_limit_the_call_waits_as_long_as_the_provider_says(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(body: dict[str, Any], before: int) -> Answer:
        slow = said(wire.error("Too many requests"), status=429, headers={"Retry-After": "17"})
        return slow if before == 0 else said(wire.good(GOOD))

    with served(wire, monkeypatch, says) as server:
        reply, troubles, waits = ask(request(wire))
    assert (reply.text, troubles, waits) == (GOOD, Counter({"rate limit": 1}), [17.0])
    assert len(server.bodies) == 2


def test_a_truncated_reply_is_marked_as_such(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(wire, monkeypatch, lambda body, before: said(wire.truncated('{"card": {"what'))):
        reply, troubles, _ = ask(request(wire))
    assert (reply.text, reply.finish, reply.tokens_in) == ('{"card": {"what', "length", IN)
    assert not troubles


def test_a_withheld_reply_is_not_retried_and_its_tokens_count(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    body, word = wire.withheld()
    with served(wire, monkeypatch, lambda asked, before: said(body)) as server:
        reply, troubles, _ = ask(request(wire))
    assert len(server.bodies) == 1
    assert (reply.finish, reply.tokens_in, reply.tokens_out) == (word, IN, OUT)
    assert reply.cost_usd == pytest.approx(wire.cost_usd)
    assert not troubles


def test_a_wrong_key_fails_at_once_with_the_providers_message_without_the_key(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = said(wire.error(f"Incorrect key {KEY} given"), status=401)
    with (
        served(wire, monkeypatch, lambda body, before: refused) as server,
        pytest.raises(ModelError, match=r"HTTP 401 \(Incorrect key … given\)"),
    ):
        ask(request(wire))
    assert len(server.bodies) == 1


def test_an_exceeded_quota_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = WIRES[0]
    empty = {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota",
                       "code": "insufficient_quota"}}  # fmt: skip
    with (
        served(wire, monkeypatch, lambda body, before: said(empty, status=429)) as server,
        pytest.raises(ModelError, match="exceeded your current quota"),
    ):
        ask(request(wire))
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("model", "settings", "complaint"),
    [
        pytest.param(0, {"seed": 7}, "does not accept a seed. Drop --seed", id="openai-seed"),
        pytest.param(1, {"seed": 7}, "does not accept a seed. Drop --seed", id="anthropic-seed"),
        pytest.param(0, {"temperature": 0.5}, "Sampling parameters", id="openai-temperature-while-reasoning"),
    ],
)
def test_a_setting_that_the_model_would_ignore_is_refused_before_anything_is_spent(
    model: int, settings: dict[str, Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = WIRES[model]
    with (
        served(wire, monkeypatch, lambda body, before: said(wire.good(GOOD))) as server,
        pytest.raises(ModelError, match=complaint),
    ):
        ask(request(wire, **settings))
    assert not server.bodies


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        pytest.param(0, lambda body: body["reasoning"]["effort"] == "high", id="openai"),
        pytest.param(1, lambda body: body["thinking"]["budget_tokens"] < body["max_tokens"], id="anthropic"),
        pytest.param(
            2,
            lambda body: (
                body["generationConfig"]["thinkingConfig"]["thinking_budget"]
                < body["generationConfig"]["maxOutputTokens"]
            ),
            id="google",
        ),
    ],
)
def test_reasoning_leaves_room_for_the_reply(
    model: int, sent: Callable[[dict[str, Any]], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Providers that count thoughts as part of the reply refuse, or cut off, a request that has no room for both."""
    wire = WIRES[model]
    with served(wire, monkeypatch, lambda body, before: said(wire.good(GOOD))) as server:
        ask(request(wire, reasoning_effort="high", max_tokens=reply_tokens("high")))
    assert sent(server.bodies[0])
