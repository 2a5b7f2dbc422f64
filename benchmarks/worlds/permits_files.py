"""What lies on the desks of the permits office (worlds/permits.py), and how people ask for things."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

NAMES = (
    "Ada Ekman",
    "Bo Lindgren",
    "Carla Moreau",
    "Dirk Jansen",
    "Elif Kaya",
    "Femi Okoro",
    "Greta Holm",
    "Hugo Reis",
)
STREETS = ("Mill Lane", "Station Road", "Church Hill", "Quay Street", "Orchard Way")
GROUNDS = ("loss of light", "noise", "a blocked access", "the height of the ridge")
WORDINGS = {
    "decide": (
        "Application {application} is complete as far as I can see. Can you bring it to a decision today?",
        "{name} rang again about {application}. Please finish it.",
        "What about {application}? The consultation is over, so go ahead.",
        "Handle building application {application}, the file has been lying here since last week.",
    ),
    "fee": (
        "Please bill the fee for {application}.",
        "The fee of {application} has not been charged yet; would you send out the invoice?",
        "Finance asks for the invoice of building file {application}.",
        "{application}: invoice, please, before the month is over.",
    ),
    "event": (
        "There is a request for an event, {event}. Deal with it.",
        "Can {event} take place? Do whatever is needed.",
        "The organisers of {event} would like an answer.",
        "Please process event file {event} and let whoever has to know about it know.",
    ),
    "refuse": (
        "The council has said no to {application}. Put that into effect and write to the applicant.",
        "Turn {application} down, the neighbours' objections carry the day. The applicant gets a letter.",
        "{application} cannot be permitted. Close it with a refusal and inform {name}.",
        "Refuse {application} and explain to the applicant why.",
    ),
    "parking": (
        "Household {household} wants to park the car {plate} in their street.",
        "Resident parking for {plate}, household {household}, please.",
        "A family ({household}) has moved here with a car, plate {plate}. They ask for resident parking.",
        "Could you sort out the parking of {plate}? It belongs to household {household}.",
    ),
    "next": (
        "Officer {officer} has time for one more building file. Give them the next one.",
        "Which file is next in the building queue? Put {officer} on it.",
        "{officer} is back from leave and needs work from the building queue.",
    ),
    "archive": (
        "The paperwork of {application} can go to the archive.",
        "Please archive whatever documents we have for {application}.",
        "File {application} is finished: off to the archive with it.",
    ),
    "pitch": (
        "Pitch {pitch} on the weekly market goes to trader {trader} from now on.",
        "Trader {trader} takes over market pitch {pitch}, please change that.",
        "The stall holder of {pitch} has retired and {trader} follows. Update the market plan.",
    ),
}


def draw_application(rng: random.Random, name: str) -> dict[str, Any]:
    return {
        "applicationNumber": f"B{rng.randrange(1000, 9999)}",
        "category": rng.choice(("extension", "extension", "fence", "garage")),
        "receivedOn": _draw_day(rng).isoformat(),
        "applicant": {"name": name, "email": f"applicant{rng.randrange(100, 999)}@post.example"},
        "parcelId": f"PC-{rng.randrange(100, 999)}",
        "drawings": rng.randrange(2, 9),
        "channel": rng.choice(("counter", "web", "post")),
    }


def _draw_day(rng: random.Random) -> date:
    return date(2031, 1, 6) + timedelta(days=rng.randrange(300))


def draw_parcel(rng: random.Random, parcel: str) -> dict[str, Any]:
    return {
        "parcelId": parcel,
        "address": f"{rng.choice(STREETS)} {rng.randrange(1, 90)}",
        "zoning": {"zone": rng.choice(("heritage", "heritage", "residential", "mixed")), "plan": "1998/4"},
        "floodRisk": rng.choice(("high", "high", "medium", "low", "low")),
        "squareMetres": rng.randrange(180, 1400),
        "ownerId": rng.randrange(3000, 8000),
    }


def draw_owner(rng: random.Random, name: str, owner: int) -> dict[str, Any]:
    return {
        "ownerId": owner,
        "name": name,
        "email": f"owner{rng.randrange(100, 999)}@post.example",
        "billingEmail": f"accounts{rng.randrange(100, 999)}@billing.example",
    }


def draw_objections(rng: random.Random, names: Sequence[str]) -> list[dict[str, Any]]:
    """One or two."""
    return [
        {"objectionId": rng.randrange(10, 99), "ground": ground, "by": {"name": name, "side": "neighbour"}}
        for name, ground in zip(names, rng.sample(GROUNDS, len(names)), strict=True)
    ][: rng.choice((1, 2))]


def draw_event(rng: random.Random, name: str) -> dict[str, Any]:
    received = _draw_day(rng)
    return {
        "eventId": f"EV-{rng.randrange(200, 999)}",
        "title": rng.choice(("Spring fair", "Harvest run", "Brass evening", "Book market")),
        "receivedOn": received.isoformat(),
        "startsOn": (received + timedelta(days=rng.choice((8, 13, 18, 24, 30, 41, 55, 70)))).isoformat(),
        "expectedVisitors": rng.choice((80, 150, 300, 380, 450, 700, 1200, 2500)),
        "amplified": rng.random() < 0.5,
        "organiser": {"name": name, "email": f"club{rng.randrange(10, 99)}@town.example"},
    }


def draw_household(rng: random.Random, names: Sequence[str]) -> dict[str, Any]:
    return {
        "householdId": rng.randrange(50_000, 90_000),
        "finesDue": rng.choice((0, 0, 20, 40, 65, 110, 240)),
        "zone": rng.choice("PQR"),
        "residents": [
            {"residentId": f"R{rng.randrange(1000, 9999)}", "name": name} for name in names[: rng.choice((2, 2, 3))]
        ],
    }


def draw_waiting(rng: random.Random) -> list[dict[str, Any]]:
    """Five applications, of which two or three are complete."""
    states = ["complete", "complete", rng.choice(("complete", "incomplete")), "incomplete", "on hold"]
    rng.shuffle(states)
    numbers, days = rng.sample(range(1000, 9999), 5), rng.sample(range(90), 5)
    return [
        {
            "applicationNumber": f"B{number}",
            "receivedOn": (date(2031, 3, 1) + timedelta(days=day)).isoformat(),
            "state": state,
            "category": rng.choice(("extension", "fence", "garage")),
        }
        for number, day, state in zip(numbers, days, states, strict=True)
    ]
