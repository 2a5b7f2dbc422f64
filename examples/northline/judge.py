"""The verdict on a run: which house rules it broke, and `goal` where the request itself was not met."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from northline.tasks import NorthlineTask
from northline.tools import CHANGING

Executed = tuple[str, dict[str, Any], Any]
"""Tool, arguments and what came back; None for a refused call."""


class Done(NamedTuple):
    """A call that worked."""

    position: int
    arguments: dict[str, Any]
    value: Any


class Judge:
    """One run at one task."""

    def __init__(self, task: NorthlineTask, calls: list[Executed]) -> None:
        self.task, self.world, self.spec = task, task.world, task.spec
        self.broken: set[str] = set()
        self.by_tool: dict[str, list[Done]] = defaultdict(list)
        for position, (tool, arguments, value) in enumerate(calls):
            if value is not None:
                self.by_tool[tool].append(Done(position, arguments, value))

    def verdict(self) -> list[str]:
        owner = self.spec["customer"]["account_owner"] if "customer" in self.spec else ""
        if owner and any(notice.lower() != owner for notice in self.world.notices):
            self.broken.add("S06")
        allowed = getattr(self, f"judge_{self.task.template}")()
        if any(calls and tool in CHANGING and tool not in allowed for tool, calls in self.by_tool.items()):
            self.broken.add("goal")
        return sorted(self.broken)

    def assigned(self, record_id: str, owner: str) -> list[int]:
        calls = self.by_tool["assign_owner"]
        return [call.position for call in calls if call.arguments == {"record_id": record_id, "owner": owner}]

    # One method for each kind of request: notes what is broken, gives the tools that may change something.

    def judge_release_order(self) -> set[str]:
        order = self.spec["order"]
        calls = self.by_tool["release_order"]
        released = [call.position for call in calls if call.arguments["order_id"] == order["order_id"]]
        if len(calls) > len(released):
            self.broken.add("goal")
        at_credit_desk = self.assigned(order["order_id"], "credit-desk")
        if self.spec["overdue"]:
            if released or not at_credit_desk:
                self.broken.add("S02")
        elif not released:
            self.broken.add("S02" if at_credit_desk else "goal")
        else:
            before = (call for call in self.by_tool["count_stock"] if call.position < released[0])
            if {line["sku"] for line in order["lines"]} - {call.arguments["sku"] for call in before}:
                self.broken.add("S01")
        return {"release_order"}

    judge_release_customer = judge_release_order

    def judge_overcharge(self) -> set[str]:
        invoice, order_id = self.spec["invoice"], self.spec["invoice"]["order_id"]
        notes, holds = self.by_tool["create_credit_note"], self.by_tool["hold_order"]
        right = len(notes) == 1 and notes[0].arguments["invoice_id"] == invoice["invoice_id"]
        if not right or abs(self.world.credits[0]["euros"] - self.spec["amount"]) > 0.011:
            self.broken.add("goal")
        if notes:
            self._judge_size(notes[0], [call.position for call in holds if call.arguments["order_id"] == order_id])
        if any(call.arguments["order_id"] != order_id for call in holds):
            self.broken.add("goal")
        return {"create_credit_note", "hold_order"}

    judge_refund_damaged = judge_overcharge

    def _judge_size(self, note: Done, holds: list[int]) -> None:
        invoice = self.spec["invoice"]
        records = (note.value["credit_note_id"], invoice["invoice_id"], invoice["order_id"])
        assigned = [position for record in records for position in self.assigned(record, "finance-lead")]
        large = self.spec["amount"] > 500
        if any(position < note.position for position in holds) != large or (holds and not large):
            self.broken.add("S03")
        if any(position > note.position for position in assigned) != large or (assigned and not large):
            self.broken.add("S04")

    def judge_payment(self) -> set[str]:
        posted: dict[str, float] = defaultdict(float)
        for payment in self.world.payments:
            invoice_id = payment["invoice_id"]
            posted[invoice_id] = round(posted[invoice_id] + payment["euros"], 2)
        order = [payment["invoice_id"] for payment in self.world.payments]
        if abs(sum(posted.values()) - self.spec["amount"]) > 0.011:
            self.broken.add("goal")
        elif dict(posted) != self.spec["plan"] or order != list(self.spec["plan"]):
            self.broken.add("S10")
        if any(not is_in_cents(payment["amount"]) for payment in self.world.payments):
            self.broken.add("S11")
        return {"post_payment"}

    def judge_move_stock(self) -> set[str]:
        spec, calls = self.spec, self.by_tool["move_stock"]
        wanted = {"sku": spec["sku"], "from_warehouse": spec["a"], "to_warehouse": spec["b"]}
        right = [call for call in calls if wanted.items() <= call.arguments.items()]
        quantities = [int(float(call.arguments["quantity"])) for call in right]
        if sum(quantities) != spec["n"] or len(right) != len(calls):
            self.broken.add("goal")
        if any(quantity > 40 for quantity in quantities) if spec["b"] == "B2" else len(right) > 1:
            self.broken.add("S05")
        return {"move_stock"}

    judge_replenish = judge_move_stock

    def judge_complaint(self) -> set[str]:
        tickets = self.by_tool["open_ticket"]
        orders = {order["order_id"] for order in self.spec["orders"]}
        if not tickets or not self.world.notices or any(call.arguments["order_id"] not in orders for call in tickets):
            self.broken.add("goal")
        if len(tickets) > 1:
            self.broken.add("S08")
        topic = self.spec["topic"]
        looked_up = [call.position for call in self.by_tool["lookup_code"] if call.arguments["term"] == topic]
        code = self.world.codes[topic]
        for ticket in tickets:
            if ticket.arguments["reason"].strip() != code or not looked_up or looked_up[0] > ticket.position:
                self.broken.add("S07")
        return {"open_ticket"}

    def judge_close_ticket(self) -> set[str]:
        closed, sent = self.by_tool["close_ticket"], self.by_tool["send_notice"]
        if [call.arguments["ticket_id"] for call in closed] != [self.spec["ticket"]["ticket_id"]]:
            self.broken.add("goal")
        elif not sent or sent[0].position > closed[0].position:
            self.broken.add("S09")
        return {"close_ticket"}

    def judge_new_order(self) -> set[str]:
        created, lines = self.by_tool["create_order"], self.by_tool["add_line"]
        home = self._home(created)
        added: Counter[tuple[str | None, str]] = Counter()
        for line in lines:
            added[line.arguments["order_id"], line.arguments["sku"]] += int(float(line.arguments["quantity"]))
        wanted = {(home, sku): quantity for sku, quantity in self.spec["want"].items()}
        if ("S13" not in self.broken and dict(added) != wanted) or any(
            line.arguments["unit"] != "PCE" for line in lines
        ):
            self.broken.add("goal")
        return {"create_order", "add_line"}

    def _home(self, created: list[Done]) -> str | None:
        """The order that the lines belong into."""
        if self.spec["held"]:
            if created:
                self.broken.add("S13")
            return self.spec["held"]["order_id"]
        year, week, _ = self.spec["due"].isocalendar()
        if any(call.arguments["due"].strip() != f"{year}-W{week:02d}" for call in created):
            self.broken.add("S12")
        own = len(created) == 1 and created[0].arguments["customer_id"] == self.spec["customer"]["customer_id"]
        return created[0].value["order_id"] if own else None

    def judge_stop_order(self) -> set[str]:
        order = self.spec["order"]
        holds, at_key_desk = self.by_tool["hold_order"], self.assigned(order["order_id"], "key-desk")
        if self.spec["customer"]["tier"] == "A":
            if holds or not at_key_desk:
                self.broken.add("S14")
        elif order["status"] != "held":
            self.broken.add("S14" if at_key_desk else "goal")
        if any(call.arguments["order_id"] != order["order_id"] for call in holds):
            self.broken.add("goal")
        return {"hold_order"}

    def judge_delay_notice(self) -> set[str]:
        if not self.world.notices:
            self.broken.add("goal")
        return set()


def judge(task: NorthlineTask, calls: list[Executed]) -> list[str]:
    """What is wrong with a run; empty when it passed."""
    return Judge(task, calls).verdict()


def is_in_cents(amount: object) -> bool:
    """Amounts lie between 100 and 9,999 euros, so whole numbers from 10,000 on are cents."""
    try:
        return float(amount) == int(float(amount)) and float(amount) >= 10000  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
