"""Choices: which record was taken, and how a number was worked out, told without a value."""

from __future__ import annotations

from tests.made_runs import Call, call, packet, run

from contramem.build.model.choices import compare_choices, compare_numbers
from contramem.build.model.hints import compare_counts

INVOICES = [
    {"id": "INV-9001", "date": "2025-02-03", "status": "open", "due": 858.2},
    {"id": "INV-9002", "date": "2025-01-05", "status": "open", "due": 475.05},
    {"id": "INV-9003", "date": "2024-12-07", "status": "paid", "due": 120.5},
    {"id": "INV-9004", "date": "2025-03-01", "status": "open", "due": 612.4},
]
LIST = call("Shop.list_invoices", {}, INVOICES)


def pay(invoice: str, amount: float) -> Call:
    return call("Shop.pay", {"invoice": invoice, "amount": amount}, "ok")


def test_the_record_that_passing_runs_take_is_told_by_what_it_is_among_the_others() -> None:
    made = packet(
        run("a", True, LIST, pay("INV-9002", 1.0), "done"),
        run("b", False, LIST, pay("INV-9001", 1.0), "done"),
    )
    (line,) = compare_choices(made)
    assert line.startswith("chosen from Shop.list_invoices for Shop.pay.invoice: passing runs")
    assert "lowest date where status=open" in line.partition(", failing")[0]
    assert "INV" not in line and "2025" not in line


def test_a_choice_that_both_sides_make_is_not_told() -> None:
    both = (LIST, pay("INV-9002", 1.0), "done")
    assert not list(compare_choices(packet(run("a", True, *both), run("b", False, *both))))


def test_what_the_request_names_was_not_chosen() -> None:
    task = "Pay INV-9002."
    made = packet(
        run("a", True, LIST, pay("INV-9002", 1.0), "done", task=task),
        run("b", False, LIST, pay("INV-9001", 1.0), "done", task=task),
    )
    assert not list(compare_choices(made))


def test_a_thing_that_the_answer_names_was_chosen_from_a_map() -> None:
    rates = call("Travel.rate", {}, {"Blue Fox Inn": "Rating: 4.1\nnice", "Old Mill Lodge": "Rating: 4.7\nquiet"})
    made = packet(run("a", True, rates, "Take Old Mill Lodge."), run("b", False, rates, "Take Blue Fox Inn."))
    (line,) = compare_choices(made)
    assert "passing runs highest rating" in line
    assert "Mill" not in line


def test_a_number_is_told_by_how_it_was_worked_out() -> None:
    made = packet(
        run("a", True, LIST, pay("INV-9002", 47505), "done"),
        run("b", False, LIST, pay("INV-9002", 475.05), "done"),
    )
    assert list(compare_numbers(made)) == [
        "number Shop.pay.amount: passing runs give 100 times Shop.list_invoices.due, "
        "failing ones Shop.list_invoices.due as it is"
    ]


def test_a_sum_is_told() -> None:
    whole = sum(invoice["due"] for invoice in INVOICES)  # type: ignore[misc]
    made = packet(
        run("a", True, LIST, pay("INV-9002", whole), "done"),
        run("b", False, LIST, pay("INV-9002", 99.5), "done"),
    )
    assert list(compare_numbers(made)) == [
        "number Shop.pay.amount: passing runs give the sum of Shop.list_invoices.due"
    ]


def test_a_write_that_failing_runs_make_more_often_is_counted() -> None:
    first, second = (call("Desk.create_ticket", {"order": order}, "ok") for order in ("SO-1111", "SO-2222"))
    made = packet(run("a", True, first, "done"), run("b", False, first, second, "done"))
    assert list(compare_counts(made)) == ["times: Desk.create_ticket 1 in every passing run, more in B"]
