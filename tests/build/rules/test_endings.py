"""How runs end: with a question, with a call that stands in the text, with an answer, or without a word."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.build.rules.endings import ending_of

LOOK = call("Mail.search", {"query": "ann"}, [])
FUNCTIONS = {"Mail.search", "Mail.send_email", "finish"}


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        pytest.param("Which Ann do you mean?", "question", id="question"),
        pytest.param("I found two. Please confirm which one to invite.", "question", id="request"),
        pytest.param("どちらですか？", "question", id="another-language"),
        pytest.param("Ann has been invited. Is there anything else I can help you with?", "answer", id="courtesy"),
        pytest.param("Ann has been invited.", "answer", id="answer"),
        pytest.param('Action: {"action": "Mail.send_email", "action_input": {}}', "written call", id="json"),
        pytest.param('<function=search>{"query": "ann"}</function>', "written call", id="tag"),
        pytest.param('I will run search(query="ann") next.', "written call", id="code"),
        pytest.param("I used send_email() to write to her.", "answer", id="mentioned"),
        pytest.param("", "silence", id="nothing"),
    ],
)
def test_the_last_words_tell_how_a_run_ended(text: str, ending: str) -> None:
    assert ending_of(run("a", False, LOOK, text), FUNCTIONS) == ending


def test_a_run_that_breaks_off_after_a_call_is_silent() -> None:
    assert ending_of(run("a", False, LOOK), FUNCTIONS) == "silence"
