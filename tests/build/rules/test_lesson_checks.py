"""What is no lesson is rejected while differences are chosen, so that it claims no failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import pytest
from tests.made_runs import call, packet, run

from contramem.build.rules.lesson_checks import LessonChecks
from contramem.chance import OutcomeTable
from contramem.contrast.packet import Packet
from contramem.guards.guard import parse_guard
from contramem.study.explain import Difference, explain
from contramem.study.run_set import RunSet


def desk() -> Iterator[Packet]:
    """Who passes looks at the stock before ordering, and the request names the colour that passing runs order."""
    for number in range(6):
        task = {"task": f"Order a red u-{number}-77.", "task_id": f"order {number}"}
        look, red = call("Desk.stock", {"unit": f"u-{number}-77"}), call("Desk.order", {"colour": "red"})
        find = call("Desk.find", {}, {"left": 5, "state": "open"})
        good = [run(source, True, find, look, red, "Done.", **task) for source in "ab"]
        blue = [run("c", False, find, call("Desk.order", {"colour": "blue"}), "Done.", **task)]
        yield packet(*good, *blue, run("d", False, find, call("Desk.order", {"colour": "green"}), "Done.", **task))


def test_a_rejected_difference_leaves_its_failures_to_another() -> None:
    packets = list(desk())
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    evidence = runs.select()
    asked_for = "existence(Desk.order[colour = red]) when Desk.order"
    (plain, *_) = explain(evidence, runs).differences
    assert asked_for in map(str, (plain.guard, *plain.same))
    checks = LessonChecks(packets, evidence, runs)
    chosen = explain(evidence, runs, 8, checks.accept).differences
    assert [str(difference.guard) for difference in chosen] == ["precedence(Desk.stock, Desk.order)"]
    assert chosen[0].explains == 12


def test_a_value_that_the_requests_name_is_no_lesson() -> None:
    packets = list(desk())
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    checks = LessonChecks(packets, runs.select(), runs)
    rejected: dict[str, Difference] = {}

    def reject(difference: Difference) -> bool:
        rejected[str(difference.guard)] = difference
        return False

    explain(runs.select(), runs, 8, reject)
    assert not checks.accept(rejected["existence(Desk.order[colour = red]) when Desk.order"])
    assert checks.accept(rejected["precedence(Desk.stock, Desk.order)"])


def empty_desk() -> Iterator[Packet]:
    """Here nothing is left, so whoever passes orders at once."""
    for number in range(2):
        task = {"task": f"Order a red u-{number}-55.", "task_id": f"sold out {number}"}
        find = call("Desk.find", {}, {"left": 0, "state": "closed"})
        yield packet(run("a", True, find, call("Desk.order", {"colour": "red"}), "Done.", **task))


def test_a_threshold_that_may_be_luck_is_no_lesson_and_a_word_may_be_one() -> None:
    packets = [*desk(), *empty_desk()]
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    checks = LessonChecks(packets, runs.select(), runs)
    rule = "precedence(Desk.stock, Desk.order) when Desk.find"

    def accepts(condition: str, by_luck: float) -> bool:
        guard = parse_guard(f"{rule}.{condition}")
        return checks.accept(Difference(guard, OutcomeTable(12, 0, 0, 12), 6, 0.001, 12, (), by_luck=by_luck))

    assert not accepts("left > 3", by_luck=2.0)
    assert accepts("left > 3", by_luck=0.5)
    assert accepts("state = open", by_luck=2.0)


def test_a_ban_on_a_place_says_no_more_than_no_unless_passing_runs_share_another() -> None:
    """Runs fail with the name of the first record; passing runs take one from anywhere else."""

    def shop(number: int, places: Sequence[str]) -> Packet:
        task = {"task": f"Buy something nice, {number}.", "task_id": f"buy {number}"}
        found = call("Shop.find", {}, {"title": f"lamp{number}", "maker": f"acme{number}", "label": f"x{number}yz"})
        record = {"title": f"lamp{number}", "maker": f"acme{number}", "label": f"x{number}yz"}
        good = [
            run(source, True, found, call("Shop.buy", {"name": record[place]}), "Done.", **task)
            for source, place in zip("ab", places, strict=True)
        ]
        bad = [
            run(source, False, found, call("Shop.buy", {"name": record["title"]}), "Done.", **task) for source in "cd"
        ]
        return packet(*good, *bad)

    ban = parse_guard("absence(Shop.buy[name from Shop.find.title]) when Shop.buy")
    for places, is_lesson in (("maker", "label"), False), (("maker", "maker"), True):
        packets = [shop(number, places) for number in range(6)]
        runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
        checks = LessonChecks(packets, runs.select(), runs)
        assert checks.accept(Difference(ban, OutcomeTable(12, 0, 0, 12), 6, 1e-6, 12, ())) == is_lesson


def test_a_ban_on_a_word_of_a_text_has_to_be_proven() -> None:
    def letters(number: int) -> Packet:
        task = {"task": f"Write to customer {number}.", "task_id": f"letter {number}"}
        good = [
            run(source, True, call("Mail.send", {"body": "Your case is closed as of today"}), "Done.", **task)
            for source in "ab"
        ]
        poor = run("c", False, call("Mail.send", {"body": "We have several plans for you"}), "Done.", **task)
        return packet(*good, poor)

    packets = [letters(number) for number in range(4)]
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    ban = parse_guard("absence(Mail.send[body contains several]) when Mail.send")

    def accepts(family: int) -> bool:
        checks = LessonChecks(packets, runs.select(), runs)
        return checks.accept(Difference(ban, OutcomeTable(8, 0, 0, 4), 4, 0.012, 4, (), family=family))

    assert accepts(family=2)
    assert not accepts(family=50)


@pytest.mark.parametrize(
    "guard",
    [
        pytest.param("existence(Desk.order[colour from task]) when Desk.order", id="a-value-taken-from-the-request"),
        pytest.param('absence(Desk.stock) when task lacks "stock"', id="a-call-that-the-request-does-not-name"),
        pytest.param('absence(Desk.stock) when task contains "red"', id="a-call-forbidden-by-a-word"),
        pytest.param("not_succession(Desk.order, Desk.order) when Desk.find has one", id="one-call-for-one-record"),
    ],
)
def test_what_only_repeats_the_words_of_requests_is_no_lesson(guard: str) -> None:
    packets = list(desk())
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    difference = Difference(parse_guard(guard), OutcomeTable(12, 0, 0, 12), 6, 0.001, 12, ())
    assert not LessonChecks(packets, runs.select(), runs).accept(difference)


def accepts(guard: str, packets: Sequence[Packet]) -> bool:
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    difference = Difference(parse_guard(guard), OutcomeTable(12, 0, 0, 12), 6, 1e-6, 12, ())
    return LessonChecks(packets, runs.select(), runs).accept(difference)


@pytest.mark.parametrize(("is_new", "is_lesson"), [(True, True), (False, False)])
def test_a_value_that_was_known_before_does_not_come_from_a_later_result(is_new: bool, is_lesson: bool) -> None:
    """Who looks at the product before the exchange passes. The order may have named the item already."""

    def exchange(number: int) -> Packet:
        task = {"task": f"Exchange something, {number}.", "task_id": f"exchange {number}"}
        item = f"item-{number}-88"
        order = call("Shop.order", {}, {"item_id": f"old-{number}" if is_new else item})
        product = call("Shop.product", {}, {"item_id": item})
        done, guessed = call("Shop.exchange", {"item": item}), call("Shop.exchange", {"item": f"item-{number}-99"})
        good = [run(source, True, order, product, done, "Done.", **task) for source in "ab"]
        return packet(*good, *(run(source, False, order, guessed, "Done.", **task) for source in "cd"))

    guard = "existence(Shop.exchange[item from Shop.product.item_id]) when Shop.exchange"
    assert accepts(guard, [exchange(number) for number in range(6)]) == is_lesson


def test_a_ban_on_one_distance_between_dates_leaves_all_others_open() -> None:
    def plot(number: int) -> Packet:
        task = {"task": f"Plot period {number}.", "task_id": f"plot {number}"}
        first, lengths = date(2031, 1, 5) + timedelta(weeks=number), {"a": 3 + number, "b": 4 + number, "c": 1, "d": 1}
        return packet(
            *(
                run(
                    source,
                    source in "ab",
                    call("Desk.plot", {"first": str(first), "last": str(first + timedelta(days=days))}),
                    "Done.",
                    **task,
                )
                for source, days in lengths.items()
            )
        )

    packets = [plot(number) for number in range(6)]
    assert not accepts("absence(Desk.plot[last falls 1 day after first]) when Desk.plot", packets)
    assert accepts("absence(Desk.plot[last falls at most 1 day after first]) when Desk.plot", packets)
