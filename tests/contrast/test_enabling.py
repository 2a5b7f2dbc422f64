"""A call is refused, the run does something else, and the same call works: what made the difference?"""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.contrast.enabling import Enabling, find_enablings
from contramem.traces.trajectory import Trajectory

LOCKED = "The branch is not available."
PUSH = call("Pipeline.push_tag", {"tag": "v7-fix"})
REFUSED = call("Pipeline.push_tag", {"tag": "v7-fix"}, error=LOCKED)
UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})
STATUS = call("Pipeline.show_status", {}, "branch main: protected")
NOTE = call("Pipeline.write_note", {"text": "going out"})


def release(source: str, *steps: object, passed: bool = True) -> Trajectory:
    return run(source, passed, *steps, "Released.", task="Get the fix out.", task_id="release")  # type: ignore[arg-type]


def find(*runs: Trajectory) -> list[Enabling]:
    return find_enablings(packet(*runs).runs)


def test_the_write_between_a_refusal_and_the_same_call_made_the_difference_and_the_read_did_not() -> None:
    [enabling] = find(release("a", REFUSED, STATUS, UNLOCK, PUSH))
    assert (enabling.function, enabling.by, enabling.arguments) == (
        "Pipeline.push_tag",
        ("Pipeline.unlock_branch",),
        (),
    )
    assert enabling.refused.error == enabling.error and not enabling.worked.error
    assert enabling.refused.position < enabling.worked.position


def test_without_a_write_a_read_made_the_difference() -> None:
    """What is named like a read may change something, as `cd` does."""
    [enabling] = find(release("a", REFUSED, STATUS, PUSH))
    assert enabling.by == ("Pipeline.show_status",)


def test_reading_a_file_does_not_make_a_program_work() -> None:
    """Between two calls of a program, any command may have changed what it depends on."""
    refused, works = (
        call("shell.pytest", {"command": "pytest"}, error="exit code 1"),
        call("shell.pytest", {"command": "pytest"}),
    )
    assert find(release("a", refused, call("shell.nl", {"command": "nl a.py"}, "1 x"), works)) == []


def test_a_read_did_not_make_the_difference_if_the_call_was_then_refused_for_another_reason() -> None:
    other = call("Pipeline.push_tag", {"tag": "v7-fix"}, error="The tag needs a signature.")
    assert find(release("a", REFUSED, STATUS, other)) == []
    [enabling] = find(release("a", REFUSED, UNLOCK, other))
    assert enabling.by == ("Pipeline.unlock_branch",), "a write got past the first refusal"


def test_a_call_that_works_when_it_is_repeated_needed_nothing() -> None:
    assert find(release("a", REFUSED, PUSH)) == []


def test_a_call_that_failed_itself_did_not_make_the_difference() -> None:
    failed = call("Pipeline.write_note", {"text": "going out"}, error="The note is too short.")
    [enabling] = find(release("a", REFUSED, failed, UNLOCK, PUSH))
    assert enabling.by == ("Pipeline.unlock_branch",)


def test_what_another_run_had_done_before_the_same_refusal_did_not_make_the_difference() -> None:
    [enabling] = find(release("a", REFUSED, NOTE, UNLOCK, PUSH), release("b", NOTE, REFUSED, passed=False))
    assert enabling.by == ("Pipeline.unlock_branch",)


def test_a_refusal_after_the_call_had_worked_refutes_nothing() -> None:
    """A repetition may be refused for another reason."""
    [enabling] = find(release("a", REFUSED, UNLOCK, PUSH), release("b", UNLOCK, PUSH, REFUSED))
    assert enabling.by == ("Pipeline.unlock_branch",)


def test_a_new_value_that_no_call_gave_explains_the_difference_instead() -> None:
    other = call("Pipeline.push_tag", {"tag": "v8-fix"})
    assert find(release("a", REFUSED, UNLOCK, other)) == []


def test_a_new_value_from_a_result_in_between_names_the_argument_and_the_call_that_gave_it() -> None:
    taken = call("Pipeline.push_tag", {"tag": "tag-93-b"})
    tags = call("Pipeline.list_tags", {}, [{"tag": "tag-93-b"}])
    [enabling] = find(release("a", REFUSED, UNLOCK, tags, taken))
    assert (enabling.by, enabling.arguments) == (("Pipeline.list_tags",), ("tag",))
