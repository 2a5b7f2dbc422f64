"""What has to come first: told when refusals prove it, on the cards of both functions."""

import pytest
from tests.made_runs import call, packet, run

from contramem.build.functions.card import build_function_card
from contramem.contrast.observation import by_function
from contramem.contrast.vocabulary import Vocabulary

CLOSED = "Error: order is closed"


def made(*stories):
    """The cards of the functions that runs call. A story is a list of (function, works) on one order of its run."""
    runs = [
        run(f"m{n}", True, *(step(name, works, n) for name, works in story), task=f"Do it {n}.", task_id=f"t{n}")
        for n, story in enumerate(stories)
    ]
    observations = by_function(packet(one) for one in runs)
    cards = {name: build_function_card(name, calls, None, Vocabulary()) for name, calls in observations.items()}
    return {name.partition(".")[2]: card for name, card in cards.items() if card}


def step(name, works, n):
    return call(f"Shop.{name}", {"order_id": f"#W{1000 + n}"}, "done" if works else CLOSED, None if works else CLOSED)


SHIP_FIRST = [("change_address", True), ("change_items", True)]
ITEMS_FIRST = [("change_items", True), ("change_address", False)]


def test_a_call_that_is_refused_after_another_on_the_same_thing_says_so_on_both_cards():
    cards = made(*[SHIP_FIRST] * 6, *[ITEMS_FIRST] * 4)
    assert cards["change_address"].usage_rules[0] == (
        'After `change_items` on the same `order_id` it was refused in 4 of 4 calls ("Error: order is closed"), '
        "against 0 of 6 otherwise; the other way round, `change_items` worked in 6 of 6: call this one first."
    )
    assert cards["change_items"].usage_rules[0] == (
        "After it, `change_address` on the same `order_id` was refused in 4 of 4 calls; before it, it worked in 6 of 6"
        ": call that one first."
    )


@pytest.mark.parametrize(
    "stories",
    [
        pytest.param([*[SHIP_FIRST] * 6, *[ITEMS_FIRST] * 2], id="too-few"),
        pytest.param([*[[("change_address", False)]] * 6, *[ITEMS_FIRST] * 4], id="refused-anyway"),
        pytest.param([*[SHIP_FIRST] * 6, [("change_items", True), *[("change_address", False)] * 9]], id="one-run"),
    ],
)
def test_what_chance_or_one_run_explains_is_no_order(stories):
    card = made(*stories).get("change_address")
    assert card is None or not any(rule.startswith("After") for rule in card.usage_rules)


def test_two_calls_that_shut_each_other_out_leave_a_choice():
    both = [[("give_back", True), ("swap_items", False)], [("swap_items", True), ("give_back", False)]]
    cards = made(*both * 5, *[[("give_back", True)], [("swap_items", True)]] * 5)
    assert cards["swap_items"].usage_rules[0].endswith("`give_back` was refused in all 5: choose one of the two.")


def test_what_works_once_for_each_thing_says_so():
    card = made(*[[("give_back", True), ("give_back", False)]] * 4, *[[("give_back", True)]] * 6)["give_back"]
    assert card.usage_rules[0] == (
        "It works once per `order_id`: after one that worked, another was refused in 4 of 4 calls "
        '("Error: order is closed"), against 0 of 10 otherwise.'
    )


def test_what_has_to_be_called_first_is_told():
    card = made(*[[("pay_order", False)]] * 4, *[[("open_session", True), ("pay_order", True)]] * 6)["pay_order"]
    assert card.usage_rules[0] == (
        "Call `open_session` first: until it had worked in the run, this was refused in 4 of 4 calls "
        '("Error: order is closed"), after it, in 0 of 6.'
    )


def test_of_several_that_came_before_the_one_that_the_complaint_speaks_of_is_named():
    ready = [("press_brake", True), ("close_doors", True), ("start_engine", True)]
    card = made(*[[("start_engine", False)]] * 4, *[ready] * 6)["start_engine"]
    assert card.usage_rules[0].startswith("Call `close_doors` first")


def test_what_only_seems_to_look_comes_first_where_the_complaint_asks_for_it():
    refusal = "Error: cover has not been verified"

    def story(n, *names):
        steps = [
            call(
                f"Desk.{name}",
                {"person_id": f"p-{n}{n}"},
                error=refusal if name == "book" and names[0] == name else None,
            )
            for name in names
        ]
        return packet(run(f"m{n}", True, *steps, task=f"Do it {n}.", task_id=f"t{n}"))

    stories = [story(n, "book") for n in range(4)] + [
        story(n, "find_person", "verify_cover", "book") for n in range(4, 12)
    ]
    card = build_function_card("Desk.book", by_function(stories)["Desk.book"], None, Vocabulary())
    assert card is not None
    assert card.usage_rules[0].startswith(
        "Call `verify_cover` first: until it had worked in the run, this was refused in 4"
    )
