"""build/functions/requests.py: the words of requests that go with a function."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.requests import RequestsByFunction
from contramem.retrieve.tokens import term, terms_of


def task(number: int, text: str, function: str, passed: bool = True):
    return packet(run("m", passed, call(function, {}, "done"), task=text, task_id=f"t{number}"))


PACKETS = [
    task(0, "Pay the rent of May", "Bank.send_money"),
    task(1, "Pay the electrician today", "Bank.send_money"),
    task(2, "Show the weather today", "Web.look"),
    task(3, "Show the news of May", "Web.look"),
]


def test_words_are_kept_that_several_requests_of_the_function_say_and_others_do_not() -> None:
    requests = RequestsByFunction(PACKETS)
    assert terms_of(requests.words_for("Bank.send_money")) == [term("pay")]
    assert terms_of(requests.words_for("Web.look")) == [term("show")]
    assert requests.words_for("Bank.unknown") == ""


def test_a_word_of_one_request_is_never_kept() -> None:
    kept = terms_of(RequestsByFunction(PACKETS).words_for("Bank.send_money"))
    assert not {term("rent"), term("electrician")} & set(kept)
