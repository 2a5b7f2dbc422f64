"""One conversation of a model with tools: its calls are answered, recorded, and not repeated by a later build."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.study.office import note_office

from contramem.bank.store import open_store
from contramem.bank.tables import StoredExchange
from contramem.build.agent import conversation as module
from contramem.build.agent.conversation import AuthorConversation, BuildDesk
from contramem.llm.client import ModelSettings, PromptMessage, Request, RequestedCall, ToolReply
from contramem.study.propose import Proposer
from contramem.study.run_set import RunSet
from contramem.study.trial_log import TrialLog

OPENING = Request(model="m", settings=ModelSettings(), messages=(PromptMessage("user", "Begin."),), schema={})


def exchange(*calls: tuple[str, object], text: str = "", digest: str = "d1") -> StoredExchange:
    asked = tuple(RequestedCall(str(number), name, json.dumps(given)) for number, (name, given) in enumerate(calls))
    reply = ToolReply(text, asked).write()
    return StoredExchange(digest, "author", "kind", "m", "p", None, reply, "stop", 100, 10, 0.5)


@contextmanager
def conversation(folder: Path, asked: list[str], about: str = "runs") -> Iterator[AuthorConversation]:
    """A conversation with one tool, which notes what it was asked."""

    def look_up(word: str) -> str:
        asked.append(word)
        return f"{word} means something"

    tools: list[Callable[..., str]] = [look_up]
    run_set = RunSet.of(note_office())
    with open_store(folder / "bank.db", create=True) as store, store.writing("build"):
        author = Proposer("m", run_set, TrialLog(folder / "trials.jsonl", run_set.digest))
        desk = BuildDesk(store, author, [])
        yield AuthorConversation(OPENING, about, desk, tools)


def test_calls_are_answered_in_order_and_shown_to_the_model(tmp_path: Path) -> None:
    asked: list[str] = []
    with conversation(tmp_path, asked) as talk:
        talk.take(exchange(("look_up", {"word": "one"}), ("look_up", {"word": "two"})))
        assert asked == ["one", "two"]
        assert talk.request.turns[0].answers == ("one means something", "two means something")
        assert not talk.ended


def test_a_reply_without_calls_ends_it(tmp_path: Path) -> None:
    with conversation(tmp_path, []) as talk:
        talk.take(exchange(text="That is all."))
        assert talk.ended


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        pytest.param(("forget", {}), "Not done: there is no tool forget. There are look_up.", id="unknown-tool"),
        pytest.param(("look_up", {}), "Not done: word: Field required.", id="missing-argument"),
        pytest.param(
            ("look_up", {"word": "a", "size": 1}),
            "Not done: size: Extra inputs are not permitted.",
            id="extra",
        ),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_with_the_reason(
    tmp_path: Path, call: tuple[str, object], answer: str
) -> None:
    asked: list[str] = []
    with conversation(tmp_path, asked) as talk:
        talk.take(exchange(call))
        assert talk.request.turns[0].answers == (answer,)
        assert asked == []


def test_it_ends_at_the_last_turn_and_says_before_how_many_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TURNS", 5)
    with conversation(tmp_path, []) as talk:
        for number in range(5):
            talk.take(exchange(("look_up", {"word": "x"}), digest=f"d{number}"))
        lines = [turn.answers[0].partition("\n")[2] for turn in talk.request.turns]
        assert lines == ["", "(Turns left: 3.)", "(Turns left: 2.)", "(Turns left: 1.)", "(Turns left: 0.)"]
        assert talk.ended


def test_it_ends_when_the_model_would_be_sent_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOKENS", 20)
    with conversation(tmp_path, []) as talk:
        talk.take(exchange(("look_up", {"word": "a long story " * 20})))
        assert talk.ended


def test_a_later_build_goes_on_after_the_answers_that_were_recorded(tmp_path: Path) -> None:
    asked: list[str] = []
    reply = exchange(("look_up", {"word": "one"}))
    with open_store(tmp_path / "bank.db", create=True) as store, store.writing("build"):
        store.keep(reply)
    with conversation(tmp_path, asked) as talk:
        talk.take(reply)
    with conversation(tmp_path, asked) as talk:
        assert talk.turns == 1
        assert talk.request.turns[0].answers == ("one means something",)
    assert asked == ["one"], "a tool is not asked again"
    with conversation(tmp_path, asked, about="other runs") as talk:
        assert talk.turns == 0, "with other runs it is another conversation"
