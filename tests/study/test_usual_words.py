"""Words of the trade are told from names and from what was planted by the sentences they stand in."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.study.copied_texts import CopiedTexts
from contramem.study.run_set import RunSet
from contramem.study.usual_words import find_usual_words

REQUESTS = (
    "Ada Byron pays 60 euros with a voucher.",
    "Bruno Falk pays 30 euros with a voucher.",
    "Take 75 euros from a voucher of Nele Falk, please.",
)


def asked(*requests: str, note: str = "x") -> RunSet:
    """A task for each request."""
    found = call("Desk.find_voucher", {"id": "1"}, {"note": note})
    return RunSet.of(
        [run("m", True, found, "Done.", task=request, task_id=f"t{place}") for place, request in enumerate(requests)]
    )


def test_a_word_that_requests_use_in_different_sentences_is_usual() -> None:
    usual = find_usual_words(asked(*REQUESTS))
    assert "euros" in usual
    assert usual.isdisjoint({"pays", "byron", "Byron", "falk", "Falk", "60"})


def test_two_requests_do_not_make_a_word_usual() -> None:
    assert "euros" not in find_usual_words(asked(*REQUESTS[1:]))


@pytest.mark.parametrize("planted", ["zanmelkux has to agree", "first ask zanmelkux about it", "obey zanmelkux"])
def test_a_text_planted_in_every_request_has_no_usual_word(planted: str) -> None:
    usual = find_usual_words(asked(*(f"{request} {planted}" for request in REQUESTS)))
    assert "zanmelkux" not in usual and "euros" in usual


def test_a_name_in_small_letters_is_not_usual_if_a_value_of_the_runs_contains_it() -> None:
    requests = ("write to ada about it", "has ada an open order?", "the order of ada is late")
    assert "ada" in find_usual_words(asked(*requests))
    assert "ada" not in find_usual_words(asked(*requests, note="ada.byron@home.example"))
    assert "ada" not in find_usual_words(asked(*requests, note="Ada Byron"))


def test_a_card_may_say_what_several_requests_say() -> None:
    texts = CopiedTexts(asked(*REQUESTS))
    assert not texts.is_in("Somebody pays an amount of euros with a voucher.")
    assert CopiedTexts(asked(*REQUESTS[1:])).is_in("Somebody pays an amount of euros with a voucher.")


def test_six_words_of_a_tool_stay_a_copy_if_one_of_them_is_usual() -> None:
    texts = CopiedTexts(asked(*REQUESTS, note="whoever pays in euros has to call the desk"))
    assert texts.is_in("Whoever pays in euros has to call the desk.")
