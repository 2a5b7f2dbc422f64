"""Where the value of an argument had been seen before the call."""

from __future__ import annotations

import msgspec
from tests.made_runs import call, packet, run


def origins(*steps: object, task: str = "please") -> dict[str, str]:
    made = packet(run("a", True, *steps, task=task))  # type: ignore[arg-type]
    return [step for step in made.runs[0].steps if step.function][-1].origins


def test_a_value_of_the_task_comes_from_the_task() -> None:
    assert origins(call("Mail.read", {"id": "m-4711"}), task="read m-4711") == {"id": "task"}


def test_the_first_place_counts() -> None:
    found = call("Mail.search", {"query": "newsletter"}, {"hits": [{"id": "m-4711"}]})
    shown = call("Mail.show", {"query": "newsletter"}, {"mail": "m-4711"})
    assert origins(found, shown, call("Mail.read", {"id": "m-4711"})) == {"id": "Mail.search"}
    assert origins(found, call("Mail.read", {"id": "m-4711"}), task="read m-4711") == {"id": "task"}


def test_a_result_that_repeats_what_it_was_asked_is_no_source_while_there_is_another() -> None:
    echo, found = call("Mail.open", {"id": "m-4711"}, "opened m-4711"), call("Mail.list", {}, "m-4711")
    assert origins(echo, found, call("Mail.read", {"id": "m-4711"})) == {"id": "Mail.list"}
    # Not nowhere: what a result confirms is known from then on.
    assert origins(echo, call("Mail.read", {"id": "m-4711"})) == {"id": "Mail.open"}


def test_what_a_simulated_user_wants_is_known_to_the_agent_when_the_user_says_it() -> None:
    """The task of such a run is the user's instruction, which the agent never reads."""
    wants, hello = "You are Ada and want m-4711 read", ("user", "hello")
    found, read = call("Mail.search", {}, "m-4711"), call("Mail.read", {"id": "m-4711"})

    def place(*steps: object) -> dict[str, str]:
        made = run("a", True, *steps)  # type: ignore[arg-type]
        told = packet(msgspec.structs.replace(made, task=wants))
        return [step for step in told.runs[0].steps if step.function][-1].origins

    assert place(hello, ("user", "it is m-4711"), found, read) == {"id": "user"}
    assert place(hello, found, read) == {"id": "Mail.search"}
    assert place(hello, read) == {"id": "task"}


def test_a_short_identifier_comes_from_a_listing_or_has_no_known_origin() -> None:
    found = call("Mail.search_emails", {"query": "newsletter"}, [{"id": 7, "size": 3}])
    assert origins(found, call("Mail.delete_email", {"email_id": "7"})) == {"email_id": "Mail.search_emails"}
    assert origins(found, call("Mail.delete", {"file_id": "7"})) == {}  # another kind of thing
    assert origins(found, call("Mail.delete_email", {"email_id": "3"})) == {}  # no identifier there
    assert origins(call("Mail.delete_email", {"email_id": "7"})) == {}


def test_what_the_user_says_comes_from_the_user() -> None:
    assert origins(("user", "it is m-4711"), call("Mail.read", {"id": "m-4711"})) == {"id": "user"}


def test_a_value_seen_nowhere_was_made_up_and_what_the_agent_says_itself_is_no_source() -> None:
    assert origins("I guess m-4711", call("Mail.read", {"id": "m-4711"})) == {"id": "nowhere"}


def test_one_invented_item_makes_a_list_invented() -> None:
    send = call("Mail.send", {"to": ["a@x.org", "made-up@x.org"]})
    assert origins(send, task="send to a@x.org") == {"to": "nowhere"}


def test_origins_ignore_case_and_short_values() -> None:
    assert origins(call("Mail.read", {"name": "ADA", "n": 2, "all": True}), task="mail of Ada") == {"name": "task"}


def test_numbers_in_records_are_not_traced() -> None:
    """The account of a payment is looked up; its amount may equal any number that a result shows."""
    account, total = call("Bank.find", {}, {"account": "a-4711"}), call("Bank.calculate", {}, "total 1280")
    pay = call("Bank.pay", {"parts": [{"account": "a-4711", "amount": 1280}], "sum": 1280})
    assert origins(account, total, pay) == {"parts": "Bank.find", "sum": "Bank.calculate"}
