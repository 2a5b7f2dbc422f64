"""Where the values of an argument come from. Stories from a calendar."""

from __future__ import annotations

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
