import pytest

from contramem.retrieve.intent import asked_changes, asks_for, intents, is_question, only_changes
from contramem.retrieve.tokens import tokenize

POST, MESSAGE = "Slack.send_channel_message", "Slack.send_direct_message"


@pytest.mark.parametrize(
    ("task", "function", "asked"),
    [
        ("Post the summary to the channel random", POST, True),
        ("Post the summary to the channel random", MESSAGE, False),
        ("Write a message to the channel of the team", POST, True),
        ("Summarize what was said in the channel and send a message to Ann", POST, False),
        ("Summarize what was said in the channel and send a message to Ann", MESSAGE, True),
        ("Send a message to Ann and post it to the channel", POST, True),
        ("Send a message to Ann and post it to the channel", MESSAGE, True),
        ("Post the payment of the customer", "Ledger.post_payment", True),
        ("Read the messages of the channel", POST, False),
        ("Archive the message", "Mail.archive_message", True),
    ],
)
def test_to_message_a_person_and_to_post_where_many_read_are_two_things(task, function, asked):
    assert bool(asks_for(function, tokenize(task))) is asked


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
