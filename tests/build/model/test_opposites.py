"""Two tasks of one kind in which opposite actions were right say, each, what was otherwise in the other."""

from __future__ import annotations

from typing import Any

from tests.made_runs import call, packet, run

from contramem.build.model.across_hints import AcrossHints
from contramem.build.model.opposites import find_opposites
from contramem.build.model.view import packet_text
from contramem.contrast.packet import Packet


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
