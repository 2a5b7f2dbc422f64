import pytest
from hook_events import TASK, call, context, event, prompt

from contramem.inject.adapters.starter import Starter
from contramem.inject.hook.sessions import ENTRYPOINT, HookSessions


def test_a_prompt_gets_the_cards_that_fit_it(sessions, memory):
    assert context(sessions.answer(prompt())) == memory.start(TASK).guidance.text
    assert "### " not in context(sessions.answer(prompt("Compose a sonnet about zeppelins", "s2")))


def test_a_session_sees_a_card_once(sessions):
    assert "### Delete clear emails" in context(sessions.answer(prompt()))
    assert sessions.answer(prompt()) == {}
    later = context(sessions.answer(prompt("Now order a ride to the airport with a cab.")))
    assert "### Delete clear emails" not in later
    assert "Cab.order_ride" in later


def test_what_a_client_says_by_itself_is_no_request(sessions):
    notice = f"<task-notification>\n<task-id>a9</task-id>\n<result>{TASK}</result>\n</task-notification>"
    assert sessions.answer(prompt(notice)) == {}
    assert context(sessions.answer(prompt(f"<b>Please</b>: {TASK}")))


def test_after_compaction_all_cards_are_given_again(sessions):
    first = context(sessions.answer(prompt()))
    later = context(sessions.answer(prompt("Now order a ride to the airport with a cab.")))
    assert sessions.answer(event("SessionStart", source="resume")) == {}
    assert context(sessions.answer(event("SessionStart", source="compact"))) == f"{first}\n\n{later}"


def test_a_sub_agent_gets_its_own_start_notes(sessions):
    first = context(sessions.answer(prompt()))
    assert context(sessions.answer(event("SubagentStart", agent_id="a"))) == first


def test_a_call_that_does_no_harm_is_left_to_the_permissions_of_the_client(sessions):
    sessions.answer(prompt("Compose a sonnet"))
    assert sessions.answer(call()) == {}
    assert sessions.answer(call(tool="Bash")) == {}


def test_a_failure_brings_the_card_and_a_repetition_is_held_once(sessions):
    sessions.answer(prompt("Compose a sonnet"))
    failed = sessions.answer(call("PostToolUseFailure", error="no such email"))
    assert "### EmailClient.delete_email" in context(failed)
    answer = sessions.answer(call())["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "failed with these very arguments" in answer["permissionDecisionReason"]
    assert sessions.answer(call()) == {}


@pytest.mark.parametrize(
    ("hold", "fields", "is_held"),
    [
        ("attended", {ENTRYPOINT: "cli"}, True),
        ("attended", {ENTRYPOINT: ""}, True),
        ("attended", {ENTRYPOINT: "sdk-cli"}, False),
        ("attended", {}, False),
        ("attended", {ENTRYPOINT: "cli", "agent_id": "a"}, False),
        ("always", {ENTRYPOINT: "sdk-cli"}, True),
        ("always", {ENTRYPOINT: "sdk-cli", "agent_id": "a"}, False),
        ("never", {ENTRYPOINT: "cli"}, False),
    ],
)
def test_calls_are_held_where_no_limit_of_the_client_can_come_first(memory, hold, fields, is_held):
    sessions = HookSessions(Starter(memory, {}), hold)
    sessions.answer(call("PostToolUseFailure", error="no such email", **fields))
    assert bool(sessions.answer(call(**fields))) == is_held


def test_an_interrupt_is_no_failure(sessions):
    assert sessions.answer(call("PostToolUseFailure", error="stopped", is_interrupt=True)) == {}
    assert sessions.answer(call()) == {}


def test_the_end_of_a_reply_is_noted_and_events_that_nobody_knows_say_nothing(sessions):
    assert sessions.answer(event("PostToolBatch")) == {}
    assert sessions.answer(event("Notification")) == {}
