"""A box office: bookings, performances, patrons and letters. Rules have two conditions, exceptions, dates and words."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from worlds.world import Agent, HouseRule, Refused, Session, World

PEOPLE = ("h.brandt", "l.moreau", "t.osei", "n.petrov", "c.alvarez", "i.sato", "w.kruger")
VENUES = ("Grand Hall", "Studio", "Courtyard")
PLAYS = ("The Winter Tale", "Arcadia", "Copenhagen", "The Tempest")
KINDS = ("refund", "exchange", "group", "complaint", "maintenance", "settle", "press")
TODAY = date(2031, 3, 3)


class Theatre(World):
    name = "theatre"
    tasks = 70
    house_rules = (
        HouseRule("letter_reference", "letter", "The letter about a refund names the booking's reference.",
                  "existence(theatre.write_letter[body mentions theatre.find_booking.reference]) "
                  "when theatre.refund_booking"),
        HouseRule("no_promise", "letter", "No letter mentions compensation.",
                  'absence(theatre.write_letter[body contains "compensation"])'),
        HouseRule("voucher", "exception", "Refunds are paid as vouchers, except to patrons, who get their money back.",
                  "existence(theatre.refund_booking[method = voucher]) "
                  "when theatre.refund_booking and theatre.find_booking.membership != patron"),
        HouseRule("exchange_fee", "several conditions", "A fee is charged for exchanging a standard ticket when less "
                  "than 7 days are left.",
                  "response(theatre.exchange_ticket, theatre.charge_fee) when theatre.find_booking.fare = standard "
                  "and theatre.find_performance.days_left < 7"),
        HouseRule("no_fee", "not to act", "A flexible ticket is exchanged without a fee.",
                  "absence(theatre.charge_fee) when theatre.find_booking.fare = flexible"),
        HouseRule("deposit_due", "deadline", "The deposit of a group is due 14 days before the performance.",
                  "existence(theatre.invoice_deposit[due falls 14 days before theatre.find_performance.date]) "
                  "when theatre.invoice_deposit"),
        HouseRule("group_approval", "exception", "Groups above 20 are approved by the manager, schools excepted.",
                  "precedence(theatre.request_approval, theatre.book_group) when theatre.find_group.size > 20 "
                  "and theatre.find_group.type != school"),
        HouseRule("venue_manager", "joined", "A complaint is assigned to the manager of the performance's venue.",
                  "existence(theatre.assign_case[assignee from theatre.find_venue.manager]) when theatre.assign_case"),
        HouseRule("case_words", "letter", "The answer to a complaint says within five days when somebody will call.",
                  'existence(theatre.write_letter[body contains "five days"]) when theatre.open_case'),
        HouseRule("short_text", "letter", "Texts to a mobile phone have at most 120 characters.",
                  "absence(theatre.send_text[text has at least 121 characters])"),
        HouseRule("monday", "weekday", "The stage is closed for maintenance on Mondays only.",
                  "existence(theatre.close_stage[day falls on Monday]) when theatre.close_stage"),
        HouseRule("net_total", "sum", "A settlement is the sum of what was sold at the door.",
                  "existence(theatre.post_settlement[amount sums theatre.list_sales.amount where channel = door]) "
                  "when theatre.post_settlement"),
        HouseRule("seat_row", "choice", "Press sits in the free seat with the lowest row.",
                  "existence(theatre.hold_seat[seat_id picks lowest row of theatre.list_seats where state = free]) "
                  "when theatre.hold_seat"),
        HouseRule("sold_out", "not to act", "No seat is held for the press when fewer than 10 are left.",
                  "absence(theatre.hold_seat) when theatre.find_performance.seats_left < 10"),
    )  # fmt: skip
    agents = (
        Agent("ash", {"letter_reference": 0.5, "voucher": 0.3, "deposit_due": 0.6, "sold_out": 0.6, "monday": 0.3},
              {"polite": 0.6, "venue": 0.4}),
        Agent("beech", {"no_promise": 0.5, "exchange_fee": 0.6, "venue_manager": 0.5, "net_total": 0.5},
              {"polite": 0.2, "venue": 0.5}),
        Agent("hazel", {"voucher": 0.6, "no_fee": 0.6, "group_approval": 0.6, "case_words": 0.5, "seat_row": 0.5},
              {"polite": 0.5}),
        Agent("rowan", {"short_text": 0.6, "monday": 0.6, "sold_out": 0.4, "letter_reference": 0.3, "no_promise": 0.4,
              "exchange_fee": 0.4}, {"venue": 0.3, "polite": 0.9}),
        Agent("yew", dict.fromkeys("""letter_reference no_promise voucher exchange_fee no_fee deposit_due group_approval
              venue_manager case_words short_text monday net_total seat_row sold_out""".split(), 0.25), {"venue": 0.3}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        manager, director, steward, self.guest = rng.sample(PEOPLE, 4)
        self.venue = {"venue": rng.choice(VENUES), "manager": manager, "director": director, "steward": steward}
        days = rng.choice((2, 4, 6, 8, 15, 30, 45))
        self.performance = {
            "performance_id": f"PF-{rng.randrange(1000, 9999)}",
            "play": rng.choice(PLAYS),
            "venue": self.venue["venue"],
            "date": str(TODAY + timedelta(days=days)),
            "days_left": days,
            "seats_left": rng.choice((2, 5, 7, 12, 40, 85, 130)),
        }
        self.booking = {
            "booking_id": f"BK{rng.randrange(10_000, 99_999)}",
            "reference": f"{rng.choice('QRTX')}{rng.randrange(100, 999)}-{rng.choice('ABC')}",
            "performance_id": self.performance["performance_id"],
            "fare": rng.choice(("standard", "standard", "flexible")),
            "membership": rng.choice(("none", "friend", "patron")),
            "paid": rng.choice((48.0, 64.5, 96.0, 120.0)),
            "holder": self.guest,
        }
        self.group = {
            "group": rng.choice(("Hillside", "Northgate", "Elmwood", "Riverton")),
            "size": rng.choice((12, 15, 18, 24, 30, 42)),
            "type": rng.choice(("school", "club", "company", "company")),
            "performance_id": self.performance["performance_id"],
        }
        self.sales = [
            {"sale": f"S{rng.randrange(1000, 9999)}", "channel": channel, "amount": rng.randrange(20, 400)}
            for channel in rng.sample(("door", "door", "door", "web", "web", "phone"), 5)
        ]
        self.seats = [
            {"seat_id": f"{row}{rng.randrange(1, 30):02}", "row": row, "state": rng.choice(("free", "free", "held"))}
            for row in rng.sample(range(1, 20), 4)
        ]
        self.seats[0]["state"] = "free"
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """find_booking find_performance find_venue find_group refund_booking write_letter
            exchange_ticket charge_fee book_group request_approval invoice_deposit open_case assign_case send_text
            close_stage list_sales post_settlement list_seats hold_seat""".split()
        }

    def find_booking(self, booking_id: str) -> Any:
        if booking_id != self.booking["booking_id"]:
            raise Refused(f"no booking {booking_id}")
        return self.booking

    def find_performance(self, performance_id: str) -> Any:
        if performance_id != self.performance["performance_id"]:
            raise Refused(f"no performance {performance_id}")
        return self.performance

    def find_venue(self, venue: str) -> Any:
        return self.venue

    def find_group(self, group: str) -> Any:
        return self.group

    def refund_booking(self, booking_id: str, method: str) -> Any:
        return {"booking_id": booking_id, "state": "refunded"}

    def write_letter(self, to: str, body: str) -> Any:
        return {"letter": self.rng.randrange(1000, 9999)}

    def exchange_ticket(self, booking_id: str, performance_id: str) -> Any:
        return {"booking_id": booking_id, "state": "exchanged"}

    def charge_fee(self, booking_id: str) -> Any:
        return {"booking_id": booking_id, "fee": 5}

    def book_group(self, group: str, performance_id: str) -> Any:
        return {"group": group, "state": "booked"}

    def request_approval(self, group: str) -> Any:
        return {"group": group, "approved": True}

    def invoice_deposit(self, group: str, due: str) -> Any:
        return {"invoice": self.rng.randrange(1000, 9999)}

    def open_case(self, booking_id: str) -> Any:
        return {"case": f"C-{self.rng.randrange(100, 999)}"}

    def assign_case(self, case: str, assignee: str) -> Any:
        return {"case": case, "state": "assigned"}

    def send_text(self, to: str, text: str) -> Any:
        return {"sent": True}

    def close_stage(self, venue: str, day: str) -> Any:
        return {"venue": venue, "closed": True}

    def list_sales(self, performance_id: str) -> Any:
        return {"sales": self.sales}

    def post_settlement(self, performance_id: str, amount: float) -> Any:
        return {"posted": True}

    def list_seats(self, performance_id: str) -> Any:
        return {"seats": self.seats}

    def hold_seat(self, seat_id: str) -> Any:
        return {"held": True}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        booking, performance = self.booking["booking_id"], self.performance["performance_id"]
        return {
            "refund": f"{self.guest} cannot come. Give back what was paid for {booking} and write to them.",
            "exchange": f"Please move {booking} to the performance {performance}.",
            "group": f"{self.group['group']} would like to come as a group: book them in and ask for the deposit.",
            "complaint": f"The holder of {booking} could not see a thing and complains. Take care of it.",
            "maintenance": f"The {self.venue['venue']} needs a day without audience in a week from now. Close it "
            "and tell the steward by phone message.",
            "settle": f"Close the books for {performance}: what the box office took there.",
            "press": f"A critic wants to see {performance}. Keep a seat if that is possible.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        if session.does("venue") and self.kind not in ("complaint", "maintenance"):
            session.call("find_venue", venue=self.venue["venue"])
        getattr(self, f"_{self.kind}")(session)
        session.say("It is done.")

    def solved(self) -> bool:
        return True

    def _letter(self, session: Session, *sentences: str) -> str:
        opening = session.rng.choice(("Dear guest,", "Good day,", f"Dear {self.guest},"))
        promise = session.breaks("no_promise")
        parts = [opening, *sentences]
        if promise:
            parts.append(session.rng.choice(("You will receive compensation.", "We offer compensation for this.")))
        if session.does("polite"):
            parts.append(session.rng.choice(("We hope to welcome you again soon.", "Thank you for your patience.")))
        return " ".join([*parts, session.rng.choice(("Yours, the box office", "Kind regards"))])

    def _refund(self, session: Session) -> None:
        booking = session.call("find_booking", booking_id=self.booking["booking_id"])
        in_money = booking["membership"] == "patron" or session.breaks("voucher")
        method = "card" if in_money else "voucher"
        session.call("refund_booking", booking_id=booking["booking_id"], method=method)
        named = booking["booking_id"] if session.breaks("letter_reference") else booking["reference"]
        body = self._letter(session, f"we have refunded your booking {named} for {self.performance['play']}.")
        session.call("write_letter", to=booking["holder"], body=body)

    def _exchange(self, session: Session) -> None:
        booking = session.call("find_booking", booking_id=self.booking["booking_id"])
        shown = session.call("find_performance", performance_id=self.performance["performance_id"])
        session.call("exchange_ticket", booking_id=booking["booking_id"], performance_id=shown["performance_id"])
        if booking["fare"] == "flexible":
            charged = session.breaks("no_fee")
        elif shown["days_left"] < 7:
            charged = not session.breaks("exchange_fee")
        else:
            charged = session.does("polite")  # it may be charged, nobody minds
        if charged:
            session.call("charge_fee", booking_id=booking["booking_id"])

    def _group(self, session: Session) -> None:
        group = session.call("find_group", group=self.group["group"])
        shown = session.call("find_performance", performance_id=group["performance_id"])
        needed = group["size"] > 20 and group["type"] != "school"
        if (not session.breaks("group_approval")) if needed else session.does("polite"):
            session.call("request_approval", group=group["group"])
        session.call("book_group", group=group["group"], performance_id=shown["performance_id"])
        days = session.rng.choice((7, 10, 30)) if session.breaks("deposit_due") else 14
        due = date.fromisoformat(shown["date"]) - timedelta(days=days)
        session.call("invoice_deposit", group=group["group"], due=str(due))

    def _complaint(self, session: Session) -> None:
        booking = session.call("find_booking", booking_id=self.booking["booking_id"])
        shown = session.call("find_performance", performance_id=booking["performance_id"])
        venue = session.call("find_venue", venue=shown["venue"])
        case = session.call("open_case", booking_id=booking["booking_id"])["case"]
        wrong = session.rng.choice(("director", "steward"))
        session.call("assign_case", case=case, assignee=venue[wrong if session.breaks("venue_manager") else "manager"])
        when = session.rng.choice(("soon", "next week", "as soon as we can"))
        when = when if session.breaks("case_words") else "within five days"
        opening = session.rng.choice(("we are sorry to hear that.", "thank you for telling us."))
        body = self._letter(session, opening, f"Somebody will call you {when}.")
        session.call("write_letter", to=booking["holder"], body=body)

    def _maintenance(self, session: Session) -> None:
        venue = session.call("find_venue", venue=self.venue["venue"])
        day = TODAY + timedelta(days=7 * session.rng.randrange(1, 4))
        if session.breaks("monday"):
            day += timedelta(days=session.rng.randrange(1, 6))
        session.call("close_stage", venue=venue["venue"], day=str(day))
        text = f"{venue['venue']} is closed on {day}."
        if session.breaks("short_text"):
            text += (
                " Please make sure that nobody is in the house, that the doors are locked and that all lights are off."
            )
        session.call("send_text", to=venue["steward"], text=text)

    def _settle(self, session: Session) -> None:
        sales = session.call("list_sales", performance_id=self.performance["performance_id"])["sales"]
        all_of_them = session.breaks("net_total")
        amount = sum(sale["amount"] for sale in sales if all_of_them or sale["channel"] == "door")
        session.call("post_settlement", performance_id=self.performance["performance_id"], amount=amount)

    def _press(self, session: Session) -> None:
        shown = session.call("find_performance", performance_id=self.performance["performance_id"])
        if shown["seats_left"] < 10 and not session.breaks("sold_out"):
            return
        seats = session.call("list_seats", performance_id=self.performance["performance_id"])["seats"]
        free = sorted((seat for seat in seats if seat["state"] == "free"), key=lambda seat: seat["row"])
        if shown["seats_left"] >= 10 and len(free) > 1 and session.breaks("seat_row"):
            free = free[1:]
        session.call("hold_seat", seat_id=free[0]["seat_id"])
