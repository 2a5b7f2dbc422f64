"""The calls of a round: tries, budget, order; and the models that ship for tests."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from contramem.errors import BudgetError, ModelError, UsageError
from contramem.llm.batches import as_line, read_replies, write_requests
from contramem.llm.client import (
    TIMEOUT,
    ModelFailure,
    ModelReply,
    ModelSettings,
    Price,
    PromptMessage,
    Request,
    read_price,
)
from contramem.llm.exchange import MAX_TIMEOUTS, MAX_TRIES, Budget, ModelCaller, RecordedModel, ScriptedModel


def request(about: str = "one", max_tokens: int = 1000) -> Request:
    return Request(
        "scripted", ModelSettings(max_tokens=max_tokens), (PromptMessage("user", about),), {}, "builder", about
    )


def test_the_digest_of_a_request_does_not_depend_on_its_subject() -> None:
    one = request()
    assert one.digest == Request("scripted", one.settings, one.messages, {}, "curator", "else").digest
    assert one.digest != request(max_tokens=999).digest
    assert one.digest != Request("other", one.settings, one.messages, {}).digest
    assert one.digest != Request("scripted", one.settings, one.messages, {"type": "object"}).digest


def test_temporary_failures_are_retried_a_limited_number_of_times() -> None:
    down = [ModelFailure("server error", "HTTP 500", again=True) for _ in range(MAX_TRIES)]
    waits: list[float] = []
    caller = ModelCaller(ScriptedModel(*down), sleep=waits.append)
    with pytest.raises(ModelError, match=f"tried {MAX_TRIES} times"):
        list(caller.ask_all([request()]))
    assert caller.troubles == Counter({"server error": MAX_TRIES})
    assert len(waits) == MAX_TRIES - 1


def test_timeouts_are_retried_less_often_and_the_error_says_how_to_wait_longer() -> None:
    slow = [
        ModelFailure(TIMEOUT, "no answer within 300 s; --timeout gives it longer", again=True) for _ in range(MAX_TRIES)
    ]
    caller = ModelCaller(ScriptedModel(*slow), sleep=lambda pause_s: None)
    with pytest.raises(ModelError, match=f"--timeout gives it longer; tried {MAX_TIMEOUTS} times"):
        list(caller.ask_all([request()]))


def test_a_budget_stops_before_the_call_that_could_exceed_it() -> None:
    price = Price(0, 1000)  # a dollar for a thousand tokens out
    model = ScriptedModel(by=lambda asked: ModelReply("{}", "stop", 10, 400, 0.4), price=price)
    budget = Budget(2.0, price)
    caller = ModelCaller(model, parallel=4, budget=budget)
    got = []
    with pytest.raises(BudgetError, match=r"stopped at \$1.2000 of \$2.00: the next call could cost up to \$1.0000"):
        for asked, _ in caller.ask_all([request(str(number)) for number in range(10)]):
            got.append(asked.subject)
    assert got == ["0", "1", "2"]  # after three, 1.2 is spent, and the worst of a fourth is 1.0
    assert len(model.asked) == 3
    assert budget.spent_usd == pytest.approx(1.2)
    assert budget.reserved_usd == pytest.approx(0)


def test_a_price_is_two_numbers() -> None:
    assert read_price("1.25,10").of(1_000_000, 100_000) == pytest.approx(2.25)
    for wrong in ("1", "a,b", "1,2,3", "-1,2"):
        with pytest.raises(UsageError, match="--price takes two numbers"):
            read_price(wrong)


def test_exchanges_are_recorded_once_and_replayed_without_a_model(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    live = ScriptedModel({"card": None}, name="openai:real")
    recording = RecordedModel(path, live)
    assert recording.ask(request()) == recording.ask(request())
    assert len(live.asked) == 1
    replaying = RecordedModel(path)
    assert replaying.name == "openai:real"
    assert json.loads(replaying.ask(request()).text) == {"card": None}
    with pytest.raises(ModelError, match="has no reply to this request about two"):
        replaying.ask(request("two"))


def test_a_file_without_exchanges_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded exchanges"):
        RecordedModel(tmp_path / "nothing.jsonl")
    (tmp_path / "other.jsonl").write_text('{"format": "something"}\n')
    with pytest.raises(UsageError, match="not a file of recorded exchanges"):
        RecordedModel(tmp_path / "other.jsonl")


def test_a_request_is_written_in_the_batch_format(tmp_path: Path) -> None:
    asked = Request(
        "openai:gpt-5",
        ModelSettings("high", None, 3),
        (PromptMessage("system", "s"), PromptMessage("user", "u")),
        {"a": 1},
    )
    line = as_line(asked)
    assert (line["custom_id"], line["method"], line["url"]) == (asked.digest, "POST", "/v1/chat/completions")
    assert len(line["custom_id"]) <= 64
    assert line["body"] == {
        "model": "gpt-5",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "builder", "schema": {"a": 1}}},
        "max_completion_tokens": 16_000,
        "seed": 3,
        "reasoning_effort": "high",
    }
    write_requests(tmp_path / "r.jsonl", [asked, request()])
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 2


def test_replies_are_read_from_a_batch_or_from_a_person(tmp_path: Path) -> None:
    def batch(custom_id: str, choice: dict[str, object]) -> dict[str, object]:
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        body = {"choices": [choice], "usage": usage}
        return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}

    lines = [
        batch("a", {"message": {"content": "{}"}, "finish_reason": "stop"}),
        batch("b", {"message": {"content": "{", "refusal": None}, "finish_reason": "length"}),
        batch("c", {"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}),
        {"custom_id": "d", "response": None, "error": {"code": "batch_expired"}},
        {"custom_id": "e", "reply": {"card": None}},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    assert read_replies(path, Price(1, 1)) == {
        "a": ModelReply("{}", "stop", 10, 2, 0.000012),
        "b": ModelReply("{", "length", 10, 2, 0.000012),
        "c": ModelReply("no", "refusal", 10, 2, 0.000012),
        "e": ModelReply('{"card": null}'),
    }
    path.write_text('{"custom_id": "a"}\n')
    with pytest.raises(UsageError, match=r"a.jsonl:1: not a reply"):
        read_replies(path)


def test_after_a_stop_calls_in_progress_are_returned_and_none_is_started() -> None:
    stop, together = Event(), Barrier(2)

    class Slow:
        name = "slow"

        def __init__(self) -> None:
            self.asked: list[str] = []

        def ask(self, asked: Request) -> ModelReply:
            self.asked.append(asked.subject)
            together.wait(5)
            stop.set()
            return ModelReply(asked.subject)

    model = Slow()
    caller = ModelCaller(model, parallel=2, stop=stop)
    got = []
    with pytest.raises(ModelError, match=r"stopped at your request. Every paid reply is saved"):
        for _, reply in caller.ask_all([request(str(number)) for number in range(6)]):
            got.append(reply.text)
    assert sorted(got) == sorted(model.asked) == ["0", "1"]


def test_after_a_failure_calls_waiting_to_retry_are_given_up() -> None:
    stop = Event()

    def busy(asked: Request) -> Any:
        stop.set()
        return ModelFailure("rate limit", "HTTP 429", again=True, retry_after_s=600)

    model = ScriptedModel(by=busy)
    with pytest.raises(ModelError):
        list(ModelCaller(model, stop=stop).ask_all([request()]))
    assert len(model.asked) == 1
