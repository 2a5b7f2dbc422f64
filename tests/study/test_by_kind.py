"""Rules of one kind of task, which runs of other kinds contradict."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.guards.guard import Guard, parse_guard
from contramem.study.by_kind import explain_by_kind
from contramem.study.explain import Difference
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory

EARLY = "please be early"
ENDINGS = (
    "Kind regards to you.",
    "All good wishes!",
    "Snow is fine.",
    "Bring gloves along.",
    "See us soon.",
    "Until Monday then.",
)


def letters() -> Iterator[Trajectory]:
    """Confirmations ask people to be early; messages to a group don't, and nobody minds."""
    for number in range(6):
        booking = call("Desk.get_booking", {"booking": f"B-{number}"}, {"day": f"2031-02-1{number}"})
        for source in "abcd":
            asks = source in ("a", "b") or (source == "c" and number % 2 == 0)
            text = f"{ENDINGS[number]} {'Please be early.' if asks else ENDINGS[number - 3]}"
            sent = call("Desk.send", {"to": f"p{number}@mail.example", "text": text}, {"sent": True})
            task = f"Confirm booking B-{number}."
            yield run(source, asks, booking, sent, "Done.", task=task, task_id=f"confirm{number}")
        group = call("Desk.get_group", {"group": f"G-{number}"}, {"place": "the hut"})
        tell = call("Desk.send", {"to": f"g{number}@mail.example", "text": "We meet at the hut today."}, {"sent": True})
        for source in "abcd":
            task = f"Tell group G-{number} where it meets."
            yield run(source, source != "d", group, tell, "Done.", task=task, task_id=f"tell{number}")


def find(known: list[Guard]) -> list[Difference]:
    """What is found if only differences in asking people to be early count as lessons."""
    runs = RunSet.of(letters())
    return list(explain_by_kind(runs.select(), runs, lambda difference: EARLY in str(difference.guard), known))


def test_a_rule_of_one_kind_is_confined_to_it_by_a_call_that_its_tasks_share() -> None:
    (difference,) = find(known=[])
    assert difference.guard == parse_guard(
        f"existence(Desk.send[text contains {EARLY}]) when Desk.send and Desk.get_booking"
    )
    assert difference.counts.broke_passed == 0
    assert difference.counts.broke_failed == 9
    assert difference.tasks == 6


def test_failures_that_another_rule_explains_are_not_explained_again() -> None:
    (difference,) = find(known=[])
    assert find(known=[difference.guard]) == []
