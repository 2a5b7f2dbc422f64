"""The state of one task's world, filled at random from a seed. tools.py says what an agent can do with it."""

from __future__ import annotations

import datetime as dt
import random
import re
from typing import TypeVar

from northline.records import CreditNote, Customer, Invoice, Item, Line, Order, Payment, Ticket

APP = "northline"
TODAY = dt.date(2025, 3, 17)
WAREHOUSES = ("A1", "B2", "C3", "D4")
DESKS = ("credit-desk", "finance-lead", "key-desk", "sales-desk", "service-desk", "stock-desk")
TERMS = ("late", "damaged", "short", "price", "other")
"""Terms that have a code, another one in each world."""

ITEMS_IN_STOCK = 14
FIRST_NAMES_OF_FIRMS = """Harbor Calder Finch Aldgate Brightwater Copperfield Dunmore Eastmoor Fairholm Glenrock Hollis
    Ironbridge Juniper Kestrel Larkspur Marlow Norwood Oakhurst Pemberton Quayside Redfern Silverton Thornbury Upland
    Vantage Westbrook Yarrow Zephyr""".split()
TRADES = "Tools,Marine,Hardware,Builders,Interiors,Works,Trading,Joinery,Fittings,Mechanical,& Sons,Retail".split(",")
ITEM_NAMES = [
    name.strip()
    for name in """
    brass hinge, steel bracket, cable drum, work lamp, socket set, paint tray, drill bit case, rubber gasket,
    pipe clamp, door closer, wall anchor box, sanding disc pack, safety goggles, hose reel, tarpaulin,
    shelf rail, hand truck, tool chest, step ladder, extension lead, copper elbow, pallet jack wheel,
    window latch, mortar bucket, gate valve, wire mesh roll, angle grinder, ceiling hook, floor scraper,
    chisel set, torque wrench, pump filter, heat gun, glass cutter, mitre box, staple gun, nail puller,
    spirit level, bench vice, caulking gun""".split(",")
]
GIVEN_NAMES = (
    "Ana Ben Carla Dev Elif Frank Greta Hugo Iris Jonas Kim Lena Mira Noor Omar Petra Rosa Sven Tara Udo".split()
)
FAMILY_NAMES = """Abel Brandt Costa Diaz Ek Fischer Grant Holt Ivers Jansen Koch Lind Moreau Novak Ortiz Patel Rossi
    Stein Tanaka Voss""".split()

_Record = TypeVar("_Record")


