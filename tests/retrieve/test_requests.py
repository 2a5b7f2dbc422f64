from contramem.retrieve.requests import request_words


def test_a_request_is_kept_as_words_without_order_or_placeholders():
    assert request_words("Release the open orders of <PERSON_1>, release <ID_2>!", ()) == "open order release"


def test_a_name_that_was_not_masked_everywhere_is_left_out():
    assert request_words("Marlow wants its order, tell <PERSON_1>", ["Marlow"]) == "order tell want"


def test_an_ordinary_word_stays_although_some_field_had_it_as_its_value():
    assert "update" in request_words("update the record of <ID_1>", ["Update"])


def test_words_with_digits_are_left_out():
    assert request_words("Move NL-1194 to B2", ()) == "b move nl"
