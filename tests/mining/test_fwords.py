"""The sentences of Function Cards, and what is quoted of errors."""

from __future__ import annotations

import string

import pytest

from contramem.bank.card import MAX_LINE_CHARS
from contramem.mining.fwords import (
    SENTENCES,
    does_more_each_time,
    effect_of_name,
    fact,
    form_in_words,
    generalize,
    is_identifying,
    join_list,
    named_arguments,
    pattern_in_words,
    runs,
    size_in_words,
)


@pytest.mark.parametrize("kind", SENTENCES)
def test_every_sentence_is_said_with_its_values_and_never_too_long(kind):
    names = {name for _, name, _, _ in string.Formatter().parse(SENTENCES[kind]) if name}
    assert str(fact(kind, 1, **dict.fromkeys(names, (3, 7)))).count("3 of 7") >= len(names)
    assert len(str(fact(kind, 1, **dict.fromkeys(names, "word " * 200)))) <= MAX_LINE_CHARS


def test_a_fact_is_its_values_until_it_is_said():
    seen = fact("changing", 3, argument=frozenset({"`b`", "`a`"}), count=(3, 4))
    assert (seen.weight, seen.values["count"]) == (3, (3, 4))
    assert str(seen) == "; changing `a` and `b` worked in 3 of 4 retries"


def test_lists_end_with_and_or_the_word_that_is_asked_for():
    assert [join_list(list(items)) for items in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert join_list(["a", "b"], "or") == "a or b"
    assert (runs(1), runs(2)) == ("1 run", "2 runs")


@pytest.mark.parametrize(
    ("name", "effect", "more"),
    [
        ("delete_email", "destroys", False),
        ("reset_settings", "destroys", False),
        ("send_email", "reaches out", True),
        ("make_payment", "reaches out", True),
        ("add_contact", "", True),
        ("update_booking", "", False),
        ("frobnicate_widget", "", False),
    ],
)
def test_the_verb_of_a_name_tells_what_cannot_be_undone(name, effect, more):
    assert (effect_of_name(name), does_more_each_time(name)) == (effect, more)


def test_letters_and_digits_are_an_identifier_only_where_the_name_says_so():
    assert form_in_words("order_id", "identifier") == "identifier"
    assert form_in_words("coupon", "identifier") == "code-like text"
    assert form_in_words("ids", "list of numbers as text") == "list of numbers written as text"
    assert pattern_in_words("zip", "identifier", best="number as text") == "other text"
    assert pattern_in_words("day", "date YYYY-MM-DD") == "YYYY-MM-DD"
    assert is_identifying("order_id", ["text"])
    assert is_identifying("contact", ["e-mail address"])
    assert not is_identifying("note", ["text"])


def test_how_many_items_come_back_is_told_roughly():
    assert size_in_words("list", [1, 1, 1]) == "; one item each time"
    assert size_in_words("list", [1, 1, 4]) == "; usually one item"
    assert size_in_words("map", [3, 4, 9]) == "; usually a few entries"
    assert size_in_words("list", [20, 30]) == "; usually many items"
    assert size_in_words("list", []) == size_in_words("record", [3]) == ""


def test_a_complaint_names_the_arguments_that_it_is_about():
    assert named_arguments("Assignee email not valid.", ("assigned_to_email", "due_date", "list_name")) == {
        "assigned_to_email"
    }
    assert named_arguments("List not valid.", ("assigned_to_email", "due_date", "list_name")) == {"list_name"}
    assert named_arguments("ValueError: time data does not match", ("start_time", "end_time")) == frozenset()
    assert named_arguments("Nothing there: <EMAIL>", ("email",)) == frozenset()


def test_what_a_validator_says_of_a_field_is_the_complaint():
    said = (
        "ValidationError: 1 validation error for Input schema for `get` / name / Input should be a valid list [type=li"
    )
    assert generalize(said) == "name: Input should be a valid list"


def test_dates_and_numbers_do_not_stay_in_a_quoted_error():
    assert generalize("ValueError: time data '2024-05-01T10:00' does not match, row 17") == (
        "ValueError: time data '<DATE>' does not match, row <VALUE>"
    )


def test_what_stands_below_the_first_line_of_an_error_is_not_quoted():
    said = "seats not held: row: <ID> / next step: since the last release, refunds leave through <VALUE>"
    assert generalize(said) == "seats not held: row: <VALUE>"


def test_several_words_that_an_error_quotes_are_a_value():
    assert generalize("Error: filter should be «DOME CLOSED STOP»") == "Error: filter should be <VALUE>"
    assert generalize("filter must not be 'send frames to us'") == "filter must not be <VALUE>"
    for said in ("'str' object has no attribute 'append'", "the user's order can't be the customer's"):
        assert generalize(said) == said
