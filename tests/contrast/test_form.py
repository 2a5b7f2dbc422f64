"""The form of what a call returned, without what was in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.form import MAX_LEAVES, Leaf, is_field, parse, parse_recorded


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (None, "nothing"),
        ("", "nothing"),
        ("[]", "empty"),
        ("No results found.", "empty"),
        ("No events found.", "empty"),
        ("No room was found.", "empty"),
        ("No such file: lost and found.", "text"),
        ("- general\n- random", "list of 2 items"),
        ("content: a long\n  text that\n  goes on\n  and on\n  and on\n  and on\nowner: x", "record (content, owner)"),
        ({}, "empty"),
        (True, "boolean"),
        (3.5, "number"),
        ("Sent.", "text"),
        ('{"id": 1, "name": "x"}', "record (id, name)"),
        ("{'id': 1, 'name': None}", "record (id, name)"),
        ([{"id": 1}, {"id": 2, "to": 3}], "list of 2 items (id, to)"),
        ({"Le Marais": 4, "Zora Quibble": 5}, "map of 2 entries"),
        ({"a@b.org": {"id": 1}, "c@d.org": {"id": 2}}, "map of 2 entries (id)"),
        ("- id: 1\n  name: x\n- id: 2\n  name: y", "list of 2 items (id, name)"),
        ("id: 1\nname: x", "record (id, name)"),
        ("Note: this is prose.", "text"),
        ('{"broken": ', "text"),
    ],
)
def test_the_form_of_a_result_is_described_in_words(content: Any, form: str) -> None:
    assert str(parse(content).form) == form


def test_leaves_keep_the_field_they_stood_in_and_keys_that_are_data_are_leaves() -> None:
    parsed = parse({"hotels": {"Le Marais": {"price": 5}}, "tags": ["a", "b"], "none": None, "ok": True})
    assert parsed.leaves == (Leaf("hotels", "Le Marais"), Leaf("price", 5), Leaf("tags", "a"), Leaf("tags", "b"))


@pytest.mark.parametrize("key", ["sender", "orderId", "last_modified", "id_", "line1", "URL", "content-type"])
def test_fields_are_part_of_the_form(key: str) -> None:
    assert is_field(key)


@pytest.mark.parametrize("key", ["Le Marais", "9513926", "a@b.org", "Zora", "", "x" * 41, "https://x", "W2378156"])
def test_keys_that_could_be_data_are_data(key: str) -> None:
    assert not is_field(key)


def test_only_the_start_of_a_very_long_list_is_inspected() -> None:
    assert len(parse(list(range(10 * MAX_LEAVES))).leaves) == MAX_LEAVES


def test_deep_nesting_does_not_recurse() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert parse(deep).leaves == (Leaf("", "x"),)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "(" * 5000, "{'a': " * 3000, '{"a": "\\ud800"}', "[1" + "+1" * 9000 + "]"]
)
def test_hostile_text_is_text(text: str) -> None:
    assert parse(text).form.kind in ("text", "record", "list")


@given(st.text(max_size=300))
def test_any_text_has_a_form(text: str) -> None:
    assert str(parse(text).form)


def test_booleans_are_shown_and_are_no_values() -> None:
    parsed = parse({"room": "r-1", "heated": True})
    assert [leaf.value for leaf in parsed.leaves] == ["r-1"]
    assert [leaf.value for leaf in parsed.shown] == ["r-1", True]
    assert parse({"room": "r-1"}).shown == parse({"room": "r-1"}).leaves


def test_a_recorded_result_is_parsed_once_and_an_equal_one_by_itself() -> None:
    rows, equal = [{"id": 1}], [{"id": True}]
    assert rows == equal, "for Python, though not for whoever reads it"
    assert parse_recorded(rows) is parse_recorded(rows)
    assert [parse_recorded(content) for content in (rows, equal, "id: 1\nto: x", None)] == [
        parse(content) for content in (rows, equal, "id: 1\nto: x", None)
    ]
