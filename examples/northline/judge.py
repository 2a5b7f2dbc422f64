"""The verdict on a run: which house rules it broke, and `goal` if the request itself was not met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from northline.calls import CallLog, Executed
from northline.rules import RULES, creates_beside_held, find_moves, is_same_amount, sum_payments
from northline.tasks import Closing, Complaint, Credit, Delay, Deposit, Move, NewOrder, NorthlineTask, Release, Stop
from northline.toolbox import read_euros
from northline.world import World

GOAL = "goal"
CHANGING = frozenset(
    """create_order add_line release_order hold_order create_credit_note post_payment move_stock open_ticket
    close_ticket""".split()
)
"""Tools that spoil a run if they are used where nobody asked for it."""


class Goal(NamedTuple):
    """What a kind of request asks for."""

    is_met: Callable[[Any, CallLog, World], bool]
    """How it was met is a matter of house rules: an order that was sent to a desk counts as dealt with."""
    may_use: frozenset[str]
    """Changing tools that belong to it."""


def judge(task: NorthlineTask, executed: Iterable[Executed]) -> list[str]:
    """What is wrong with a run; empty if it passed."""
    calls, goal = CallLog(executed), GOALS[task.kind]
    broken = [rule.id for rule in RULES if task.kind in rule.requests and rule.is_broken(task.case, calls, task.world)]
    is_met = goal.is_met(task.case, calls, task.world) and not (calls.tools & CHANGING) - goal.may_use
    return broken if is_met else [*broken, GOAL]


def is_dealt_with(case: Release, calls: CallLog, world: World) -> bool:
    order_id = case.order["order_id"]
    assigned = calls.of("assign_owner", record_id=order_id, owner="credit-desk")
    done = case.overdue or assigned or calls.of("release_order", order_id=order_id)
    return bool(done) and calls.all_of("release_order", order_id=order_id)


def is_credited(case: Credit, calls: CallLog, world: World) -> bool:
    notes = world.credit_notes
    return (
        len(notes) == 1
        and notes[0]["invoice_id"] == case.invoice["invoice_id"]
        and is_same_amount(read_euros(notes[0]["amount"]), case.amount)
        and calls.all_of("hold_order", order_id=case.invoice["order_id"])
    )


def is_posted(case: Deposit, calls: CallLog, world: World) -> bool:
    return is_same_amount(sum(sum_payments(world).values()), case.amount)


def is_moved(case: Move, calls: CallLog, world: World) -> bool:
    moves = find_moves(case, calls)
    quantity = sum(int(float(move.arguments["quantity"])) for move in moves)
    return quantity == case.quantity and len(moves) == len(calls.of("move_stock"))


def is_registered(case: Complaint, calls: CallLog, world: World) -> bool:
    about = {ticket.arguments["order_id"] for ticket in calls.of("open_ticket")}
    return bool(about and world.notices) and about <= {order["order_id"] for order in case.orders}


def is_closed(case: Closing, calls: CallLog, world: World) -> bool:
    return [call.arguments["ticket_id"] for call in calls.of("close_ticket")] == [case.ticket["ticket_id"]]


def is_entered(case: NewOrder, calls: CallLog, world: World) -> bool:
    """A second order beside a held one breaks a rule of its own; its lines are not judged."""
    lines = calls.of("add_line")
    added: Counter[tuple[str | None, str]] = Counter()
    for line in lines:
        added[line.arguments["order_id"], line.arguments["sku"]] += int(float(line.arguments["quantity"]))
    order_id = _find_order(case, calls)
    wanted = {(order_id, sku): quantity for sku, quantity in case.wanted.items()}
    return calls.all_of("add_line", unit="PCE") and (creates_beside_held(case, calls, world) or dict(added) == wanted)


def _find_order(case: NewOrder, calls: CallLog) -> str | None:
    """The order that the lines belong into."""
    if case.held is not None:
        return case.held["order_id"]
    created = calls.of("create_order")
    is_own = len(created) == 1 and calls.all_of("create_order", customer_id=case.customer["customer_id"])
    return created[0].value["order_id"] if is_own else None


def is_stopped(case: Stop, calls: CallLog, world: World) -> bool:
    order_id = case.order["order_id"]
    assigned = calls.of("assign_owner", record_id=order_id, owner="key-desk")
    done = case.customer["tier"] == "A" or assigned or case.order["status"] == "held"
    return bool(done) and calls.all_of("hold_order", order_id=order_id)


def is_announced(case: Delay, calls: CallLog, world: World) -> bool:
    return bool(world.notices)


GOALS = {
    "release_order": Goal(is_dealt_with, frozenset({"release_order"})),
    "release_customer": Goal(is_dealt_with, frozenset({"release_order"})),
    "refund_damaged": Goal(is_credited, frozenset({"create_credit_note", "hold_order"})),
    "overcharge": Goal(is_credited, frozenset({"create_credit_note", "hold_order"})),
    "payment": Goal(is_posted, frozenset({"post_payment"})),
    "move_stock": Goal(is_moved, frozenset({"move_stock"})),
    "replenish": Goal(is_moved, frozenset({"move_stock"})),
    "complaint": Goal(is_registered, frozenset({"open_ticket"})),
    "close_ticket": Goal(is_closed, frozenset({"close_ticket"})),
    "new_order": Goal(is_entered, frozenset({"create_order", "add_line"})),
    "stop_order": Goal(is_stopped, frozenset({"hold_order"})),
    "delay_notice": Goal(is_announced, frozenset()),
}
"""By kind of request."""
