"""What the runs of a packet did, as the kinds of rules look at it."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.rules.steps import calls, calls_of, find_guarded_calls, is_successful_write, matches, working_calls
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import parse_guard

LOOK, LOCKED = call("Mail.list_emails", {}, []), call("Mail.delete_email", {"id": "m-1"}, error="locked")
DELETE = call("Mail.delete_email", {"id": "m-1"})
(ATTEMPT,) = packet(run("a", True, LOOK, LOCKED, DELETE, "Done.")).runs


def names(steps: list[object]) -> list[str]:
    return [step.function for step in steps]  # type: ignore[attr-defined]


def test_calls_are_steps_with_a_function_whether_they_worked_or_not() -> None:
    assert names(calls(ATTEMPT)) == ["Mail.list_emails", "Mail.delete_email", "Mail.delete_email"]  # type: ignore[arg-type]
    assert len(calls_of(ATTEMPT, "Mail.delete_email")) == 2
    assert names(working_calls(ATTEMPT)) == ["Mail.list_emails", "Mail.delete_email"]  # type: ignore[arg-type]


def test_a_refused_write_has_changed_nothing() -> None:
    assert [is_successful_write(step) for step in calls(ATTEMPT)] == [False, False, True]


def test_the_guarded_calls_are_those_of_the_second_function_whatever_its_arguments_must_be() -> None:
    guard = parse_guard("precedence(Mail.list_emails, Mail.delete_email[id = other])")
    assert len(find_guarded_calls(ATTEMPT, guard)) == 2


def test_a_class_of_calls_matches_by_effect() -> None:
    assert [matches(parse_pattern("reads(Mail)"), step) for step in calls(ATTEMPT)] == [True, False, False]
