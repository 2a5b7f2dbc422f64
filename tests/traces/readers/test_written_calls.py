"""Calls that an agent wrote as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.readers.written_calls import read_written_call


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("click('a51')", "click", {"argument_1": "a51"}),
        ("fill('b12', value='Oslo (N)')", "fill", {"argument_1": "b12", "value": "Oslo (N)"}),
        ("noop()", "noop", {}),
        ("page.goto('home', 2)", "page.goto", {"argument_1": "home", "argument_2": 2}),
        ("type [164] [two words] [1]", "type", {"argument_1": "164", "argument_2": "two words", "argument_3": "1"}),
        (" Search[Oslo] ", "Search", {"argument_1": "Oslo"}),
    ],
)
def test_a_call_that_is_written_out_is_read(text: str, name: str, arguments: dict[str, object]) -> None:
    assert read_written_call(text) == (name, arguments)


@pytest.mark.parametrize(
    "text", ["send_mail", "", "I will click(a) now", "f(x for x in y)", "click(open('f'))", "a()()"]
)
def test_other_texts_are_no_calls(text: str) -> None:
    assert read_written_call(text) is None


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    read_written_call(text)


def test_the_steps_of_a_browser_agent_are_calls(tmp_path: Path) -> None:
    """Their observation is what they saw before they acted, so it is the result of no call in its step."""
    steps = [{"obs": "a form", "action": "fill('12', 'Oslo')"}, {"obs": "3 degrees", "action": "send_msg_to_user('3')"}]
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"goal": "How cold is it?", "steps": steps, "success": True}))
    (run,) = read_traces([file], ReadOptions(format="steps"))
    assert [call.function.rpartition(".")[2] for call in run.calls] == ["fill", "send_msg_to_user"]
    assert run.calls[0].result is None
    assert run.calls[0].arguments == {"argument_1": "12", "argument_2": "Oslo"}
