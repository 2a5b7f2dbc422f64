"""Argument form: how a value must be written for a tool to take it. Stories from a ferry desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.build.rules.kinds.argument_form import ArgumentForm
from contramem.build.rules.rule import load_rule
from contramem.contrast.packet import Packet

REFUSED = "ValueError: unconverted data remains"


def book(error: str | None = None, **arguments: Any) -> Call:
    return call("Ferry.book", arguments, error=error)


def day(number: int, *steps: Call) -> Packet:
    """A task in which three runs book at once and one makes these calls."""
    task = {"task": f"Book crossing {number}.", "task_id": f"crossing {number}"}
    plain = book(cars=["kombi"], start=f"2031-04-{number:02} 10:00")
    return packet(
        *(run(source, True, plain, "Done.", **task) for source in "abc"), run("d", True, *steps, "Done.", **task)
    )


def with_seconds(number: int) -> Packet:
    start = f"2031-04-{number:02} 10:00"
    return day(number, book(REFUSED, cars=["kombi"], start=f"{start}:00"), book(cars=["kombi"], start=start))


def rules(*packets: Packet) -> list[ArgumentForm]:
    found = [shared.lesson.rule for shared in ArgumentForm.find(packets)]
    return [rule for rule in found if isinstance(rule, ArgumentForm)]


def test_the_same_value_in_another_form_is_a_rule_about_the_form(tmp_path: Path) -> None:
    (entry,) = build_skills(tmp_path, with_seconds(1), with_seconds(2)).entries
    assert len(entry.support.tasks) == 2
    (first,) = rules(with_seconds(1), with_seconds(2))
    rule = first.words().core_rule
    assert "`start` as a date YYYY-MM-DD HH:MM, not as a date YYYY-MM-DD HH:MM:SS" in rule
    assert f"Otherwise it answers “{REFUSED}”; then make the same call again" in rule


@pytest.mark.parametrize(
    ("refused", "taken"),
    [
        pytest.param({"cars": "kombi"}, {"cars": ["kombi"]}, id="a list"),
        pytest.param({"cars": "kombi, van"}, {"cars": ["kombi", "van", "bus"]}, id="a longer list"),
        pytest.param({"cars": ["kombi"], "port": ["Dover", "Hull"]}, {"cars": ["kombi"], "port": "Hull"}, id="one"),
        pytest.param({"cars": ["kombi"], "deck": "3"}, {"cars": ["kombi"], "deck": 3}, id="a number"),
    ],
)
def test_lists_and_numbers_have_forms_too(refused: dict[str, Any], taken: dict[str, Any]) -> None:
    calls = [book(REFUSED, **refused), *[book(**taken)] * 5]
    assert rules(day(1, *calls), day(2, *calls))


def test_one_value_that_must_stand_in_a_list_is_called_single() -> None:
    calls = [book("cars: not a list", cars="kombi"), book(cars=["kombi"])]
    (rule,) = rules(day(1, *calls), day(2))
    assert "write `cars` as a list of texts, not as a single text" in rule.words().core_rule


def test_a_list_that_never_works_needs_no_run_that_corrects_it() -> None:
    """One run tries lists of ports until it gives up; the others name one port."""

    def trip(number: int) -> Packet:
        task = {"task": f"Book crossing {number}.", "task_id": f"crossing {number}"}
        one, two = book(port="Dover"), book(REFUSED, port=["Dover", "Hull"])
        good = [run(source, True, one, "Done.", **task) for source in "abc"]
        return packet(*good, run("d", False, two, two, two, "It does not work.", **task))

    assert rules(trip(1)) == []
    assert {rule.forms for rule in rules(trip(1), trip(2))} == {(("port", "list of texts", "text"),)}


def test_a_task_that_nobody_passed_has_no_good_example(tmp_path: Path) -> None:
    calls = [book(REFUSED, cars="kombi"), book(cars=["kombi"])]
    failing = [
        packet(*(run(source, False, *calls, "Done.", task=f"Go {number}.", task_id=f"{number}") for source in "abc"))
        for number in (1, 2)
    ]
    (entry,) = build_skills(tmp_path, *failing).entries
    assert entry.served


def mistakes() -> Iterator[tuple[str, list[Call]]]:
    start, later = "2031-04-01 10:00", "2031-04-05 11:30"
    yield (
        "another value",
        [book(REFUSED, cars=["kombi"], start="2031-04-01 08:00:00"), book(cars=["kombi"], start=later)],
    )
    yield (
        "another argument",
        [
            book(REFUSED, cars=["van"], start=f"{start}:00"),
            book(cars=["kombi"], start=start),
        ],
    )
    yield "left out", [book(REFUSED, cars=["kombi"], start=""), book(cars=["kombi"], start=start)]


@pytest.mark.parametrize("calls", [pytest.param(calls, id=name) for name, calls in mistakes()])
def test_calls_that_differ_in_more_than_a_form_show_nothing(calls: list[Call]) -> None:
    assert rules(day(1, *calls), day(2, *calls)) == []


def test_a_form_that_works_elsewhere_is_not_wrong() -> None:
    worked = day(3, book(cars=["kombi"], start="2031-04-03 10:00:00"))
    assert rules(with_seconds(1), with_seconds(2), worked) == []


def test_one_refusal_is_enough_only_if_it_names_the_argument() -> None:
    assert rules(with_seconds(1), day(2)) == []
    start = "2031-04-01 10:00"
    named = book("ValueError: start is not valid", cars=["kombi"], start=f"{start}:00")
    assert rules(day(1, named, book(cars=["kombi"], start=start)), day(2))


def test_an_error_that_the_right_form_gets_as_well_is_about_something_else() -> None:
    busy = [day(number, *[book(REFUSED, cars=["kombi"], start=f"2031-04-{number:02} 10:00")] * 9) for number in (3, 4)]
    assert rules(with_seconds(1), with_seconds(2), *busy) == []
    assert rules(*map(with_seconds, range(10, 20)), *busy), "too many to be explained by that"


def test_the_rule_survives_the_store() -> None:
    rule = rules(with_seconds(1), with_seconds(2))[0]
    assert load_rule(rule.store()) == rule
