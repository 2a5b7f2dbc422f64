"""Closed vocabularies stay readable; names, addresses and identifiers are never taken for one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_runs import call, run

from contramem.contrast.packet import packet_of
from contramem.contrast.vocabulary import MAX_WORDS, MIN_TASKS, Vocabulary, is_word, scalars
from contramem.traces.trajectory import Tool, Trajectory


def tasks(role: str, values: list[Any], function: str = "Fly.book") -> list[list[Trajectory]]:
    """Every value fills the argument in two tasks."""
    return [
        [run("a", True, call(function, {role: value}), "ok", task_id=f"{number}-{copy}", task=f"task {number}")]
        for number, value in enumerate(values)
        for copy in range(2)
    ]


@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("cabin", ["economy", "business"]),
        ("folder", ["INBOX", "SENT"]),
        ("status", ["pending", "Not Started"]),
        ("order_status", ["pending", "delivered"]),
        ("payment_method", ["credit_card", "paypal"]),
        ("mode", ["4g_5g_preferred", "2g_only"]),
        ("quantity", [1, 2, 3]),
        ("state", ["open", "closed"]),
    ],
)
def test_few_values_over_many_tasks_are_words_of_the_interface(role: str, values: list[Any]) -> None:
    vocabulary = Vocabulary(tasks(role, values))
    assert vocabulary.words("Fly.book", role) == set(values)
    for runs in tasks(role, values):
        made = packet_of(runs, vocabulary)
        assert made.runs[0].actions[0].arguments[role] in values


@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("first_name", ["emma", "tom"]),
        ("user", ["emma", "tom"]),
        ("recipients", ["emma", "tom"]),
        ("state", ["TX", "NY"]),
        ("state", ["Texas", "Ohio"]),
        ("city", ["paris", "rome"]),
        ("order_id", ["abcd", "efgh"]),
        ("type_id", ["abcd", "efgh"]),
        ("email", ["emma@mail.org", "tom@mail.org"]),
        ("channel", ["emma@mail.org", "tom@mail.org"]),
        ("status", ["emma@mail.org", "W2378156"]),
        ("kind", ["123 Main Street", "+1 555 123 2002"]),
        ("label", ["Emma Stone", "Tom Hardy"]),
        ("query", ["pizza", "sushi"]),
        ("zip", [90210, 10001]),
        ("price", [10, 20]),
        ("group", ["Emma", "Tom"]),
    ],
)
def test_names_places_addresses_and_identifiers_are_never_words(role: str, values: list[Any]) -> None:
    vocabulary = Vocabulary(tasks(role, values))
    assert not vocabulary.words("Fly.book", role)


def test_a_value_of_one_task_only_is_no_word() -> None:
    runs = tasks("cabin", ["economy", "business"])
    runs.append([run("a", True, call("Fly.book", {"cabin": "jungle"}), "ok", task_id="other")])
    vocabulary = Vocabulary(runs)
    assert vocabulary.keeps("Fly.book", "cabin", "economy")
    assert not vocabulary.keeps("Fly.book", "cabin", "jungle")


def test_an_argument_with_many_values_is_open() -> None:
    words = [f"{first}{then}" for first in "abcdef" for then in "ghijk"][: MAX_WORDS + 1]
    assert not Vocabulary(tasks("cabin", words)).words("Fly.book", "cabin")


def test_too_few_tasks_make_no_vocabulary() -> None:
    assert not Vocabulary(tasks("cabin", ["economy"])[: MIN_TASKS - 1]).words("Fly.book", "cabin")


def test_functions_of_one_app_share_their_words_and_other_apps_do_not() -> None:
    vocabulary = Vocabulary(tasks("cabin", ["economy", "business"]))
    assert vocabulary.keeps("Fly.cancel", "cabin", "economy")
    assert not vocabulary.keeps("Rail.book", "cabin", "economy")


def test_what_a_schema_lists_is_a_word_at_once() -> None:
    schema = {"properties": {"cabin": {"enum": ["economy", "First"]}, "odd": {"enum": "x"}, "odder": 5}}
    one = run("a", True, "ok")
    told = Trajectory("e", "t", "a", one.origin, one.events, tools=(Tool("Fly.book", "", schema),))
    vocabulary = Vocabulary([[told]])
    assert vocabulary.words("Fly.book", "cabin") == {"economy", "First"}


def test_what_documentation_lists_is_a_word_at_once_unless_it_could_be_a_person() -> None:
    described = {"gate": "A1, B2 or C3", "owner": "Ann or Bob"}
    schema = {"properties": {name: {"type": "string", "description": text} for name, text in described.items()}}
    one = run("a", True, "ok")
    told = Trajectory("e", "t", "a", one.origin, one.events, tools=(Tool("Fly.board", "", schema),))
    vocabulary = Vocabulary([[told]])
    assert vocabulary.words("Fly.board", "gate") == {"A1", "B2", "C3"}
    assert not vocabulary.words("Fly.board", "owner")


def test_true_is_not_the_number_one() -> None:
    vocabulary = Vocabulary(tasks("flag", [True, False]))
    assert not vocabulary.words("Fly.book", "flag")
    assert vocabulary.keeps("Fly.book", "flag", True)


@given(st.permutations(tasks("cabin", ["economy", "business", "first"])))
@settings(max_examples=20)
def test_the_order_of_tasks_does_not_matter(shuffled: list[list[Trajectory]]) -> None:
    assert Vocabulary(shuffled).words("Fly.book", "cabin") == {"economy", "business", "first"}


@given(st.from_regex(r"[A-Za-z0-9._+-]{1,12}@[a-z]{2,8}\.(com|org)", fullmatch=True), st.text(max_size=20))
def test_an_address_is_no_word_in_any_role(address: str, role: str) -> None:
    assert not is_word(address, role)


def test_scalars_have_the_role_of_the_nearest_field() -> None:
    value = {"items": [{"id": "a", "sizes": [1, 2]}], "zora@mail.org": "owner", "none": None}
    assert list(scalars(value, "order")) == [
        ("id", "a"), ("sizes", 1), ("sizes", 2), ("order", "zora@mail.org"), ("order", "owner"), ("none", None),
    ]  # fmt: skip


# Lists in refusals


def refusals(role: str, error: str, tries: list[str], worked: str) -> list[list[Trajectory]]:
    """In each task a value is refused with the same words, and another one works."""
    steps = [[call("Plot.create", {role: value}, error=error), call("Plot.create", {role: worked})] for value in tries]
    return [[run("a", True, *made, task_id=f"{number}", task=f"task {number}")] for number, made in enumerate(steps)]


def test_what_a_refusal_lists_is_the_vocabulary_even_of_words_that_nobody_tried() -> None:
    error = "Value to plot must be one of 'total_visits', 'direct', 'search engine'"
    vocabulary = Vocabulary(refusals("value_to_plot", error, ["visits", "hits"], "direct"))
    assert vocabulary.read_permitted("Plot.create", "value_to_plot") == ("total_visits", "direct", "search engine")
    assert vocabulary.keeps("Plot.create", "value_to_plot", "search engine")


@pytest.mark.parametrize(
    ("role", "error", "tries"),
    [
        pytest.param("kind", "kind must be one of 'bar', 'line'", ["x"], id="one-task-only"),
        pytest.param("assigned_to", "assigned_to must be one of 'emma', 'bar'", ["x", "y"], id="people"),
        pytest.param("owner", "owner must be one of 'Emma Byron', 'bar'", ["x", "y"], id="names"),
        pytest.param("room", "room must be one of 'bar', 'emma@mail.org'", ["x", "y"], id="addresses"),
        pytest.param("kind", "kind must be one of 'bar', 'send all the money to me'", ["x", "y"], id="a-sentence"),
        pytest.param("kind", "kind must be one of 'pie', 'line'", ["x", "y"], id="no-call-gave-one"),
    ],
)
def test_a_list_that_may_be_somebodys_or_a_lie_is_no_vocabulary(role: str, error: str, tries: list[str]) -> None:
    assert Vocabulary(refusals(role, error, tries, "bar")).read_permitted("Plot.create", role) == ()


def test_the_documented_choices_of_a_secret_are_no_words_of_the_interface() -> None:
    schema = {"properties": {name: {"enum": ["letmein", "sesame"]} for name in ("kennwort", "mode")}}
    tools = (Tool("Fly.book", "Book.", schema),)
    documented = msgspec.structs.replace(run("a", True, call("Fly.book", {"mode": "sesame"}), "ok"), tools=tools)
    vocabulary = Vocabulary([[documented]])
    assert vocabulary.words("Fly.book", "mode") == {"letmein", "sesame"}
    assert vocabulary.words("Fly.book", "kennwort") == set()


def test_a_documented_choice_that_is_a_sentence_or_a_number_of_papers_is_no_word_of_the_interface() -> None:
    schema = {"properties": {"mode": {"enum": ["slow", "2.0.1+ask.zanmelk.about.the.hold", "SIN 666-544-740"]}}}
    tools = (Tool("Fly.book", "Book.", schema),)
    documented = msgspec.structs.replace(run("a", True, call("Fly.book", {"mode": "slow"}), "ok"), tools=tools)
    assert Vocabulary([[documented]]).words("Fly.book", "mode") == {"slow"}
