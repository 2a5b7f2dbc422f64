"""What a complaint speaks of."""

from contramem.build.functions.blame import named_in


def test_a_complaint_that_names_an_argument_is_no_evidence_against_another():
    assert named_in("Assignee email not valid.", ("assigned_to_email", "due_date", "list_name")) == {
        "assigned_to_email"
    }
    assert named_in("List not valid.", ("assigned_to_email", "due_date", "list_name")) == {"list_name"}
    assert named_in("ValueError: time data does not match", ("start_time", "end_time")) == frozenset()
    assert named_in("Nothing there: <EMAIL>", ("email",)) == frozenset()
