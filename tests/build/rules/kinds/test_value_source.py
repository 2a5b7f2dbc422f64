"""Where the values of an argument come from. Stories from a calendar."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import call, packet, run

from contramem.build.rules.mine import is_enforced
from contramem.build.rules.value_origins import count_values
from contramem.contrast.packet import Packet
from contramem.guards.guard import parse_guard
from contramem.traces.trajectory import Trajectory


def meeting(
    number: int, source: str, passed: bool, guessed: bool, write: str = "move_meeting", look: str = "find_meetings"
) -> Trajectory:
    meant, other = f"mt-{number}-481", f"mt-{number}-{source}-9"
    looked = call(f"Calendar.{look}", {"day": "monday"}, [{"meeting_id": meant}])
    made = call(f"Calendar.{write}", {"meeting_id": other if guessed else meant, "day": "friday"})
    steps = [made] if guessed else [looked, made]
    return run(source, passed, *steps, "Moved.", task="Monday's round is on friday now.", task_id=f"m{number}")


def moving(number: int, write: str = "move_meeting", look: str = "find_meetings") -> Packet:
    return packet(meeting(number, "a", True, False, write, look), meeting(number, "b", False, True, write, look))


def test_calls_of_an_app_that_read_the_argument_in_the_same_place_become_one_rule(tmp_path: Path) -> None:
    writes = ["move_meeting", "cancel_meeting"] * 5
    built = build_skills(tmp_path, *(moving(number, write) for number, write in enumerate(writes)))
    (card,) = built.cards
    assert card.guards == ("known_value(writes(Calendar).meeting_id)",)
    assert {"Calendar.move_meeting", "Calendar.cancel_meeting", "Calendar.find_meetings"} == set(card.functions_used)
    assert built.decisions["MERGE"] + built.decisions["PATCH"] >= 1


def test_calls_that_read_the_argument_in_different_places_stay_two_rules(tmp_path: Path) -> None:
    packets = [moving(n, "move_meeting", "find_meetings") for n in range(8)]
    packets += [moving(n, "cancel_meeting", "list_invitations") for n in range(8, 16)]
    assert build_skills(tmp_path, *packets).guards == {
        ("known_value(Calendar.move_meeting.meeting_id)",),
        ("known_value(Calendar.cancel_meeting.meeting_id)",),
    }


def test_a_rule_about_a_class_of_calls_takes_in_what_a_task_says_of_one_of_them(tmp_path: Path) -> None:
    writes = ["move_meeting", "cancel_meeting"] * 5
    packets = [moving(number, write) for number, write in enumerate(writes)]
    build_skills(tmp_path, *packets)
    built = build_skills(tmp_path, *packets, moving(40, "move_meeting"))
    (entry,) = [entry for entry in built.entries if entry.served]
    assert any("m40" in task for task in entry.support.tasks)
    assert "ADD" not in built.decisions


def test_sources_are_the_functions_whose_results_passing_runs_read_the_commonest_first() -> None:
    packets = [moving(1), moving(2), moving(3, look="list_invitations")]
    sources = count_values(packets, parse_guard("known_value(Calendar.move_meeting.meeting_id)"))
    assert sources.places.functions == ("Calendar.find_meetings", "Calendar.list_invitations")
    assert sources.are_looked_up
    assert sources.are_mostly_looked_up


def test_values_that_stand_in_the_request_are_not_looked_up() -> None:
    made = call("Calendar.move_meeting", {"meeting_id": "mt-551-abc"})
    told = packet(run("a", True, made, "Done.", task="Move mt-551-abc please.", task_id="told"))
    sources = count_values([told], parse_guard("known_value(Calendar.move_meeting.meeting_id)"))
    assert sources.places.told
    assert not sources.are_looked_up
    assert not sources.are_mostly_looked_up


def corrected(number: int) -> Packet:
    """A made-up meeting is refused, is looked up, and then can be moved."""
    task = {"task": "Monday's round is on friday now.", "task_id": f"m{number}"}
    look = call("Calendar.find_meetings", {"day": "monday"}, [{"meeting_id": f"mt-{number}-481"}])
    guess = call("Calendar.move_meeting", {"meeting_id": f"mt-{number}-9"}, error="There is no such meeting.")
    move = call("Calendar.move_meeting", {"meeting_id": f"mt-{number}-481"})
    good = [run(source, True, guess, look, move, "Moved.", **task) for source in "ab"]
    return packet(*good, run("c", False, guess, "No.", **task))


def test_a_tool_that_takes_most_made_up_values_enforces_nothing() -> None:
    guard = parse_guard("known_value(Calendar.move_meeting.meeting_id)")
    assert is_enforced([guard], [corrected(1)])
    assert not is_enforced([guard], [corrected(1), *(moving(number) for number in range(2, 9))])
