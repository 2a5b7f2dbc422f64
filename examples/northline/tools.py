"""The 20 tools: what an agent is told about them, and what they do. None of them knows a house rule."""

from __future__ import annotations

import re
from typing import Any

from northline.records import CreditNote, Customer, Invoice, Item, Line, Order, Payment, Ticket
from northline.toolbox import TOOLS, Refused, list_schemas, read_euros, run_tool, tool
from northline.world import DESKS, TERMS, TODAY, WAREHOUSES, World

__all__ = ["TOOLS", "list_schemas", "run_tool"]

UNITS = ("PCE", "BOX")
HOLD_REASONS = ("CREDIT", "CLAIM", "STOCK")
CREDIT_REASONS = ("DMG", "PRICE", "SHORT", "LATE")
RESOLUTIONS = ("settled", "credited", "withdrawn")


# Customers and orders


@tool("Find customers by name or part of it.", name="Name or part of it")
def find_customer(world: World, name: str) -> list[Customer]:
    words = name.lower().split()
    return [
        customer
        for customer in world.customers.values()
        if name == customer["customer_id"] or all(word in customer["name"].lower() for word in words)
    ]


@tool(
    "List the orders of a customer.",
    customer_id="Customer id, C-nnnn",
    status="open, held, released or shipped",
)
def list_orders(world: World, customer_id: str, status: str = "") -> list[dict[str, Any]]:
    _get_customer(world, customer_id)
    return [
        {"order_id": order["order_id"], "status": order["status"], "warehouse": order["warehouse"],
         "entered": order["entered"]}
        for order in world.orders.values()
        if order["customer_id"] == customer_id and status in ("", order["status"])
    ]  # fmt: skip


@tool("Get one order with its lines.", order_id="Order id, SO-nnnnn")
def get_order(world: World, order_id: str) -> Order:
    if order_id not in world.orders:
        raise Refused(f"no order {order_id!r}; give the order_id, SO-nnnnn")
    return world.orders[order_id]


@tool(
    "Create an empty order for a customer.",
    customer_id="Customer id",
    due="When the goods are due",
    reference="The customer's own reference",
)
def create_order(world: World, customer_id: str, due: str, reference: str = "") -> Order:
    customer = _get_customer(world, customer_id)
    order_id = world.next_id("SO-90")
    world.orders[order_id] = {
        "order_id": order_id,
        "customer_id": customer_id,
        "customer": customer["name"],
        "status": "open",
        "warehouse": "A1",
        "entered": str(TODAY),
        "due": due,
        "reference": reference,
        "lines": [],
    }
    return world.orders[order_id]


@tool(
    "Add a line to an order that is not released yet.",
    order_id="Order id",
    sku="SKU, NL-nnnn",
    quantity="How many",
    unit="Unit code",
)
def add_line(world: World, order_id: str, sku: str, quantity: int, unit: str) -> dict[str, str | list[Line]]:
    order = get_order(world, order_id)
    _get_item(world, sku)
    if unit not in UNITS:
        raise Refused(f"unknown unit {unit!r}; units are PCE and BOX")
    if order["status"] not in ("open", "held"):
        raise Refused(f"order {order_id} is {order['status']}; lines cannot be changed")
    if quantity < 1:
        raise Refused("quantity must be at least 1")
    order["lines"].append(world.price_line(sku, quantity, unit))
    return {"order_id": order_id, "status": order["status"], "lines": order["lines"]}


@tool("Release an order to the warehouse.", order_id="Order id")
def release_order(world: World, order_id: str) -> dict[str, str]:
    order = get_order(world, order_id)
    if order["status"] != "open":
        raise Refused(f"order {order_id} is {order['status']}; only open orders can be released")
    order["status"] = "released"
    return {"order_id": order_id, "status": "released"}


@tool("Put an order on hold.", order_id="Order id", reason="Reason code")
def hold_order(world: World, order_id: str, reason: str) -> dict[str, str]:
    order = get_order(world, order_id)
    _check_word("reason", reason, HOLD_REASONS)
    if order["status"] == "held":
        raise Refused(f"order {order_id} is on hold already")
    order["status"] = "held"
    return {"order_id": order_id, "status": "held", "reason": reason}


