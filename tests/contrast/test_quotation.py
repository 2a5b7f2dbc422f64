"""Somebody's words between marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.quotation import CLOSING, OPENING, quote_if_long, quote_words


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
