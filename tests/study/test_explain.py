"""The differences that hold up, and what is told beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from tests.made_runs import call, run

from contramem.guards.guard import Guard, parse_guard
from contramem.study import explain as explaining
from contramem.study.ask import explain_kind
from contramem.study.explain import drop_narrower, explain
from contramem.study.report_json import explanation_json
from contramem.study.report_text import write_explanations
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def test_a_guard_that_only_adds_a_condition_is_not_told_beside_the_wider_one() -> None:
    first, *others = map(
        parse_guard,
        [
            "absence(Desk.charge) when Desk.find.kind = charity",
            "existence(Desk.waive) when Desk.find.kind = charity",
            "absence(Desk.charge) when Desk.plot.area > 60 and Desk.find.kind = charity",
            "existence(Desk.waive) when Desk.plot.area > 60 and Desk.find.kind = charity",
            "absence(Desk.charge) when Desk.plot.area > 60",
        ],
    )
    assert list(drop_narrower(first, others)) == [others[0], others[3]]


def long_routines() -> Iterator[Trajectory]:
    """Eleven calls follow the first one in every passing run and in no failing run, so that no run tells them apart."""
    steps = [call(f"Desk.set_part_{number}", {"value": "on"}) for number in range(12)]
    for number in range(4):
        for source in "abcd":
            made = steps if source in "ab" else steps[:1]
            yield run(source, source in "ab", *made, "Done.", task=f"Set up desk {number}.", task_id=f"t{number}")


def test_differences_that_are_rejected_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of n guards that is rejected one by one must not take n * n * n comparisons."""
    asked: list[Guard] = []
    compared: list[Guard] = []

    def note(first: Guard, others: Iterable[Guard]) -> Iterator[Guard]:
        compared.append(first)
        return drop_narrower(first, others)

    monkeypatch.setattr(explaining, "drop_narrower", note)
    run_set = RunSet.of(long_routines())
    found = explain(run_set.runs, run_set, accept=lambda difference: bool(asked.append(difference.guard)))
    assert len(asked) > 10
    assert len(compared) == len(found.all_differences)


def refunds() -> Iterator[Trajectory]:
    """Refunds above 500 are referred afterwards; whoever only closes a case refers nothing."""
    for number, amount in enumerate((100, 250, 400, 600, 750, 900, 120, 980)):
        refund = call("Desk.create_refund", {"case": f"C-{number}", "amount": amount}, {"id": f"R-{number}"})
        note = call("Desk.add_note", {"case": f"C-{number}"})
        refer = call("Desk.assign_owner", {"case": f"C-{number}"})
        for source, refers in (("a", amount > 500), ("b", amount > 500), ("c", True), ("d", False)):
            passed = refers == (amount > 500)
            # Most failing runs also add a note, which no passing run does: they did more than a run that gave up.
            steps = [refund, *([] if passed or number in (0, 3) else [note]), *([refer] if refers else [])]
            yield run(source, passed, *steps, "Done.", task=f"Pay {amount} back, case {number}.", task_id=f"r{number}")
        close = call("Desk.close", {"case": f"D-{number}"})
        for source in "abcd":
            yield run(source, source != "d", close, note, "Done.", task=f"Close case {number}.", task_id=f"c{number}")


def test_what_is_due_after_a_change_is_found_whatever_else_failing_runs_changed() -> None:
    (report,) = explain_kind(RunSet.of(refunds()), function="Desk.create_refund", on_all=True, limit=30)
    found = {str(each.guard): each for each in (*report.explanation.differences, *report.explanation.overlapping)}
    assert "response(Desk.create_refund, Desk.assign_owner) when Desk.create_refund[amount > 500]" in {
        *found,
        *(str(guard) for each in found.values() for guard in each.same),
    }


