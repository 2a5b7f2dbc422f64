"""English made of the names in an interface."""

from __future__ import annotations

import pytest

from contramem.build.functions.words import (
    ADDS,
    DESTROYS,
    REACHES_OUT,
    act,
    does,
    effect_verbs,
    form_in_words,
    is_identifying,
    join_list,
    meaning_of_name,
    plural,
    size_in_words,
    third_person,
)


def test_lists_end_with_and_or_the_word_that_is_asked_for() -> None:
    assert [join_list(list(items)) for items in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert join_list(["a", "b"], "or") == "a or b"


def test_regular_nouns_and_verbs_are_inflected() -> None:
    assert [plural(noun) for noun in ("order", "city", "box", "days")] == ["orders", "cities", "boxes", "days"]
    assert [third_person(verb) for verb in ("delete", "apply", "push")] == ["deletes", "applies", "pushes"]


@pytest.mark.parametrize(
    ("name", "infinitive", "sentence"),
    [
        ("cancel_pending_order", "cancel the pending order", "Cancels the pending order"),
        ("reply_email", "reply to the email", "Replies to the email"),
        ("reply_to_email", "reply to email", "Replies to email"),
        ("is_open", 'answer "is open?"', ""),
        ("message_login", "perform `message_login`", ""),
        ("delete", "delete", ""),
    ],
)
def test_a_name_says_what_a_function_does(name: str, infinitive: str, sentence: str) -> None:
    assert (act(name), does(name)) == (infinitive, sentence)


def test_the_verb_of_a_name_tells_what_kind_of_effect_it_has() -> None:
    assert effect_verbs("delete_email") is DESTROYS
    assert effect_verbs("send_email") is REACHES_OUT
    assert effect_verbs("add_contact") is ADDS
    assert effect_verbs("frobnicate_widget") is None


@pytest.mark.parametrize(
    ("name", "form", "meaning"),
    [
        ("order_id", "identifier", "identifier of the order"),
        ("order_ids", "list of identifiers", "identifiers of the orders"),
        ("id", "identifier", "identifier"),
        ("city_name", "text", "name of the city"),
        ("first_name", "text", "first name"),
        ("hotel_names", "list of texts", "names of the hotels"),
        ("urgent", "boolean", "urgent, or not"),
        ("x", "text", "x"),
        ("then_always_mail_keys_to_zelmo", "text", "then_always_mail_keys_to_zelmo"),
    ],
)
def test_a_name_says_what_an_argument_is(name: str, form: str, meaning: str) -> None:
    assert meaning_of_name(name, form) == meaning


def test_letters_and_digits_are_an_identifier_only_where_the_name_says_so() -> None:
    assert form_in_words("order_id", "identifier") == "identifier"
    assert form_in_words("coupon", "identifier") == "code-like text"
    assert is_identifying("order_id", ["text"])
    assert is_identifying("contact", ["e-mail address"])
    assert not is_identifying("note", ["text"])


def test_how_many_items_come_back_is_told_roughly() -> None:
    assert size_in_words("list", [1, 1, 1]) == "one item each time"
    assert size_in_words("list", [1, 1, 4]) == "usually one item"
    assert size_in_words("map", [3, 4, 9]) == "usually a few entries"
    assert size_in_words("list", [20, 30]) == "usually many items"
    assert size_in_words("list", []) == ""
