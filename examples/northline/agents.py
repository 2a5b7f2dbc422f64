"""Six scripted agents, each with its own weaknesses, and the runs that they make."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from northline.judge import judge
from northline.rules import RULES
from northline.tasks import NorthlineTask
from northline.tools import schemas
from northline.world import APP, TODAY

NOISE = 0.04


SYSTEM = f"You work in the back office of Northline Supply. Today is {TODAY}. Carry out the request with the tools."


class Agent:
    """How likely it breaks each rule, applies a conditional one where it does not hold, and does what has no effect."""

    def __init__(self, name, breaks, over, habits):
        self.name, self.breaks, self.over, self.habits = (name, breaks, over, habits)


def sources() -> list[Agent]:
    """The six agents. Each rule is a weakness of some of them, by chance that is the same every time."""
    names = ["alder-large", "birch-2", "cedar-mini", "dogwood-3", "elm-pro", "fir-chat"]
    breaks, over = ([{} for _ in names], [{} for _ in names])
    for rule in (house_rule.id for house_rule in RULES):
        rng = random.Random(f"agents {rule}")
        levels, more = ([0.05, 0.1, 0.25, 0.45, 0.65, 0.8], [0.05, 0.15, 0.3, 0.4, 0.5, 0.6])
        rng.shuffle(levels)
        rng.shuffle(more)
        for j in range(6):
            breaks[j][rule], over[j][rule] = (levels[j], more[j])
    habits = [
        {"chatty": 0.9, "rereads": 0.3, "id_error": 0.0, "word_error": 0.1, "peeks": 0.1},
        {"chatty": 0.2, "rereads": 0.0, "id_error": 0.3, "word_error": 0.3, "peeks": 0.4},
        {"chatty": 0.0, "rereads": 0.1, "id_error": 0.4, "word_error": 0.5, "peeks": 0.0},
        {"chatty": 0.5, "rereads": 0.6, "id_error": 0.1, "word_error": 0.2, "peeks": 0.3},
        {"chatty": 0.7, "rereads": 0.2, "id_error": 0.1, "word_error": 0.1, "peeks": 0.6},
        {"chatty": 0.1, "rereads": 0.4, "id_error": 0.2, "word_error": 0.4, "peeks": 0.2},
    ]
    return [Agent(*row) for row in zip(names, breaks, over, habits, strict=True)]


EVERY = {rule.id: 1.0 for rule in RULES}
PERFECT = Agent("perfect", {}, {}, {})
COMMON = Agent("common-sense", {**EVERY, "S08": 0.0}, {}, {"word_error": 0.5})


class ScriptedRun:
    """One agent at one task: what it calls and says."""

    def __init__(self, task, agent, seed):
        self.task, self.agent, self.w, self.s = (task, agent, task.world, task.spec)
        self.rng = random.Random(f"{agent.name} {seed} {task.id}")
        self.calls, self.messages = (
            [],
            [
                {
                    "role": "system",
                    "content": SYSTEM,
                },
                {"role": "user", "content": task.request},
            ],
        )

    def breaks(self, rule):
        return self.rng.random() < self.agent.breaks.get(rule, 0)

    def over(self, rule):
        return self.rng.random() < self.agent.over.get(rule, 0)

    def habit(self, name):
        return self.rng.random() < self.agent.habits.get(name, 0)

    def pick(self, *options):
        return self.rng.choice(options)

    def call(self, tool, **arguments):
        text, value = self.w.run(tool, arguments)
        self.calls.append((tool, arguments, value))
        number = f"call_{len(self.calls):02d}"
        say = (
            self.pick("Next step.", "Let me look at this.", "I will do that now.", f"Using {tool}.")
            if self.habit("chatty")
            else None
        )
        self.messages.append(
            {
                "role": "assistant",
                "content": say,
                "tool_calls": [
                    {"id": number, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
                ],
            }
        )
        self.messages.append({"role": "tool", "tool_call_id": number, "content": text})
        return json.loads(text) if value is not None else None

    def worded(self, tool, name, code, wrong, **arguments):
        """An argument with a vocabulary: some try their own words first and are told."""
        if self.habit("word_error"):
            self.call(tool, **{**arguments, name: wrong})
        return self.call(tool, **{**arguments, name: code})

    def who(self):
        found = self.call("find_customer", name=self.s["customer"]["name"])
        c = found[0]
        if self.habit("peeks"):
            self.call("list_tickets", customer_id=c["customer_id"])
        return c

    def listed(self, tool, c, **more):
        if self.habit("id_error"):
            self.call(tool, customer_id=c["name"], **more)
        return self.call(tool, customer_id=c["customer_id"], **more)

    def notice(self, c, subject, body):
        if not self.breaks("S06"):
            to = [c["account_owner"]]
        else:
            to = self.pick(
                [c["contact"]["email"]], [c["contact"]["email"]], [c["contact"]["email"], c["account_owner"]]
            )
        for address in to:
            self.call("send_notice", to=address, subject=subject, body=body)

    def attempt(self):
        text = getattr(self, "do_" + self.task.template)()
        self.messages.append({"role": "assistant", "content": text})
        return judge(self.task, self.calls)

    def do_release_order(self, oid=None):
        c = None
        if oid is None:
            oid = self.s["order"]["order_id"]
        o = self.call("get_order", order_id=oid)
        careless = self.breaks("S02")
        if not careless or self.habit("peeks"):
            c = self.who()
            bills = self.listed("list_invoices", c)
            if (not careless and any(b["status"] == "overdue" for b in bills)) or (
                not self.s["overdue"] and self.over("S02") and self.breaks("S02")
            ):
                self.call("assign_owner", record_id=oid, owner="credit-desk")
                return f"Order {oid} was passed on to the credit desk."
        lines = o["lines"]
        after = False
        if self.breaks("S01"):
            way = self.pick("none", "none", "first", "after")
            after = way == "after"
            lines = {"none": [], "first": lines[:1] if len(lines) > 1 else [], "after": lines}[way]

        def count():
            return [self.call("count_stock", sku=line["sku"], warehouse=o["warehouse"]) for line in lines]

        if not after:
            count()
        self.call("release_order", order_id=oid)
        if after:
            count()
        if self.habit("rereads"):
            self.call("get_order", order_id=oid)
        return f"Order {oid} is released."

    def do_release_customer(self):
        c = self.who()
        found = self.listed("list_orders", c, status="open")
        return self.do_release_order(found[0]["order_id"])

    def do_refund_damaged(self):
        iid = self.s["invoice"]["invoice_id"]
        i = self.call("get_invoice", invoice_id=iid)
        if self.habit("peeks"):
            self.call("get_order", order_id=i["order_id"])
        amount = self.s["amount"]
        big = amount > 500
        hold = not self.breaks("S03") if big else self.over("S03")
        lead = not self.breaks("S04") if big else self.over("S04")
        late = big and (not hold) and self.pick(True, False, False)
        if hold:
            self.worded("hold_order", "reason", "CLAIM", "credit pending", order_id=i["order_id"])
        cn = self.worded(
            "create_credit_note",
            "reason",
            self.s["reason"],
            self.pick("damaged goods", "price difference", "refund"),
            invoice_id=iid,
            amount=amount,
        )
        if late:
            self.call("hold_order", order_id=i["order_id"], reason="CLAIM")
        if lead:
            self.call("assign_owner", record_id=cn["credit_note_id"], owner="finance-lead")
        elif big and self.pick(True, False, False):
            self.call("assign_owner", record_id=cn["credit_note_id"], owner=self.pick("sales-desk", "service-desk"))
        if self.habit("rereads"):
            self.call("get_invoice", invoice_id=iid)
        return f"Credit note {cn['credit_note_id']} over {amount:.2f} EUR was made for {iid}."

    do_overcharge = do_refund_damaged

    def do_payment(self):
        c = self.who()
        bills = sorted((b for b in self.listed("list_invoices", c) if b["status"] != "paid"), key=lambda b: b["date"])
        if self.breaks("S10"):
            bills = [b for b in bills if b["invoice_id"] == self.s["exact"]]
        form = (lambda x: x) if self.breaks("S11") else lambda x: round(x * 100)
        left = self.s["amount"]
        for b in bills:
            part = round(min(left, b["open_amount"]), 2)
            if part > 0:
                self.call("post_payment", invoice_id=b["invoice_id"], amount=form(part), reference=self.s["reference"])
                left = round(left - part, 2)
        if self.habit("rereads"):
            self.call("list_invoices", customer_id=c["customer_id"])
        return f"The payment of {self.s['amount']:.2f} EUR is posted."

    def do_move_stock(self, sku=None):
        s = self.s
        sku = sku or s["sku"]
        if self.habit("peeks"):
            self.call("count_stock", sku=sku, warehouse=s["a"])
        if s["b"] == "B2" and s["n"] > 40:
            size = self.pick(s["n"], s["n"], 50) if self.breaks("S05") else 40
        elif s["n"] > 40:
            size = 40 if self.over("S05") else s["n"]
        else:
            size = s["n"]
        left = s["n"]
        while left > 0:
            q = min(size, left)
            self.call("move_stock", sku=sku, quantity=q, from_warehouse=s["a"], to_warehouse=s["b"])
            left -= q
        if self.habit("rereads"):
            self.call("count_stock", sku=sku, warehouse=s["b"])
        return f"{s['n']} of {sku} moved from {s['a']} to {s['b']}."

    def do_replenish(self):
        name = self.w.items[self.s["sku"]]["name"]
        if self.habit("id_error"):
            self.call("count_stock", sku=name, warehouse=self.s["a"])
        return self.do_move_stock(self.call("find_item", name=name)[0]["sku"])

    def do_complaint(self):
        c, s = (self.who(), self.s)
        ids = [o["order_id"] for o in s["orders"]]
        for oid in ids:
            if self.habit("rereads"):
                self.call("get_order", order_id=oid)
        words = {"late": "Late delivery", "damaged": "Goods damaged on arrival", "short": "Pieces missing"}[s["topic"]]
        if self.breaks("S07"):
            reason = words
            if self.pick(True, False, False):
                reason = f"{self.call('lookup_code', term=s['topic'])['code']} {words.lower()}"
        else:
            if self.habit("word_error"):
                self.call("lookup_code", term=words.lower())
            reason = self.call("lookup_code", term=s["topic"])["code"]
        if not (len(ids) > 1 and self.breaks("S08")):
            ids = ids[:1]
        made = [
            self.call("open_ticket", customer_id=c["customer_id"], order_id=oid, reason=reason)["ticket_id"]
            for oid in ids
        ]
        self.notice(
            c,
            "Your complaint",
            f"Ticket {', '.join(made)}: {words.lower()}, {', '.join(o['order_id'] for o in s['orders'])}. We "
            "are looking into it.",
        )
        return f"Ticket {', '.join(made)} is open and the notice is sent."

    def do_close_ticket(self):
        c, tid = (self.who(), self.s["ticket"]["ticket_id"])
        way = self.pick("none", "none", "after") if self.breaks("S09") else "before"

        def tell():
            return self.notice(c, f"Ticket {tid}", f"Ticket {tid} of {c['name']} is settled.")

        if way == "before":
            tell()
        self.worded(
            "close_ticket",
            "resolution",
            "settled",
            self.pick("The matter is settled.", "resolved", "done"),
            ticket_id=tid,
        )
        if way == "after":
            tell()
        return f"Ticket {tid} is closed."

    def do_new_order(self):
        c, s = (self.who(), self.s)
        home = None
        skus = {k: self.call("find_item", name=s["names"][k])[0]["sku"] for k in s["want"]}
        careless = self.breaks("S13")
        if not careless or self.habit("peeks"):
            held = [o for o in self.listed("list_orders", c) if o["status"] == "held"]
            if held and (not careless):
                home = held[0]["order_id"]
        if home is None:
            y, k, _ = s["due"].isocalendar()
            due = (
                self.pick(str(s["due"]), str(s["due"]), s["due"].strftime("%d.%m.%Y"), f"week {k}")
                if self.breaks("S12")
                else f"{y}-W{k:02d}"
            )
            home = self.call("create_order", customer_id=c["customer_id"], due=due)["order_id"]
        for k, n in s["want"].items():
            self.worded("add_line", "unit", "PCE", self.pick("pieces", "pcs"), order_id=home, sku=skus[k], quantity=n)
        if self.habit("rereads"):
            self.call("get_order", order_id=home)
        return f"The lines are in order {home}."

    def do_stop_order(self):
        s = self.s
        oid = s["order"]["order_id"]
        careless = self.breaks("S14")
        self.call("get_order", order_id=oid)
        tier = None if careless and (not self.habit("peeks")) else self.who()["tier"]
        desk = (tier == "A" and (not careless)) or (tier in ("B", "C") and self.over("S14"))
        if desk:
            self.call("assign_owner", record_id=oid, owner="key-desk")
            return f"Order {oid} is with the key desk."
        self.worded("hold_order", "reason", "CREDIT", "over credit limit", order_id=oid)
        if careless and tier == "A" and self.pick(True, False):
            self.call("assign_owner", record_id=oid, owner=self.pick("key-desk", "credit-desk"))
        return f"Order {oid} is on hold."

    def do_delay_notice(self):
        s = self.s
        if self.habit("rereads"):
            self.call("get_order", order_id=s["order"]["order_id"])
        c = self.who()
        self.notice(
            c,
            f"Order {s['order']['order_id']}",
            f"Order {s['order']['order_id']} will arrive {s['days']} days later than promised.",
        )
        return "The notice is sent."


def record(tasks: int, seed: int) -> Iterator[dict[str, object]]:
    """The runs to learn from, in the form that chat completion APIs use. A few fail for no reason, as real ones do."""
    for number in range(tasks):
        for agent in sources():
            task = NorthlineTask(f"t{number:03d}", seed)
            run = ScriptedRun(task, agent, seed)
            broken = run.attempt()
            noise = run.rng.random() < NOISE
            passed = not broken and (not noise)
            yield {
                "task_id": task.id,
                "model": agent.name,
                "environment": APP,
                "task": task.request,
                "passed": passed,
                "feedback": "passed" if passed else "failed",
                "tools": schemas(),
                "messages": run.messages,
            }
