"""Bookings whose first try does not go through: a card that cannot pay, a token that ran out, a plan that changed."""

from __future__ import annotations

from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls

TOKEN = "tk-4417"
# What the backend draws from the seed below: the next token, or the number of the first booking.
RENEWED, FIRST_BOOKING = "753159", "5285656"
RENEWAL = {
    "client_id": "lena-travels",
    "client_secret": "amber-key",
    "refresh_token": "rf-90",
    "grant_type": "read_write",
    "user_first_name": "Lena",
    "user_last_name": "Moravec",
}
RENEWAL_TEXT = (
    "If the session has run out: client id lena-travels, secret amber-key, refresh token rf-90, "
    "read_write, Lena Moravec."
)


def card(holder: str, balance: float) -> dict[str, Any]:
    return {
        "card_number": "0000",
        "expiration_date": "11/2031",
        "cardholder_name": holder,
        "card_verification_number": 1,
        "balance": balance,
    }


def agency(cards: dict[str, float], expires_in: int = 9, **bookings: dict[str, Any]) -> dict[str, Any]:
    world = {
        "credit_card_list": {name: card("Lena Moravec", balance) for name, balance in cards.items()},
        "booking_record": {name.removeprefix("b"): booking for name, booking in bookings.items()},
        "access_token": TOKEN,
        "token_type": "Bearer",
        "token_expires_in": expires_in,
        "token_scope": "read_write",
        "user_first_name": "Lena",
        "user_last_name": "Moravec",
        "budget_limit": None,
        "random_seed": 5,
    }
    return {"TravelAPI": world}


def flight(card_id: str, date: str, start: str, end: str, cabin: str = "economy") -> dict[str, Any]:
    place = {"travel_date": date, "travel_from": start, "travel_to": end, "travel_class": cabin}
    return {"card_id": card_id} | place


def booked(card_id: str, date: str, start: str, end: str, cost: float) -> dict[str, Any]:
    return flight(card_id, date, start, end) | {"travel_cost": cost, "transaction_id": "88120031"}


def example(
    name: str,
    turns: tuple[str, ...],
    world: dict[str, Any],
    truth: tuple[tuple[EnvironmentCall, ...], ...],
    *plans: Plan,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"trip_{name}", turns, ("TravelAPI",), "adaptability", "trip", world, truth)
    return Example(task, plans, held_out)


def airport(agent: Careful, city: str, guess: str) -> str:
    code: str = agent.look(
        "get_nearest_airport_by_city",
        location=city,
        pick=lambda seen: seen["nearest_airport"],
        guess=guess,
        why=f"Flights go by airport code, so I look up {city}.",
    )
    return code


def renew(agent: Careful) -> None:
    def keep(seen: Any) -> None:
        agent.kept["token"] = seen["access_token"]

    agent.look("authenticate_travel", pick=keep, why="The session has run out; I sign in again.", **RENEWAL)


def live_token(agent: Careful) -> str:
    return str(agent.kept.get("token", TOKEN))


def with_other_card(
    first: str, date: str, cities: tuple[str, str], guesses: tuple[str, str], cabin: str, poor: str
) -> Plan:
    """Book on `first`; when it cannot pay, on the card that can."""

    def plan(agent: Careful) -> str:
        start, end = (airport(agent, city, guess) for city, guess in zip(cities, guesses, strict=True))
        wanted = flight(first, date, start, end, cabin)
        if not agent.act("book_flight", access_token=TOKEN, **wanted):
            wanted["card_id"] = agent.look(
                "get_all_credit_cards",
                pick=lambda seen: max(seen["credit_card_list"].items(), key=lambda item: item[1]["balance"])[0],
                guess=poor,
                why="That card was refused. I check which of the others can pay.",
            )
            agent.act("book_flight", access_token=TOKEN, **wanted)
        return f"Your flight from {cities[0]} to {cities[1]} on {date} is booked."

    return plan


def book_after_renewal(agent: Careful) -> str:
    agent.need(renew, cure="token")
    end = airport(agent, "Stonebrook", "STB")
    agent.act(
        "book_flight", access_token=lambda: live_token(agent), **flight("metro", "2031-04-02", "BOS", end, "economy")
    )
    return "You fly to Stonebrook on 2 April."


