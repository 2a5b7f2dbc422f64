"""Remarks: texts that decide, and calls told by what is different."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.model.remarks import compare_texts, passes_without_a_write
from contramem.build.model.view import packet_text

GOOD = "The meeting with Ada Byron is moved to the large room."
BAD = "I could not find a meeting."


def test_a_text_that_decides_is_shown_with_its_values_masked() -> None:
    made = packet(
        run("a", True, call("Mail.send", {"to": "ada@example.org", "body": GOOD}), "done"),
        run("b", False, call("Mail.send", {"to": "ada@example.org", "body": BAD}), "done"),
    )
    (line,) = compare_texts(made)
    assert line.startswith("text of Mail.send.body: ‹The meeting with <")
    assert "is moved to the large room" in line
    assert "Ada" not in line
    assert BAD.rstrip(".") in line


def test_a_text_that_both_sides_write_is_not() -> None:
    send = call("Mail.send", {"to": "ada@example.org", "body": GOOD})
    assert not list(compare_texts(packet(run("a", True, send, "done"), run("b", False, send, "no"))))


def test_a_later_call_of_the_same_function_says_what_is_different() -> None:
    made = packet(
        run("a", True, call("Mail.move", {"id": 17, "folder": "INBOX", "mark": True}), "done"),
        run("b", False, call("Mail.move", {"id": 17, "folder": "INBOX", "mark": False}), "done"),
    )
    assert "B#1 Mail.move(… mark=false)" in packet_text(made).text


def test_a_message_to_the_user_is_no_write() -> None:
    say = call("UI.send_message_to_user", {"content": "I moved it, as you asked."})
    made = packet(run("a", True, call("Mail.move", {"id": 17}), "done"), run("b", True, say))
    assert passes_without_a_write(made) == {"B"}
