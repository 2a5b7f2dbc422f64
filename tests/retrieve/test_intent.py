import pytest

from contramem.retrieve.intent import asks_for
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