# Invoices, credit notes and payments


@tool("List the invoices of a customer.", customer_id="Customer id", status="open, overdue or paid")
def list_invoices(world: World, customer_id: str, status: str = "") -> list[dict[str, Any]]:
    _get_customer(world, customer_id)
    return [
        {field: value for field, value in invoice.items() if field != "lines"}
        for invoice in world.invoices.values()
        if invoice["customer_id"] == customer_id and status in ("", invoice["status"])
    ]


@tool("Get one invoice with its lines.", invoice_id="Invoice id, INV-nnnnn")
def get_invoice(world: World, invoice_id: str) -> Invoice:
    if invoice_id not in world.invoices:
        raise Refused(f"no invoice {invoice_id!r}; give the invoice_id, INV-nnnnn")
    return world.invoices[invoice_id]


@tool(
    "Create a credit note for an invoice.",
    invoice_id="Invoice id",
    amount="Amount to credit",
    reason="Reason code",
)
def create_credit_note(world: World, invoice_id: str, amount: float, reason: str) -> CreditNote:
    invoice = get_invoice(world, invoice_id)
    _check_word("reason", reason, CREDIT_REASONS)
    if read_euros(amount) > invoice["total"] + 0.004:
        raise Refused("the credit exceeds the invoice")
    note: CreditNote = {
        "credit_note_id": world.next_id("CN-60"),
        "invoice_id": invoice_id,
        "order_id": invoice["order_id"],
        "amount": amount,
        "reason": reason,
    }
    world.credit_notes.append(note)
    return note


@tool(
    "Post a customer's payment to an invoice.",
    invoice_id="Invoice id",
    amount="Amount of the payment",
    reference="Bank reference",
)
def post_payment(world: World, invoice_id: str, amount: float, reference: str = "") -> dict[str, Any]:
    invoice = get_invoice(world, invoice_id)
    euros = read_euros(amount)
    if euros > invoice["open_amount"] + 0.004:
        raise Refused(f"the payment exceeds the open amount of {invoice_id}")
    invoice["open_amount"] = round(invoice["open_amount"] - euros, 2)
    if invoice["open_amount"] < 0.005:
        invoice["status"] = "paid"
    payment: Payment = {
        "payment_id": world.next_id("PY-30"),
        "invoice_id": invoice_id,
        "amount": amount,
        "reference": reference,
    }
    world.payments.append(payment)
    return {**payment, "invoice_status": invoice["status"]}


# Stock


@tool("Find items of the catalogue by name or SKU.", name="Name, part of it, or SKU")
def find_item(world: World, name: str) -> list[Item]:
    part = name.lower().rstrip("s")
    return [item for item in world.items.values() if name.upper() == item["sku"] or part in item["name"]]


@tool("Count the stock of an item in a warehouse.", sku="SKU", warehouse="A1, B2, C3 or D4")
def count_stock(world: World, sku: str, warehouse: str) -> dict[str, str | int]:
    _get_item(world, sku)
    _check_warehouse(warehouse)
    return {"sku": sku, "warehouse": warehouse, "on_hand": world.stock[sku, warehouse]}


@tool(
    "Move stock between warehouses.",
    sku="SKU",
    quantity="How many",
    from_warehouse="Where it is",
    to_warehouse="Where it goes",
)
def move_stock(world: World, sku: str, quantity: int, from_warehouse: str, to_warehouse: str) -> dict[str, str | int]:
    _get_item(world, sku)
    _check_warehouse(from_warehouse)
    _check_warehouse(to_warehouse)
    if from_warehouse == to_warehouse or quantity < 1:
        raise Refused("nothing to move")
    if quantity > world.stock[sku, from_warehouse]:
        raise Refused(f"only {world.stock[sku, from_warehouse]} of {sku} in {from_warehouse}")
    world.stock[sku, from_warehouse] -= quantity
    world.stock[sku, to_warehouse] += quantity
    return {"move_id": world.next_id("MV-20"), "sku": sku, "quantity": quantity, "from_warehouse": from_warehouse,
            "to_warehouse": to_warehouse}  # fmt: skip


