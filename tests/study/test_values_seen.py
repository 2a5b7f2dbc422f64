"""The values behind a guard, as runs wrote them."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.guards.guard import parse_guard
from contramem.study.run_set import RunSet
from contramem.study.values_seen import list_values

BEGINNING = "Your application is refused because it exceeds the area that the plan of the town permits. "


def test_leading_zeros_are_shown_and_numbers_stand_in_their_order() -> None:
    runs = [
        run("a", True, call("Office.open", {"plot": "00986", "n": 7.0})),
        run("b", False, call("Office.open", {"plot": "986"})),
    ]
    guard = parse_guard("existence(Office.open[plot like 99999 and n > 3]) when Office.open")
    values = list_values(guard, RunSet.of(runs).runs)
    assert values["Office.open[plot]"] == {"passed": "00986", "failed": "986"}
    assert values["Office.open[n]"]["passed"] == "7"


def test_of_letters_that_begin_alike_the_end_is_shown() -> None:
    ends = {"a": "Objections go to the clerk within 28 days.", "b": "You may appeal against this decision in court."}
    runs = [run(source, source == "a", call("Office.send", {"body": BEGINNING + end})) for source, end in ends.items()]
    values = list_values(parse_guard("absence(Office.send[body lacks clerk])"), RunSet.of(runs).runs)
    assert "within 28 days. (1)" in values["Office.send[body]"]["passed"]
    assert "in court. (1)" in values["Office.send[body]"]["failed"]


def test_identifiers_of_chosen_records_are_not_listed() -> None:
    listed = call("Office.list", {}, [{"id": "S-1", "visits": 2}, {"id": "S-2", "visits": 1}])
    runs = [run("a", True, listed, call("Office.book", {"id": "S-2"}))]
    guard = parse_guard("existence(Office.book[id picks lowest visits of Office.list]) when Office.book")
    assert list_values(guard, RunSet.of(runs).runs) == {}
