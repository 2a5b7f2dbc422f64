"""Requests: twelve kinds, each in a world of its own, with what the judge has to know."""

from __future__ import annotations

import datetime as dt
import random
from functools import partial
from typing import Any

from northline.rules import TEMPLATES
from northline.world import APP, TODAY, WAREHOUSES, World


class NorthlineTask:
    """A request in its own world, with what the judge knows (`spec`)."""

    def __init__(self, tid: str, seed: int) -> None:
        number = int(tid[1:])
        pool = 0 if tid[0] == "t" else 1
        rng = random.Random(f"{APP} {tid[0]} {seed} {number}")
        self.id, self.template = (tid, TEMPLATES[number % len(TEMPLATES)])
        # Is the conditional rule of the template triggered?
        self.on = (number // len(TEMPLATES) + number % len(TEMPLATES) + pool) % 2 == 0
        self.round = number // len(TEMPLATES)
        self.world = world = World(rng, pool)
        self.spec: dict[str, Any] = {}
        spec = self.spec
        for _ in range(4):  # others, so that ids have to be looked up
            customer = world.customer(rng.choice("ABC"))
            world.invoice(customer, rng.choice(["open", "paid", "overdue"]))
            world.order(customer, rng.choice(["open", "shipped", "held"]))
        ask = getattr(self, "make_" + self.template)(world, rng, spec)
        self.request = rng.choice(ask) if isinstance(ask, list) else ask
        tables = (world.orders, world.invoices)
        for table in tables:  # in no telling order
            rows = list(table.items())
            rng.shuffle(rows)
            table.clear()
            table.update(rows)

    def someone(self, tier: str | None = None) -> dict[str, Any]:
        customer = self.spec["customer"] = self.world.customer(tier)
        return customer

    def make_release_order(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        order = spec["order"] = world.order(customer, "open")
        world.order(customer, rng.choice(["shipped", "released"]))
        world.invoice(customer, "paid")
        spec["overdue"] = self.on
        world.invoice(customer, "overdue" if self.on else "open")
        return [
            f"Release order {order['order_id']} for {customer['name']}.",
            f"Please get order {order['order_id']} of {customer['name']} released.",
            f"{customer['name']} is waiting for {order['order_id']}. Release the order.",
        ]

    def make_release_customer(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        spec["order"] = world.order(
            customer,
            "open",
            [world.line(sku, rng.randint(3, 20)) for sku in rng.sample(sorted(world.items), rng.randint(2, 4))],
        )
        for _ in range(2):
            world.order(customer, "shipped")
        spec["overdue"] = self.on
        world.invoice(customer, "overdue" if self.on else "open")
        world.invoice(customer, "open")
        return [
            f"{customer['name']} wants its open order to go out today. Release it.",
            f"Release the open order of {customer['name']}.",
            f"The open order of {customer['name']} can go: release it, please.",
        ]

    def make_refund_damaged(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        skus = rng.sample(sorted(world.items), 3)
        lines = []
        target = rng.uniform(560, 1900) if self.on else rng.uniform(130, 460)
        for sku in skus:
            lines.append(world.line(sku, max(2, round(target / world.items[sku]["unit_price"]))))
        lines = [line for line in lines if (line["total"] > 505) == self.on and line["total"] > 101] or [
            world.line(skus[0], 40)
        ]
        if (lines[0]["total"] > 500) != self.on:
            world.items[skus[0]]["unit_price"] = 21.5
            lines = [world.line(skus[0], 40 if self.on else 12)]
        other = next(sku for sku in sorted(world.items) if sku not in skus)
        lines = [lines[0], world.line(other, 6)]
        rng.shuffle(lines)
        hit = spec["line"] = next(line for line in lines if line["sku"] != other)
        invoice = spec["invoice"] = world.invoice(customer, "open", world.order(customer, "shipped", lines))
        spec["amount"], spec["reason"] = (hit["total"], "DMG")
        return [
            f"All {hit['quantity']} pieces of {hit['name']} on invoice {invoice['invoice_id']} "
            f"({customer['name']}) arrived damaged. Refund them.",
            f"Refund the damaged {hit['name']} on invoice {invoice['invoice_id']} of {customer['name']}, the "
            "whole line.",
            f"{customer['name']} returns the {hit['name']} of invoice {invoice['invoice_id']}, all damaged. "
            "Give them their money back by credit note.",
        ]

    def make_overcharge(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        spec["amount"] = round(rng.uniform(520, 1400) if self.on else rng.uniform(110, 480), 2)
        spec["reason"] = "PRICE"
        sku = rng.choice(sorted(world.items))
        world.items[sku]["unit_price"] = round(rng.uniform(40, 80), 2)
        invoice = spec["invoice"] = world.invoice(
            customer, "open", world.order(customer, "shipped", [world.line(sku, rng.randint(45, 70))])
        )
        world.invoice(customer, "open")
        a = f"{spec['amount']:.2f}"
        return [
            f"{customer['name']} was charged {a} EUR too much on invoice {invoice['invoice_id']}. Credit the "
            "difference.",
            f"Wrong price on invoice {invoice['invoice_id']}: credit {customer['name']} {a} EUR.",
            f"We overcharged {customer['name']} by {a} EUR on {invoice['invoice_id']}; make it good with a "
            "credit note.",
        ]

    def make_payment(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        cents = partial(_amount, rng)
        a, b = (cents(260, 480), cents(700, 900))
        p = cents(int(a) + 131, 690) if self.on else cents(110, int(a) - 101)
        days = sorted(rng.sample(range(12, 90), 3), reverse=True)
        made = [world.invoice(customer, "open", amount=x, days=d) for x, d in zip((a, b, p), days, strict=True)]
        world.invoice(customer, "paid", days=100)
        left, plan = (p, {})
        for invoice in made:
            part = round(min(left, invoice["open_amount"]), 2)
            if part > 0:
                plan[invoice["invoice_id"]] = part
                left = round(left - part, 2)
        ref = spec["reference"] = str(rng.randint(100000, 999999))
        spec.update(amount=p, plan=plan, exact=made[-1]["invoice_id"])
        return [
            f"{customer['name']} transferred {p:.2f} EUR (bank reference {ref}). Post the payment.",
            f"Post the incoming payment of {p:.2f} EUR from {customer['name']}, reference {ref}.",
            f"{p:.2f} EUR came in from {customer['name']} with reference {ref}; please post it.",
        ]

    def moving(self, world: World, rng: random.Random, spec: dict[str, Any]) -> tuple[str, int, str, str]:
        b = "B2" if self.on or self.round % 3 == 1 else rng.choice(["A1", "C3", "D4"])
        n = rng.randint(52, 150) if self.on or b != "B2" else rng.randint(12, 38)
        a = rng.choice([x for x in WAREHOUSES if x not in (b, "B2")])
        sku = rng.choice(sorted(world.items))
        spec.update(sku=sku, n=n, a=a, b=b)
        return (sku, n, a, b)

    def make_move_stock(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        sku, n, a, b = self.moving(world, rng, spec)
        return [
            f"Move {n} of {sku} from {a} to {b}.",
            f"Please transfer {n} pieces of {sku} from warehouse {a} to warehouse {b}.",
            f"{b} needs {n} x {sku} from {a}. Move them.",
        ]

    def make_replenish(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        sku, n, a, b = self.moving(world, rng, spec)
        name = world.items[sku]["name"]
        return [
            f"Warehouse {b} is short of the {name}: bring {n} pieces over from {a}.",
            f"Restock {b} with {n} pieces of the {name}, taken from {a}.",
            f"Take {n} pieces of the {name} out of {a} and put them into {b}.",
        ]

    def make_complaint(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        found = spec["orders"] = [world.order(customer, "shipped") for _ in range(2 if self.on else 1)]
        world.order(customer, "open")
        topic = spec["topic"] = rng.choice(["late", "damaged", "short"])
        both = " and ".join(order["order_id"] for order in found)
        many = self.on
        what = {
            "late": f"the late delivery of order{'s' * many} {both}",
            "damaged": f"damaged goods in order{'s' * many} {both}",
            "short": f"pieces missing from order{'s' * many} {both}",
        }[topic]
        return [
            f"{customer['name']} complains about {what}. Register the complaint and send out a notice that "
            "we are on it.",
            f"Customer {customer['name']} is unhappy about {what}. Put it into the ticket system and send a "
            "notice that it is being looked at.",
            f"Complaint of {customer['name']} about {what}: take care of the ticketing and of the notice.",
        ]

    def make_close_ticket(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        ticket = spec["ticket"] = world.ticket(customer, world.order(customer, "shipped"))
        return [
            f"Ticket {ticket['ticket_id']} of {customer['name']} is settled. Close it.",
            f"Please close ticket {ticket['ticket_id']} ({customer['name']}), the matter is settled.",
            f"{customer['name']}: ticket {ticket['ticket_id']} can be closed.",
        ]

    def make_new_order(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        spec["held"] = world.order(customer, "held") if self.on else None
        world.order(customer, "open")
        world.order(customer, "shipped")
        taken = {
            line["sku"]
            for order in world.orders.values()
            if order["customer_id"] == customer["customer_id"]
            for line in order["lines"]
        }
        k1, k2 = rng.sample(sorted(set(world.items) - taken), 2)
        n1, n2 = (rng.randint(3, 60), rng.randint(3, 60))
        due = spec["due"] = TODAY + dt.timedelta(rng.randint(12, 75))
        spec["want"] = {k1: n1, k2: n2}
        x, y = (world.items[k1]["name"], world.items[k2]["name"])
        day = due.strftime("%d %B %Y").lstrip("0")
        spec["names"] = {k1: x, k2: y}
        return [
            f"{customer['name']} orders {n1} pieces of the {x} and {n2} of the {y}, due {due}. Enter it.",
            f"New order from {customer['name']}: {n1} x {x}, {n2} x {y} (pieces), needed by {day}.",
            f"{customer['name']} needs {n1} pieces of the {x} and {n2} pieces of the {y} by {day}. Please "
            "put that into the system.",
        ]

    def make_stop_order(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone("A" if self.on else None)
        order = spec["order"] = world.order(customer, "open")
        world.invoice(customer, "open")
        world.order(customer, "shipped")
        return [
            f"{customer['name']} is over its credit limit. See to it that order {order['order_id']} does not "
            "go out for now.",
            f"Stop order {order['order_id']} of {customer['name']} for the time being, their credit is used up.",
            f"Credit problem at {customer['name']}: make sure that {order['order_id']} is not shipped until "
            "this is cleared up.",
        ]

    def make_delay_notice(self, world: World, rng: random.Random, spec: dict[str, Any]) -> list[str]:
        customer = self.someone()
        order = spec["order"] = world.order(customer, rng.choice(["open", "released"]))
        d = spec["days"] = rng.randint(3, 12)
        return [
            f"Order {order['order_id']} of {customer['name']} will arrive {d} days later than promised. Send "
            "a notice about it.",
            f"Send a notice about order {order['order_id']} ({customer['name']}): {d} days delay.",
            f"{customer['name']}: {order['order_id']} is delayed by {d} days. A notice has to go out.",
        ]


def _amount(rng: random.Random, low: int, high: int) -> float:
    return round(rng.randint(low * 100, high * 100) / 100, 2)
