"""Plain words: what identifies nothing stays readable; what may be a name does not."""

from __future__ import annotations

import pytest

from contramem.contrast.plain_words import (
    could_be_a_choice,
    is_general,
    is_plain,
    is_plain_compound,
    is_plain_in_prose,
    is_plain_word,
    is_unknown_constant,
    may_name_constant,
)


@pytest.mark.parametrize(
    "text",
    ["Backlog", "START", "general", "done", "Lost", "Won", "Services", "engaged_users", "sales-desk",
     "lunch", "Reminder", "Lunch?"],
)  # fmt: skip
def test_ordinary_words_identify_nothing(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    "text",
    ["Cook", "Banks", "Grant", "Penny", "Carly", "Reed", "Rose", "Emma", "Paris", "Good Night", "Luxury Palace",
     "Front End", "Late delivery", "Ann Lee", "lunch with Sarah", "a four word phrase", "room 12", ""],
)  # fmt: skip
def test_what_may_be_a_name_is_not_plain(text: str) -> None:
    assert not is_plain(text)


def test_a_word_that_people_are_called_is_plain_in_lower_case() -> None:
    assert is_plain("cook") and not is_plain("Cook")


def test_general_words_name_nobody_even_with_a_capital() -> None:
    assert is_general("identify") and not is_general("hope") and not is_general("lunch")


@pytest.mark.parametrize("word", ["TypeError", "NoSuchKeyException", "UserWarning", "True", "Cannot", "Verification"])
def test_words_of_programs_and_plans_identify_nobody(word: str) -> None:
    assert is_plain_word(word)


@pytest.mark.parametrize(
    "word", ["Determination", "Considerations", "Simplified", "Boundaries", "Carefully", "Historical"]
)
def test_a_word_made_from_another_identifies_nobody(word: str) -> None:
    assert is_plain_word(word)


@pytest.mark.parametrize("word", ["Clement", "Keating", "Emily", "Davies", "Marion", "Addison", "Vermont", "Lawrence"])
def test_a_name_with_the_ending_of_such_a_word_is_a_name(word: str) -> None:
    assert not is_plain_word(word)


@pytest.mark.parametrize("word", ["Terror", "Newark", "BaseTest", "Errorson"])
def test_a_name_that_looks_like_one_of_them_is_a_name(word: str) -> None:
    assert not is_plain_word(word)


@pytest.mark.parametrize(
    "word", ["Instead", "Isn't", "We’re", "Unused", "Correctly", "Indices", "Philosophy", "Better"]
)
def test_a_form_of_an_ordinary_word_identifies_nobody(word: str) -> None:
    assert is_plain_word(word)


@pytest.mark.parametrize("word", ["Jared", "Boyd", "Ford", "Janes", "Wells", "Drew", "Max", "Lind", "Coates"])
def test_a_name_that_only_ends_like_a_form_of_a_word_is_a_name(word: str) -> None:
    assert not is_plain_word(word)


def test_words_joined_by_hyphens_are_plain_if_each_is() -> None:
    assert is_plain_compound("Read-only") and is_plain_compound("Cross-check")
    assert not is_plain_compound("Jean-Luc") and not is_plain_compound("Reed-Baker")


@pytest.mark.parametrize(
    "text", ["Raisins", "Academy", "Haunting", "Self-esteem", "Square-free", "SNAKE", "Mar-riage", "Vetting"]
)
def test_a_word_for_a_thing_is_plain_in_prose_only(text: str) -> None:
    assert is_plain_in_prose(text)
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text",
    ["Hawaii-related", "Manning", "Banning", "Miles", "Wes", "Shirly", "PaLM", "Emma", "Wolf", "Mercury", "Subway",
     "Jean-Luc", "Combs", "Hays", "Rich", "Masters"],
)  # fmt: skip
def test_a_name_is_none_of_these_words(text: str) -> None:
    assert not is_plain_in_prose(text)


@pytest.mark.parametrize(
    "value", ["Trinova", "ski-patrol", "kiel-north", "GL-4410", "In Progress", "out of stock", "pendiente de pago"]
)
def test_a_word_a_code_and_a_few_words_of_one_language_can_be_a_choice(value: str) -> None:
    assert could_be_a_choice(value)


@pytest.mark.parametrize("value", ["ask Zanmel first", "per zanmelk", "to zanmelk", "kg via Zanmelk", "mellowlagoon19"])
def test_english_words_around_a_name_and_a_word_with_a_number_are_no_choice(value: str) -> None:
    assert not could_be_a_choice(value)


@pytest.mark.parametrize("name", ["desk", "lot_size", "reasonCode", "country_code", "cost_center", "qty", "mode"])
def test_a_card_may_show_the_constant_of_an_argument_that_sorts_things(name: str) -> None:
    assert may_name_constant(name)


@pytest.mark.parametrize("name", ["code", "keypad_code", "lockerCode", "safe_combination", "wachtwurd", "გასაღები"])
def test_a_card_shows_no_constant_that_may_open_something(name: str) -> None:
    assert not may_name_constant(name)


def test_the_only_value_that_is_ever_given_is_shown_only_if_it_is_a_word_or_a_code_of_ours() -> None:
    for value in ("pending", "GBP", "in progress"):
        assert not is_unknown_constant([value])
    for value in ("ibis/onyx", "fulmar pumice", "zanmelkux"):
        assert is_unknown_constant([value])
    assert not is_unknown_constant([])
    assert not is_unknown_constant(["zanmelkux", "pending"])
