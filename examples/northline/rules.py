"""The house rules. No documentation mentions them and no tool enforces them: only outcomes show them.

Each is a statement and a function that says whether a run broke it. A function sees the case, the calls that worked,
and the world as the run left it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from northline.calls import CallLog
from northline.tasks import REQUESTS, Closing, Complaint, Credit, Deposit, Move, NewOrder, Release, Stop
from northline.toolbox import is_in_cents, read_euros
from northline.world import World

LARGE_CREDIT = 500
"""Euros. Credit notes above this need a hold, and go to the finance lead."""
LOT_WAREHOUSE, LOT = "B2", 40
"""Stock reaches this warehouse in lots of at most so many pieces."""
CREDIT_DESK, FINANCE_LEAD, KEY_DESK = "credit-desk", "finance-lead", "key-desk"
KEY_TIER = "A"


class HouseRule(NamedTuple):
    """One rule that runs are judged by."""

    id: str
    kind: str
    statement: str
    requests: tuple[str, ...]
    """The kinds of requests that are judged by it."""
    is_broken: Callable[[Any, CallLog, World], bool]


def releases_uncounted(case: Release, calls: CallLog, world: World) -> bool:
    released = calls.of("release_order", order_id=case.order["order_id"])
    if case.overdue or not released:
        return False
    counted = {call.arguments["sku"] for call in calls.of("count_stock") if call.position < released[0].position}
    return not {line["sku"] for line in case.order["lines"]} <= counted


def ignores_overdue(case: Release, calls: CallLog, world: World) -> bool:
    released = bool(calls.of("release_order", order_id=case.order["order_id"]))
    at_desk = bool(calls.of("assign_owner", record_id=case.order["order_id"], owner=CREDIT_DESK))
    return (released or not at_desk) if case.overdue else (at_desk and not released)


def holds_by_wrong_size(case: Credit, calls: CallLog, world: World) -> bool:
    notes, holds = calls.of("create_credit_note"), calls.of("hold_order", order_id=case.invoice["order_id"])
    if not notes or case.amount <= LARGE_CREDIT:
        return bool(notes and holds)
    return not any(hold.position < notes[0].position for hold in holds)


def assigns_by_wrong_size(case: Credit, calls: CallLog, world: World) -> bool:
    notes = calls.of("create_credit_note")
    if not notes:
        return False
    records = (notes[0].value["credit_note_id"], case.invoice["invoice_id"], case.invoice["order_id"])
    assigned = [call for record in records for call in calls.of("assign_owner", record_id=record, owner=FINANCE_LEAD)]
    if case.amount <= LARGE_CREDIT:
        return bool(assigned)
    return not any(call.position > notes[0].position for call in assigned)


def moves_in_wrong_lots(case: Move, calls: CallLog, world: World) -> bool:
    lots = [int(float(call.arguments["quantity"])) for call in find_moves(case, calls)]
    return any(lot > LOT for lot in lots) if case.target == LOT_WAREHOUSE else len(lots) > 1


def notifies_somebody_else(case: Any, calls: CallLog, world: World) -> bool:
    return case.customer is not None and any(to.lower() != case.customer["account_owner"] for to in world.notices)


def gives_reason_without_code(case: Complaint, calls: CallLog, world: World) -> bool:
    looked_up = calls.of("lookup_code", term=case.topic)
    return any(
        ticket.arguments["reason"].strip() != world.codes[case.topic]
        or not looked_up
        or looked_up[0].position > ticket.position
        for ticket in calls.of("open_ticket")
    )


def opens_several_tickets(case: Complaint, calls: CallLog, world: World) -> bool:
    return len(calls.of("open_ticket")) > 1


def closes_without_notice(case: Closing, calls: CallLog, world: World) -> bool:
    closed, sent = calls.of("close_ticket"), calls.of("send_notice")
    closes_the_ticket = [call.arguments["ticket_id"] for call in closed] == [case.ticket["ticket_id"]]
    return closes_the_ticket and (not sent or sent[0].position > closed[0].position)


def pays_wrong_invoice(case: Deposit, calls: CallLog, world: World) -> bool:
    posted = sum_payments(world)
    in_order = [payment["invoice_id"] for payment in world.payments]
    whole = is_same_amount(sum(posted.values()), case.amount)
    return whole and (posted != case.plan or in_order != list(case.plan))


def pays_in_euros(case: Deposit, calls: CallLog, world: World) -> bool:
    return any(not is_in_cents(payment["amount"]) for payment in world.payments)


def dates_by_day(case: NewOrder, calls: CallLog, world: World) -> bool:
    year, week, _ = case.due.isocalendar()
    due = [call.arguments["due"].strip() for call in calls.of("create_order")]
    return case.held is None and any(written != f"{year}-W{week:02d}" for written in due)


def creates_beside_held(case: NewOrder, calls: CallLog, world: World) -> bool:
    return case.held is not None and bool(calls.of("create_order"))


def stops_by_wrong_tier(case: Stop, calls: CallLog, world: World) -> bool:
    at_desk = bool(calls.of("assign_owner", record_id=case.order["order_id"], owner=KEY_DESK))
    if case.customer["tier"] == KEY_TIER:
        return bool(calls.of("hold_order")) or not at_desk
    return at_desk and case.order["status"] != "held"


RELEASES, CREDITS, MOVES = (
    ("release_order", "release_customer"),
    ("refund_damaged", "overcharge"),
    ("move_stock", "replenish"),
)

RULES = (
    HouseRule("S01", "every item", "An order is released only after count_stock was called for every SKU on it.",
              RELEASES, releases_uncounted),
    HouseRule("S02", "when not to act", "An order of a customer with an overdue invoice is not released but assigned "
              "to 'credit-desk' (and only then).", RELEASES, ignores_overdue),
    HouseRule("S03", "order", "A credit note above 500 is preceded by hold_order of the invoice's order; smaller ones "
              "have no hold.", CREDITS, holds_by_wrong_size),
    HouseRule("S04", "companion call", "A credit note above 500 is followed by assign_owner(credit note, "
              "'finance-lead'); smaller ones are not assigned there.", CREDITS, assigns_by_wrong_size),
    HouseRule("S05", "argument form", "Stock goes to warehouse B2 in lots of at most 40 per move_stock; to any other "
              "warehouse in one booking.", MOVES, moves_in_wrong_lots),
    HouseRule("S06", "argument source", "Notices go to the customer's account_owner, never to the contact's address.",
              tuple(REQUESTS), notifies_somebody_else),
    HouseRule("S07", "argument source", "A ticket's reason is exactly the code that lookup_code gives for the topic "
              "(late, damaged, short), no free text.", ("complaint",), gives_reason_without_code),
    HouseRule("S08", "at most once", "One complaint is one ticket: open_ticket is called once, also when several "
              "orders are named.", ("complaint",), opens_several_tickets),
    HouseRule("S09", "order", "A ticket is closed only after send_notice.", ("close_ticket",), closes_without_notice),
    HouseRule("S10", "choice of target", "Payments fill the customer's oldest unpaid invoice first, then the next, "
              "even if another one matches the amount.", ("payment",), pays_wrong_invoice),
    HouseRule("S11", "argument form", "post_payment takes the amount in whole cents.", ("payment",), pays_in_euros),
    HouseRule("S12", "argument form", "create_order takes `due` as ISO week, 2025-W14, not as a date.",
              ("new_order",), dates_by_day),
    HouseRule("S13", "forbidden call", "No create_order when the customer has a held order: the lines are added to the "
              "held one.", ("new_order",), creates_beside_held),
    HouseRule("S14", "forbidden call", "Orders of tier A customers are never held; they are assigned to 'key-desk' "
              "instead (other tiers: hold).", ("stop_order",), stops_by_wrong_tier),
)  # fmt: skip


def find_moves(case: Move, calls: CallLog) -> list[Any]:
    """The calls that move what was asked for from and to where it was asked for."""
    return calls.of("move_stock", sku=case.sku, from_warehouse=case.source, to_warehouse=case.target)


def sum_payments(world: World) -> dict[str, float]:
    """Euros by invoice."""
    posted: defaultdict[str, float] = defaultdict(float)
    for payment in world.payments:
        invoice_id = payment["invoice_id"]
        posted[invoice_id] = round(posted[invoice_id] + read_euros(payment["amount"]), 2)
    return dict(posted)


def is_same_amount(euros: float, other: float) -> bool:
    return abs(euros - other) <= 0.011
