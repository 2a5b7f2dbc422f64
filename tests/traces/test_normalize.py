"""From a framework's records to contramem's events."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.errors import TraceError
from contramem.traces.normalize import (
    MAX_DEPTH,
    Naming,
    Recorder,
    arguments_of,
    check_depth,
    clean_name,
    split_tool_name,
    text_of,
)
from contramem.traces.result_errors import error_in


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


# Names


@pytest.mark.parametrize(
    ("name", "app", "function"),
    [
        ("Emails__send_email", "Emails", "send_email"),
        ("mcp__server__tool", "server", "tool"),
        ("server__tool__part", "server", "tool__part"),
        ("app.function", "app", "function"),
        ("a.b.function", "a.b", "function"),
        ("send_email", "", "send_email"),
        ("__init__", "", "__init__"),
        ("mcp__tool", "", "tool"),
        (".hidden", "", ".hidden"),
        ("trailing.", "", "trailing."),
        ("", "", ""),
    ],
)
def test_the_app_in_a_tool_name(name: str, app: str, function: str) -> None:
    assert split_tool_name(name) == (app, function)


@pytest.mark.parametrize(
    ("naming", "name", "app", "function"),
    [
        pytest.param(Naming(), "find", "", "general.find", id="nothing known"),
        pytest.param(Naming("retail"), "find", "", "retail.find", id="the suite"),
        pytest.param(Naming("retail"), "Shop__find", "", "Shop.find", id="the tool name over the suite"),
        pytest.param(Naming("retail"), "Shop__find", "Store", "Store.find", id="the record over the tool name"),
        pytest.param(Naming("retail", forced="Mine"), "Shop__find", "Store", "Mine.find", id="the user over all"),
        pytest.param(
            Naming(aliases={"EmailClientApp": "Emails"}),
            "EmailClientApp__send",
            "",
            "Emails.send",
            id="alias in a name",
        ),
        pytest.param(
            Naming(aliases={"EmailClientApp": "Emails"}),
            "send",
            "EmailClientApp",
            "Emails.send",
            id="alias in a record",
        ),
        pytest.param(Naming(), "say hello to <b>you</b>", "", "general.say_hello_to_b_you_/b", id="an invented name"),
        pytest.param(Naming(), "", "", "general.unnamed", id="no name"),
    ],
)
def test_one_function_has_one_name(naming: Naming, name: str, app: str, function: str) -> None:
    assert naming.function(name, app) == function
    assert naming.function(name, app) == function


@given(st.text())
def test_any_name_becomes_one_word(name: str) -> None:
    cleaned = clean_name(name)
    assert 0 < len(cleaned) <= 80
    assert not any(char.isspace() or char == "." for char in cleaned)


def test_the_users_effect_wins_over_the_annotation_and_that_over_the_name() -> None:
    naming = Naming(effects={"Shop.find": "write", "peek": "read"})
    assert naming.effect("Shop.find", "read") == "write"
    assert naming.effect("Any.peek") == "read"
    assert naming.effect("Shop.get", "write") == "write"
    assert naming.effect("Shop.delete") == "write"


def test_documentation_settles_the_effect_of_later_calls() -> None:
    naming = Naming()
    naming.tool("frobnicate", "Deletes everything.")
    recorder = Recorder(naming)
    recorder.call("frobnicate", {})
    assert recorder.events()[0].effect == "write"


# Arguments


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        (None, {}),
        ("", {}),
        ("  ", {}),
        ("{}", {}),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ({"a": 1}, {"a": 1}),
        ({1: "x", None: "y"}, {"1": "x", "None": "y"}),
        ('{"a": ', {"input": '{"a":'}),
        ("ls -la", {"input": "ls -la"}),
        ("[1, 2]", {"input": [1, 2]}),
        ([1, 2], {"input": [1, 2]}),
        (5, {"input": 5}),
        ("[" * 100_000, {"input": "[" * 100_000}),
    ],
)
def test_arguments_are_a_dict_with_text_keys(raw: object, arguments: dict[str, Any]) -> None:
    assert arguments_of(raw) == arguments


def test_nesting_is_bounded() -> None:
    check_depth(nested(MAX_DEPTH))
    check_depth({"flat": 1})
    for too_deep in (nested(MAX_DEPTH + 1), {"a": nested(MAX_DEPTH)}, nested(100_000)):
        with pytest.raises(TraceError, match="nested deeper than 64"):
            check_depth(too_deep)
    with pytest.raises(TraceError):
        arguments_of({"a": nested(100)})
    with pytest.raises(TraceError):
        Recorder(Naming()).result(nested(100))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hi", "hi"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "x"}, "b", 5, {"content": "c"}], "a\nb\nc"),
        ({"text": "a"}, "a"),
        (5, "5"),
    ],
)
def test_the_text_of_content(content: object, text: str) -> None:
    assert text_of(content) == text


# Errors


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("Error: user not found", "Error: user not found"),
        ("ValueError: bad date", "ValueError: bad date"),
        ("Traceback (most recent call last):\n  x", "Traceback (most recent call last):\n  x"),
        ('{"error": "no such order"}', "no such order"),
        ({"error": {"message": "x", "text": "no"}}, "no"),
        ({"error": None, "ok": 1}, None),
        ({"error": False}, None),
        ({"error": True, "message": "no such order"}, "no such order"),
        ({"error": True}, "failed"),
        ('{"error": "x', None),
        ('psycopg2.errors.UndefinedTable: relation "x" does not exist', ...),
        ("sqlite3.OperationalError: no such table: x", ...),
        ("java.lang.IllegalStateException: closed", ...),
        ("404 Client Error: Not Found", ...),
        ("HTTP 503: try later", ...),
        ("MCP error -32602: Invalid arguments", ...),
        ("[ERROR] quota is used up", ...),
        ("❌ Error: no such slot", ...),
        ("bash: kubectx: command not found", ...),
        ("Fehler: Termin nicht gefunden", ...),
        ("错误：找不到订单", ...),
        ('{"success": false, "message": "no such slot"}', "no such slot"),
        ('{"ok": false, "reason": "taken"}', "taken"),
        ('{"status": "error", "detail": "taken"}', "taken"),
        ('{"statusCode": 409, "body": "taken"}', "taken"),
        ('{"errors": [{"message": "taken"}], "data": null}', "taken"),
        ('{"detail": "Not found."}', "Not found."),
        ({"isError": True, "content": "taken"}, "taken"),
        ({"success": False}, "{'success': False}"),
        ('{"status": "failed", "job": 7}', None),
        ('{"errors": [], "data": 1}', None),
        ('{"errors": ["late"], "data": {"a": 1}}', None),
        ('{"success": true, "rows": [{"ok": false}]}', None),
        ("HTTP is a protocol.", None),
        ("404 people came.", None),
        ("No errors were found.", None),
        ("Terror: a film", None),
        ("The order has been placed.", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_the_error_that_a_result_admits_to(content: object, error: str | EllipsisType | None) -> None:
    """`...`: the whole text is the error."""
    assert error_in(content) == (content if error is ... else error)


# The recorder


def test_results_find_their_calls_by_id_and_else_in_order() -> None:
    recorder = Recorder(Naming("shop"))
    recorder.call("find", {"n": 1}, "id-1")
    recorder.call("find", {"n": 2}, "id-2")
    recorder.call("find", {"n": 3})
    recorder.result("two", "id-2")
    recorder.result("one", "id-1")
    recorder.result("three")
    recorder.result("late")
    results = [(event.kind, event.result.content if event.result else event.text) for event in recorder.events()]
    assert results == [("call", "one"), ("call", "two"), ("call", "three"), ("observation", "late")]


def test_an_id_used_twice_ties_results_in_order() -> None:
    recorder = Recorder(Naming())
    for number in (1, 2):
        recorder.call("find", {"n": number}, "same")
    recorder.result("first", "same")
    recorder.result("second", "same")
    assert [event.result.content for event in recorder.events() if event.result] == ["first", "second"]


def test_a_call_without_a_result_shows_none() -> None:
    recorder = Recorder(Naming())
    recorder.call("find", {})
    assert recorder.events()[0].result is None


@pytest.mark.parametrize(
    ("content", "error", "kept"),
    [
        ("Error: no", None, "Error: no"),
        ("Error: no", False, None),
        ("no luck", True, "no luck"),
        ("", True, "failed"),
        ("fine", "said apart", "said apart"),
        ("fine", None, None),
    ],
)
def test_the_error_of_a_result(content: str, error: str | bool | None, kept: str | None) -> None:
    recorder = Recorder(Naming())
    recorder.call("find", {})
    recorder.result(content, error=error)
    result = recorder.events()[0].result
    assert result is not None
    assert result.error == kept


def test_the_last_words_of_the_agent_are_its_answer_and_blank_ones_are_no_event() -> None:
    recorder = Recorder(Naming())
    recorder.message("user", "hi")
    recorder.message("agent", " \n")
    recorder.message("agent", "done")
    assert [(event.position, event.kind) for event in recorder.events()] == [(0, "message"), (1, "final")]
    assert [event.kind for event in Recorder(Naming()).events()] == []


def test_waiting_is_its_own_kind() -> None:
    recorder = Recorder(Naming())
    recorder.call("wait_for_reply", {"timeout": 5})
    assert (recorder.events()[0].kind, recorder.events()[0].effect) == ("wait", "wait")


def test_what_the_agent_was_told_beforehand_is_kept_beside_the_events() -> None:
    recorder = Recorder(Naming("app"))
    recorder.instruct("Today is Monday.")
    recorder.instruct("Be brief.")
    assert recorder.system == "Today is Monday.\nBe brief."
    assert recorder.events() == ()


def test_of_a_system_prompt_as_long_as_a_manual_the_beginning_and_the_end_are_kept() -> None:
    recorder = Recorder(Naming("app"))
    recorder.instruct("You help Ann. " + "Page after page. " * 5_000 + "Today is Monday.")
    assert len(recorder.system) < 21_000
    assert recorder.system.startswith("You help Ann.") and recorder.system.endswith("Today is Monday.")


@pytest.mark.parametrize(
    "name", ["Desk.pay bob@harbour.example", "Desk__10.0.0.12", "Desk.open https://harbour.example/in"]
)
def test_an_address_in_the_name_of_a_tool_is_not_hidden_by_making_an_identifier_of_it(name: str) -> None:
    function = Naming().function(name)
    assert function.startswith("general.unnamed_")


@pytest.mark.parametrize(
    ("name", "function"), [("desk.search@1.2.0", "desk_search_1_2.0"), ("@scope/desk.find", "scope/desk.find")]
)
def test_a_version_or_a_scope_is_no_address(name: str, function: str) -> None:
    assert Naming().function(name) == function


@pytest.mark.parametrize("name", ["PGPASSWORD=gingerjackal psql", "Desk.pin: hazel42", "Desk.p\ue077 hazel"])
def test_the_name_of_a_tool_is_no_secret_and_hides_nothing(name: str) -> None:
    assert Naming().function(name).startswith("general.unnamed_")
