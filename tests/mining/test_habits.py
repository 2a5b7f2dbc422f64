"""What runs leave out, how they end, and calls that change nothing, as lessons."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.mining.habits import ending_of, find_habits

LOOK = call("Mail.list_emails", {}, [{"id": "m-1"}])
SEND = call("Mail.send_email", {"to": "a@example.org"}, "sent")
GOOD, NO_LOOK, ASKS = (LOOK, SEND, "Sent."), ("I cannot do that.",), (LOOK, "Which address do you mean?")


def lessons(*tasks):
    """The lessons of tasks, each with its passing and its failing runs."""
    runs = [
        run(f"m{n}", passed, *story, task="Send the letter.", task_id=f"t{number}", trial=str(n))
        for number, (passing, failing) in enumerate(tasks)
        for passed, stories in ((True, passing), (False, failing))
        for n, story in enumerate(stories)
    ]
    return {lesson.key.split()[0]: lesson for lesson in find_habits(runs, "mail")}


def test_runs_that_never_looked_and_failed_teach_to_look_first():
    [(_, lesson)] = lessons(*[([GOOD] * 4, [NO_LOOK] * 3)] * 3).items()
    assert lesson.text.title == "Look into Mail before you answer"
    assert lesson.text.guards == ("precedence(reads(Mail), finalize)",)
    assert "9 did not, and failed" in lesson.text.skill.success_failure_contrast
    assert (lesson.kind, lesson.grade) == ("habit", "proven")


def test_what_passing_runs_leave_out_as_well_is_no_habit():
    assert lessons(*[([GOOD] * 2 + [NO_LOOK] * 2, [NO_LOOK] * 3)] * 3) == {}


def test_what_chance_explains_is_no_habit():
    assert lessons(*[([GOOD], [NO_LOOK])] * 4) == {}


def test_a_question_that_nobody_answers_is_told_with_what_shows_that_the_change_was_made():
    lesson = lessons(*[([GOOD] * 4, [ASKS] * 3)] * 3)["question"]
    assert lesson.text.title == "Do not end with a question: nobody replies"
    assert lesson.text.guards == ("existence(writes(Mail))",)
    assert "9 failed and none passed" in lesson.text.skill.success_failure_contrast


def test_in_a_conversation_a_question_is_answered():
    talked = (LOOK, "Which one?", ("user", "The first."), SEND, "Sent.")
    assert "question" not in lessons(*[([talked] * 4, [ASKS] * 3)] * 3)


def test_a_call_that_is_only_written_is_told():
    wrote = (LOOK, 'send_email(to="a@example.org")')
    assert lessons(*[([GOOD] * 4, [wrote] * 3)] * 3)["written"].text.title == (
        "Make calls instead of writing them into the answer"
    )


def test_a_search_that_is_given_up_is_made_again_with_other_words():
    def search(query, found):
        return call("Mail.search", {"query": query}, [{"id": "m-1"}] if found else [])

    good = (search("the letter", False), search("letter", True), "Found it.")
    bad = (search("the letter", False), "There is none.")
    lesson = lessons(*[([good] * 4, [bad] * 3)] * 3)["try"]
    assert lesson.text.title == "Change query when search fails or finds nothing"
    assert lesson.text.guards == ("existence(Mail.search) when Mail.search",)


def test_looking_again_after_a_write_made_no_difference_to_runs_that_all_passed():
    done = call("Mail.archive", {"id": "m-1"}, "archived")
    looks = (done, call("Mail.get_email", {"id": "m-1"}, {"id": "m-1"}), "Archived.")
    lesson = lessons(*[([(done, "Archived.")] * 3 + [looks], [])] * 3)["stop"]
    assert lesson.text.title == "Stop when archive has succeeded"
    assert lesson.text.skill.efficiency == "9 passing runs stop there; 3 look again, and pass as well."
    assert lesson.grade == "observed"
    assert lessons(*[([(done, "Archived.")] * 3 + [looks], [NO_LOOK])] * 3) == {}


def test_without_outcomes_or_with_one_side_only_nothing_is_said():
    assert lessons(*[([], [NO_LOOK] * 4)] * 3) == {}
    assert list(find_habits([run("m", None, *NO_LOOK)], "mail")) == []


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("Which one do you mean?", "question"),
        ("Please provide the address of Ada.", "question"),
        ("Done. Is there anything else?", "answer"),
        ("It is done.", "answer"),
        ("I call send_email(to='ada')", "written call"),
        ('{"name": "send_email", "to": "ada"}', "written call"),
        ("I used send_email for that.", "answer"),
    ],
)
def test_how_a_run_took_leave_is_told_by_its_last_words(text, ending):
    assert ending_of(run("m", True, LOOK, text), {"send_email", "list_emails"}) == ending
