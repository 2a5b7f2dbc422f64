"""Differences that fit the runs and say nothing about another task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from tests.made_runs import Call, call, run

from contramem.build.rules.accidents import AccidentChecks
from contramem.guards.guard import parse_guard
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory

EFFECTS = {"Desk.find": "read", "Desk.list_slots": "read", "Desk.book": "write", "Desk.hold": "write"}


def checks_of(runs: Sequence[Trajectory], tasks: Sequence[str] = ()) -> Callable[[str], bool]:
    """Whether a guard that these tasks show, or else all, is an accident of these runs."""
    run_set = RunSet.of(runs)
    checks = AccidentChecks(run_set.select(), run_set, EFFECTS)
    shown_by = [run.task_key for run in runs if not tasks or run.task_id in tasks]
    return lambda guard: checks.is_accident(parse_guard(guard), shown_by)


def attempts(number: int, right: Sequence[Call], *wrong: Sequence[Call], kind: str = "Book a slot") -> list[Trajectory]:
    """Two runs of a task that pass, and one that fails for each wrong way."""
    task = {"task": f"{kind} for number {number}.", "task_id": f"{kind} {number}"}
    passing = [run(source, True, *right, "Done.", **task) for source in "ab"]
    return [*passing, *(run(f"w{place}", False, *calls, "Done.", **task) for place, calls in enumerate(wrong))]


def book(**arguments: Any) -> list[Call]:
    return [call("Desk.book", arguments)]


def test_a_value_explains_failures_only_if_it_is_most_of_the_wrong_ones() -> None:
    wrong = [book(room=name) for name in ("cellar", "roof", "garden")]
    runs = [each for number in range(4) for each in attempts(number, book(room=f"hall {number}"), *wrong)]
    is_accident = checks_of(runs)
    assert is_accident("absence(Desk.book[room = cellar]) when Desk.book")
    assert not checks_of([each for each in runs if each.source in ("a", "b", "w0")])(
        "absence(Desk.book[room = cellar]) when Desk.book"
    )


def test_with_one_run_a_task_a_fixed_value_or_a_day_belongs_to_its_request() -> None:
    """Whoever was asked for a bar chart on a Friday failed, and others were asked for something else."""
    asked = [("bar", date(2026, 1, 2)), ("line", date(2026, 1, 5))]
    runs = [
        run(
            "a",
            kind == "line",
            *book(kind=kind, day=str(day + timedelta(weeks=number))),
            "Done.",
            task_id=f"{kind} {number}",
        )
        for number in range(4)
        for kind, day in asked
    ]
    is_accident = checks_of(runs)
    assert is_accident("absence(Desk.book[kind = bar]) when Desk.book")
    assert is_accident("absence(Desk.book[day falls on friday]) when Desk.book")
    assert not is_accident("existence(Desk.book[kind = line]) when Desk.book")


@pytest.mark.parametrize(("tasks", "is_accident"), [(2, True), (9, False)])
def test_a_day_of_the_week_needs_more_dates_than_chance_explains(tasks: int, is_accident: bool) -> None:
    mondays = [date(2026, 1, 5) + timedelta(weeks=number) for number in range(tasks)]
    runs = [
        each
        for number, monday in enumerate(mondays)
        for each in attempts(number, book(date=str(monday)), book(date=str(monday + timedelta(days=5))))
    ]
    assert checks_of(runs)("absence(Desk.book[date falls on weekend]) when Desk.book") == is_accident
    assert checks_of(runs)("existence(Desk.book[date falls on weekday]) when Desk.book") == is_accident


def test_a_condition_on_a_record_has_to_be_seen_from_both_sides() -> None:
    """Whoever holds an open order fails. Is it that the order is open, or are orders never held here?"""

    def look(state: str) -> Call:
        return call("Desk.find", {}, {"state": state})

    hold = call("Desk.hold", {"order": "o-1"})
    shown = [
        each for number in range(3) for each in attempts(number, [look("open")], [look("open"), hold], kind="Clear up")
    ]
    ban = "absence(Desk.hold) when Desk.find.state = open"
    assert checks_of(shown)(ban)
    elsewhere = [
        each for number in range(2) for each in attempts(number, [look("late"), hold], [look("late")], kind="Send home")
    ]
    assert not checks_of([*shown, *elsewhere])(ban)
    assert checks_of([*shown, *attempts(9, [hold], [], kind="Send home")])(ban)


def test_which_of_two_reads_comes_first_makes_no_difference() -> None:
    reads = [call("Desk.find", {}), call("Desk.list_slots", {})]
    runs = [each for number in range(3) for each in attempts(number, reads, reads[::-1])]
    assert checks_of(runs)("precedence(Desk.find, Desk.list_slots)")
    assert not checks_of(runs)("precedence(Desk.find, Desk.book)")


def test_what_a_read_was_asked_for_is_a_matter_of_the_request() -> None:
    find, hold = call("Desk.find", {"product": "tea"}), call("Desk.hold", {"order": "o-1"})
    runs = [each for number in range(3) for each in attempts(number, [find], [find, hold])]
    assert checks_of(runs)("absence(Desk.hold) when Desk.find[product = tea]")
    assert not checks_of(runs)("absence(Desk.hold) when Desk.book[product = tea]")


def test_an_amount_of_another_kind_of_task_is_no_other_side() -> None:
    def look(left: int) -> Call:
        return call("Desk.find", {}, {"left": left})

    hold = call("Desk.hold", {"order": "o-1"})
    shown = [each for number in range(3) for each in attempts(number, [look(9)], [look(9), hold], kind="Clear up")]
    ban = "absence(Desk.hold) when Desk.find.left > 5"
    for kind, is_accident in ("Send parcels home to the customer", True), ("Clear up", False):
        less = [each for number in (7, 8) for each in attempts(number, [look(2), hold], [look(2)], kind=kind)]
        assert checks_of([*shown, *less], tasks=[f"Clear up {number}" for number in range(3)])(ban) == is_accident


def test_how_much_was_found_in_another_kind_of_task_is_no_reason_for_a_ban() -> None:
    few, many = (call("Desk.list_slots", {}, [{"slot": number} for number in range(count)]) for count in (1, 3))
    hold = call("Desk.hold", {"order": "o-1"})
    shown = [each for number in range(3) for each in attempts(number, [many], [many, hold], kind="Clear up")]
    for kind, is_accident in ("Send parcels home to the customer", True), ("Clear up", False):
        other = [each for number in (7, 8) for each in attempts(number, [few, hold], [few], kind=kind)]
        checks = checks_of([*shown, *other], tasks=[f"Clear up {number}" for number in range(3)])
        assert checks("absence(Desk.hold) when Desk.list_slots has several") == is_accident


def test_a_value_that_no_failing_run_got_wrong_explains_nothing() -> None:
    runs = [each for number in range(3) for each in attempts(number, book(room="hall"), book(room="hall"))]
    assert checks_of(runs)("existence(Desk.book[room = hall]) when Desk.book")


@pytest.mark.parametrize(("right", "is_accident"), [("Book a slot.", True), ("Your slot is booked.", False)])
def test_what_a_text_may_not_contain_is_no_rule_where_the_request_dictates_it(right: str, is_accident: bool) -> None:
    kind = "Write: Book a slot."
    runs = [
        each
        for number in range(4)
        for each in attempts(number, book(note=right), book(note="Book several slots."), kind=kind)
    ]
    assert checks_of(runs)("absence(Desk.book[note contains several]) when Desk.book") == is_accident


def test_records_to_choose_from_are_looked_up_and_not_returned_by_a_change() -> None:
    rooms = [{"room": "r-1", "size": 4}, {"room": "r-2", "size": 9}]
    held, found = call("Desk.hold", {}, rooms), call("Desk.find", {}, rooms)
    small, large = call("Desk.book", {"room": "r-1"}), call("Desk.book", {"room": "r-2"})
    runs = [each for number in range(4) for each in attempts(number, [held, found, small], [held, found, large])]
    chosen = "existence(Desk.book[room picks lowest size of {}]) when Desk.book"
    assert checks_of(runs)(chosen.format("Desk.hold"))
    assert not checks_of(runs)(chosen.format("Desk.find"))


@pytest.mark.parametrize(("asked", "is_accident"), [({"state": "open"}, True), ({"number": 7}, False)])
def test_what_a_search_was_asked_for_says_nothing_about_the_record(asked: dict[str, Any], is_accident: bool) -> None:
    open_one, late_one = call("Desk.find", asked, {"state": "open"}), call("Desk.find", {}, {"state": "late"})
    hold = call("Desk.hold", {"order": "o-1"})
    shown = [each for number in range(3) for each in attempts(number, [open_one], [open_one, hold])]
    elsewhere = [each for number in range(5, 8) for each in attempts(number, [late_one, hold], [late_one])]
    assert checks_of([*shown, *elsewhere])("absence(Desk.hold) when Desk.find.state = open") == is_accident
