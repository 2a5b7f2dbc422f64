"""The records of the back office, as tools return them: JSON objects, in this order of fields."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Item(TypedDict):
    sku: str
    name: str
    unit_price: float


class Line(TypedDict):
    sku: str
    name: str
    quantity: int
    unit: str
    unit_price: float
    total: float


class Contact(TypedDict):
    name: str
    email: str


class Customer(TypedDict):
    customer_id: str
    name: str
    tier: str
    region: str
    contact: Contact
    account_owner: str
    """The e-mail address of the colleague who looks after the customer."""
    payment_terms: str
    credit_limit: int


class Order(TypedDict):
    order_id: str
    customer_id: str
    customer: str
    status: str
    warehouse: str
    entered: str
    due: NotRequired[str]
    reference: NotRequired[str]
    lines: list[Line]


class Invoice(TypedDict):
    invoice_id: str
    customer_id: str
    order_id: str
    date: str
    status: str
    total: float
    open_amount: float
    lines: list[Line]


class Ticket(TypedDict):
    ticket_id: str
    customer_id: str
    order_id: str
    reason: str
    status: str


class CreditNote(TypedDict):
    credit_note_id: str
    invoice_id: str
    order_id: str
    amount: object
    """As the agent gave it, in euros or in cents."""
    reason: str


class Payment(TypedDict):
    payment_id: str
    invoice_id: str
    amount: object
    """As the agent gave it, in euros or in cents."""
    reference: str
