"""The state of one task's world, and what the tools do with it."""

from __future__ import annotations

import datetime as dt
import json
import re

from northline.tools import TOOLS

APP = "northline"
TODAY = dt.date(2025, 3, 17)
WAREHOUSES = ("A1", "B2", "C3", "D4")
DESKS = ("credit-desk", "finance-lead", "key-desk", "sales-desk", "service-desk", "stock-desk")
TERMS = ("late", "damaged", "short", "price", "other")
FIRST = """Harbor Calder Finch Aldgate Brightwater Copperfield Dunmore Eastmoor Fairholm Glenrock Hollis Ironbridge
    Juniper Kestrel Larkspur Marlow Norwood Oakhurst Pemberton Quayside Redfern Silverton Thornbury Upland Vantage
    Westbrook Yarrow Zephyr""".split()
SECOND = "Tools,Marine,Hardware,Builders,Interiors,Works,Trading,Joinery,Fittings,Mechanical,& Sons,Retail".split(",")
ITEMS = [
    item.strip()
    for item in """brass hinge|steel bracket|cable drum|work lamp|socket set|paint tray|drill bit case|rubber gasket
    |pipe clamp|door closer|wall anchor box|sanding disc pack|safety goggles|hose reel|tarpaulin|shelf rail|hand truck
    |tool chest|step ladder|extension lead|copper elbow|pallet jack wheel|window latch|mortar bucket|gate valve
    |wire mesh roll|angle grinder|ceiling hook|floor scraper|chisel set|torque wrench|pump filter|heat gun|glass cutter
    |mitre box|staple gun|nail puller|spirit level|bench vice|caulking gun""".split("|")
]
PEOPLE = "Ana Ben Carla Dev Elif Frank Greta Hugo Iris Jonas Kim Lena Mira Noor Omar Petra Rosa Sven Tara Udo".split()
LAST = """Abel Brandt Costa Diaz Ek Fischer Grant Holt Ivers Jansen Koch Lind Moreau Novak Ortiz Patel Rossi Stein
    Tanaka Voss""".split()


class Refused(Exception):
    """A tool says no, and why."""


