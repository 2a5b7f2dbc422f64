"""What is true of the record that a call is about, of several that were listed."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.study.chosen_records import find_chosen
from contramem.study.explain import explain
from contramem.study.run_set import RunSet, study_run
from contramem.traces.trajectory import Trajectory


def refund_desk() -> Iterator[Trajectory]:
    """Every list has a fee paid in cash and one by card. If the former is paid back, its receipt is voided first."""
    for number in range(12):
        fees = [
            {"fee_id": f"F-{number}1", "method": "cash", "amount": 40 + number},
            {"fee_id": f"F-{number}2", "method": "card", "amount": 90 - number},
        ]
        in_cash = number % 2 == 0
        fee = fees[0 if in_cash else 1]["fee_id"]
        look = call("Desk.list_fees", {"holder": f"H-{number}"}, fees)
        void, refund = call("Desk.void_receipt", {"fee_id": fee}), call("Desk.refund_fee", {"fee_id": fee})
        for source, voids in (("careful", in_cash), ("eager", True), ("hasty", False)):
            steps = [look, void, refund] if voids else [look, refund]
            yield run(source, voids == in_cash, *steps, "Done.", task=f"Pay {fee} back.", task_id=str(number))


def test_a_rule_about_the_chosen_record_is_found() -> None:
    runs = RunSet.of(refund_desk())
    guards = [str(difference.guard) for difference in explain(runs.select(), runs).differences]
    wanted = "Desk.refund_fee[fee_id picks method = cash of Desk.list_fees]"
    assert f"precedence(Desk.void_receipt, Desk.refund_fee) when {wanted}" in guards


def test_only_the_record_that_a_change_names_counts() -> None:
    careful = study_run(next(iter(refund_desk()))).recorded.calls
    found = {(chosen.write("= x"), value) for chosen, value in find_chosen(careful) if chosen.name == "method"}
    assert found == {
        ("Desk.void_receipt[fee_id picks method = x of Desk.list_fees]", "cash"),
        ("Desk.refund_fee[fee_id picks method = x of Desk.list_fees]", "cash"),
    }


def test_yes_and_no_name_no_record() -> None:
    fees = [{"fee_id": "F-11", "waived": True, "amount": 40}, {"fee_id": "F-12", "waived": False, "amount": 90}]
    refund = call("Desk.refund_fee", {"fee_id": "F-12", "notify": True})
    refunding = study_run(run("A", True, call("Desk.list_fees", {}, fees), refund, "Done.")).recorded.calls
    assert {chosen.argument for chosen, _ in find_chosen(refunding)} == {"fee_id"}
