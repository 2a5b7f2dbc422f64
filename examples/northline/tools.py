"""The 20 tools, as an agent sees them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """One argument of a tool."""

    type: str
    description: str
    required: bool = True


TOOLS: dict[str, tuple[str, dict[str, Parameter]]] = {
    "find_customer": (
        "Find customers by name or part of it.",
        {
            "name": Parameter("string", "Name or part of it"),
        },
    ),
    "list_orders": (
        "List the orders of a customer.",
        {
            "customer_id": Parameter("string", "Customer id, C-nnnn"),
            "status": Parameter("string", "open, held, released or shipped", required=False),
        },
    ),
    "get_order": (
        "Get one order with its lines.",
        {
            "order_id": Parameter("string", "Order id, SO-nnnnn"),
        },
    ),
    "create_order": (
        "Create an empty order for a customer.",
        {
            "customer_id": Parameter("string", "Customer id"),
            "due": Parameter("string", "When the goods are due"),
            "reference": Parameter("string", "The customer's own reference", required=False),
        },
    ),
    "add_line": (
        "Add a line to an order that is not released yet.",
        {
            "order_id": Parameter("string", "Order id"),
            "sku": Parameter("string", "SKU, NL-nnnn"),
            "quantity": Parameter("integer", "How many"),
            "unit": Parameter("string", "Unit code"),
        },
    ),
    "release_order": (
        "Release an order to the warehouse.",
        {
            "order_id": Parameter("string", "Order id"),
        },
    ),
    "hold_order": (
        "Put an order on hold.",
        {
            "order_id": Parameter("string", "Order id"),
            "reason": Parameter("string", "Reason code"),
        },
    ),
    "list_invoices": (
        "List the invoices of a customer.",
        {
            "customer_id": Parameter("string", "Customer id"),
            "status": Parameter("string", "open, overdue or paid", required=False),
        },
    ),
    "get_invoice": (
        "Get one invoice with its lines.",
        {
            "invoice_id": Parameter("string", "Invoice id, INV-nnnnn"),
        },
    ),
    "create_credit_note": (
        "Create a credit note for an invoice.",
        {
            "invoice_id": Parameter("string", "Invoice id"),
            "amount": Parameter("number", "Amount to credit"),
            "reason": Parameter("string", "Reason code"),
        },
    ),
    "post_payment": (
        "Post a customer's payment to an invoice.",
        {
            "invoice_id": Parameter("string", "Invoice id"),
            "amount": Parameter("number", "Amount of the payment"),
            "reference": Parameter("string", "Bank reference", required=False),
        },
    ),
    "find_item": (
        "Find items of the catalogue by name or SKU.",
        {
            "name": Parameter("string", "Name, part of it, or SKU"),
        },
    ),
    "count_stock": (
        "Count the stock of an item in a warehouse.",
        {
            "sku": Parameter("string", "SKU"),
            "warehouse": Parameter("string", "A1, B2, C3 or D4"),
        },
    ),
    "move_stock": (
        "Move stock between warehouses.",
        {
            "sku": Parameter("string", "SKU"),
            "quantity": Parameter("integer", "How many"),
            "from_warehouse": Parameter("string", "Where it is"),
            "to_warehouse": Parameter("string", "Where it goes"),
        },
    ),
    "list_tickets": (
        "List the tickets of a customer.",
        {
            "customer_id": Parameter("string", "Customer id"),
        },
    ),
    "open_ticket": (
        "Open a service ticket.",
        {
            "customer_id": Parameter("string", "Customer id"),
            "order_id": Parameter("string", "The order it is about"),
            "reason": Parameter("string", "Why the ticket is opened"),
        },
    ),
    "close_ticket": (
        "Close a service ticket.",
        {
            "ticket_id": Parameter("string", "Ticket id, TK-nnnn"),
            "resolution": Parameter("string", "How it was resolved"),
        },
    ),
    "send_notice": (
        "Send a notice by e-mail.",
        {
            "to": Parameter("string", "E-mail address"),
            "subject": Parameter("string", "Subject"),
            "body": Parameter("string", "Text"),
        },
    ),
    "assign_owner": (
        "Assign an order, invoice, credit note or ticket to a desk or person.",
        {
            "record_id": Parameter("string", "Id of the record"),
            "owner": Parameter("string", "Desk or person"),
        },
    ),
    "lookup_code": (
        "Look up the current code for a term.",
        {
            "term": Parameter("string", "A keyword"),
        },
    ),
}
"""Description and arguments by name."""

CHANGING = frozenset(
    """create_order add_line release_order hold_order create_credit_note post_payment move_stock open_ticket
    close_ticket""".split()
)
"""Tools whose use where it was not asked for spoils a run."""


def schemas() -> list[dict[str, Any]]:
    """The tools in the form that chat completion APIs take."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters_of(name)},
        }
        for name, (description, _) in TOOLS.items()
    ]


def parameters_of(tool: str) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    arguments = TOOLS[tool][1]
    return {
        "type": "object",
        "properties": {
            name: {"type": parameter.type, "description": parameter.description}
            for name, parameter in arguments.items()
        },
        "required": [name for name, parameter in arguments.items() if parameter.required],
    }
