"""Hints across tasks: a condition that one task alone cannot show."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.model.across_hints import AcrossHints, SharedHint, find_shared_hints
from contramem.build.model.view import packet_text
from contramem.contrast.packet import Packet
from contramem.monitor.guard import parse_guard


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
