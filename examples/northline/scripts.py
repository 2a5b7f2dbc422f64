"""What a scripted agent does for each kind of request: the right thing, except where it breaks or overdoes a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from northline.agents import Agent, ScriptedRun
from northline.rules import KEY_TIER, LARGE_CREDIT, LOT, LOT_WAREHOUSE
from northline.tasks import Closing, Complaint, Credit, Delay, Deposit, Move, NewOrder, NorthlineTask, Release, Stop

WORDS_OF_TOPICS = {"late": "Late delivery", "damaged": "Goods damaged on arrival", "short": "Pieces missing"}


def release_order(run: ScriptedRun, case: Release) -> str:
    return _release(run, case, case.order["order_id"])


def release_customer(run: ScriptedRun, case: Release) -> str:
    customer = _find_customer(run, case.customer["name"])
    orders = _list_of_customer(run, "list_orders", customer, status="open")
    return _release(run, case, orders[0]["order_id"])


def _release(run: ScriptedRun, case: Release, order_id: str) -> str:
    order = run.call("get_order", order_id=order_id)
    careless = run.breaks("S02")
    if not careless or run.has_habit("peeks"):
        customer = _find_customer(run, case.customer["name"])
        invoices = _list_of_customer(run, "list_invoices", customer)
        overdue = not careless and any(invoice["status"] == "overdue" for invoice in invoices)
        if overdue or (not case.overdue and run.overdoes("S02") and run.breaks("S02")):
            run.call("assign_owner", record_id=order_id, owner="credit-desk")
            return f"Order {order_id} was passed on to the credit desk."
    when, lines = "before", order["lines"]
    if run.breaks("S01"):
        when = run.pick("never", "never", "only the first", "after")
    if when == "before":
        _count_lines(run, order, lines)
    elif when == "only the first" and len(lines) > 1:
        _count_lines(run, order, lines[:1])
    run.call("release_order", order_id=order_id)
    if when == "after":
        _count_lines(run, order, lines)
    if run.has_habit("rereads"):
        run.call("get_order", order_id=order_id)
    return f"Order {order_id} is released."


def _count_lines(run: ScriptedRun, order: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    for line in lines:
        run.call("count_stock", sku=line["sku"], warehouse=order["warehouse"])


def give_credit(run: ScriptedRun, case: Credit) -> str:
    invoice_id, is_large = case.invoice["invoice_id"], case.amount > LARGE_CREDIT
    order_id = run.call("get_invoice", invoice_id=invoice_id)["order_id"]
    if run.has_habit("peeks"):
        run.call("get_order", order_id=order_id)
    holds = not run.breaks("S03") if is_large else run.overdoes("S03")
    assigns = not run.breaks("S04") if is_large else run.overdoes("S04")
    holds_late = is_large and not holds and run.pick(True, False, False)
    if holds:
        _call_with_word(run, "hold_order", "reason", "CLAIM", "credit pending", order_id=order_id)
    wrong = run.pick("damaged goods", "price difference", "refund")
    note = _call_with_word(
        run, "create_credit_note", "reason", case.reason, wrong, invoice_id=invoice_id, amount=case.amount
    )
    if holds_late:
        run.call("hold_order", order_id=order_id, reason="CLAIM")
    if assigns:
        run.call("assign_owner", record_id=note["credit_note_id"], owner="finance-lead")
    elif is_large and run.pick(True, False, False):
        run.call("assign_owner", record_id=note["credit_note_id"], owner=run.pick("sales-desk", "service-desk"))
    if run.has_habit("rereads"):
        run.call("get_invoice", invoice_id=invoice_id)
    return f"Credit note {note['credit_note_id']} over {case.amount:.2f} EUR was made for {invoice_id}."


def post_payment(run: ScriptedRun, case: Deposit) -> str:
    customer = _find_customer(run, case.customer["name"])
    unpaid = [invoice for invoice in _list_of_customer(run, "list_invoices", customer) if invoice["status"] != "paid"]
    unpaid.sort(key=lambda invoice: invoice["date"])
    if run.breaks("S10"):
        unpaid = [invoice for invoice in unpaid if invoice["invoice_id"] == case.matching]
    in_cents, left = not run.breaks("S11"), case.amount
    for invoice in unpaid:
        part = round(min(left, invoice["open_amount"]), 2)
        if part > 0:
            amount = round(part * 100) if in_cents else part
            run.call("post_payment", invoice_id=invoice["invoice_id"], amount=amount, reference=case.reference)
            left = round(left - part, 2)
    if run.has_habit("rereads"):
        run.call("list_invoices", customer_id=customer["customer_id"])
    return f"The payment of {case.amount:.2f} EUR is posted."


def move_stock(run: ScriptedRun, case: Move) -> str:
    return _move(run, case, case.sku)


def replenish(run: ScriptedRun, case: Move) -> str:
    name = run.task.world.items[case.sku]["name"]
    if run.has_habit("id_error"):
        run.call("count_stock", sku=name, warehouse=case.source)
    return _move(run, case, run.call("find_item", name=name)[0]["sku"])


def _move(run: ScriptedRun, case: Move, sku: str) -> str:
    if run.has_habit("peeks"):
        run.call("count_stock", sku=sku, warehouse=case.source)
    lot, left = _choose_lot(run, case), case.quantity
    while left > 0:
        quantity = min(lot, left)
        run.call("move_stock", sku=sku, quantity=quantity, from_warehouse=case.source, to_warehouse=case.target)
        left -= quantity
    if run.has_habit("rereads"):
        run.call("count_stock", sku=sku, warehouse=case.target)
    return f"{case.quantity} of {sku} moved from {case.source} to {case.target}."


def _choose_lot(run: ScriptedRun, case: Move) -> int:
    if case.quantity <= LOT:
        return case.quantity
    if case.target != LOT_WAREHOUSE:
        return LOT if run.overdoes("S05") else case.quantity
    return int(run.pick(case.quantity, case.quantity, 50)) if run.breaks("S05") else LOT


def register_complaint(run: ScriptedRun, case: Complaint) -> str:
    customer = _find_customer(run, case.customer["name"])
    order_ids = [order["order_id"] for order in case.orders]
    for order_id in order_ids:
        if run.has_habit("rereads"):
            run.call("get_order", order_id=order_id)
    words = WORDS_OF_TOPICS[case.topic]
    reason = _find_reason(run, case.topic, words)
    opens_several = len(order_ids) > 1 and run.breaks("S08")
    tickets = [
        run.call("open_ticket", customer_id=customer["customer_id"], order_id=order_id, reason=reason)["ticket_id"]
        for order_id in (order_ids if opens_several else order_ids[:1])
    ]
    body = f"Ticket {', '.join(tickets)}: {words.lower()}, {', '.join(order_ids)}. We are looking into it."
    _send_notice(run, customer, "Your complaint", body)
    return f"Ticket {', '.join(tickets)} is open and the notice is sent."


def _find_reason(run: ScriptedRun, topic: str, words: str) -> str:
    if run.breaks("S07"):
        if not run.pick(True, False, False):
            return words
        return f"{run.call('lookup_code', term=topic)['code']} {words.lower()}"
    if run.has_habit("word_error"):
        run.call("lookup_code", term=words.lower())
    return str(run.call("lookup_code", term=topic)["code"])


def close_ticket(run: ScriptedRun, case: Closing) -> str:
    customer, ticket_id = _find_customer(run, case.customer["name"]), case.ticket["ticket_id"]
    when = run.pick("never", "never", "after") if run.breaks("S09") else "before"
    notice = (customer, f"Ticket {ticket_id}", f"Ticket {ticket_id} of {customer['name']} is settled.")
    if when == "before":
        _send_notice(run, *notice)
    wrong = run.pick("The matter is settled.", "resolved", "done")
    _call_with_word(run, "close_ticket", "resolution", "settled", wrong, ticket_id=ticket_id)
    if when == "after":
        _send_notice(run, *notice)
    return f"Ticket {ticket_id} is closed."


def enter_order(run: ScriptedRun, case: NewOrder) -> str:
    customer = _find_customer(run, case.customer["name"])
    names = {sku: run.task.world.items[sku]["name"] for sku in case.wanted}
    skus = {sku: run.call("find_item", name=name)[0]["sku"] for sku, name in names.items()}
    order_id = _find_held_order(run, customer) or _create_order(run, case, customer)
    for sku, quantity in case.wanted.items():
        wrong = run.pick("pieces", "pcs")
        line = {"order_id": order_id, "sku": skus[sku], "quantity": quantity}
        _call_with_word(run, "add_line", "unit", "PCE", wrong, **line)
    if run.has_habit("rereads"):
        run.call("get_order", order_id=order_id)
    return f"The lines are in order {order_id}."


def _find_held_order(run: ScriptedRun, customer: dict[str, Any]) -> str | None:
    careless = run.breaks("S13")
    if careless and not run.has_habit("peeks"):
        return None
    orders = _list_of_customer(run, "list_orders", customer)
    held = [order["order_id"] for order in orders if order["status"] == "held"]
    return held[0] if held and not careless else None


def _create_order(run: ScriptedRun, case: NewOrder, customer: dict[str, Any]) -> str:
    year, week, _ = case.due.isocalendar()
    due = f"{year}-W{week:02d}"
    if run.breaks("S12"):
        due = run.pick(str(case.due), str(case.due), case.due.strftime("%d.%m.%Y"), f"week {week}")
    return str(run.call("create_order", customer_id=customer["customer_id"], due=due)["order_id"])


def stop_order(run: ScriptedRun, case: Stop) -> str:
    order_id = case.order["order_id"]
    careless = run.breaks("S14")
    run.call("get_order", order_id=order_id)
    looks = not careless or run.has_habit("peeks")
    tier = _find_customer(run, case.customer["name"])["tier"] if looks else None
    if (tier == KEY_TIER and not careless) or (tier in ("B", "C") and run.overdoes("S14")):
        run.call("assign_owner", record_id=order_id, owner="key-desk")
        return f"Order {order_id} is with the key desk."
    _call_with_word(run, "hold_order", "reason", "CREDIT", "over credit limit", order_id=order_id)
    if careless and tier == KEY_TIER and run.pick(True, False):
        run.call("assign_owner", record_id=order_id, owner=run.pick("key-desk", "credit-desk"))
    return f"Order {order_id} is on hold."


def announce_delay(run: ScriptedRun, case: Delay) -> str:
    order_id = case.order["order_id"]
    if run.has_habit("rereads"):
        run.call("get_order", order_id=order_id)
    customer = _find_customer(run, case.customer["name"])
    body = f"Order {order_id} will arrive {case.days} days later than promised."
    _send_notice(run, customer, f"Order {order_id}", body)
    return "The notice is sent."


# What several of them do


def _find_customer(run: ScriptedRun, name: str) -> dict[str, Any]:
    customer: dict[str, Any] = run.call("find_customer", name=name)[0]
    if run.has_habit("peeks"):
        run.call("list_tickets", customer_id=customer["customer_id"])
    return customer


def _list_of_customer(run: ScriptedRun, tool: str, customer: dict[str, Any], **more: str) -> list[dict[str, Any]]:
    if run.has_habit("id_error"):
        run.call(tool, customer_id=customer["name"], **more)
    listed: list[dict[str, Any]] = run.call(tool, customer_id=customer["customer_id"], **more)
    return listed


def _call_with_word(run: ScriptedRun, tool: str, argument: str, word: str, wrong: str, **arguments: Any) -> Any:
    """Call a tool with an argument that takes only certain words. Some agents try a word of their own first."""
    if run.has_habit("word_error"):
        run.call(tool, **{**arguments, argument: wrong})
    return run.call(tool, **{**arguments, argument: word})


def _send_notice(run: ScriptedRun, customer: dict[str, Any], subject: str, body: str) -> None:
    owner, contact = customer["account_owner"], customer["contact"]["email"]
    addresses = run.pick([contact], [contact], [contact, owner]) if run.breaks("S06") else [owner]
    for address in addresses:
        run.call("send_notice", to=address, subject=subject, body=body)


SCRIPTS: dict[str, Callable[[ScriptedRun, Any], str]] = {
    "release_order": release_order,
    "release_customer": release_customer,
    "refund_damaged": give_credit,
    "overcharge": give_credit,
    "payment": post_payment,
    "move_stock": move_stock,
    "replenish": replenish,
    "complaint": register_complaint,
    "close_ticket": close_ticket,
    "new_order": enter_order,
    "stop_order": stop_order,
    "delay_notice": announce_delay,
}
"""By kind of request: works on it with the tools, and gives the final answer."""


def run_script(task: NorthlineTask, agent: Agent, seed: int) -> ScriptedRun:
    """The run of an agent at a task, to its end."""
    run = ScriptedRun(task, agent, seed)
    run.answer(SCRIPTS[task.kind](run, task.case))
    return run
