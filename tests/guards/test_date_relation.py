"""Distances between dates, in each unit."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run
from contramem.guards.dates import parse_date_relation
from contramem.guards.guard import parse_guard


@pytest.mark.parametrize(
    ("base", "date", "relation"),
    [
        ("2026-03-06", "2026-03-09", "1 working day after"),  # Friday, Monday
        ("2026-03-07", "2026-03-09", "1 working day after"),
        ("2026-03-06", "2026-03-20", "10 working days after"),
        ("2026-03-09", "2026-03-06", "1 working day before"),
        ("2026-03-08", "2026-03-06", "1 working day before"),
        ("2026-03-06", "2026-03-10", "at most 2 working days after"),
        ("2026-01-31", "2026-02-28", "1 month after"),
        ("2026-03-15", "2027-03-15", "12 months after"),
        ("2026-03-15", "2027-03-15", "1 year after"),
        ("2026-03-15", "2025-03-14", "at least 12 months before"),
        ("2026-03-15", "2026-03-29", "2 weeks after"),
    ],
)
def test_a_date_lies_so_far_from_another(base: str, date: str, relation: str) -> None:
    assert _verdict(base, date, relation) == "holds"


@pytest.mark.parametrize(
    ("base", "date", "relation"),
    [
        ("2026-03-06", "2026-03-07", "1 working day after"),  # a Saturday is none
        ("2026-03-06", "2026-03-10", "1 working day after"),
        ("2026-03-15", "2026-04-16", "1 month after"),
        ("2026-03-15", "2026-04-16", "at most 1 month after"),
        ("2026-03-15", "2025-03-16", "at least 12 months before"),
        ("2026-03-15", "2026-03-01", "2 weeks after"),
    ],
)
def test_a_date_does_not_lie_so_far_from_another(base: str, date: str, relation: str) -> None:
    assert _verdict(base, date, relation) == "broken"


def _verdict(base: str, date: str, relation: str) -> str:
    """The other date is in a result, and then in another argument of the call."""
    looked_up = run("a", True, call("A.find", {}, {"due": base}), call("A.book", {"on": date}))
    given = run("a", True, call("A.book", {"on": date, "start": base}))
    verdicts = {
        parse_guard(f"existence(A.book[on falls {relation} {place}])").replay(actions_of_run(recorded))
        for place, recorded in (("A.find.due", looked_up), ("start", given))
    }
    (verdict,) = verdicts
    return verdict


def test_the_date_may_be_that_of_the_record_chosen_in_some_way() -> None:
    listed = call("A.list", {}, [{"due": "2026-03-02", "open": True}, {"due": "2026-03-05", "open": False}])
    recorded = run("a", True, listed, call("A.book", {"on": "2026-03-03"}))
    guard = parse_guard("existence(A.book[on falls 1 day after due of open = true of A.list])")
    assert guard.replay(actions_of_run(recorded)) == "holds"
    assert guard.sentence == (
        "`book` with `on` that falls 1 day after the `due` of an item of `A.list` whose `open` is true is called and "
        "succeeds."
    )


def test_an_unknown_unit_is_refused_with_those_that_exist() -> None:
    with pytest.raises(GuardError, match="units are days, working days, weeks, months, years, hours, minutes"):
        parse_date_relation("3 moons after task")
