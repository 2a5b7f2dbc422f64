"""Lists of permitted values are found in the words that tools and validators use, and only there."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.permitted import find_allowed_values, find_documented_values, role_of


@pytest.mark.parametrize(
    ("refusal", "values", "slots", "role"),
    [
        ("triage must be one of 'routine', 'urgent'", ("routine", "urgent"), [("triage", "high")], "triage"),
        ("Value to plot must be one of 'a b', 'c_d'", ("a b", "c_d"), [("value_to_plot", 1)], "value_to_plot"),
        ("invalid severity 'low', expected one of: info, warn", ("info", "warn"), [("severity", "low")], "severity"),
        (
            "Input should be 'r' or 'rw' [type=enum, input_value='read']",
            ("r", "rw"),
            [("permission", "read")],
            "permission",
        ),
        ("'foo' is not one of ['a', 'b', 'c']", ("a", "b", "c"), [("mode", "foo"), ("x", "bar")], "mode"),
        ("invalid choice: 'x' (choose from 'fast', 'slow')", ("fast", "slow"), [("speed", "x")], "speed"),
        ("Invalid enum value. Expected 'asc' | 'desc', received 'up'", ("asc", "desc"), [("order", "up")], "order"),
        ("Valid statuses are: open, closed, pending.", ("open", "closed", "pending"), [("a", "p"), ("b", "q")], None),
        ("supported units are celsius and kelvin", ("celsius", "kelvin"), [("unit", "x")], None),
        ("cabin must be either economy or business", ("economy", "business"), [("cabin", "x")], "cabin"),
        ("Field 'sort_by' must be in ('name', 'date')", ("name", "date"), [("sort_by", "x")], "sort_by"),
    ],
)
def test_a_list_is_found_with_the_argument_that_it_is_for(refusal, values, slots, role):
    found = find_allowed_values(refusal)
    assert found is not None and found.values == values
    assert role_of(refusal, found, slots) == role


@pytest.mark.parametrize(
    "refusal",
    [
        "One of the passengers was not found and the booking failed",
        "The order must be pending.",
        "Expected an integer, got a string",
        "No such file or directory",
        "",
    ],
)
def test_a_sentence_that_only_resembles_a_list_is_not_a_list(refusal):
    assert find_allowed_values(refusal) is None


@given(st.text(max_size=400))
def test_any_text_is_read_without_harm(text):
    found = find_allowed_values(f"must be one of {text}")
    assert found is None or len(found.values) > 1


@pytest.mark.parametrize(
    ("description", "values"),
    [
        ("A1, B2, C3 or D4", ("A1", "B2", "C3", "D4")),
        ("type of service (Default, Premium, Van)", ("Default", "Premium", "Van")),
        ("The folder to look in: INBOX, SENT, DRAFT. Defaults to INBOX.", ("INBOX", "SENT", "DRAFT")),
        ("One of 'fast-lane', 'slow-lane'.", ("fast-lane", "slow-lane")),
        ("Who it is for, such as Ann, Bob or Carl", ()),
        ("People to invite (e.g. Ann, Bob)", ()),
        ("Name, part of it, or SKU", ()),
        ("How many", ()),
        ("", ()),
    ],
)
def test_values_that_documentation_lists_are_found_and_examples_are_not(
    description: str, values: tuple[str, ...]
) -> None:
    assert find_documented_values(description) == values


def test_a_list_too_long_for_a_card_is_passed_over_at_once() -> None:
    words = ",   ".join(f"C{chr(65 + number)}" for number in range(26))
    started = time.process_time()
    assert find_documented_values(f"Codes: {words}, and more than these") == ()
    assert find_allowed_values(f"Code must be one of: {words}, and more than these") is None
    assert time.process_time() - started < 1
