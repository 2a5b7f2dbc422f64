"""Recovery: the way past an error that some runs found. Stories from a clinic and a release pipeline."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.build.rules.mine import find_lessons
from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Trajectory

LOCKED, TAKEN = "The branch is not available.", "The desk is not available."
UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})


def release(number: int, *runs: tuple[bool, list[Call]]) -> Packet:
    task = {"task": f"Get fix {number} out.", "task_id": f"release {number}"}
    return packet(
        *(run(source, passed, *steps, "Done.", **task) for source, (passed, steps) in zip("abcdef", runs, strict=False))
    )


def push(number: int, error: str | None = None) -> Call:
    return call("Pipeline.push_tag", {"tag": f"v{number}-fix"}, error=error)


def prepared(number: int) -> Packet:
    """Some unlock first, so that unlocking first is the rule."""
    refused = push(number, LOCKED)
    return release(
        number, (True, [UNLOCK, push(number)]), (True, [refused, UNLOCK, push(number)]), (False, [refused, refused])
    )


def booking(number: int) -> Packet:
    """Who looks for a free desk after the refusal, and takes that, passes; one run gives up."""
    task = {"task": "A slot at desk-41-a, or wherever.", "task_id": f"visit {number}"}
    free = call("Clinic.list_desks", {}, [{"desk": "desk-93-b"}])
    refused = call("Clinic.book_slot", {"desk": "desk-41-a"}, error=TAKEN)
    booked = call("Clinic.book_slot", {"desk": "desk-93-b"})
    return packet(
        run("a", True, refused, free, booked, "Done.", **task),
        run("b", True, refused, free, booked, "Done.", **task),
        run("c", False, refused, "Done.", **task),
    )


def test_the_way_past_an_error_is_a_rule_without_guards_about_the_call_and_what_helped(tmp_path: Path) -> None:
    built = build_skills(tmp_path, booking(1))
    assert [(card.functions_used, card.guards) for card in built.cards] == [
        (("Clinic.book_slot", "Clinic.list_desks"), ())
    ]


def test_the_same_way_in_another_task_is_more_evidence(tmp_path: Path) -> None:
    (entry,) = [entry for entry in build_skills(tmp_path, booking(1), booking(2)).entries if entry.served]
    assert len(entry.support.tasks) == 2


def test_a_rule_that_asks_beforehand_makes_the_way_past_the_error_needless(tmp_path: Path) -> None:
    (card,) = build_skills(tmp_path, prepared(1), prepared(2)).cards
    assert card.guards == ("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",)


def test_a_way_past_an_error_goes_when_a_rule_comes_to_ask_for_it_beforehand(tmp_path: Path) -> None:
    """In the first task nobody who passed had unlocked beforehand; later tasks show that one should."""
    late = push(1, LOCKED)
    first = release(
        1,
        (True, [late, UNLOCK, push(1)]),
        (True, [late, UNLOCK, push(1)]),
        (False, [late, UNLOCK, late]),
        (False, [late]),
    )
    build_skills(tmp_path, first)
    built = build_skills(tmp_path, first, prepared(2), prepared(3))
    assert built.guards == {("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",)}


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
