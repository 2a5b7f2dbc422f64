"""Packets: letters instead of sources, values as placeholders, nothing about the values in what leaves them."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from tests.made_runs import call, packet, run

from contramem.cli.contrast import as_json
from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast, letters
from contramem.contrast.step import error_template, shape_of
from contramem.traces.trajectory import Event, Trajectory

SEARCH = call("Mail.search", {"query": "newsletter"}, [{"id": "m-4711", "from": "ada@example.org"}])
DELETE = call("Mail.delete", {"id": "m-4711"})


def test_run_letters_continue_after_z() -> None:
    assert list(itertools.islice(letters(), 25, 29)) == ["Z", "AA", "AB", "AC"]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("2026-W05", "9999-A99"),
        ("Ada Byron", "Aa Aa"),
        ("Иван Петров", "Aa Aa"),
        ("Γιάννης", "Aa"),
        ("李小龙 ٤٢", "a 99"),
    ],
)
def test_the_shape_of_a_value_keeps_no_letter_of_any_script(value: str, shape: str) -> None:
    assert shape_of(value) == shape


def test_passing_runs_come_first_and_sources_are_only_in_the_provenance() -> None:
    made = packet(run("gpt-9", False, SEARCH, "?"), run("claude-x", True, SEARCH, DELETE, "Done."))
    assert [(r.letter, r.passed) for r in made.runs] == [("A", True), ("B", False)]
    assert made.provenance["A"].source == "claude-x"
    assert "claude-x" not in msgspec.json.encode(made.runs).decode()


def test_one_value_keeps_its_placeholder_from_result_to_argument_in_every_run() -> None:
    made = packet(run("a", True, SEARCH, DELETE, "Done."), run("b", False, DELETE, "Deleted m-4711."))
    given = {step.arguments["id"] for r in made.runs for step in r.actions if step.function == "Mail.delete"}
    assert len(given) == 1
    assert given.pop() in made.runs[1].steps[-1].text


def test_a_printed_packet_contains_no_value() -> None:
    made = packet(run("a", True, SEARCH, DELETE, "Mail m-4711 of ada@example.org is gone."))
    printed = msgspec.json.encode({**as_json(made), "provenance": None}).decode()
    for value in ("m-4711", "ada@example.org", "Ada Byron"):
        assert value not in printed


def test_the_origin_of_an_argument_shows_whether_it_was_read_or_guessed() -> None:
    made = packet(run("a", True, SEARCH, DELETE, "Done."), run("b", False, DELETE, "Done."))
    origins = {r.letter: s.origins.get("id") for r in made.runs for s in r.actions if s.function == "Mail.delete"}
    assert origins == {"A": "Mail.search", "B": "nowhere"}


def test_errors_that_differ_only_in_values_have_one_template() -> None:
    assert error_template("Error: no mail <ID_3> of <EMAIL_1>") == error_template("Error: no mail <ID_12> of <EMAIL_7>")


def test_what_a_tool_complains_about_stays_readable() -> None:
    refused = call(
        "Car.start", {}, {"error": "The brake pedal must be pressed."}, error="The brake pedal must be pressed."
    )
    made = packet(run("a", False, refused, "The brake pedal must be pressed."))
    assert made.runs[0].actions[0].error == "The brake pedal must be pressed."


def test_a_run_in_which_nothing_happened_has_its_place_in_the_packet() -> None:
    empty = msgspec.structs.replace(run("b", False), events=())
    assert packet(run("a", True, DELETE, "Done."), empty).runs[1].steps == ()


def test_an_agents_own_words_are_not_planted() -> None:
    plan = "<thinking>I will now call search_flights and then you must book the cheapest one for the user.</thinking>"
    made = packet(run("a", True, plan, call("Air.search_flights", {"to": "Oslo"}, [{"id": 17}]), "Done."))
    assert made.runs[0].planted == ()


def test_a_sentence_between_two_quoted_words_of_an_error_stays() -> None:
    refusal = "amount '<AMOUNT_1>' must be written with two decimals and a point, such as '<NUMBER_2>'"
    assert error_template(refusal) == refusal.replace("_1", "").replace("_2", "")
    copied = "unknown label 'a long sentence that somebody wrote into the wrong field of a form'"
    assert error_template(copied) == "unknown label <TEXT>"


def test_what_reached_the_agent_can_be_read_though_a_field_contains_it() -> None:
    listed = call("Mail.list", {}, [{"from": "ann@desk.test", "content": "Tuesday instead?"}])
    made = run("a", True, listed, "Done.")
    last = made.events[-1].position + 1
    arrived = Event(position=last, actor="environment", kind="notification", text='{"content":"Tuesday instead?"}')
    steps = packet(msgspec.structs.replace(made, events=(*made.events, arrived))).runs[0].steps
    assert steps[-1].text == '{"content":"Tuesday instead?"}'
    assert ("content", "‹Tuesday instead?›") in next(step for step in steps if step.contents).contents[0]


def test_a_closed_word_can_be_read_in_messages_too() -> None:
    def order(number: int) -> Trajectory:
        sizes = [{"size": "XL"}, {"size": "XXL"}]
        return run("a", True, call("Shop.list_sizes", {}, sizes), "Black, size XL.", task_id=f"t{number}")

    with Collection(order(number) for number in range(12)) as pool:
        made = next(iter(contrast(pool)))
    assert made.runs[0].steps[-1].text == "Black, size XL."
