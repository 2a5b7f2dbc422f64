"""Hints across tasks: a condition that one task alone cannot show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.made_runs import Call, call, packet, run

from contramem.build.model.hints import (
    AcrossHints,
    SharedHint,
    compare_forms,
    compare_texts,
    compare_writes,
    find_opposites,
    find_shared_hints,
    list_conventions,
    passes_without_a_write,
)
from contramem.build.model.packet_text import packet_text
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet
from contramem.guards.guard import parse_guard


def task(number: int, amount: int) -> Packet:
    """Credits above 500 need a hold; two of the agents know, two do not, each in its way."""
    hold, credit = call("Shop.hold", {"order": f"O{number}"}), call("Shop.credit", {"amount": amount})
    told = {"task_id": f"t{number}", "task": f"Credit {amount} on order O{number}."}
    right, wrong = ((hold, credit), (credit,)) if amount > 500 else ((credit,), (hold, credit))
    return packet(*(run(source, passed, *steps, "done", **told) for source, passed, steps in
                    (("a", True, right), ("b", True, right), ("c", False, wrong), ("d", False, wrong))))  # fmt: skip


def test_a_threshold_that_only_many_tasks_show_is_found() -> None:
    packets = [task(number, 610 + 37 * number if number % 2 else 90 + 31 * number) for number in range(12)]
    hints = find_shared_hints(packets)
    assert any("amount > " in str(hint) or "amount <= " in str(hint) for hint in hints)


def test_a_hint_stands_only_in_packets_that_call_what_it_is_about() -> None:
    hint = SharedHint(parse_guard("existence(Shop.hold) when Shop.credit.amount > 500"), 12, 9, 0)
    other = packet(run("a", True, call("Mail.send"), "done"), run("b", False, "done"))
    assert "across tasks: existence(Shop.hold)" in packet_text(task(1, 700), across=AcrossHints([hint])).hints
    assert "across tasks" not in packet_text(other, across=AcrossHints([hint])).hints


def test_a_guard_that_a_quarter_of_the_passing_runs_break_is_no_hint() -> None:
    guard = parse_guard("existence(Shop.hold)")
    assert SharedHint(guard, held=31, broken=9, contradicted=10).decides
    assert not SharedHint(guard, held=30, broken=100, contradicted=10).decides


# Two tasks of one kind in which opposite actions were right say, each, what was otherwise in the other


def refund(number: int, amount: float, *, status: str, held: bool, text: str = "Refund the broken goods") -> Packet:
    """A refund that passes with a hold before it, or only without one."""
    look = call("Shop.get_customer", {"id": f"c-{number}234"}, {"status": status, "id": f"c-{number}234"})
    hold = call("Shop.hold_order", {"order": f"o-{number}234"}, {"ok": True})
    pay = call("Shop.pay_back", {"amount": amount}, {"ok": True})
    named: dict[str, Any] = {"task_id": f"t{number}", "task": f"{text} of order o-{number}234."}
    return packet(run("a", held, look, hold, pay, "done", **named), run("b", not held, look, pay, "done", **named))


def test_each_says_what_was_needed_or_wrong_in_the_other_and_what_was_otherwise() -> None:
    large, small = refund(1, 900, status="active", held=True), refund(2, 20, status="blocked", held=False)
    lines = find_opposites([large, small])
    assert lines[large.task_key].startswith("beside a task of this kind where Shop.hold_order was wrong, ‹Refund")
    assert lines[large.task_key].endswith("get_customer.status blocked there, active here; pay_back.amount larger here")
    assert "Shop.hold_order was needed" in lines[small.task_key]
    assert "smaller here" in lines[small.task_key]


def test_no_value_of_the_other_task_is_shown() -> None:
    lines = find_opposites([refund(1, 900, status="active", held=True), refund(2, 20, status="blocked", held=False)])
    for line in lines.values():
        assert not any(value in line for value in ("o-1234", "o-2234", "900", "c-1234", "_1>"))


def test_tasks_that_need_the_same_or_ask_for_something_else_have_no_line() -> None:
    assert (
        find_opposites([refund(1, 900, status="active", held=True), refund(2, 800, status="active", held=True)]) == {}
    )
    other = refund(2, 20, status="blocked", held=False, text="Paint my garden fence")
    assert find_opposites([refund(1, 900, status="active", held=True), other]) == {}


def test_the_line_stands_among_the_hints() -> None:
    packets = [refund(1, 900, status="active", held=True), refund(2, 20, status="blocked", held=False)]
    assert "beside a task of this kind" in packet_text(packets[0], across=AcrossHints.of(packets)).hints


def test_a_boundary_between_numbers_is_named_when_three_tasks_stand_on_each_side() -> None:
    large = [refund(number, 600 + 100 * number, status="active", held=True) for number in (1, 2, 3)]
    small = [refund(number, 40 * number, status="active", held=False) for number in (4, 5, 6)]
    other_words = refund(7, 480, status="active", held=False, text="Credit what was charged too much")
    lines = find_opposites([*large, *small, other_words])
    said = "pay_back.amount above 500 in all 3 tasks that need it, in none of 4 where it is wrong"
    assert all(said in lines[made.task_key] for made in (*large, *small))
    assert "above" not in find_opposites([*large, *small[:2]])[large[0].task_key]
    mixed = refund(7, 2000, status="active", held=False)
    assert "above" not in find_opposites([*large, *small, mixed])[large[0].task_key]


# A failing run beside the passing run that is most like it: which of its writes is missing, too much or different


def book(day: str, room: str = "blue") -> Call:
    return call("Cal.book_room", {"day": day, "room": room}, {"ok": True})


def cancel() -> Call:
    return call("Cal.cancel_booking", {"day": "2024-01-09"}, {"ok": True})


def lines(made: Packet, lucky: set[str] | None = None) -> list[str]:
    return list(compare_writes(made, lucky or set()))


def test_a_failing_run_is_compared_with_the_passing_run_that_is_most_like_it() -> None:
    made = packet(
        run("a", True, book("2024-01-05"), "done"),
        run("b", True, book("2024-01-06"), cancel(), "done"),
        run("c", False, book("2024-01-07"), cancel(), "done"),
    )
    assert lines(made) == ["writes of C beside B, the nearest passing: book_room.day=2024-01-07, not 2024-01-06"]


def test_writes_that_are_missing_or_too_much_are_named_and_equal_runs_share_a_line() -> None:
    made = packet(
        run("a", True, book("2024-01-05"), "done"),
        run("b", False, cancel(), "done"),
        run("c", False, cancel(), "done"),
    )
    assert lines(made) == ["writes of B C beside A, the nearest passing: no book_room; cancel_booking too much"]


def test_an_argument_that_only_one_of_them_gives_is_named() -> None:
    bare = call("Cal.book_room", {"day": "2024-01-05"}, {"ok": True})
    assert lines(packet(run("a", True, book("2024-01-05"), "done"), run("b", False, bare, "done"))) == [
        "writes of B beside A, the nearest passing: no book_room.room"
    ]
    assert lines(packet(run("a", True, bare, "done"), run("b", False, book("2024-01-05"), "done"))) == [
        "writes of B beside A, the nearest passing: book_room.room given"
    ]


def test_a_lucky_pass_is_no_example() -> None:
    made = packet(run("a", True, "done"), run("b", False, cancel(), "done"))
    assert lines(made, lucky={"A"}) == []


def test_what_failed_or_only_read_is_no_write() -> None:
    refused = call("Cal.book_room", {"day": "2024-01-05"}, error="full")
    look = call("Cal.list_rooms", {"day": "2024-01-05"}, ["blue"])
    assert lines(packet(run("a", True, look, "done"), run("b", False, refused, "done"))) == []


def test_hints_do_not_repeat_what_the_comparison_says() -> None:
    made = packet(run("a", True, book("2024-01-05"), "done"), run("b", False, "done"))
    text = packet_text(made)
    assert "no book_room" in text.text
    assert "Missing write" not in text.hints


# Remarks: texts that decide, and calls told by what is different


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
