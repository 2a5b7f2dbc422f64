"""Distances between dates: deadlines as conditions."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.guards.actions import actions_of_run
from contramem.guards.guard import parse_guard
from contramem.study.date_distances import DateDistance, measure_distances

AHEAD = DateDistance("Town.find", "starts", "Town.find.received")


def test_a_date_has_a_distance_from_the_others_of_its_record_and_from_the_one_in_the_request() -> None:
    fields = [("Town.find", "starts", "2026-03-20"), ("Town.find", "received", "2026-03-01")]
    found = dict(measure_distances(fields, ["2026-03-10"]))
    assert found == {AHEAD: 19.0, DateDistance("Town.find", "starts", "task"): 10.0}


def test_a_field_with_several_dates_and_a_request_with_several_have_none() -> None:
    fields = [("Town.list", "starts", "2026-03-20"), ("Town.list", "starts", "2026-03-21")]
    assert not list(measure_distances([*fields, ("Town.find", "due", "2026-03-01")], ["2026-02-01", "2026-02-02"]))


def test_the_boundary_is_a_deadline_that_people_lay_down() -> None:
    assert AHEAD.find_boundary(18, 25) == 20
    assert AHEAD.find_boundary(13, 14) == 13  # less than two weeks
    assert AHEAD.find_boundary(86, 88) is None


def test_the_condition_that_is_written_holds_on_the_side_that_it_names() -> None:
    events = {"received": "2026-03-01", "starts": "2026-03-21"}
    recorded = run("a", True, call("Town.find", {}, events), call("Town.grant"), "Done.")
    late, early = AHEAD.write("<= 20"), AHEAD.write("> 20")
    assert (late, early) == (
        "Town.find.starts falls at most 20 days after Town.find.received",
        "Town.find.starts falls at least 21 days after Town.find.received",
    )
    verdicts = [
        parse_guard(f"absence(Town.grant) when {condition}").replay(actions_of_run(recorded), recorded.task)
        for condition in (late, early)
    ]
    assert verdicts == ["broken", "vacuous"]
