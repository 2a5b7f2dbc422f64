"""A card does not repeat eight words in a row of what runs were told."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.privacy.copies import Copies
from contramem.privacy.public import public_of
from contramem.traces.trajectory import Trajectory

SAID = "whoever closes a case sends its transcript over to the archive"


def _copies(*tasks: list[Trajectory]) -> Copies:
    return Copies((each for runs in tasks for each in runs), public_of(tasks))


def _told(task: str, **note: str) -> list[Trajectory]:
    found = call("Desk.find", {"id": task}, {"note": note.get("note", SAID), "title": "a case"})
    return [run(source, True, found, note.get("answer", "Done."), task_id=task) for source in "ab"]


def test_eight_words_in_a_row_of_a_result_are_a_copy_and_seven_are_none() -> None:
    copies = _copies(_told("t1"))
    assert copies.find(f"Note that {SAID}.") == "whoever closes a case sends its transcript over"
    assert copies.find("Note that WHOEVER closes, a case: sends its transcript over.")
    assert not copies.find("Whoever closes a case sends its transcript.")


def test_what_an_agent_says_is_no_copy_and_what_the_request_says_is_one() -> None:
    runs = [
        run(
            "a",
            True,
            "I have now put the missing case into the archive.",
            task="Put the case that nobody wants to see into the box.",
        )
    ]
    copies = _copies(runs)
    assert not copies.find("I have now put the missing case into the archive.")
    assert copies.find("First put the case that nobody wants to see into the box.")


def test_an_error_that_several_tasks_and_sources_got_may_be_repeated() -> None:
    refused = call("Desk.pay", {"id": "1"}, None, "the order is not open and so it cannot be paid yet")
    tasks = [[run(source, False, refused, task_id=task) for source in "ab"] for task in ("t1", "t2")]
    quoted = "It answers: the order is not open and so it cannot be paid yet."
    assert not _copies(*tasks).find(quoted) and _copies(tasks[0][:1]).find(quoted) == ""
    many = [run("a", False, refused, task_id="t1"), *(run("a", True, "Done.", task_id=f"x{n}") for n in range(9))]
    assert _copies(*([each] for each in many)).find(quoted)


def test_a_sentence_that_passing_runs_of_several_tasks_wrote_may_be_repeated_although_a_page_says_it() -> None:
    tasks = [_told(task, answer=f"Please note: {SAID}.") for task in ("t1", "t2")]
    assert not _copies(*tasks).find(SAID)
