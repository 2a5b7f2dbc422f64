import pytest

from contramem.bank.support import CallList, CardSupport
from contramem.retrieve.call_lists import fitting_list
from contramem.traces.trajectory import digest

DIRECT, CHANNEL = "Slack.send_direct_message", "Slack.send_channel_message"


def call_list(*calls, request, task_id="other"):
    return CallList(calls=calls, request=request, taught_by=[digest(task_id)])


POST = "post the news to the channel random"
LISTS = {
    DIRECT: (call_list("Slack.get_users", DIRECT, request="send a direct message to a colleague"),),
    CHANNEL: (call_list("Slack.get_channels", CHANNEL, request=POST, task_id="news"),),
}


@pytest.mark.parametrize(
    ("task", "last"),
    [
        ("Post the message to the channel general", CHANNEL),
        ("Send a direct message to the new colleague", DIRECT),
        ("Which message was sent to the channel?", None),
        ("Remove the user from the channel", None),
    ],
)
def test_a_list_fits_if_its_last_write_is_what_the_task_asks_for(task, last):
    fitting = fitting_list(LISTS, task)
    assert (fitting.calls[-1] if fitting else None) == last


def test_a_list_with_a_call_that_the_agent_cannot_make_fits_no_task():
    assert fitting_list(LISTS, POST, {"Slack.get_channels", CHANNEL})
    assert not fitting_list(LISTS, POST, {CHANNEL})


def test_no_list_fits_if_the_task_asks_more_clearly_for_another_tool():
    task = "Post the news to the channel of support"
    tools = {"Slack.get_channels", CHANNEL}
    assert fitting_list(LISTS, task, tools)
    assert not fitting_list(LISTS, task, tools | {"Slack.post_support_channel_news"})


def test_the_list_of_the_request_most_like_the_task_is_taken():
    reads = call_list("Slack.get_channels", "Slack.read_messages", CHANNEL, request="post a summary to a channel")
    lists = {CHANNEL: (*LISTS[CHANNEL], reads)}
    assert fitting_list(lists, "Post the summary of today to the channel random").calls == reads.calls
    assert fitting_list(lists, "Post the news of today to the channel random").calls == LISTS[CHANNEL][0].calls


def test_a_request_unlike_the_task_gives_no_list():
    unlike = call_list("Slack.get_channels", CHANNEL, request="sum up all yearly invoices of old customers by address")
    assert not fitting_list({CHANNEL: (unlike,)}, POST)


def test_a_request_nearly_as_like_the_task_that_ends_in_another_write_gives_none():
    other = call_list("Slack.add_note", request="post the news to the channel as a note")
    assert fitting_list(LISTS, POST)
    assert not fitting_list({**LISTS, "Slack.add_note": (other,)}, POST)


def test_a_task_is_not_shown_the_list_that_it_taught():
    assert fitting_list(LISTS, POST)
    assert not fitting_list(LISTS, POST, own={digest("news")})


def test_lists_of_earlier_stores_have_the_names_of_the_calls_alone():
    [old] = CardSupport.model_validate({"call_lists": [["Slack.get_channels", CHANNEL]]}).call_lists
    assert (old.calls, old.request) == (("Slack.get_channels", CHANNEL), "")
    assert not fitting_list({CHANNEL: (old,)}, POST)
