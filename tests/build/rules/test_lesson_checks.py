"""What is no lesson is rejected while differences are chosen, so that it claims no failures."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, packet, run

from contramem.build.rules.lesson_checks import LessonChecks
from contramem.chance import OutcomeTable
from contramem.contrast.packet import Packet
from contramem.monitor.guard import parse_guard
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


def test_a_threshold_that_may_be_luck_is_no_lesson_and_a_word_may_be_one() -> None:
    packets = list(desk())
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    checks = LessonChecks(packets, runs.select(), runs)
    rule = "precedence(Desk.stock, Desk.order) when Desk.find"

    def accepts(condition: str, by_luck: float) -> bool:
        guard = parse_guard(f"{rule}.{condition}")
        return checks.accept(Difference(guard, OutcomeTable(12, 0, 0, 12), 6, 0.001, 12, (), by_luck=by_luck))

    assert not accepts("left > 3", by_luck=2.0)
    assert accepts("left > 3", by_luck=0.5)
    assert accepts("state = open", by_luck=2.0)
