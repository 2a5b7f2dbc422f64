"""Words that some texts of a call have and others lack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.study.ask import explain_kind
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory

TELLS_HOW = "Objections go to the town clerk."


def refusals() -> Iterator[Trajectory]:
    """Four tasks, so that two are open: letters that do not tell how to object fail."""
    for number in range(4):
        reason = ("the area", "the height", "the noise", "the hours")[number]
        for source, end in (("a", TELLS_HOW), ("b", TELLS_HOW), ("c", "You may appeal."), ("d", "")):
            letter = call("Office.send", {"to": f"P-{number}7", "body": f"We refuse it: it is {reason}. {end}"})
            task = f"Refuse application {number}, because it is {reason}, by letter."
            yield run(source, end == TELLS_HOW, letter, "Done.", task=task, task_id=f"t{number}")


def test_a_phrase_that_the_letters_of_two_tasks_share_is_found() -> None:
    (report,) = explain_kind(RunSet.of(refusals()), function="Office.send")
    assert report.tasks == 2
    assert str(report.explanation.differences[0].guard) == (
        "existence(Office.send[body contains objections go to the town clerk]) when Office.send"
    )
