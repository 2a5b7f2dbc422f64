"""Speech: which calls talk to the user, and which of them ask."""

from __future__ import annotations

import pytest
from tests.made_runs import call, packet, run

from contramem.contrast.speech import asks, speech_of
from contramem.guards.actions import actions_of_steps
from contramem.guards.guard import parse_guard
from contramem.traces.trajectory import Event

SAY = "AgentUserInterface.send_message_to_user"


def said(function: str, **arguments: object) -> str:
    return speech_of(Event(0, "agent", "call", function=function, arguments=arguments))


def test_a_message_to_the_user_is_speech() -> None:
    assert said(SAY, content="All done.") == "All done."
    assert said("chat.ask_user", question="Which one?") == "Which one?"
    assert said("UI.respond_to_user", message="Done.", attachments=[]) == "Done."


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param("slack.send_message_to_user", {"user_id": "u1", "content": "Hi"}, id="names a recipient"),
        pytest.param("Mail.send", {"content": "Hi"}, id="is not about the user"),
        pytest.param("Admin.delete_user", {"name": "ada"}, id="says nothing"),
        pytest.param("Admin.message_user", {"user_id": 4}, id="gives no text"),
    ],
)
def test_other_calls_are_not(function: str, arguments: dict[str, object]) -> None:
    assert said(function, **arguments) == ""


def test_an_offer_of_more_help_is_no_question() -> None:
    assert asks("Which of the two did you mean?")
    assert not asks("Done. Is there anything else I can do?")


def test_a_question_by_a_call_counts_as_asking_the_user() -> None:
    asking = packet(run("a", True, call(SAY, {"content": "Which lamp do you mean?"}), ("user", "The blue."), "done"))
    assert [step.label for step in asking.runs[0].actions] == ["ask the user", "final answer"]
    assert parse_guard("existence(ask)").replay(actions_of_steps(asking.runs[0].steps)) == "holds"
    assert parse_guard(f"existence({SAY})").replay(actions_of_steps(asking.runs[0].steps)) == "holds"
