"""What a complaint speaks of."""

from contramem.build.functions.blame import find_named_arguments


def test_a_complaint_that_names_an_argument_is_no_evidence_against_another():
    assert find_named_arguments("Assignee email not valid.", ("assigned_to_email", "due_date", "list_name")) == {
        "assigned_to_email"
    }
    assert find_named_arguments("List not valid.", ("assigned_to_email", "due_date", "list_name")) == {"list_name"}
    assert find_named_arguments("ValueError: time data does not match", ("start_time", "end_time")) == frozenset()
    assert find_named_arguments("Nothing there: <EMAIL>", ("email",)) == frozenset()