class World:
    """Everything that the tools of one task read and change.

    Recorded tasks use one half of the names of firms and items, held-out tasks the other, so that no bank can have seen
    them.
    """

    def __init__(self, rng: random.Random, held_out: bool) -> None:
        self.rng = rng
        self.customers: dict[str, Customer] = {}
        self.orders: dict[str, Order] = {}
        self.invoices: dict[str, Invoice] = {}
        self.items: dict[str, Item] = {}
        self.tickets: dict[str, Ticket] = {}
        self.stock: dict[tuple[str, str], int] = {}
        """Pieces by SKU and warehouse."""
        self.credit_notes: list[CreditNote] = []
        self.payments: list[Payment] = []
        self.notices: list[str] = []
        """The addresses they went to."""
        self._ids: set[str] = set()
        self.codes = {term: self._draw_code() for term in TERMS}
        self._names = [
            f"{first} {trade}"
            for row, first in enumerate(FIRST_NAMES_OF_FIRMS)
            for column, trade in enumerate(TRADES)
            if (row + column) % 2 == held_out
        ]
        rng.shuffle(self._names)
        for name in rng.sample(ITEM_NAMES[held_out::2], ITEMS_IN_STOCK):
            self._add_item(name)
        self._serial = rng.randint(100, 800)

    def add_customer(self, tier: str | None = None) -> Customer:
        """A new customer, of tier B or C if nothing else is said."""
        customer_id, name = self._draw_id("C-", 4), self._names.pop()
        contact, owner = self._draw_person(), self._draw_person()
        domain = re.sub("[^a-z]", "", name.lower())
        customer: Customer = {
            "customer_id": customer_id,
            "name": name,
            "tier": tier or self.rng.choice("BC"),
            "region": self.rng.choice(["north", "coast", "inland"]),
            "contact": {"name": " ".join(contact), "email": f"{'.'.join(contact)}@{domain}.example".lower()},
            "account_owner": f"{'.'.join(owner)}@northline.example".lower(),
            "payment_terms": self.rng.choice(["14 days", "30 days"]),
            "credit_limit": self.rng.choice([5000, 10000, 20000]),
        }
        self.customers[customer_id] = customer
        return customer

    def add_order(self, customer: Customer, status: str, lines: list[Line] | None = None) -> Order:
        order_id, lines = self._draw_id("SO-", 5), lines or self._draw_lines()
        self.orders[order_id] = {
            "order_id": order_id,
            "customer_id": customer["customer_id"],
            "customer": customer["name"],
            "status": status,
            "warehouse": self.rng.choice(WAREHOUSES),
            "entered": str(TODAY - dt.timedelta(self.rng.randint(3, 40))),
            "lines": lines,
        }
        return self.orders[order_id]

    def add_invoice(
        self,
        customer: Customer,
        status: str,
        order: Order | None = None,
        *,
        amount: float | None = None,
        days: int | None = None,
    ) -> Invoice:
        """An invoice for the order, or for a shipped one that is made for it. With an amount of its own it has no
        lines; `days` is how long ago it was sent."""
        order = order or self.add_order(customer, "shipped")
        invoice_id = self._draw_id("INV-", 5)
        total = round(sum(line["total"] for line in order["lines"]) if amount is None else amount, 2)
        if days is None:
            days = self.rng.randint(8, 40) + (60 if status != "open" else 0)
        self.invoices[invoice_id] = {
            "invoice_id": invoice_id,
            "customer_id": customer["customer_id"],
            "order_id": order["order_id"],
            "date": str(TODAY - dt.timedelta(days)),
            "status": status,
            "total": total,
            "open_amount": 0.0 if status == "paid" else total,
            "lines": order["lines"] if amount is None else [],
        }
        return self.invoices[invoice_id]

    def add_ticket(self, customer: Customer, order: Order) -> Ticket:
        ticket_id = self._draw_id("TK-", 4)
        self.tickets[ticket_id] = {
            "ticket_id": ticket_id,
            "customer_id": customer["customer_id"],
            "order_id": order["order_id"],
            "reason": self.codes[self.rng.choice(TERMS)],
            "status": "open",
        }
        return self.tickets[ticket_id]

    def price_line(self, sku: str, quantity: int, unit: str = "PCE") -> Line:
        item = self.items[sku]
        return {
            "sku": sku,
            "name": item["name"],
            "quantity": quantity,
            "unit": unit,
            "unit_price": item["unit_price"],
            "total": round(quantity * item["unit_price"], 2),
        }

    def next_id(self, prefix: str) -> str:
        """For what an agent creates: numbered in turn, so that a run can be repeated."""
        self._serial += 1
        return f"{prefix}{self._serial}"

    def shuffle(self) -> None:
        """Put orders and invoices in an order that says nothing about which of them matter."""
        _shuffle_rows(self.orders, self.rng)
        _shuffle_rows(self.invoices, self.rng)

    def _add_item(self, name: str) -> None:
        sku = self._draw_id("NL-", 4)
        self.items[sku] = {"sku": sku, "name": name, "unit_price": round(self.rng.randint(400, 9000) / 100, 2)}
        for warehouse in WAREHOUSES:
            self.stock[sku, warehouse] = self.rng.randint(180, 420)

    def _draw_lines(self) -> list[Line]:
        skus = self.rng.sample(sorted(self.items), self.rng.randint(1, 3))
        return [self.price_line(sku, self.rng.randint(2, 20)) for sku in skus]

    def _draw_id(self, prefix: str, digits: int) -> str:
        while (drawn := f"{prefix}{self.rng.randint(10 ** (digits - 1), 10**digits - 1)}") in self._ids:
            pass
        self._ids.add(drawn)
        return drawn

    def _draw_person(self) -> tuple[str, str]:
        return self.rng.choice(GIVEN_NAMES), self.rng.choice(FAMILY_NAMES)

    def _draw_code(self) -> str:
        letter, number = self.rng.choice("KLMRTX"), self.rng.randint(10, 99)
        return f"{letter}{number}-{self.rng.choice('ABCDEFGH')}{self.rng.randint(2, 9)}"


def _shuffle_rows(table: dict[str, _Record], rng: random.Random) -> None:
    rows = list(table.items())
    rng.shuffle(rows)
    table.clear()
    table.update(rows)
