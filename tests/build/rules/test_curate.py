"""When several lessons are one rule, and when passing runs confine a rule: stories from a pipeline and a warehouse."""

from __future__ import annotations

from pathlib import Path

from tests.made_runs import Call, call, packet, run

from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.mine import find_lessons
from contramem.contrast.packet import Packet
from contramem.pipeline import build_bank
from contramem.traces.trajectory import Trajectory
from contramem.validate.validator import Validator

LOCKED = "The branch is not available."


def built(store_path: Path, *packets: Packet) -> tuple[list[SkillCard], dict[str, int]]:
    """The Skill Cards in service, and how often each operation occurred."""
    with open_store(store_path, create=True) as store:
        report = build_bank(list(packets), store, RuleAuthor(), Validator(), only="skills")
        held = store.bank().entries.values()
        cards = [one.card for one in held if one.served and isinstance(one.card, SkillCard)]
    return cards, dict(report.decisions)


# A change for every item


def shelf(number: int, write: str, source: str, passed: bool, done: int, other: bool = False) -> Trajectory:
    bins = [f"bin-{number}{index}-77" for index in range(3)]
    changed = [*bins[:done], *(["bin-99-13"] if other else [])]
    steps: list[Call | str] = [call("Depot.list_bins", {}, [{"bin_id": one} for one in [*bins, "bin-99-13"]])]
    steps += [call(f"Depot.{write}", {"bin_id": one}) for one in changed]
    return run(source, passed, *steps, "All done.", task=f"Tidy the north aisle, {number}.", task_id=f"aisle-{number}")


def aisle(number: int, write: str) -> Packet:
    runs = [("a", True, 3), ("b", True, 3), ("c", False, 1), ("d", False, 2)]
    return packet(*(shelf(number, write, source, passed, done) for source, passed, done in runs))


def test_one_change_for_every_item_and_another_are_one_rule(tmp_path: Path) -> None:
    packets = [aisle(1, "lock_bin"), aisle(2, "tag_bin"), aisle(3, "lock_bin")]
    cards, _ = built(tmp_path / "bank.db", *packets)
    assert [card.title for card in cards] == ["The same change for every bin_id that list_bins lists"]
    assert cards[0].functions_used == ("Depot.list_bins", "Depot.lock_bin", "Depot.tag_bin")


def test_a_run_that_changed_something_else_did_not_stop_before_the_last() -> None:
    story = packet(
        shelf(1, "lock_bin", "a", True, 3),
        shelf(1, "lock_bin", "b", True, 3),
        shelf(1, "lock_bin", "c", False, 0, other=True),
    )
    assert not any("for every" in lesson.text.title for lesson in find_lessons(story))


# What a tool asks for


def release(number: int, source: str, passed: bool, *steps: Call) -> Trajectory:
    return run(source, passed, *steps, "Released.", task=f"Get fix {number} out.", task_id=f"release-{number}")


def push(number: int, error: str | None = None) -> Call:
    return call("Pipeline.push_tag", {"tag": f"v{number}-fix"}, error=error)


UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})


def test_a_precondition_that_passing_runs_find_fulfilled_is_asked_for_when_the_tool_asks(tmp_path: Path) -> None:
    """In the third release the branch was open already."""
    locked = [
        packet(
            release(number, "a", True, UNLOCK, push(number)),
            release(number, "b", True, push(number, LOCKED), UNLOCK, push(number)),
            release(number, "c", False, push(number, LOCKED)),
        )
        for number in (1, 2)
    ]
    open_already = packet(
        release(3, "a", True, push(3)), release(3, "b", True, push(3)), release(3, "c", False, push(3, LOCKED))
    )
    (card,), decisions = built(tmp_path / "bank.db", *locked, open_already)
    assert decisions["NARROW"] == 1
    assert card.applies_when == "`push_tag` has answered “The branch is not available.”."
    assert "If it succeeds at once, `unlock_branch` is not needed." in card.skill.core_rule
    again, _ = built(tmp_path / "bank.db", *locked, open_already)
    assert again == [card]


def test_a_narrowed_rule_learns_from_further_tasks_instead_of_being_made_twice(tmp_path: Path) -> None:
    def task(number: int) -> Packet:
        return packet(
            release(number, "a", True, UNLOCK, push(number)),
            release(number, "b", True, push(number, LOCKED), UNLOCK, push(number)),
            release(number, "c", False, push(number, LOCKED)),
        )

    open_already = packet(release(3, "a", True, push(3)), release(3, "c", False, push(3, LOCKED)))
    built(tmp_path / "bank.db", task(1), task(2), open_already)
    cards, decisions = built(tmp_path / "bank.db", task(1), task(2), open_already, task(4))
    assert len(cards) == 1
    assert "ADD" not in decisions


# Repeating


def order(number: int, source: str, passed: bool, times: int, to: str = "dock-5-q") -> Trajectory:
    look = call("Depot.find_dock", {}, {"dock": "dock-5-q"})
    ship = call("Depot.place_pallet", {"dock": to, "pallet": f"pl-{number}-8"})
    return run(source, passed, look, *[ship] * times, "Shipped.", task=f"Send pallet {number}.", task_id=f"s-{number}")


def test_repeating_a_write_is_blamed_where_that_is_all_that_differs() -> None:
    story = packet(order(1, "a", True, 1), order(1, "b", True, 1), order(1, "c", False, 2), order(1, "d", False, 3))
    assert any("place_pallet once" in lesson.text.title for lesson in find_lessons(story))


def test_repeating_a_wrong_write_is_not_what_a_run_failed_of() -> None:
    story = packet(order(1, "a", True, 1), order(1, "b", True, 1), order(1, "c", False, 2, to="dock-7-z"))
    assert not any("once" in lesson.text.title for lesson in find_lessons(story))


# What the request says


def test_a_way_past_an_error_that_the_request_names_is_no_lesson() -> None:
    def visit(source: str, passed: bool, *steps: Call) -> Trajectory:
        task = "Tell Jo the time. If she is no contact yet, add her as a contact first."
        return run(source, passed, *steps, "Done.", task=task, task_id="tell")

    refused = call("Chat.send_note", {"to": "jo-17-x"}, error="The person is not available.")
    add, sent = call("Chat.add_contact", {"name": "jo-17-x"}), call("Chat.send_note", {"to": "jo-17-x"})
    story = packet(
        visit("a", True, refused, add, sent), visit("b", True, refused, add, sent), visit("c", False, refused)
    )
    assert not any(lesson.text.title.startswith("When send_note is refused") for lesson in find_lessons(story))
