"""The calls of a function as a construction model reads them."""

from __future__ import annotations

from tests.observed_calls import call, failed, observed

from contramem.build.model.function_text import function_text, tool_text
from contramem.counting import count_tokens
from contramem.traces.trajectory import Tool


def test_the_text_tells_arguments_errors_and_examples() -> None:
    calls = [call({"email_id": "<ID_1>"}, origins={"email_id": "Mail.search"}), failed("no such email", run="B")]
    text = function_text(observed(*calls))
    assert "email_id" in text
    assert "Mail.search" in text
    assert "no such email" in text


def test_a_text_stays_within_its_budget_however_many_calls_there_are() -> None:
    calls = [call({"email_id": f"<ID_{n}>", "note": f"word{n} " * 20}, run=f"{n}") for n in range(60)]
    assert count_tokens(function_text(observed(*calls), 300)) <= 300
    assert "email_id" in function_text(observed(*calls), 300)


def test_documentation_is_quoted_and_a_tool_without_any_gives_nothing() -> None:
    tool = Tool("Mail.delete_email", "Delete an email.", {"properties": {"email_id": {"type": "string"}}})
    assert "Delete an email." in tool_text(tool)
    assert "email_id" in tool_text(tool)
    assert tool_text(None) == ""


def test_parameters_come_first_and_none_is_lost_to_a_long_description() -> None:
    properties = {f"name_{number}": {"type": "string", "description": "A name. " * 300} for number in range(12)}
    properties["board"] = {"enum": ["back", "front"], "type": "string"}
    tool = Tool("Mail.move", "It moves a message. " * 900, {"properties": properties, "required": ["board"]})
    text = tool_text(tool)
    assert text.index("name_11 (string)") < text.index("It moves a message.")
    assert "board (one of back, front, required)" in text
    assert len(text) < 9_000


def test_a_choice_that_is_no_plain_word_is_quoted() -> None:
    schema = {"properties": {"mode": {"enum": ["slow", "ask zanmelk", "v2@x"]}}}
    assert "one of slow, ‹ask zanmelk›, ‹v2@x›" in tool_text(Tool("Mail.send", "Send.", schema))
