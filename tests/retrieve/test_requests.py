from contramem.retrieve.requests import request_words
from contramem.retrieve.tokens import TERMS, term, terms_of


def kept(*words: str) -> str:
    return " ".join((TERMS, *sorted(map(term, words))))


def test_a_request_is_kept_as_terms_without_order_or_placeholders():
    masked = "Release the open orders of <PERSON_1>, release <ID_2>!"
    assert request_words(masked, ()) == kept("open", "order", "release")


def test_no_word_of_a_request_can_be_read_from_its_terms():
    assert not {"wire", "balance", "vorzanmel"} & set(
        request_words("Wire the balance to vorzanmel", ()).lower().split()
    )


def test_forms_of_a_word_are_one_term():
    assert terms_of(request_words("pay the invoice", ())) == terms_of(request_words("paying of invoices", ()))


def test_a_name_that_was_not_masked_everywhere_is_left_out():
    assert request_words("Marlow wants its order, tell <PERSON_1>", ["Marlow"]) == kept("order", "tell", "want")


def test_an_ordinary_word_is_kept_even_if_it_was_a_value():
    assert term("update") in request_words("update the record of <ID_1>", ["Update"])


def test_words_with_digits_are_left_out():
    assert request_words("Move NL-1194 to B2", ()) == kept("b", "move", "nl")


def test_plain_words_in_older_banks_match_the_same_terms():
    assert terms_of("open order release") == [term("open"), term("order"), term("release")]
    assert terms_of("") == []
