"""The calls of a function as a construction model reads them."""

from __future__ import annotations

from tests.observed_calls import call, failed

from contramem.build.functions.text import function_text, tool_text
from contramem.counting import count_tokens
from contramem.traces.trajectory import Tool


def test_the_text_tells_arguments_errors_and_examples() -> None:
    text = function_text(
        [call({"email_id": "<ID_1>"}, origins={"email_id": "Mail.search"}), failed("no such email", run="B")]
    )
    assert "email_id" in text
    assert "Mail.search" in text
    assert "no such email" in text


def test_a_text_stays_within_its_budget_however_many_calls_there_are() -> None:
    calls = [call({"email_id": f"<ID_{n}>", "note": f"word{n} " * 20}, run=f"{n}") for n in range(60)]
    assert count_tokens(function_text(calls, 300)) <= 300
    assert "email_id" in function_text(calls, 300)


def test_documentation_is_quoted_and_a_tool_without_any_gives_nothing() -> None:
    tool = Tool("Mail.delete_email", "Delete an email.", {"properties": {"email_id": {"type": "string"}}})
    assert "Delete an email." in tool_text(tool)
    assert "email_id" in tool_text(tool)
    assert tool_text(None) == ""
