"""The requests: twelve kinds, each in a world of its own. A case is what judge and scripted agents know about one."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from northline.records import Customer, Invoice, Line, Order, Ticket
from northline.world import APP, TODAY, WAREHOUSES, World


@dataclass(frozen=True)
class Release:
    """Release an order."""

    customer: Customer
    order: Order
    overdue: bool
    """Has the customer an overdue invoice?"""


@dataclass(frozen=True)
class Credit:
    """Give money back for an invoice."""

    customer: Customer
    invoice: Invoice
    amount: float
    reason: str


@dataclass(frozen=True)
class Deposit:
    """Post a payment that came in."""

    customer: Customer
    amount: float
    reference: str
    plan: dict[str, float]
    """How much goes to which invoice, oldest first."""
    matching: str
    """The invoice of exactly this amount: the obvious and wrong one."""


@dataclass(frozen=True)
class Move:
    """Bring stock to another warehouse."""

    sku: str
    quantity: int
    source: str
    target: str
    customer: None = None


@dataclass(frozen=True)
class Complaint:
    """Register a complaint about one or two orders, and send a notice."""

    customer: Customer
    orders: list[Order]
    topic: str


@dataclass(frozen=True)
class Closing:
    """Close a ticket."""

    customer: Customer
    ticket: Ticket


@dataclass(frozen=True)
class NewOrder:
    """Enter an order of two items."""

    customer: Customer
    held: Order | None
    """An order of the customer that is on hold."""
    wanted: dict[str, int]
    """Pieces by SKU."""
    due: dt.date


@dataclass(frozen=True)
class Stop:
    """Keep an order from going out."""

    customer: Customer
    order: Order


@dataclass(frozen=True)
class Delay:
    """Send a notice about a delay."""

    customer: Customer
    order: Order
    days: int


Case: TypeAlias = Release | Credit | Deposit | Move | Complaint | Closing | NewOrder | Stop | Delay


class Setting(NamedTuple):
    """What a request is made in."""

    world: World
    rng: random.Random
    rule_applies: bool
    """Half of the tasks of a kind meet the condition of its house rule, the other half does not."""
    round: int
    """How many tasks of this kind came before."""


class NorthlineTask:
    """A request, its world and its case. Ids are `t000`, `t001`, ... for recorded tasks and `h000`, ... for held-out
    ones; the same id and seed make the same task again."""

    def __init__(self, task_id: str, seed: int) -> None:
        number, held_out = int(task_id[1:]), task_id[0] != "t"
        round, place = divmod(number, len(REQUESTS))
        rng = random.Random(f"{APP} {task_id[0]} {seed} {number}")
        self.id, self.kind = task_id, list(REQUESTS)[place]
        self.world = World(rng, held_out)
        for _ in range(4):  # others, so that ids have to be looked up
            customer = self.world.add_customer(rng.choice("ABC"))
            self.world.add_invoice(customer, rng.choice(["open", "paid", "overdue"]))
            self.world.add_order(customer, rng.choice(["open", "shipped", "held"]))
        rule_applies = (round + place + held_out) % 2 == 0
        self.case, wordings = REQUESTS[self.kind](Setting(self.world, rng, rule_applies, round))
        self.request = rng.choice(wordings)
        self.world.shuffle()


def _release_order(setting: Setting) -> tuple[Release, list[str]]:
    world, rng, overdue, _ = setting
    customer = world.add_customer()
    order = world.add_order(customer, "open")
    world.add_order(customer, rng.choice(["shipped", "released"]))
    world.add_invoice(customer, "paid")
    world.add_invoice(customer, "overdue" if overdue else "open")
    name, order_id = customer["name"], order["order_id"]
    return Release(customer, order, overdue), [
        f"Release order {order_id} for {name}.",
        f"Please get order {order_id} of {name} released.",
        f"{name} is waiting for {order_id}. Release the order.",
    ]


def _release_customer(setting: Setting) -> tuple[Release, list[str]]:
    world, rng, overdue, _ = setting
    customer = world.add_customer()
    skus = rng.sample(sorted(world.items), rng.randint(2, 4))
    lines = [world.price_line(sku, rng.randint(3, 20)) for sku in skus]
    order = world.add_order(customer, "open", lines)
    for _ in range(2):
        world.add_order(customer, "shipped")
    world.add_invoice(customer, "overdue" if overdue else "open")
    world.add_invoice(customer, "open")
    name = customer["name"]
    return Release(customer, order, overdue), [
        f"{name} wants its open order to go out today. Release it.",
        f"Release the open order of {name}.",
        f"The open order of {name} can go: release it, please.",
    ]


def _refund_damaged(setting: Setting) -> tuple[Credit, list[str]]:
    world, rng, large, _ = setting
    customer = world.add_customer()
    skus = rng.sample(sorted(world.items), 3)
    damaged = _draw_damaged_line(world, rng, skus, large)
    other = next(sku for sku in sorted(world.items) if sku not in skus)
    lines = [damaged, world.price_line(other, 6)]
    rng.shuffle(lines)
    invoice = world.add_invoice(customer, "open", world.add_order(customer, "shipped", lines))
    name, item, invoice_id = customer["name"], damaged["name"], invoice["invoice_id"]
    return Credit(customer, invoice, damaged["total"], "DMG"), [
        f"All {damaged['quantity']} pieces of {item} on invoice {invoice_id} ({name}) arrived damaged. Refund them.",
        f"Refund the damaged {item} on invoice {invoice_id} of {name}, the whole line.",
        f"{name} returns the {item} of invoice {invoice_id}, all damaged. Give them their money back by credit note.",
    ]


def _draw_damaged_line(world: World, rng: random.Random, skus: list[str], large: bool) -> Line:
    """A line clearly above 500 or clearly below, by the price of the items; if none fits, by another price."""
    target = rng.uniform(560, 1900) if large else rng.uniform(130, 460)
    lines = [world.price_line(sku, max(2, round(target / world.items[sku]["unit_price"]))) for sku in skus]
    fitting = [line for line in lines if (line["total"] > 505) == large and line["total"] > 101]
    line = fitting[0] if fitting else world.price_line(skus[0], 40)
    if (line["total"] > 500) == large:
        return line
    world.items[skus[0]]["unit_price"] = 21.5
    return world.price_line(skus[0], 40 if large else 12)


def _overcharge(setting: Setting) -> tuple[Credit, list[str]]:
    world, rng, large, _ = setting
    customer = world.add_customer()
    amount = round(rng.uniform(520, 1400) if large else rng.uniform(110, 480), 2)
    sku = rng.choice(sorted(world.items))
    world.items[sku]["unit_price"] = round(rng.uniform(40, 80), 2)
    lines = [world.price_line(sku, rng.randint(45, 70))]
    invoice = world.add_invoice(customer, "open", world.add_order(customer, "shipped", lines))
    world.add_invoice(customer, "open")
    name, invoice_id, euros = customer["name"], invoice["invoice_id"], f"{amount:.2f} EUR"
    return Credit(customer, invoice, amount, "PRICE"), [
        f"{name} was charged {euros} too much on invoice {invoice_id}. Credit the difference.",
        f"Wrong price on invoice {invoice_id}: credit {name} {euros}.",
        f"We overcharged {name} by {euros} on {invoice_id}; make it good with a credit note.",
    ]


def _payment(setting: Setting) -> tuple[Deposit, list[str]]:
    """The payment equals the youngest of three open invoices, and covers the oldest or not even that."""
    world, rng, covers_oldest, _ = setting

    def draw(low: int, high: int) -> float:
        return round(rng.randint(low * 100, high * 100) / 100, 2)

    customer = world.add_customer()
    oldest, middle = draw(260, 480), draw(700, 900)
    amount = draw(int(oldest) + 131, 690) if covers_oldest else draw(110, int(oldest) - 101)
    days = sorted(rng.sample(range(12, 90), 3), reverse=True)
    invoices = [
        world.add_invoice(customer, "open", amount=total, days=ago)
        for total, ago in zip((oldest, middle, amount), days, strict=True)
    ]
    world.add_invoice(customer, "paid", days=100)
    reference = str(rng.randint(100000, 999999))
    name, euros = customer["name"], f"{amount:.2f} EUR"
    case = Deposit(customer, amount, reference, _plan_payment(amount, invoices), invoices[-1]["invoice_id"])
    return case, [
        f"{name} transferred {euros} (bank reference {reference}). Post the payment.",
        f"Post the incoming payment of {euros} from {name}, reference {reference}.",
        f"{euros} came in from {name} with reference {reference}; please post it.",
    ]


def _plan_payment(amount: float, invoices: list[Invoice]) -> dict[str, float]:
    left, plan = amount, {}
    for invoice in invoices:
        part = round(min(left, invoice["open_amount"]), 2)
        if part > 0:
            plan[invoice["invoice_id"]] = part
            left = round(left - part, 2)
    return plan


def _draw_move(setting: Setting) -> Move:
    """To B2 with more than a lot, to B2 with less, or elsewhere."""
    world, rng, large_to_b2, round = setting
    target = "B2" if large_to_b2 or round % 3 == 1 else rng.choice(["A1", "C3", "D4"])
    quantity = rng.randint(52, 150) if large_to_b2 or target != "B2" else rng.randint(12, 38)
    source = rng.choice([warehouse for warehouse in WAREHOUSES if warehouse not in (target, "B2")])
    return Move(rng.choice(sorted(world.items)), quantity, source, target)


def _move_stock(setting: Setting) -> tuple[Move, list[str]]:
    case = _draw_move(setting)
    return case, [
        f"Move {case.quantity} of {case.sku} from {case.source} to {case.target}.",
        f"Please transfer {case.quantity} pieces of {case.sku} from warehouse {case.source} to "
        f"warehouse {case.target}.",
        f"{case.target} needs {case.quantity} x {case.sku} from {case.source}. Move them.",
    ]


def _replenish(setting: Setting) -> tuple[Move, list[str]]:
    case = _draw_move(setting)
    name = setting.world.items[case.sku]["name"]
    return case, [
        f"Warehouse {case.target} is short of the {name}: bring {case.quantity} pieces over from {case.source}.",
        f"Restock {case.target} with {case.quantity} pieces of the {name}, taken from {case.source}.",
        f"Take {case.quantity} pieces of the {name} out of {case.source} and put them into {case.target}.",
    ]


def _complaint(setting: Setting) -> tuple[Complaint, list[str]]:
    world, rng, several, _ = setting
    customer = world.add_customer()
    orders = [world.add_order(customer, "shipped") for _ in range(2 if several else 1)]
    world.add_order(customer, "open")
    topic = rng.choice(["late", "damaged", "short"])
    named = f"order{'s' if several else ''} {' and '.join(order['order_id'] for order in orders)}"
    what = {
        "late": f"the late delivery of {named}",
        "damaged": f"damaged goods in {named}",
        "short": f"pieces missing from {named}",
    }[topic]
    name = customer["name"]
    return Complaint(customer, orders, topic), [
        f"{name} complains about {what}. Register the complaint and send out a notice that we are on it.",
        f"Customer {name} is unhappy about {what}. Put it into the ticket system and send a notice that it is being "
        "looked at.",
        f"Complaint of {name} about {what}: take care of the ticketing and of the notice.",
    ]


def _close_ticket(setting: Setting) -> tuple[Closing, list[str]]:
    customer = setting.world.add_customer()
    ticket = setting.world.add_ticket(customer, setting.world.add_order(customer, "shipped"))
    name, ticket_id = customer["name"], ticket["ticket_id"]
    return Closing(customer, ticket), [
        f"Ticket {ticket_id} of {name} is settled. Close it.",
        f"Please close ticket {ticket_id} ({name}), the matter is settled.",
        f"{name}: ticket {ticket_id} can be closed.",
    ]


def _new_order(setting: Setting) -> tuple[NewOrder, list[str]]:
    world, rng, has_held_order, _ = setting
    customer = world.add_customer()
    held = world.add_order(customer, "held") if has_held_order else None
    others = [world.add_order(customer, "open"), world.add_order(customer, "shipped")]
    taken = {line["sku"] for order in [*others, *([held] if held else [])] for line in order["lines"]}
    first, second = rng.sample(sorted(set(world.items) - taken), 2)
    wanted = {first: rng.randint(3, 60), second: rng.randint(3, 60)}
    due = TODAY + dt.timedelta(rng.randint(12, 75))
    name, day = customer["name"], due.strftime("%d %B %Y").lstrip("0")
    (pieces, item), (more_pieces, other) = ((count, world.items[sku]["name"]) for sku, count in wanted.items())
    return NewOrder(customer, held, wanted, due), [
        f"{name} orders {pieces} pieces of the {item} and {more_pieces} of the {other}, due {due}. Enter it.",
        f"New order from {name}: {pieces} x {item}, {more_pieces} x {other} (pieces), needed by {day}.",
        f"{name} needs {pieces} pieces of the {item} and {more_pieces} pieces of the {other} by {day}. Please put "
        "that into the system.",
    ]


def _stop_order(setting: Setting) -> tuple[Stop, list[str]]:
    world, _, key_account, _ = setting
    customer = world.add_customer("A" if key_account else None)
    order = world.add_order(customer, "open")
    world.add_invoice(customer, "open")
    world.add_order(customer, "shipped")
    name, order_id = customer["name"], order["order_id"]
    return Stop(customer, order), [
        f"{name} is over its credit limit. See to it that order {order_id} does not go out for now.",
        f"Stop order {order_id} of {name} for the time being, their credit is used up.",
        f"Credit problem at {name}: make sure that {order_id} is not shipped until this is cleared up.",
    ]


def _delay_notice(setting: Setting) -> tuple[Delay, list[str]]:
    world, rng, _, _ = setting
    customer = world.add_customer()
    order = world.add_order(customer, rng.choice(["open", "released"]))
    days = rng.randint(3, 12)
    name, order_id = customer["name"], order["order_id"]
    return Delay(customer, order, days), [
        f"Order {order_id} of {name} will arrive {days} days later than promised. Send a notice about it.",
        f"Send a notice about order {order_id} ({name}): {days} days delay.",
        f"{name}: {order_id} is delayed by {days} days. A notice has to go out.",
    ]


REQUESTS: dict[str, Callable[[Setting], tuple[Case, list[str]]]] = {
    "release_order": _release_order,
    "release_customer": _release_customer,
    "refund_damaged": _refund_damaged,
    "overcharge": _overcharge,
    "payment": _payment,
    "move_stock": _move_stock,
    "replenish": _replenish,
    "complaint": _complaint,
    "close_ticket": _close_ticket,
    "new_order": _new_order,
    "stop_order": _stop_order,
    "delay_notice": _delay_notice,
}
"""By kind of request: what makes one, with three ways to word it. Tasks take the kinds in turn."""
