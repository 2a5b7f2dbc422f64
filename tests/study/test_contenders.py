"""Contenders: rules with exceptions and with two conditions, and what a text must say in one kind of task only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.made_runs import call, run

from contramem.study import contenders
from contramem.study.explain import explain
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def fee_office() -> Iterator[Trajectory]:
    """A fee is due for standard fares with less than 7 days left: `careful` knows, `eager` and `hasty` do not."""
    cases = [(fare, days) for days in (2, 4, 6, 9, 12, 20) for fare in ("standard", "flexible", "standard")]
    for number, (fare, days) in enumerate(cases):
        is_due = fare == "standard" and days < 7
        look = call("Box.find", {"booking": f"BK{number}"}, {"fare": fare, "days_left": days, "row": number % 5})
        change = call("Box.exchange", {"booking": f"BK{number}"})
        fee = call("Box.charge_fee", {"booking": f"BK{number}"})
        for source, charges in (("careful", is_due), ("eager", True), ("hasty", False)):
            steps = [look, change, fee] if charges else [look, change]
            passed = charges == is_due
            yield run(source, passed, *steps, "Done.", task=f"Exchange BK{number}.", task_id=f"{number}")


def test_a_rule_that_holds_under_two_conditions_is_found_with_both() -> None:
    runs = RunSet.of(fee_office())
    guards = [str(difference.guard) for difference in explain(runs.select(), runs).differences]
    both = [guard for guard in guards if "Box.find.fare = standard" in guard and "Box.find.days_left <= 6" in guard]
    assert any(guard.startswith("response(Box.exchange, Box.charge_fee)") for guard in both), guards


def test_of_too_many_rules_with_exceptions_those_that_most_failing_runs_break_get_conditions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = RunSet.of(fee_office())

    def find_guards(limit: int) -> list[str]:
        monkeypatch.setattr(contenders, "MAX_LOOSE", limit)
        return [str(difference.guard) for difference in explain(runs.select(), runs).differences]

    assert len(find_guards(1)) < len(find_guards(2_000))
    assert any("Box.charge_fee" in guard for guard in find_guards(3))


def voucher_office() -> Iterator[Trajectory]:
    """Refunds are vouchers, but patrons get money."""
    for number in range(12):
        membership = ("none", "friend", "patron")[number % 3]
        look = call("Box.find", {"booking": f"BK{number}"}, {"membership": membership})
        for source, method in (("careful", "card" if membership == "patron" else "voucher"), ("hasty", "card")):
            refund = call("Box.refund", {"booking": f"BK{number}", "method": method})
            passed = source == "careful" or membership == "patron"
            yield run(source, passed, look, refund, "Done.", task=f"Refund BK{number}.", task_id=f"{number}")


def test_an_exception_is_found_as_such() -> None:
    runs = RunSet.of(voucher_office())
    (first, *_) = explain(runs.select(), runs).differences
    wanted = "existence(Box.refund[method = voucher]) when Box.refund and Box.find.membership != patron"
    assert wanted in {str(first.guard), *map(str, first.same)}


def group_office() -> Iterator[Trajectory]:
    """Groups are not booked but referred. `book_options` tells who is a group, and its name begins like `book`."""
    for number in range(12):
        is_group = number % 3 == 0
        guest = {"guest": f"G{number}"}
        look = call("Box.book_options", guest, {"party": ("group", "couple", "single")[number % 3]})
        book = call("Box.book", guest)
        refer = call("Box.refer", guest)
        for source, books in (("careful", not is_group), ("eager", True), ("shy", False)):
            steps = [look, book if books else refer]
            yield run(source, books != is_group, *steps, "Done.", task=f"Guest G{number}.", task_id=f"{number}")


def test_the_result_of_a_function_with_a_longer_name_may_be_the_reason_for_a_call() -> None:
    runs = RunSet.of(group_office())
    found = explain(runs.select(), runs).differences
    guards = {str(guard) for difference in found for guard in (difference.guard, *difference.same)}
    assert "absence(Box.book) when Box.book_options.party = group" in guards


def letter_office() -> Iterator[Trajectory]:
    """Letters about complaints say when somebody will call; letters about refunds need not."""
    for number in range(12):
        is_complaint = number % 2 == 0
        change = call("Box.create_case" if is_complaint else "Box.refund", {"booking": f"BK{number}"})
        for source in ("careful", "hasty"):
            promises = source == "careful" and is_complaint
            body = f"Dear guest, we look into it{' and call within five days' if promises else ''}."
            letter = call("Box.write_letter", {"body": body})
            passed = source == "careful" or not is_complaint
            yield run(source, passed, change, letter, "Done.", task=f"Handle BK{number}.", task_id=f"{number}")


def test_what_letters_of_one_kind_of_task_must_say_is_found_with_the_kind() -> None:
    runs = RunSet.of(letter_office())
    guards = [str(difference.guard) for difference in explain(runs.select(), runs).differences]
    assert (
        'existence(Box.write_letter[body contains "call within five days"]) when Box.write_letter and Box.create_case'
        in guards
    )


def approval_office() -> Iterator[Trajectory]:
    """Every document is checked before an approval. Applications that go elsewhere need no check."""
    for number in range(10):
        documents = [{"document_id": f"D-{number}{place}"} for place in "ab"]
        look = call("Town.get_application", {"id": f"AP-{number}"}, {"documents": documents})
        checks = [call("Town.check_document", {"document_id": each["document_id"]}) for each in documents]
        approve, refer = (call(f"Town.{name}", {"id": f"AP-{number}"}) for name in ("approve", "refer"))
        task = {"task": f"See AP-{number} through.", "task_id": str(number)}
        if number % 2:
            yield run("careful", True, look, refer, "Done.", **task)
            yield run("hasty", False, look, "Done.", **task)
        else:
            yield run("careful", True, look, *checks, approve, "Done.", **task)
            yield run("hasty", False, look, checks[0], approve, "Done.", **task)


def test_items_that_only_one_kind_of_task_must_go_through_are_found_with_the_kind() -> None:
    runs = RunSet.of(approval_office())
    guards = [str(difference.guard) for difference in explain(runs.select(), runs).differences]
    wanted = "covers(Town.get_application.document_id, Town.check_document.document_id) when Town.approve"
    assert wanted in guards


def test_a_number_that_is_filled_up_with_zeros_is_found_as_a_form() -> None:
    made = [
        run(
            source,
            passed,
            call("Town.create_case", {"plot": plot}),
            "Done.",
            task=f"Plot {number}.",
            task_id=str(number),
        )
        for number in (7, 62, 548, 3306)
        for source, passed, plot in (("careful", True, f"{number:05}"), ("hasty", False, str(number)))
    ]
    runs = RunSet.of(made)
    (first, *_) = explain(runs.select(), runs).differences
    assert str(first.guard) == "existence(Town.create_case[plot like 99999]) when Town.create_case"


def test_what_a_letter_says_is_told_before_how_long_it_is() -> None:
    """The sentence also makes letters longer; one long letter without it fails, so that the length fits a run less."""
    made = [
        run(source, passed, call("Town.send_letter", {"body": f"We refuse {name}. {rest}"}), "Done.",
            task=f"Refuse {name}.", task_id=name)
        for name in ("Ash", "Birch", "Cedar", "Damson", "Elder", "Fir")
        for source, passed, rest in (
            ("careful", True, "Objections go to the clerk."),
            ("hasty", False, "Sorry."),
            ("wordy", False, "We wish you all the best for the future." if name == "Ash" else "Bye."),
        )
    ]  # fmt: skip
    runs = RunSet.of(made)
    (first, *_) = explain(runs.select(), runs).differences
    assert "contains" in str(first.guard) and "objections" in str(first.guard)


def test_identifiers_that_happen_to_be_equally_long_have_no_form() -> None:
    made = [
        run(source, passed, call("Town.share", {"file": given}), "Done.", task=f"Share {name}.", task_id=name)
        for number, name in enumerate(("Ash", "Birch", "Cedar", "Damson"))
        for source, passed, given in (("careful", True, f"{number + 21}"), ("hasty", False, f"{number + 3}"))
    ]
    runs = RunSet.of(made)
    assert not [each for each in explain(runs.select(), runs).differences if "like 99" in str(each.guard)]


def look_office() -> Iterator[Trajectory]:
    """A booking of a premium guest is not cancelled. Who cancels looks the terms up first, and the log before them."""
    for number in range(8):
        is_premium = number % 2 == 0
        find = call("Inn.find", {"guest": f"G{number}"}, {"kind": "premium" if is_premium else "plain", "room": number})
        looks = [call("Inn.get_log", {}), call("Inn.get_terms", {})]
        cancel = call("Inn.cancel", {"guest": f"G{number}"})
        for source, cancels in (("careful", not is_premium), ("eager", True), ("other", True)):
            passed = cancels != is_premium
            steps = [find, *looks, cancel] if cancels else [find]
            yield run(source, passed, *steps, "Done.", task=f"Cancel for G{number}.", task_id=f"{number}")


def test_a_look_that_goes_with_a_wrong_change_is_not_forbidden_and_looks_are_not_put_in_order() -> None:
    runs = RunSet.of(look_office())
    found = explain(runs.select(), runs).differences
    guards = [str(guard) for difference in found for guard in (difference.guard, *difference.same)]
    assert "absence(Inn.cancel) when Inn.find.kind = premium" in guards
    assert not [guard for guard in guards if guard.startswith(("absence(Inn.get", "precedence(Inn.get_log, Inn.get"))]
