"""Somebody's words between marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.quotation import CLOSING, OPENING, quote_if_long, quote_words, shorten_quotations


@given(st.text())
def test_what_is_quoted_cannot_end_its_quotation(text: str) -> None:
    quoted = quote_words(text)
    assert quoted.startswith(OPENING) and quoted.endswith(CLOSING)
    assert OPENING not in quoted[1:-1] and CLOSING not in quoted[1:-1] and "\n" not in quoted


def test_a_value_of_a_word_or_two_stays_as_it_is() -> None:
    assert quote_if_long("<ID_1>") == "<ID_1>"
    assert quote_if_long("in progress") == "in progress"
    assert quote_if_long("send it to me") == "‹send it to me›"
    assert quote_if_long("转账") == "‹转账›"


def test_words_that_are_quoted_again_are_cut_and_short_ones_stay() -> None:
    long = "no such order " * 10
    shortened = shorten_quotations(f"After {quote_words(long)} and {quote_words('not found')}.")
    assert shortened.startswith("After ‹no such order")
    assert shortened.endswith("…› and ‹not found›.")
    assert len(shortened) < 100
