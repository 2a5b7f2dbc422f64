"""The two ways to answer a round of requests: by asking a model, and from a file of replies."""

from __future__ import annotations

import pytest

from contramem.build.model.answering import AskNow, FromFile
from contramem.errors import ModelError
from contramem.llm.client import ModelFailure, ModelReply, ModelSettings, PromptMessage, Request
from contramem.llm.exchange import Exchange, ModelCaller, ScriptedModel

REFUSAL = ModelFailure("rejected", "HTTP 400", again=False)


def request(text: str) -> Request:
    return Request("scripted", ModelSettings(), (PromptMessage("user", text),), {}, subject=text)


def test_asking_now_keeps_every_reply_and_reports_progress() -> None:
    exchange, progress = Exchange(None), list[tuple[int, int]]()
    model = ScriptedModel(by=lambda asked: ModelReply(f"about {asked.subject}"))
    answer = AskNow(ModelCaller(model), exchange, lambda answered, total: progress.append((answered, total)))
    requests = [request("a"), request("b")]
    assert answer(requests)
    assert [exchange.reply(asked).reply for asked in requests] == ["about a", "about b"]
    assert progress == [(0, 2), (1, 2), (2, 2)]


def test_replies_that_came_before_a_failure_are_kept() -> None:
    exchange = Exchange(None)
    model = ScriptedModel(by=lambda asked: REFUSAL if asked.subject == "b" else ModelReply("{}"))
    with pytest.raises(ModelError):
        AskNow(ModelCaller(model, parallel=1), exchange)([request("a"), request("b")])
    assert exchange.has(request("a"))
    assert not exchange.has(request("b"))


def test_requests_without_a_reply_in_the_file_stay_open() -> None:
    exchange = Exchange(None)
    answer = FromFile({request("a").digest: ModelReply("{}")}, exchange)
    assert answer([request("a"), request("b")])
    assert exchange.has(request("a"))
    assert [asked.subject for asked in answer.open] == ["b"]


def test_a_round_that_no_reply_matches_is_not_answered() -> None:
    answer = FromFile({request("a").digest: ModelReply("{}")}, Exchange(None))
    assert not answer([request("b")])


def test_replies_that_match_no_request_are_counted() -> None:
    answer = FromFile({request(text).digest: ModelReply("{}") for text in "abc"}, Exchange(None))
    answer([request("a")])
    answer([request("b")])
    assert answer.unused == 1
