"""Taken from: passing runs take a value from one of the places where it stands."""

from __future__ import annotations

from tests.made_runs import Call, call, packet, run

from contramem.build.rules.kinds.taken_from import TakenFrom
from contramem.guards.packets import replay

PROFILE = call("Shop.get_profile", {}, {"card_id": "card-771-new"})
ORDERS = call("Shop.get_orders", {}, [{"card_id": "card-100-old"}])


def pay(card_id: str) -> Call:
    return call("Shop.pay", {"card_id": card_id})


STORY = packet(
    run("a", True, PROFILE, ORDERS, pay("card-771-new"), "Paid."),
    run("b", True, ORDERS, PROFILE, pay("card-771-new"), "Paid."),
    run("c", False, PROFILE, ORDERS, pay("card-100-old"), "Paid."),
)


def test_the_place_that_passing_runs_take_the_value_from_becomes_the_rule() -> None:
    guards = {str(guard): guard for guard in TakenFrom.propose(STORY)}
    right = guards["existence(Shop.pay[card_id from Shop.get_profile]) when Shop.pay"]
    replayed = replay(right, STORY)
    assert TakenFrom.is_cause(replayed, STORY, ())
    rule = TakenFrom.learn(replayed, STORY)
    assert (rule.argument, rule.source, rule.others) == ("card_id", "Shop.get_profile", ("Shop.get_orders",))
    assert rule.guards == (right,)


def test_a_value_that_stands_in_one_place_only_is_no_choice() -> None:
    story = packet(
        run("a", True, PROFILE, pay("card-771-new"), "Paid."), run("b", False, PROFILE, pay("card-771-new"), "Paid.")
    )
    assert not list(TakenFrom.propose(story))