# Tickets, notices, owners and codes


@tool("List the tickets of a customer.", customer_id="Customer id")
def list_tickets(world: World, customer_id: str) -> list[Ticket]:
    _get_customer(world, customer_id)
    return [ticket for ticket in world.tickets.values() if ticket["customer_id"] == customer_id]


@tool(
    "Open a service ticket.",
    customer_id="Customer id",
    order_id="The order it is about",
    reason="Why the ticket is opened",
)
def open_ticket(world: World, customer_id: str, order_id: str, reason: str) -> Ticket:
    _get_customer(world, customer_id)
    if get_order(world, order_id)["customer_id"] != customer_id:
        raise Refused(f"order {order_id} is not of customer {customer_id}")
    ticket_id = world.next_id("TK-5")
    world.tickets[ticket_id] = {
        "ticket_id": ticket_id,
        "customer_id": customer_id,
        "order_id": order_id,
        "reason": reason,
        "status": "open",
    }
    return world.tickets[ticket_id]


@tool("Close a service ticket.", ticket_id="Ticket id, TK-nnnn", resolution="How it was resolved")
def close_ticket(world: World, ticket_id: str, resolution: str) -> dict[str, str]:
    if ticket_id not in world.tickets:
        raise Refused(f"no ticket {ticket_id!r}; give the ticket_id, TK-nnnn")
    _check_word("resolution", resolution, RESOLUTIONS)
    if world.tickets[ticket_id]["status"] == "closed":
        raise Refused(f"ticket {ticket_id} is closed already")
    world.tickets[ticket_id]["status"] = "closed"
    return {"ticket_id": ticket_id, "status": "closed", "resolution": resolution}


@tool("Send a notice by e-mail.", to="E-mail address", subject="Subject", body="Text")
def send_notice(world: World, to: str, subject: str, body: str) -> dict[str, str]:
    address = to.strip()
    if not re.fullmatch(r"[^@\s,;]+@[^@\s,;]+", address):
        raise Refused(f"{to!r} is no e-mail address")
    world.notices.append(address)
    return {"notice_id": world.next_id("NT-8"), "to": address, "status": "sent"}


@tool(
    "Assign an order, invoice, credit note or ticket to a desk or person.",
    record_id="Id of the record",
    owner="Desk or person",
)
def assign_owner(world: World, record_id: str, owner: str) -> dict[str, str]:
    credit_notes = {note["credit_note_id"] for note in world.credit_notes}
    if not any(record_id in table for table in (world.orders, world.invoices, world.tickets, credit_notes)):
        raise Refused(f"no record {record_id!r}; give the id of an order, invoice, credit note or ticket")
    if owner not in DESKS and not owner.endswith("@northline.example"):
        raise Refused(f"unknown owner {owner!r}; desks are {', '.join(DESKS)}")
    return {"record_id": record_id, "owner": owner}


@tool("Look up the current code for a term.", term="A keyword")
def lookup_code(world: World, term: str) -> dict[str, str]:
    if term not in TERMS:
        raise Refused(f"no code for {term!r}; terms are {', '.join(TERMS)}")
    return {"term": term, "code": world.codes[term]}


def _get_customer(world: World, customer_id: str) -> Customer:
    if customer_id not in world.customers:
        raise Refused(f"no customer {customer_id!r}; give the customer_id, as find_customer tells it")
    return world.customers[customer_id]


def _get_item(world: World, sku: str) -> Item:
    if sku not in world.items:
        raise Refused(f"no SKU {sku!r}; find it with find_item")
    return world.items[sku]


def _check_warehouse(name: str) -> None:
    if name not in WAREHOUSES:
        raise Refused(f"no warehouse {name!r}; warehouses are {', '.join(WAREHOUSES)}")


def _check_word(role: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise Refused(f"unknown {role} {word!r}; {role}s are {', '.join(known)}")
