"""Guards with deadlines, on runs with a clock and on runs without one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.guards.actions import Action
from contramem.guards.guard import parse_guard
from contramem.guards.templates import Automaton
from contramem.guards.watch import GuardMonitor
from contramem.traces.trajectory import Event, Result

RESPONSE = "response(Mail.order, Mail.confirm) within 60 s"


def _act(name: str, time: float | None) -> Action:
    return Action("call", f"Mail.{name}", time=time)


@pytest.mark.parametrize(
    ("guard", "actions", "verdict"),
    [
        (RESPONSE, [("order", 0), ("confirm", 60)], "holds"),
        (RESPONSE, [("order", 0), ("confirm", 61)], "broken"),
        (RESPONSE, [("order", 0), ("look", 10)], "broken"),
        (RESPONSE, [("order", 0), ("order", 50), ("confirm", 70)], "broken"),
        (RESPONSE, [("order", 0), ("confirm", 5), ("order", 100), ("confirm", 150)], "holds"),
        (RESPONSE, [("order", None), ("confirm", None)], "vacuous"),
        ("existence(Mail.confirm) within 60 s", [("look", 100), ("confirm", 150)], "holds"),
        ("existence(Mail.confirm) within 60 s", [("look", 100), ("confirm", 170)], "broken"),
        ("precedence(Mail.look, Mail.order) within 60 s", [("look", 0), ("order", 30)], "holds"),
        ("precedence(Mail.look, Mail.order) within 60 s", [("look", 0), ("order", 90)], "broken"),
        ("not_succession(Mail.order, Mail.order) within 60 s", [("order", 0), ("order", 30)], "broken"),
        ("not_succession(Mail.order, Mail.order) within 60 s", [("order", 0), ("order", 90)], "holds"),
    ],
)
def test_a_deadline_is_kept_or_missed_on_the_clock_of_the_run(
    guard: str, actions: list[tuple[str, float | None]], verdict: str
) -> None:
    assert parse_guard(guard).replay(_act(name, time) for name, time in actions) == verdict


def test_a_missed_deadline_breaks_the_guard_for_good_and_is_reported_once() -> None:
    monitor = GuardMonitor([(parse_guard(RESPONSE), "card", "Confirm in time")], "")
    order = Event(0, "agent", "call", function="Mail.order", result=Result("ok"), time=1000.0)
    assert monitor.observe(order) == ()
    (owed,) = monitor.pending()
    assert owed.due == 1060.0
    assert owed.text == "`order` has succeeded; `confirm` still has to be called, within 1 minute."
    assert monitor.tick(1060.0) == ()
    (broken,) = monitor.tick(1061.0)
    assert broken.text == "`order` succeeded, and `confirm` was not called within 1 minute."
    assert monitor.tick(1100.0) == ()
    assert monitor.pending() == ()


def test_an_event_after_the_deadline_breaks_the_guard() -> None:
    monitor = GuardMonitor([(parse_guard(RESPONSE), "card", "Confirm in time")], "")
    monitor.observe(Event(0, "agent", "call", function="Mail.order", result=Result("ok"), time=0.0))
    (broken,) = monitor.observe(Event(1, "environment", "notification", text="A mail has come.", time=90.0))
    assert broken.state == "broken"


@given(st.lists(st.tuples(st.sampled_from(["order", "confirm", "look"]), st.integers(0, 50)), max_size=8))
def test_the_verdict_matches_the_definition(steps: list[tuple[str, int]]) -> None:
    """After each order, some confirm at most 60 seconds later."""
    time, actions = 0, []
    for name, pause in steps:
        time += pause
        actions.append((name, time))
    orders = [index for index, (name, _) in enumerate(actions) if name == "order"]
    answered = [
        any(name == "confirm" and at - actions[order][1] <= 60 for name, at in actions[order + 1 :]) for order in orders
    ]
    expected = "vacuous" if not orders else "holds" if all(answered) else "broken"
    watcher = Automaton(parse_guard(RESPONSE))
    for name, at in actions:
        watcher.observe(_act(name, at))
    assert watcher.verdict == expected
