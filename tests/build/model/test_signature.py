"""The signature of a task: what kind of work its request asks for."""

from __future__ import annotations

import pytest

from contramem.build.model.signature import signature


@pytest.mark.parametrize(
    ("task", "apps", "expected"),
    [
        ("How many songs did I like this year?", ["spotify"], "answer_extraction"),
        ("Tell me the title of the most played song.", ["spotify"], "answer_extraction"),
        ("Which of my roommates owes me the most?", ["venmo", "phone"], "answer_extraction"),
        ("Like all the songs in my library.", ["spotify"], "bulk_or_multi_write"),
        ("Send a reminder to each of my roommates.", ["phone", "venmo"], "bulk_or_multi_write"),
        ("Create a note, delete the old one and email it to me.", ["notes"], "bulk_or_multi_write"),
        ("Pay <PERSON_1> what the receipt says.", ["venmo", "gmail"], "cross_app"),
        ("Pay <PERSON_1> <AMOUNT_1>.", ["venmo", "supervisor"], "state_write"),
        ("Please set the alarm to 7:30.", ["phone"], "state_write"),
        ("My phone is broken.", ["phone"], "default"),
        ("", [], "default"),
    ],
)
def test_the_signature_of_a_task(task: str, apps: list[str], expected: str) -> None:
    assert signature(task, apps) == expected
