import pytest

from contramem.retrieve.intent import asked_changes, intents, is_question, only_changes
from contramem.retrieve.tokens import tokenize


@pytest.mark.parametrize(
    ("task", "is_asked"),
    [
        ("Which payments are scheduled for next week?", True),
        ("Did my landlord get the rent?", True),
        ("Can you pay the rent?", False),
        ("Pay the rent, or is it paid?", False),
        ("What did I spend? Send me the list.", False),
        ("", False),
    ],
)
def test_a_question_wants_nothing_changed(task, is_asked):
    assert is_question(task) == is_asked


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("Which mails did I delete?", frozenset()),
        ("Delete the old mails", frozenset({"delete"})),
        ("The old mails, please", None),
        ("Show me the old mails", None),
    ],
)
def test_the_verbs_of_a_request_tell_what_it_wants_changed(task, changes):
    assert asked_changes(task, intents(tokenize(task))) == changes


def test_a_name_whose_verb_looks_nothing_up_only_changes():
    assert only_changes("Bank.update_payment")
    assert not only_changes("Bank.get_payments")
    assert not only_changes("Bank.payments")
