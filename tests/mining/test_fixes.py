"""What got past a refusal, as lessons."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.mining.fixes import find_fixes

NO_FORM = "ValueError: start: unconverted data remains"
SIGN_IN = "User not authenticated."


def lessons(*stories, sources=2):
    """The lessons of runs that make these calls, each of a task of its own."""
    runs = [
        run(f"m{n % sources}", n % 2 == 0, *story, task=f"Do it {n}.", task_id=f"t{n}")
        for n, story in enumerate(stories)
    ]
    return list(find_fixes(runs, "work"))


def book(start, *, room="blue", error=None, **more):
    return call("Desk.book", {"start": start, "room": room, **more}, "booked", error)


LATE, RIGHT = "2031-05-01 10:00:00", "2031-05-01 10:00"
REWRITTEN = [book(LATE, error=NO_FORM), book(RIGHT)]


def test_a_value_that_is_taken_when_it_is_written_otherwise_is_a_fix():
    [lesson] = lessons(REWRITTEN, REWRITTEN, *[[book(RIGHT)]] * 4)
    assert lesson.text.title == "Write start as a date YYYY-MM-DD HH:MM for book"
    assert lesson.text.skill.core_rule == (
        "When you call `book`, write `start` as a date YYYY-MM-DD HH:MM, not as a date YYYY-MM-DD HH:MM:SS. Otherwise "
        "it answers “ValueError: start: unconverted data remains”; then make the same call again with the value "
        "written this way."
    )
    assert lesson.text.skill.success_failure_contrast == (
        "Enforced: the tool refuses otherwise. No call with the wrong form worked (2 refused); 6 with the right one "
        "did."
    )
    assert (lesson.kind, lesson.grade, lesson.ability) == ("fix", "enforced", "work")
    assert [len(ref.events) for ref in lesson.runs] == [2, 2]
    assert len(lesson.support.tasks) == 2


def test_a_form_that_worked_once_is_not_forbidden():
    assert lessons(REWRITTEN, REWRITTEN, [book(LATE)], *[[book(RIGHT)]] * 4) == []


def test_two_values_that_differ_in_more_than_their_form_are_no_fix():
    other = [book(LATE, error=NO_FORM), book("2031-06-07 11:30")]
    assert lessons(other, other, *[[book(RIGHT)]] * 4) == []


def test_an_argument_that_has_to_be_given_is_a_fix_unless_the_call_is_named_after_it():
    def story(function, argument):
        error = f"{argument} is required"
        with_it = call(function, {"day": "2031-05-01", argument: "blue"}, "done")
        return [[call(function, {"day": "2031-05-01"}, error, error), with_it]] * 2 + [[with_it]] * 4

    [lesson] = lessons(*story("Desk.book", "colour"))
    assert lesson.text.title == "Always give colour to book"
    assert "Without it, it answers “colour is required”" in lesson.text.skill.core_rule
    assert lessons(*story("Desk.book_rooms", "room")) == []


def test_the_values_that_a_refusal_lists_are_a_fix():
    error = "size must be one of 'small', 'large'"
    refused = [call("Desk.order", {"size": "huge"}, error, error), call("Desk.order", {"size": "large"})]
    taken = [[call("Desk.order", {"size": "small"})]] * 4
    [lesson] = lessons(refused, refused, *taken)
    assert "one of “small” or “large”, spelled exactly so" in lesson.text.skill.core_rule
    assert lessons(refused, refused, *taken, [call("Desk.order", {"size": "medium"})]) == []


LOOK, LOGIN = call("Desk.list_rooms", {}, "[]"), call("Desk.login", {}, "welcome")


def test_a_call_that_worked_unchanged_after_another_demands_it_before():
    stories = [[book(RIGHT, error=SIGN_IN), LOOK, LOGIN, book(RIGHT)]] * 2 + [[LOGIN, book(RIGHT)]] * 3
    [lesson] = lessons(*stories)
    assert lesson.text.guards == ("precedence(Desk.login, Desk.book)",)
    assert lesson.text.skill.core_rule == (
        "Call `login` and confirm that it succeeded before calling `book`. Otherwise it answers “User not "
        "authenticated.”."
    )


def test_where_most_calls_work_without_it_another_call_is_only_made_after_the_refusal():
    stories = [[book(RIGHT, error=SIGN_IN), LOGIN, book(RIGHT)]] * 2 + [[book(RIGHT)]] * 6
    [lesson] = lessons(*stories)
    assert lesson.text.guards == ()
    assert lesson.text.title == "When book is refused: login"


def test_what_had_worked_before_the_refusal_did_not_make_the_difference():
    stories = [[LOGIN, book(RIGHT, error=SIGN_IN), LOGIN, book(RIGHT)]] * 3
    assert lessons(*stories) == []


def test_functions_that_are_refused_alike_share_a_card():
    def story(name):
        def tried(error=None):
            return call(f"Desk.{name}", {"day": "2031-05-01"}, "ok", error)

        return [[tried(SIGN_IN), LOGIN, tried()]] * 2 + [[LOGIN, tried()]]

    [lesson] = lessons(*story("book"), *story("cancel"))
    assert lesson.text.title == "login before book and cancel"
    assert len(lesson.text.guards) == 2


def test_values_that_were_made_up_are_refused_and_those_that_were_read_work():
    listing = call("Desk.list_rooms", {}, [{"room_id": "r-4711", "floor": 2}])
    known = [[listing, call("Desk.open", {"room_id": "r-4711"})]] * 6
    guess = [call("Desk.open", {"room_id": "r-9"}, "Room not found.", "Room not found.")]
    [lesson] = lessons(guess, guess, *known)
    assert lesson.text.guards == ("known_value(Desk.open.room_id)",)
    assert "for example in a result of `list_rooms`" in lesson.text.skill.core_rule
    assert lessons(guess, guess, *known[:2]) == []


def test_a_switch_that_is_refused_until_the_call_was_made_without_it():
    def refund(error=None, **more):
        return call("Shop.refund", {"item_id": "i-4711", **more}, "previewed", error)

    story = [refund("Must preview before confirming.", confirm=True), refund(), refund(confirm=True)]
    [lesson] = lessons(story, story)
    assert lesson.text.title == "Call refund without confirm first"


@pytest.mark.parametrize("error", ["bash: mini: command not found", "Request timed out.", "Connection reset by peer"])
def test_what_the_harness_says_is_no_refusal(error):
    assert lessons(*[[book(RIGHT, error=error), LOGIN, book(RIGHT)]] * 4) == []


def test_one_run_of_one_source_shows_nothing_unless_the_tool_names_the_argument():
    unnamed = [call("Desk.login", {}, "no", "no"), LOOK, LOGIN]
    assert lessons([book(LATE, error="bad data"), book(RIGHT)], *[[book(RIGHT)]] * 5, sources=1) == []
    assert len(lessons(REWRITTEN, *[[book(RIGHT)]] * 5, sources=1)) == 1
    assert lessons(unnamed, sources=1) == []