def releases() -> Iterator[Trajectory]:
    """Whoever releases an order has counted each of its items; whoever only looks at it counts some."""
    for number in range(6):
        items = [f"S-{number}1", f"S-{number}2", f"S-{number}3"]
        look = call("Shop.get_order", {"order": f"O-{number}"}, {"items": [{"sku": sku, "n": 3} for sku in items]})
        counts = [call("Shop.count", {"sku": sku}, {"sku": sku, "stock": 7}) for sku in items]
        release = call("Shop.release", {"order": f"O-{number}"})
        for source, counted in (("a", 3), ("b", 3), ("c", 1), ("d", 2)):
            task = f"Release order O-{number}."
            yield run(source, counted == 3, look, *counts[:counted], release, "Done.", task=task, task_id=f"r{number}")
        for source, counted in (("a", 1), ("b", 2), ("c", 1), ("d", 0)):
            steps = [look, *counts[:counted], "It is there."]
            yield run(source, bool(counted), *steps, task=f"Is order O-{number} there?", task_id=f"q{number}")


def test_that_every_item_is_acted_on_may_depend_on_what_is_done() -> None:
    (report,) = explain_kind(RunSet.of(releases()), function="Shop.get_order", on_all=True)
    assert "covers(Shop.get_order.sku, Shop.count.sku) when Shop.release" in [
        str(difference.guard) for difference in report.explanation.differences
    ]


def orders(packs_others: bool) -> Iterator[Trajectory]:
    """Of an urgent order the clerk is told after it was booked and packed; of others the clerk is never told."""
    for number in range(4):
        book = call("Shop.create_booking", {"order": f"O-{number}"})
        tell = call("Shop.send_notice", {"to": "clerk"})
        pack = call("Shop.create_parcel", {"order": f"O-{number}"})
        for source in "abcd":
            told = source in "ab"
            steps = [book, pack, *([tell] if told else [])]
            yield run(source, told, *steps, task=f"Urgent: book order {number}.", task_id=f"urgent-{number}")
            steps = [book, *([pack] if packs_others else [])]
            yield run(source, True, *steps, task=f"Put shelf {number} aside at noon.", task_id=f"other-{number}")


@pytest.mark.parametrize(
    ("packs_others", "guard"),
    [
        (False, "response(Shop.create_parcel, Shop.send_notice)"),
        (True, "response(Shop.create_booking, Shop.send_notice)"),
    ],
    ids=["one holds elsewhere", "none does"],
)
def test_of_guards_that_fit_the_same_runs_one_that_holds_elsewhere_comes_first(packs_others: bool, guard: str) -> None:
    run_set = RunSet.of(orders(packs_others))
    urgent = [run for run in run_set.runs if "urgent" in run.task]
    found = explain(urgent, run_set, others=[run for run in run_set.runs if run not in urgent])
    (difference,) = found.differences
    assert str(difference.guard) == guard
    assert difference.is_local is packs_others


def test_what_other_tasks_contradict_is_weak_and_explains_no_failure() -> None:
    run_set = RunSet.of(orders(packs_others=True))
    urgent = next(kind for kind in run_set.kinds if any("urgent" in task for task in kind.tasks))
    (report,) = explain_kind(run_set, kind=urgent.name, on_all=True)
    (hint,) = report.weak
    assert str(hint.guard) == "response(Shop.create_booking, Shop.send_notice)"
    assert not report.explanation.differences
    assert report.explanation.unexplained == report.explanation.failing


def test_weak_hints_are_counted_and_shown_on_request() -> None:
    run_set = RunSet.of(orders(packs_others=True))
    reports = explain_kind(run_set, on_all=True)
    guard = "response(Shop.create_booking, Shop.send_notice)"
    assert "1 weak hint left out" in write_explanations(reports)
    assert guard not in write_explanations(reports)
    assert f"weak {guard}" in write_explanations(reports, with_weak=True)
    assert [hint["guard"] for report in reports for hint in explanation_json(report)["weak"]] == [guard]
