"""What mining finds in a made-up shop, and what it must not claim."""

import random
from typing import Any

from msgspec.structs import replace as structs_replace
from tests.mining.shop import Run, learn, made_runs, mine

from contramem.mining.matrix import join_shared
from contramem.traces.trajectory import Trajectory

RNG = random.Random(5)
ORDERS = [
    {
        "id": f"A-{n:03}",
        "tier": "gold" if n % 3 == 0 else "plain",
        "total": RNG.randrange(20, 900),
        "city": RNG.choice(("Aix", "Bern", "Cork", "Delft")),
    }
    for n in range(24)
]


def refund(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
    """Orders of gold customers are not refunded but handed to the desk; some of the others are, too."""
    run.look("find_order", order, id=order["id"])
    is_gold = order["tier"] == "gold"
    refunds = rng.random() < (0.5 if is_gold else 0.8)
    run.call("refund" if refunds else "hand_over", id=order["id"])
    return not (refunds and is_gold)


def test_a_call_that_is_wrong_under_a_condition_is_found() -> None:
    guards = [guard for lesson in learn(made_runs(refund, ORDERS)) for guard in lesson.text.guards]
    assert guards in (
        ["absence(shop.refund) when shop.find_order.tier = gold"],
        ["existence(shop.hand_over) when shop.find_order.tier = gold"],
    )


def test_where_a_call_is_wrong_the_card_says_what_passing_runs_did_instead() -> None:
    def close(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
        passed = refund(run, order, rng)
        if rng.random() < 0.5:
            run.call("hand_over", id=order["id"])
        return passed

    rules = [lesson.text.skill.core_rule for lesson in learn(made_runs(close, ORDERS))]
    assert any("o not call `refund`" in rule for rule in rules)


def test_conditions_that_few_tasks_cannot_tell_apart_are_named_and_none_is_a_guard() -> None:
    orders = [order | {"zone": "north" if order["tier"] == "gold" else "south"} for order in ORDERS[:15]]
    lessons = learn(made_runs(refund, orders))
    assert lessons
    for lesson in lessons:
        assert lesson.grade == "open"
        assert not lesson.text.guards


def test_what_a_value_is_copied_from_is_found() -> None:
    def ship(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
        shown = order | {"depot": f"D{order['total']}", "store": f"S{order['total']}"}
        run.look("find_order", shown, id=order["id"])
        right = rng.random() < 0.6
        run.call("ship", order=order["id"], origin=shown["depot" if right else "store"])
        return right

    guards = [guard for lesson in learn(made_runs(ship, ORDERS)) for guard in lesson.text.guards]
    assert guards == ["existence(shop.ship[origin from shop.find_order.depot]) when shop.ship"]


def test_the_record_that_is_to_be_chosen_is_found() -> None:
    def pay(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
        draw = random.Random(order["id"])
        bills = [
            {
                "bill": f"B{draw.randrange(1000, 9999)}",
                "due": f"2026-0{draw.randrange(1, 9)}-1{k}",
                "sum": draw.randrange(90),
            }
            for k in range(4)
        ]
        run.look("list_bills", bills, id=order["id"])
        right = rng.random() < 0.6
        oldest = min(bills, key=lambda bill: bill["due"])
        run.call("pay", bill=oldest["bill"] if right else next(b["bill"] for b in bills if b is not oldest))
        return right

    said = [str(rule.statement) for rule in mine(made_runs(pay, ORDERS))]
    assert said == ["existence(shop.pay[bill picks lowest due of shop.list_bills]) when shop.pay"]


def test_outcomes_that_have_nothing_to_do_with_the_calls_teach_nothing() -> None:
    def luck(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
        run.look("find_order", order, id=order["id"])
        run.call("ship", order=order["id"], fast=rng.random() < 0.5)
        if rng.random() < 0.5:
            run.call("note", order=order["id"])
        return rng.random() < 0.5

    assert [lesson for lesson in learn(made_runs(luck, ORDERS)) if lesson.grade != "open"] == []


def test_texts_that_only_the_agent_reads_teach_nothing() -> None:
    def think(run: Run, order: dict[str, Any], rng: random.Random) -> bool:
        right = rng.random() < 0.5
        for step in range(4):
            thought = "I will look at the input first" if right else "I will click on the first thing"
            run.call("step", effect="unknown", memory=f"{thought} and see, step {step}", url="page")
        return right

    assert not [rule for rule in mine(made_runs(think, ORDERS)) if rule.statement.argument == "memory"]


def test_runs_that_share_one_verdict_count_as_one() -> None:
    runs = [structs_replace(run, run=str(trial)) for run in made_runs(refund, ORDERS[:5]) for trial in range(4)]
    assert len(join_shared(runs)) == len(runs) / 4
    mixed: list[Trajectory] = made_runs(refund, ORDERS[:5])
    assert len(join_shared(mixed)) == len(mixed)
