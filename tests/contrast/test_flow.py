"""Where the value of an argument had been seen before the call."""

from __future__ import annotations

from tests.made_runs import call, packet, run


def origins(*steps: object, task: str = "please") -> dict[str, str]:
    made = packet(run("a", True, *steps, task=task))  # type: ignore[arg-type]
    return [step for step in made.runs[0].steps if step.function][-1].origins


def test_a_value_of_the_task_comes_from_the_task() -> None:
    assert origins(call("Mail.read", {"id": "m-4711"}), task="read m-4711") == {"id": "task"}


def test_a_value_that_a_result_brought_comes_from_the_function() -> None:
    found = call("Mail.search", {"query": "newsletter"}, {"hits": [{"id": "m-4711"}]})
    assert origins(found, call("Mail.read", {"id": "m-4711"})) == {"id": "Mail.search"}


def test_what_the_user_says_comes_from_the_user() -> None:
    assert origins(("user", "it is m-4711"), call("Mail.read", {"id": "m-4711"})) == {"id": "user"}


def test_a_value_seen_nowhere_was_made_up_and_what_the_agent_says_itself_is_no_source() -> None:
    assert origins("I guess m-4711", call("Mail.read", {"id": "m-4711"})) == {"id": "nowhere"}


def test_one_invented_item_makes_a_list_invented() -> None:
    send = call("Mail.send", {"to": ["a@x.org", "made-up@x.org"]})
    assert origins(send, task="send to a@x.org") == {"to": "nowhere"}


def test_case_does_not_matter_and_short_values_tell_nothing() -> None:
    assert origins(call("Mail.read", {"name": "ADA", "n": 2, "all": True}), task="mail of Ada") == {"name": "task"}
