"""Remarks: texts that decide, and calls told by what is different."""

from __future__ import annotations

from dataclasses import replace

from tests.made_runs import call, packet, run

from contramem.build.model.remarks import compare_forms, compare_texts, list_conventions, passes_without_a_write
from contramem.build.model.view import packet_text
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet

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


def test_a_text_that_both_sides_write_is_not_shown() -> None:
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


def invoices(right: object, *wrong: object) -> Packet:
    """A run that passes with one reference, and runs that fail with others."""
    failing = (run(f"f{number}", False, call("Pay.bill", {"ref": ref}), "no") for number, ref in enumerate(wrong))
    return packet(run("a", True, call("Pay.bill", {"ref": right}), "done"), *failing)


def test_a_code_that_some_failing_runs_write_in_another_form_is_told_with_their_letters() -> None:
    (line,) = compare_forms(invoices("RG26-00017", "RG26-017", "RG26-00018"))
    assert line == "form of Pay.bill.ref: AA99-99999 in passing runs, AA99-999 in B"


def test_a_larger_number_is_no_other_form_and_a_fraction_is_one() -> None:
    assert not list(compare_forms(invoices(180, 60)))
    assert list(compare_forms(invoices(18050, 180.5)))


def choices(function: str, *kinds: str) -> Packet:
    """A run that passes with the first kind, and runs that fail with the others; each kind is shared by many tasks."""
    runs = [run(f"s{n}", n == 0, call(function, {"kind": kind}), "ok") for n, kind in enumerate(kinds)]
    shared = tuple(SharedValue(function, "kind", kind, 5, 3) for kind in dict.fromkeys(kinds))
    return replace(packet(*runs), conventions=shared)


def test_a_convention_is_told_where_runs_differ_in_it_or_where_nothing_else_is_written() -> None:
    assert "create_order.kind=mail" in "".join(list_conventions(choices("Shop.create_order", "mail", "mail")))
    assert not list(list_conventions(choices("Shop.list_orders", "mail", "mail")))
    (line,) = list_conventions(choices("Shop.list_orders", "mail", "report"))
    assert "kind=mail" in line and "kind=report" not in line


def test_a_title_of_more_words_has_no_other_form() -> None:
    def made(right: str, wrong: str) -> str:
        titled = [
            run(source, passed, call("Calendar.create", {"title": title}), "Done.")
            for source, passed, title in (("a", True, right), ("b", False, wrong))
        ]
        return "\n".join(compare_forms(packet(*titled)))

    assert made("Dinner at Old Mill House", "Dinner at Mill") == ""
    assert (
        made("Dinner at Mill", "dinner at mill")
        == "form of Calendar.create.title: Aa a in passing runs, a in failing ones"
    )
