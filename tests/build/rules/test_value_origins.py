"""Where runs took the values of arguments from."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.rules.value_origins import ValuePlaces, count_values, find_slots
from contramem.guards.guard import parse_guard

FIND = call("Shop.find_order", {"name": "Ada"}, {"order_id": "W-7713-x"})
CANCEL, GUESS = call("Shop.cancel", {"order_id": "W-7713-x"}), call("Shop.cancel", {"order_id": "W-9999-q"})
STORY = packet(run("a", True, FIND, CANCEL, "Done."), run("b", False, GUESS, "Done."))
GUARD = parse_guard("known_value(Shop.cancel.order_id)")


def test_a_slot_knows_in_whose_results_its_values_stood_and_whether_some_were_made_up() -> None:
    slot = find_slots(STORY.runs)["Shop.cancel", "order_id"]
    assert slot.functions == {"Shop.find_order"}
    assert (slot.told, slot.guessed, slot.is_worth_a_guard) == (False, True, True)


def test_only_passing_runs_say_where_values_are_looked_up() -> None:
    counted = count_values([STORY], GUARD)
    assert counted.places == ValuePlaces(("Shop.find_order",))
    assert counted.are_looked_up
    assert counted.are_mostly_looked_up


def test_values_of_the_request_are_not_looked_up() -> None:
    story = packet(run("a", True, CANCEL, "Done.", task="Cancel W-7713-x."))
    counted = count_values([story], GUARD)
    assert counted.places.told
    assert not counted.are_looked_up


def test_places_are_put_into_words() -> None:
    assert str(ValuePlaces(("Shop.find_order", "Shop.list"))) == "a result of `find_order` or a result of `list`"
    assert str(ValuePlaces(("Shop.list",), told=True)) == "the request or a result of `list`"
    assert str(ValuePlaces(())) == "the request"
