"""What is true of an argument: here, what its number or date is calculated from."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.study.recorded_actions import RecordedActions
from contramem.study.relations import find_relations
from contramem.study.seen_fields import SeenFields

ITEM = call("Shop.find", {"id": "A-1"}, {"price": 12.5, "value": 41234, "due": "2026-03-06"})
LIST = call(
    "Shop.list",
    {},
    [
        {"amount": 41234, "basis": "external", "date": "2024-03-05"},
        {"amount": 38700, "basis": "external", "date": "2023-03-05"},
        {"amount": 90000, "basis": "internal", "date": "2026-01-01"},
    ],
)


@pytest.mark.parametrize(
    ("arguments", "relation"),
    [
        ({"amount": 42000}, "equals Shop.find.value rounded up to 1000"),
        ({"amount": 41000}, "equals Shop.find.value rounded down to 1000"),
        ({"amount": 42000}, "equals amount of highest date of Shop.list where basis = external rounded up to 1000"),
        ({"amount": 22.5}, "equals Shop.find.price plus 10"),
        ({"amount": 15}, "equals 1.2 times Shop.find.price"),
        ({"amount": 50, "count": 4}, "equals count times Shop.find.price"),
        ({"amount": 34, "count": 4}, "equals count plus 30"),
        ({"on": "2026-03-09"}, "falls 1 working day after Shop.find.due"),
        ({"on": "2026-06-06"}, "falls 3 months after Shop.find.due"),
        ({"on": "2026-03-20", "start": "2026-03-10"}, "falls 10 days after start"),
    ],
)
def test_a_calculation_is_found(arguments: dict[str, object], relation: str) -> None:
    assert relation in _relations(arguments)


@pytest.mark.parametrize(
    ("arguments", "relation"),
    [
        ({"amount": 41234}, "rounded"),
        ({"amount": 2012.5}, "plus"),
        ({"amount": 1.001}, "times"),
        ({"on": "2026-03-07"}, "working"),
    ],
)
def test_no_calculation_is_found_where_there_is_none(arguments: dict[str, object], relation: str) -> None:
    assert not [each for each in _relations(arguments) if each.startswith(("equals", "falls")) and relation in each]


def _relations(arguments: dict[str, object]) -> list[str]:
    *_, last = RecordedActions(run("a", True, ITEM, LIST, call("Shop.pay", arguments))).calls
    seen = SeenFields()
    seen.look_back(last)
    return [str(relation) for relation in find_relations(next(iter(arguments.values())), last, seen)]
