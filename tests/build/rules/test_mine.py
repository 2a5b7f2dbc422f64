"""What runs teach, and what they do not: stories from a calendar, a release pipeline, a warehouse and a clinic."""

from __future__ import annotations

from pathlib import Path

from tests.made_runs import call, packet, run

from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.mine import find_lessons
from contramem.contrast.packet import Packet
from contramem.pipeline import build_bank
from contramem.traces.trajectory import Trajectory
from contramem.validate.validator import Validator

LOCKED = "The branch is not available."


def titles(of: Packet) -> list[str]:
    return [lesson.text.title for lesson in find_lessons(of)]


def built(folder: Path, *packets: Packet) -> dict[str, SkillCard]:
    with open_store(folder / "bank.db", create=True) as store:
        build_bank(list(packets), store, RuleAuthor(), Validator(), only="skills")
        served = [held.card for held in store.bank().entries.values() if held.served]
    return {card.title: card for card in served if isinstance(card, SkillCard)}


# What a tool enforces


def release(source: str, passed: bool, *steps: object) -> Trajectory:
    return run(source, passed, *steps, "Released.", task="Get the fix out.", task_id="release")  # type: ignore[arg-type]


PUSH = call("Pipeline.push_tag", {"tag": "v7-fix"})
REFUSED = call("Pipeline.push_tag", {"tag": "v7-fix"}, error=LOCKED)
UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})


def test_a_missing_preparation_is_not_blamed_on_a_value() -> None:
    """The call that failed had a value nobody had read; the same call worked once the branch was open."""
    odd = {"tag": "v7-fix", "reviewer": "r-5512-zz"}
    refused, pushed = call("Pipeline.push_tag", odd, error=LOCKED), call("Pipeline.push_tag", odd)
    listed = call("Pipeline.list_reviewers", {}, [{"reviewer": "r-5512-zz"}])
    story = packet(
        release("a", True, refused, UNLOCK, listed, pushed),
        release("b", True, listed, UNLOCK, pushed),
        release("c", False, refused),
        release("d", False, refused, refused),
    )
    assert titles(story)[0] == "unlock_branch before push_tag"
    assert not any("reviewer" in title for title in titles(story))


def test_a_way_past_an_error_names_what_gave_the_new_value() -> None:
    def book(desk: str, error: str | None = None) -> object:
        return call("Clinic.book_slot", {"desk": desk}, error=error)

    def visit(source: str, passed: bool, *steps: object) -> Trajectory:
        return run(source, passed, *steps, "Done.", task="A slot at desk-41-a, or wherever.", task_id="v")  # type: ignore[arg-type]

    free = call("Clinic.list_desks", {}, [{"desk": "desk-93-b"}])
    story = packet(
        visit("a", True, book("desk-41-a", "The desk is not available."), free, book("desk-93-b")),
        visit("b", True, book("desk-41-a", "The desk is not available."), free, book("desk-93-b")),
        visit("c", False, book("desk-41-a", "The desk is not available.")),
    )
    rules = [lesson.text.skill.core_rule for lesson in find_lessons(story)]
    assert (
        "When `book_slot` answers “The desk is not available.”, call `list_desks`, then call `book_slot` again with "
        "`desk` from its result." in rules
    )


# What outcomes show


def meeting(number: int, source: str, passed: bool, guessed: bool, writes: str = "move_meeting") -> Trajectory:
    meant, other = f"mt-{number}-481", f"mt-{number}-{source}-9"
    found = call("Calendar.find_meetings", {"day": "monday"}, [{"meeting_id": meant}])
    made = call(f"Calendar.{writes}", {"meeting_id": other if guessed else meant, "day": "friday"})
    steps = [made] if guessed else [found, made]
    return run(source, passed, *steps, "Moved.", task="Monday's round is on friday now.", task_id=f"m{number}")


def test_one_odd_passing_run_does_not_decide_alone() -> None:
    runs = [meeting(1, f"p{i}", True, guessed=i == 0) for i in range(6)]
    story = packet(*runs, *(meeting(1, f"f{i}", False, guessed=True) for i in range(4)))
    assert "Look up meeting_id before move_meeting" in titles(story)


def test_a_habit_of_passing_and_failing_runs_alike_is_no_lesson() -> None:
    runs = [meeting(1, f"p{i}", True, guessed=i < 3) for i in range(6)]
    assert titles(packet(*runs, *(meeting(1, f"f{i}", False, guessed=i < 2) for i in range(4)))) == []


def test_one_run_against_another_is_not_enough_to_stay_in_service(tmp_path: Path) -> None:
    story = packet(meeting(1, "a", True, guessed=False), meeting(1, "b", False, guessed=True))
    assert titles(story) == ["Look up meeting_id before move_meeting"]
    assert built(tmp_path, story) == {}


def test_a_value_that_passing_runs_take_from_the_request_is_not_to_be_looked_up() -> None:
    def told(source: str, passed: bool, day: str) -> Trajectory:
        made = call("Calendar.move_meeting", {"meeting_id": day})
        return run(source, passed, made, "Done.", task="Move mt-551-abc please.", task_id="told")

    assert titles(packet(told("a", True, "mt-551-abc"), told("b", False, "mt-555-abd"))) == []


def test_one_look_up_for_each_thing_is_not_a_listing() -> None:
    def parcel(source: str, passed: bool, *places: str) -> Trajectory:
        steps = []
        for place in places:
            steps.append(call("Depot.find_dock", {"city": place}, {"dock_id": f"dock-{place}-551"}))
            steps.append(call("Depot.send_parcel", {"dock_id": f"dock-{place}-551"}))
        return run(source, passed, *steps, "Sent.", task="Send one to each town.", task_id="towns")

    story = packet(parcel("a", True, "ulm", "bonn"), parcel("b", True, "ulm", "bonn"), parcel("c", False, "ulm"))
    assert not any("for every" in title for title in titles(story))


def test_leaving_a_value_out_is_not_another_way_to_write_it() -> None:
    def search(day: object, error: str | None = None) -> object:
        return call("Calendar.search", {"day": day}, error=error)

    def looked(source: str, passed: bool, *steps: object) -> Trajectory:
        return run(source, passed, *steps, "Done.", task="When do we meet?", task_id="w")  # type: ignore[arg-type]

    empty = search("2031-04-02", "Nothing found.")
    story = packet(looked("a", True, empty, search(None)), looked("b", False, empty), looked("c", False, empty))
    assert titles(story) == []