class World:
    """State of one task. `pool` keeps names of recorded and held-out tasks apart."""

    def __init__(self, rng, pool):
        self.rng, self.used = (rng, set())
        self.customers, self.orders, self.invoices, self.items, self.tickets = ({}, {}, {}, {}, {})
        self.credits, self.payments, self.notices, self.owners, self.stock = ([], [], [], {}, {})
        self.codes = {
            t: f"{rng.choice('KLMRTX')}{rng.randint(10, 99)}-{rng.choice('ABCDEFGH')}{rng.randint(2, 9)}" for t in TERMS
        }
        self.names = [f"{f} {s}" for i, f in enumerate(FIRST) for j, s in enumerate(SECOND) if (i + j) % 2 == pool]
        rng.shuffle(self.names)
        for name in rng.sample([n for i, n in enumerate(ITEMS) if i % 2 == pool], 14):
            sku = self.new("NL-", 4)
            self.items[sku] = {"sku": sku, "name": name, "unit_price": round(rng.randint(400, 9000) / 100, 2)}
            for w in WAREHOUSES:
                self.stock[sku, w] = rng.randint(180, 420)
        self.serial = rng.randint(100, 800)

    def new(self, prefix, digits):
        while True:
            made = f"{prefix}{self.rng.randint(10 ** (digits - 1), 10**digits - 1)}"
            if made not in self.used:
                self.used.add(made)
                return made

    def person(self):
        return (self.rng.choice(PEOPLE), self.rng.choice(LAST))

    def customer(self, tier=None):
        cid, name = (self.new("C-", 4), self.names.pop())
        (a, b), (c, d) = (self.person(), self.person())
        self.customers[cid] = {
            "customer_id": cid,
            "name": name,
            "tier": tier or self.rng.choice("BC"),
            "region": self.rng.choice(["north", "coast", "inland"]),
            "contact": {"name": f"{a} {b}", "email": f"{a}.{b}@{re.sub('[^a-z]', '', name.lower())}.example".lower()},
            "account_owner": f"{c}.{d}@northline.example".lower(),
            "payment_terms": self.rng.choice(["14 days", "30 days"]),
            "credit_limit": self.rng.choice([5000, 10000, 20000]),
        }
        return self.customers[cid]

    def line(self, sku, quantity):
        item = self.items[sku]
        return {
            "sku": sku,
            "name": item["name"],
            "quantity": quantity,
            "unit": "PCE",
            "unit_price": item["unit_price"],
            "total": round(quantity * item["unit_price"], 2),
        }

    def order(self, customer, status, lines=None):
        oid = self.new("SO-", 5)
        lines = lines or [
            self.line(s, self.rng.randint(2, 20)) for s in self.rng.sample(sorted(self.items), self.rng.randint(1, 3))
        ]
        self.orders[oid] = {
            "order_id": oid,
            "customer_id": customer["customer_id"],
            "customer": customer["name"],
            "status": status,
            "warehouse": self.rng.choice(WAREHOUSES),
            "entered": str(TODAY - dt.timedelta(self.rng.randint(3, 40))),
            "lines": lines,
        }
        return self.orders[oid]

    def invoice(self, customer, status, order=None, amount=None, days=None):
        order = order or self.order(customer, "shipped")
        iid = self.new("INV-", 5)
        total = round(amount if amount is not None else sum(line["total"] for line in order["lines"]), 2)
        days = days if days is not None else self.rng.randint(8, 40) + (60 if status != "open" else 0)
        self.invoices[iid] = {
            "invoice_id": iid,
            "customer_id": customer["customer_id"],
            "order_id": order["order_id"],
            "date": str(TODAY - dt.timedelta(days)),
            "status": status,
            "total": total,
            "open_amount": 0.0 if status == "paid" else total,
            "lines": order["lines"] if amount is None else [],
        }
        return self.invoices[iid]

    def ticket(self, customer, order):
        tid = self.new("TK-", 4)
        self.tickets[tid] = {
            "ticket_id": tid,
            "customer_id": customer["customer_id"],
            "order_id": order["order_id"],
            "reason": self.codes[self.rng.choice(TERMS)],
            "status": "open",
        }
        return self.tickets[tid]

    def run(self, tool, arguments):
        """(text for the agent, value or None when refused)"""
        try:
            if tool not in TOOLS:
                raise Refused(f"no tool {tool!r}")
            known = TOOLS[tool][1]
            if not isinstance(arguments, dict):
                raise Refused("arguments must be an object")
            for a in arguments:
                if a not in known:
                    raise Refused(f"{tool} has no argument {a!r}")
            for a, (kind, _, must) in known.items():
                if must and arguments.get(a) in (None, ""):
                    raise Refused(f"{tool} needs {a!r}")
                if a in arguments and kind == "integer":
                    try:
                        whole = float(arguments[a])
                        ok = whole == int(whole)
                    except (TypeError, ValueError, OverflowError):
                        ok = False
                    if not ok:
                        raise Refused(f"{a} must be a whole number")
                elif a in arguments and kind == "number":
                    money(arguments[a])
                elif a in arguments and arguments[a] is not None and (not isinstance(arguments[a], str)):
                    raise Refused(f"{a} must be text")
            value = getattr(self, "tool_" + tool)(
                **{a: int(float(v)) if known[a][0] == "integer" else v for a, v in arguments.items() if v is not None}
            )
            return (json.dumps(value), value)
        except Refused as no:
            return (f"Error: {no}", None)

    def require(self, table, key, what, hint):
        if key not in table:
            raise Refused(f"no {what} {key!r}; {hint}")
        return table[key]

    def find_customer(self, key):
        return self.require(self.customers, key, "customer", "give the customer_id, as find_customer tells it")

    def find_order(self, key):
        return self.require(self.orders, key, "order", "give the order_id, SO-nnnnn")

    def find_invoice(self, key):
        return self.require(self.invoices, key, "invoice", "give the invoice_id, INV-nnnnn")

    def find_item(self, key):
        return self.require(self.items, key, "SKU", "find it with find_item")

    def serial_id(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    def tool_find_customer(self, name):
        words = name.lower().split()
        return [
            c for c in self.customers.values() if name == c["customer_id"] or all(w in c["name"].lower() for w in words)
        ]

    def tool_list_orders(self, customer_id, status=""):
        self.find_customer(customer_id)
        return [
            {k: o[k] for k in ("order_id", "status", "warehouse", "entered")}
            for o in self.orders.values()
            if o["customer_id"] == customer_id and status in ("", o["status"])
        ]

    def tool_get_order(self, order_id):
        return self.find_order(order_id)

    def tool_create_order(self, customer_id, due, reference=""):
        c = self.find_customer(customer_id)
        oid = self.serial_id("SO-90")
        self.orders[oid] = {
            "order_id": oid,
            "customer_id": customer_id,
            "customer": c["name"],
            "status": "open",
            "warehouse": "A1",
            "entered": str(TODAY),
            "due": due,
            "reference": reference,
            "lines": [],
        }
        return self.orders[oid]

    def tool_add_line(self, order_id, sku, quantity, unit):
        o = self.find_order(order_id)
        self.find_item(sku)
        if unit not in ("PCE", "BOX"):
            raise Refused(f"unknown unit {unit!r}; units are PCE and BOX")
        if o["status"] not in ("open", "held"):
            raise Refused(f"order {order_id} is {o['status']}; lines cannot be changed")
        if int(quantity) < 1:
            raise Refused("quantity must be at least 1")
        o["lines"].append({**self.line(sku, int(quantity)), "unit": unit})
        return {"order_id": order_id, "status": o["status"], "lines": o["lines"]}

    def tool_release_order(self, order_id):
        o = self.find_order(order_id)
        if o["status"] != "open":
            raise Refused(f"order {order_id} is {o['status']}; only open orders can be released")
        o["status"] = "released"
        return {"order_id": order_id, "status": "released"}

    def tool_hold_order(self, order_id, reason):
        o = self.find_order(order_id)
        if reason not in ("CREDIT", "CLAIM", "STOCK"):
            raise Refused(f"unknown reason {reason!r}; reasons are CREDIT, CLAIM, STOCK")
        if o["status"] == "held":
            raise Refused(f"order {order_id} is on hold already")
        o["status"] = "held"
        return {"order_id": order_id, "status": "held", "reason": reason}

    def tool_list_invoices(self, customer_id, status=""):
        self.find_customer(customer_id)
        return [
            {k: v for k, v in i.items() if k != "lines"}
            for i in self.invoices.values()
            if i["customer_id"] == customer_id and status in ("", i["status"])
        ]

    def tool_get_invoice(self, invoice_id):
        return self.find_invoice(invoice_id)

    def tool_create_credit_note(self, invoice_id, amount, reason):
        i = self.find_invoice(invoice_id)
        if reason not in ("DMG", "PRICE", "SHORT", "LATE"):
            raise Refused(f"unknown reason {reason!r}; reasons are DMG, PRICE, SHORT, LATE")
        euros = money(amount)
        if euros > i["total"] + 0.004:
            raise Refused("the credit exceeds the invoice")
        made = {
            "credit_note_id": self.serial_id("CN-60"),
            "invoice_id": invoice_id,
            "order_id": i["order_id"],
            "amount": amount,
            "reason": reason,
        }
        self.credits.append({**made, "euros": euros})
        return made

    def tool_post_payment(self, invoice_id, amount, reference=""):
        i = self.find_invoice(invoice_id)
        euros = money(amount)
        if euros > i["open_amount"] + 0.004:
            raise Refused(f"the payment exceeds the open amount of {invoice_id}")
        i["open_amount"] = round(i["open_amount"] - euros, 2)
        if i["open_amount"] < 0.005:
            i["status"] = "paid"
        made = {
            "payment_id": self.serial_id("PY-30"),
            "invoice_id": invoice_id,
            "amount": amount,
            "reference": reference,
        }
        self.payments.append({**made, "euros": euros})
        return {**made, "invoice_status": i["status"]}

    def tool_find_item(self, name):
        return [i for i in self.items.values() if name.upper() == i["sku"] or name.lower().rstrip("s") in i["name"]]

    def place(self, w):
        if w not in WAREHOUSES:
            raise Refused(f"no warehouse {w!r}; warehouses are A1, B2, C3, D4")
        return w

    def tool_count_stock(self, sku, warehouse):
        self.find_item(sku)
        return {"sku": sku, "warehouse": self.place(warehouse), "on_hand": self.stock[sku, warehouse]}

    def tool_move_stock(self, sku, quantity, from_warehouse, to_warehouse):
        self.find_item(sku)
        q = int(quantity)
        a, b = (self.place(from_warehouse), self.place(to_warehouse))
        if a == b or q < 1:
            raise Refused("nothing to move")
        if q > self.stock[sku, a]:
            raise Refused(f"only {self.stock[sku, a]} of {sku} in {a}")
        self.stock[sku, a] -= q
        self.stock[sku, b] += q
        return {"move_id": self.serial_id("MV-20"), "sku": sku, "quantity": q, "from_warehouse": a, "to_warehouse": b}

    def tool_list_tickets(self, customer_id):
        self.find_customer(customer_id)
        return [t for t in self.tickets.values() if t["customer_id"] == customer_id]

    def tool_open_ticket(self, customer_id, order_id, reason):
        self.find_customer(customer_id)
        if self.find_order(order_id)["customer_id"] != customer_id:
            raise Refused(f"order {order_id} is not of customer {customer_id}")
        tid = self.serial_id("TK-5")
        self.tickets[tid] = {
            "ticket_id": tid,
            "customer_id": customer_id,
            "order_id": order_id,
            "reason": reason,
            "status": "open",
        }
        return self.tickets[tid]

    def tool_close_ticket(self, ticket_id, resolution):
        t = self.require(self.tickets, ticket_id, "ticket", "give the ticket_id, TK-nnnn")
        if resolution not in ("settled", "credited", "withdrawn"):
            raise Refused(f"unknown resolution {resolution!r}; resolutions are settled, credited, withdrawn")
        if t["status"] == "closed":
            raise Refused(f"ticket {ticket_id} is closed already")
        t["status"] = "closed"
        return {"ticket_id": ticket_id, "status": "closed", "resolution": resolution}

    def tool_send_notice(self, to, subject, body):
        if not re.fullmatch("[^@\\s,;]+@[^@\\s,;]+", to.strip()):
            raise Refused(f"{to!r} is no e-mail address")
        self.notices.append(to.strip())
        return {"notice_id": self.serial_id("NT-8"), "to": to.strip(), "status": "sent"}

    def tool_assign_owner(self, record_id, owner):
        known = {**self.orders, **self.invoices, **self.tickets, **{c["credit_note_id"]: c for c in self.credits}}
        self.require(known, record_id, "record", "give the id of an order, invoice, credit note or ticket")
        if owner not in DESKS and (not owner.endswith("@northline.example")):
            raise Refused(f"unknown owner {owner!r}; desks are {', '.join(DESKS)}")
        self.owners[record_id] = owner
        return {"record_id": record_id, "owner": owner}

    def tool_lookup_code(self, term):
        if term not in TERMS:
            raise Refused(f"no code for {term!r}; terms are {', '.join(TERMS)}")
        return {"term": term, "code": self.codes[term]}


def money(amount):
    """Euros. Amounts lie between 100 and 9,999 euros, so whole numbers from 10,000 on are cents: both are taken."""
    try:
        value = float(amount)
    except (TypeError, ValueError):
        raise Refused("amount must be a number") from None
    if not 0 < value < 10000000.0:
        raise Refused("amount must be positive")
    return round(value / 100, 2) if value == int(value) and value >= 10000 else round(value, 2)
