"""Values of runs on a card: what is somebody's is found, ordinary words and conventions are left alone."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.study.run_set import RunSet
from contramem.study.run_values import RunValues


@pytest.fixture(scope="module")
def values() -> RunValues:
    """Two tasks of a desk whose fields hold people, identifiers, plain words and a status."""
    searched = call("Desk.list", {"since": "2025-04-19", "word": "Refund", "query": "CRM", "topic": "Read"}, [])
    found = [
        {"sender": "Mark", "owner": "Ada", "contact": {"name": "Eve Lindt"}, "id": "INV-77", "status": "Completed"}
    ]
    runs = [
        run("m", True, searched, call("Desk.list", {"word": "All"}, found), "Done.", task=task, task_id=task[:9])
        for task in ("Look into the CRM.", "Is it in our CRM?")
    ]
    return RunValues(RunSet.of(runs))


@pytest.mark.parametrize(
    "text",
    [
        "'All future' cases: list them from 00:00:00 on.",
        "Refund above 500: hold the order. Read it again.",
        "Give a week, such as 2025-W16 for 2025-04-19.",
        "Leave out what is Completed.",
        "Look into the CRM first.",
    ],
)
def test_ordinary_words_dates_and_conventions_are_nobodys_values(values: RunValues, text: str) -> None:
    assert not list(values.find_private(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ask for Ada.", "Ada"),
        ("Ada has to approve it.", "Ada"),
        ("Then tell ada about it.", "ada"),
        ("Mark has to approve it.", "Mark"),
        ("Send it to Eve Lindt.", "Eve Lindt"),
        ("Take INV-77 as an example.", "INV-77"),
    ],
)
def test_people_and_identifiers_are_found_wherever_they_stand(values: RunValues, text: str, found: str) -> None:
    assert list(values.find_private(text)) == [found]


def partners(field: str, *values: str) -> RunValues:
    """Every partner has one of the values in the field."""
    return RunValues(
        RunSet.of(
            run("m", True, call("Desk.find", {}, {field: value}), "Done.", task=f"Case {number}.", task_id=str(number))
            for number, value in enumerate(values)
        )
    )


def test_one_of_a_few_words_that_a_field_has_in_several_tasks_is_a_category() -> None:
    text = "Members of Trinova pay no fee."
    assert not list(partners("network", *["Trinova"] * 3, "Osmia").find_private(text))
    assert list(partners("network", "Trinova", "Trinova").find_private(text)) == ["Trinova"]
    assert list(partners("customer_name", *["Trinova"] * 3).find_private(text)) == ["Trinova"]
    many = ("Osmia", "Velia", "Nordgard", "Homeca", "Kemper", "Fixwell")
    assert list(partners("network", *["Trinova"] * 3, *many).find_private(text)) == ["Trinova"]
