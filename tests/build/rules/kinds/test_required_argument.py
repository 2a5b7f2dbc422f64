"""Required argument: what a tool demands without saying so beforehand. Stories from a chart room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.build.rules.kinds.required_argument import RequiredArgument
from contramem.build.rules.rule import load_rule
from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Tool

REFUSED = "End date not provided."


def plot(error: str | None = None, **arguments: Any) -> Call:
    return call("Chart.create_plot", {"kind": "bar", **arguments}, error=error)


def chart(number: int, *steps: Call, tools: tuple[Tool, ...] = ()) -> Packet:
    """Three runs give both dates at once, a fourth makes these calls."""
    task = {"task": f"Plot week {number}.", "task_id": f"week {number}"}
    whole = plot(time_min=f"2031-04-{number:02}", time_max=f"2031-04-{number + 1:02}")
    good = [run(source, True, whole, "Done.", **task) for source in "abc"]
    runs = [*good, run("d", True, *steps, "Done.", **task)]
    return packet(*(msgspec.structs.replace(each, tools=tools) for each in runs))


def forgot(number: int, **other: Any) -> Packet:
    first = {"time_min": f"2031-04-{number:02}"}
    return chart(number, plot(REFUSED, **first), plot(time_max=f"2031-04-{number + 1:02}", **(first | other)))


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def rules(*packets: Packet) -> list[RequiredArgument]:
    found = [shared.lesson.rule for shared in RequiredArgument.find(packets)]
    return [rule for rule in found if isinstance(rule, RequiredArgument)]


def test_an_argument_whose_absence_is_always_refused_is_required(tmp_path: Path) -> None:
    rule = rules(forgot(1), forgot(2))[0]
    assert (rule.argument, rule.refused) == ("time_max", 2)
    assert (
        f"`time_max` (date YYYY-MM-DD), even if the request does not name it. Without it, the answer is “{REFUSED}”"
        in (rule.words().core_rule)
    )
    (entry,) = build_skills(tmp_path, forgot(1), forgot(2)).entries
    assert len(entry.support.tasks) == 2
    assert entry.card.version == 1  # one decision, however many tasks show it


def test_one_more_task_is_one_more_decision_and_gives_the_card_of_a_new_store(tmp_path: Path) -> None:
    tasks = [forgot(number) for number in range(1, 7)]
    build_skills(tmp_path, *tasks[:5])
    grown = build_skills(tmp_path, *tasks)
    assert grown.decisions == {"PATCH": 1}
    new = build_skills(make_folder(tmp_path / "new"), *tasks)
    ((entry,), (other,)) = grown.entries, new.entries
    assert entry.support == other.support
    assert entry.card.model_copy(update={"version": 1}) == other.card


def test_an_example_shows_no_other_argument() -> None:
    lesson = next(iter(RequiredArgument.find([forgot(1), forgot(2)]))).lesson
    path = lesson.text.evidence.good_example
    assert path.startswith("create_plot(…) ✗ → create_plot(time_max=")
    assert path.endswith(", …) → final answer")
    assert "time_min" not in path and "kind" not in path


def test_a_call_that_works_without_it_shows_that_it_may_be_left_out() -> None:
    free = chart(3, plot(time_min="2031-04-03"))
    assert rules(forgot(1), forgot(2), free) == []


def test_one_refusal_is_not_enough() -> None:
    assert rules(forgot(1), chart(2)) == []


def test_a_call_that_changes_more_shows_nothing() -> None:
    assert rules(forgot(1, time_min="2031-05-01"), forgot(2, time_min="2031-05-01")) == []


@pytest.mark.parametrize("required", [["kind"], ["kind", "time_max"]])
def test_what_the_documentation_demands_is_known(required: list[str]) -> None:
    tools = (Tool("Chart.create_plot", parameters={"required": required}),)
    first = {"time_min": "2031-04-01"}
    shown = [
        chart(number, plot(REFUSED, **first), plot(time_max="2031-04-09", **first), tools=tools) for number in (1, 2)
    ]
    assert bool(rules(*shown)) == ("time_max" not in required)


def test_what_the_name_of_the_function_says_is_known() -> None:
    def look(number: int, **arguments: Any) -> Call:
        return call("Chart.get_series", {"unit": f"m{number}", **arguments}, error=None if arguments else REFUSED)

    task = [{"task": f"Show series {number}.", "task_id": f"show {number}"} for number in (1, 2)]
    shown = [
        packet(*(run(source, True, look(1), look(1, series="s-1-77"), "Done.", **each) for source in "abc"))
        for each in task
    ]
    assert rules(*shown) == []


def test_the_rule_survives_the_store() -> None:
    rule = rules(forgot(1), forgot(2))[0]
    assert load_rule(rule.store()) == rule