def cancel_after_renewal(agent: Careful) -> str:
    agent.need(renew, cure="token")
    number = agent.look(
        "get_booking_history",
        access_token=lambda: live_token(agent),
        pick=lambda seen: next(n for n, b in seen["booking_history"].items() if b["travel_to"] == "ORD"),
        guess="1000001",
        why="I need the number of the Chicago booking.",
    )
    agent.act("cancel_booking", access_token=lambda: live_token(agent), booking_id=number)
    return "The flight to Chicago is cancelled."


def book_boston(agent: Careful) -> str:
    agent.act("book_flight", access_token=TOKEN, **flight("harbor", "2031-09-14", "JFK", "BOS"))
    return "Booked: New York to Boston on 14 September."


def move_boston(agent: Careful) -> str:
    number = agent.look(
        "get_booking_history",
        access_token=TOKEN,
        pick=lambda seen: next(n for n, b in seen["booking_history"].items() if b["travel_to"] == "BOS"),
        guess="2031914",
        why="I need the number of the booking I just made.",
    )
    agent.act("cancel_booking", access_token=TOKEN, booking_id=number)
    agent.act("book_flight", access_token=TOKEN, **flight("harbor", "2031-09-16", "JFK", "BOS"))
    return "The flight is on 16 September now."


EXAMPLES = (
    example(
        "harbor_card",
        (
            "Book an economy seat from San Francisco to Rivermist on 2031-05-06. Pay with card 'harbor'; if it is "
            f"refused, with whichever of my cards can pay. My access token is {TOKEN}.",
        ),
        agency({"harbor": 140.0, "pine": 220.0, "metro": 4100.0}),
        (
            calls(
                ("book_flight", {"access_token": TOKEN} | flight("metro", "2031-05-06", "SFO", "RMS")),
            ),
        ),
        with_other_card("harbor", "2031-05-06", ("San Francisco", "Rivermist"), ("SFO", "RIV"), "economy", "pine"),
    ),
    example(
        "expired_session",
        (
            "Get me an economy flight from Boston (BOS) to Stonebrook on 2031-04-02 with card 'metro', token "
            f"{TOKEN}. {RENEWAL_TEXT}",
        ),
        agency({"metro": 2600.0, "harbor": 75.0}, expires_in=0),
        (
            calls(
                ("authenticate_travel", RENEWAL),
                ("book_flight", {"access_token": RENEWED} | flight("metro", "2031-04-02", "BOS", "SBK")),
            ),
        ),
        book_after_renewal,
    ),
    example(
        "later_flight",
        (
            f"Book economy from JFK to BOS on 2031-09-14 with card 'harbor', token {TOKEN}.",
            "Change of plan: I can only leave on 2031-09-16. Cancel that flight and book the later one, same card.",
        ),
        agency({"harbor": 1900.0}),
        (
            calls(("book_flight", {"access_token": TOKEN} | flight("harbor", "2031-09-14", "JFK", "BOS"))),
            calls(
                ("cancel_booking", {"access_token": TOKEN, "booking_id": FIRST_BOOKING}),
                ("book_flight", {"access_token": TOKEN} | flight("harbor", "2031-09-16", "JFK", "BOS")),
            ),
        ),
        book_boston,
        move_boston,
    ),
    example(
        "pine_card",
        (
            "Business class from Los Angeles to Silverpine on 2031-07-21 please. Try card 'pine' first, else take one "
            f"with enough on it. Token {TOKEN}.",
        ),
        agency({"pine": 310.0, "harbor": 505.0, "metro": 2950.0}),
        (
            calls(
                ("book_flight", {"access_token": TOKEN} | flight("metro", "2031-07-21", "LAX", "SVP", "business")),
            ),
        ),
        with_other_card("pine", "2031-07-21", ("Los Angeles", "Silverpine"), ("LAX", "SLP"), "business", "harbor"),
        held_out=True,
    ),
    example(
        "expired_cancel",
        (f"Cancel my flight to Chicago. Token {TOKEN}. {RENEWAL_TEXT}",),
        agency(
            {"metro": 400.0},
            expires_in=0,
            b6013377=booked("metro", "2031-03-09", "JFK", "ORD", 300.0),
            b6020815=booked("metro", "2031-03-20", "JFK", "LAX", 570.0),
        ),
        (
            calls(
                ("authenticate_travel", RENEWAL),
                ("cancel_booking", {"access_token": RENEWED, "booking_id": "6013377"}),
            ),
        ),
        cancel_after_renewal,
        held_out=True,
    ),
)
