"""A provider that misbehaves in every way: what is tried again, what is counted, what is given back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Answer, Loopback, loopback

from contramem.errors import ModelError
from contramem.llm.client import ModelReply, ModelSettings, Price, PromptMessage, ProviderModel, Request
from contramem.llm.exchange import MAX_TRIES, ModelCaller

pytest.importorskip("pydantic_ai")

KEY = "sk-live-0123456789abcdef0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"card": {"type": ["object", "null"]}}, "required": ["card"]}


def request(about: str = "Mail.search") -> Request:
    messages = (PromptMessage("system", "Be a builder."), PromptMessage("user", f"About {about}"))
    return Request("openai:loopback", ModelSettings(temperature=0.5, seed=7), messages, SCHEMA, "builder", about)


class Asked:
    """One round of calls against a server: the replies, the waits, and what was counted."""

    def __init__(self, server: Loopback, *requests: Request, timeout_s: float = 20.0) -> None:
        self.waits: list[float] = []
        self.replies: dict[str, ModelReply] = {}
        self.error: ModelError | None = None
        model = ProviderModel("openai:loopback", base_url=server.url, price=Price(1, 10), timeout_s=timeout_s)
        caller = ModelCaller(model, parallel=2, sleep=self.waits.append)
        try:
            for asked, reply in caller.ask_all(requests):
                self.replies[asked.subject] = reply
        except ModelError as error:
            self.error = error
        finally:
            model.close()
        self.troubles = caller.troubles


def fails_first(times: int, answer: Answer) -> Any:
    return lambda body, before: answer if before < times else Answer('{"card": null}')


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_call_sends_instructions_data_schema_and_settings_and_returns_usage_and_price() -> None:
    with loopback(fails_first(0, Answer())) as server:
        asked = Asked(server, request())
    (body,) = server.bodies
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "Be a builder."), ("user", "About Mail.search"),
    ]  # fmt: skip
    assert body["response_format"]["json_schema"]["name"] == "builder"
    assert (body["temperature"], body["seed"], body["model"]) == (0.5, 7, "loopback")
    assert asked.replies == {"Mail.search": ModelReply('{"card": null}', "stop", 1000, 100, pytest.approx(0.002))}
    assert not asked.troubles


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        pytest.param(Answer(status=500), "server error", id="server-error"),
        pytest.param(Answer(status=503), "server error", id="unavailable"),
        pytest.param(Answer(status=429), "rate limit", id="rate-limit"),
        pytest.param(Answer(hang_up=True), "connection", id="hangs-up"),
        pytest.param(Answer(raw=b'{"id": "chatcmpl-1", "choi'), "broken response", id="half-a-response"),
        pytest.param(Answer(raw=b"<html>gateway</html>"), "broken response", id="no-json"),
    ],
)
def test_temporary_failures_are_retried_and_counted(answer: Answer, counted: str) -> None:
    with loopback(fails_first(2, answer)) as server:
        asked = Asked(server, request())
    assert asked.replies["Mail.search"].text == '{"card": null}'
    assert len(server.bodies) == 3
    assert asked.troubles.total() == 2
    assert set(asked.troubles) <= {counted, "connection"}
    assert 0.8 <= asked.waits[0] <= 1.2
    assert 1.6 <= asked.waits[1] <= 2.4


def test_retry_after_is_obeyed() -> None:
    with loopback(fails_first(1, Answer(status=429, headers={"Retry-After": "17"}))) as server:
        asked = Asked(server, request())
    assert asked.waits == [17.0]
    assert asked.troubles == Counter({"rate limit": 1})


def test_a_server_that_does_not_answer_times_out() -> None:
    with loopback(fails_first(1, Answer(delay_s=60))) as server:
        asked = Asked(server, request(), timeout_s=1)
    assert set(asked.troubles) == {"timeout"}
    assert asked.replies["Mail.search"].text == '{"card": null}'


@pytest.mark.parametrize(
    ("answer", "finish", "text"),
    [
        pytest.param(Answer('{"card": {"what', finish="length"), "length", '{"card": {"what', id="truncated"),
        pytest.param(Answer(refusal="I cannot help."), "refusal", "I cannot help.", id="refusal"),
        pytest.param(Answer(finish="content_filter"), "content_filter", "", id="content-filter"),
        pytest.param(Answer("not JSON at all"), "stop", "not JSON at all", id="wrong-json"),
    ],
)
def test_an_unusable_reply_is_returned_and_not_retried(answer: Answer, finish: str, text: str) -> None:
    with loopback(lambda body, before: answer) as server:
        asked = Asked(server, request())
    assert len(server.bodies) == 1
    assert (asked.replies["Mail.search"].finish, asked.replies["Mail.search"].text) == (finish, text)
    assert not asked.troubles


def test_if_a_provider_goes_down_earlier_replies_are_kept_and_the_error_says_what_to_do() -> None:
    def behave(body: dict[str, Any], before: int) -> Answer:
        return Answer('{"card": null}') if "first" in json.dumps(body) else Answer(status=503)

    with loopback(behave) as server:
        asked = Asked(server, request("first"), request("second"), request("third"), request("fourth"))
    assert asked.replies["first"].text == '{"card": null}'
    assert asked.error is not None
    assert "does not answer" in str(asked.error)
    assert "Every paid reply is saved" in str(asked.error)
    tries = Counter(body["messages"][1]["content"] for body in server.bodies)
    assert tries["About first"] == 1
    assert max(tries.values()) == MAX_TRIES


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_rejected_request_is_not_retried_and_the_error_never_shows_the_key(status: int) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}).encode()
    with loopback(lambda body, before: Answer(status=status, raw=said)) as server:
        asked = Asked(server, request())
    assert len(server.bodies) == 1
    assert server.keys == [f"Bearer {KEY}"]
    assert asked.error is not None
    assert f"HTTP {status}" in str(asked.error)
    assert KEY not in str(asked.error)
    assert asked.troubles == Counter({"rejected": 1})


def test_with_a_tracer_each_call_is_a_span_without_its_texts() -> None:
    """In a process of its own: a tracer is configured once for a whole process."""
    pytest.importorskip("opentelemetry.sdk")
    with loopback(fails_first(0, Answer())) as server:
        told = subprocess.run(
            [sys.executable, "-c", TRACED, server.url], capture_output=True, text=True, check=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
    (span,) = json.loads(told.stdout)
    assert span["name"] == "chat loopback"
    assert span["attributes"]["gen_ai.request.model"] == "loopback"
    assert span["attributes"]["gen_ai.usage.input_tokens"] == 1000
    assert span["attributes"]["gen_ai.usage.output_tokens"] == 100
    assert "Be a builder" not in told.stdout
    assert "About Mail.search" not in told.stdout


TRACED = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
from contramem.llm.client import ProviderModel
from contramem.llm.client import ModelSettings, PromptMessage, Request
model = ProviderModel("openai:loopback", base_url=sys.argv[1])
messages = (PromptMessage("system", "Be a builder."), PromptMessage("user", "About Mail.search"))
model.ask(Request("openai:loopback", ModelSettings(), messages, {"type": "object", "properties": {}}))
model.close()
print(json.dumps([json.loads(span.to_json()) for span in kept.get_finished_spans()]))
"""
