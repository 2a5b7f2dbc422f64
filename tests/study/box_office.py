"""A box office with silent rules: letters name the reference, never promise anything, and deposits fall due before."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.traces.trajectory import Trajectory

SALES = [{"channel": "door", "amount": 40}, {"channel": "web", "amount": 25}, {"channel": "door", "amount": 15}]


def letter_run(
    number: int, passed: bool, body: str, *, due: str = "2031-03-06", amount: int = 55, source: str = "model"
) -> Trajectory:
    """One refund: the booking is looked up, a letter goes out, a deposit and a settlement are booked."""
    booking = {"reference": f"Q{number}27-A", "date": "2031-03-20", "paid": 60 + number}
    steps = [
        call("Box.find_booking", {"booking": f"BK{number}"}, booking),
        call("Box.list_sales", {}, {"sales": SALES}),
        call("Box.write_letter", {"body": body}, {"letter": number}),
        call("Box.invoice", {"due": due}, {"invoice": number}),
        call("Box.settle", {"amount": amount}, {"posted": True}),
    ]
    task = f"Refund BK{number}, write to the guest and settle."
    return run(f"{source} {number}", passed, *steps, "Done.", task=task, task_id=str(number))


def box_office() -> list[Trajectory]:
    """Six tasks in which one run keeps all rules; in each, another run breaks one."""
    runs = []
    for number in range(1, 7):
        good = f"Dear guest, booking Q{number}27-A is refunded. Somebody will call within five days."
        runs.append(letter_run(number, True, good, source="careful"))
        promise = f"Dear guest, booking Q{number}27-A is refunded, with a compensation."
        wednesday = f"2031-03-{(5, 12, 19)[number // 2 % 3]:02d}"
        bad = (letter_run(number, False, promise), letter_run(number, False, good, due=wednesday, amount=80))
        runs.append(bad[number % 2])
    return runs
