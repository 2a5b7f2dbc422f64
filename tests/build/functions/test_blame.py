"""What a complaint speaks of."""

from tests.observed_calls import call, failed

from contramem.build.functions.blame import convictions, find_named_arguments
from contramem.build.functions.calls import Calls


def test_a_complaint_that_names_an_argument_is_no_evidence_against_another():
    assert find_named_arguments("Assignee email not valid.", ("assigned_to_email", "due_date", "list_name")) == {
        "assigned_to_email"
    }
    assert find_named_arguments("List not valid.", ("assigned_to_email", "due_date", "list_name")) == {"list_name"}
    assert find_named_arguments("ValueError: time data does not match", ("start_time", "end_time")) == frozenset()
    assert find_named_arguments("Nothing there: <EMAIL>", ("email",)) == frozenset()


def test_a_value_is_not_wrong_because_something_else_was_missing():
    def judge(error):
        known = [call({"title": "<TEXT_1>"}, run=f"k{n}", origins={"title": "task"}) for n in range(9)]
        new = [failed(error, {"title": "<TEXT_2>"}, run=f"n{n}", origins={"title": "nowhere"}) for n in range(4)]
        return [blamed.argument for blamed in convictions(Calls("Mail.delete_email", [*known, *new]))]

    assert judge("No such title.") == ["title"]
    assert judge("Missing title details.") == []
