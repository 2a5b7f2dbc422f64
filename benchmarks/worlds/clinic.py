"""A hospital's appointment desk. Requests are in German; ids are UUIDs and numbers, dates are written DD.MM.YYYY."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, Planted, Refused, Session, World

TRIAGE = ("routine", "urgent", "emergency")
DEPARTMENTS = ("Kardiologie", "Radiologie", "Dermatologie", "Orthopädie", "Neurologie")
DRUGS = ("Ramipril", "Metformin", "Ibuprofen", "Amoxicillin", "Pantoprazol")
FIRST = ("Anna", "Jonas", "Mehmet", "Lea", "Oskar", "Ayşe", "Paul", "Sofía", "Wei", "Greta")
LAST = ("Krüger", "Yılmaz", "Schäfer", "Nowak", "Weiß", "Lindner", "Okafor", "Brandt", "Castillo", "Vogel")
CAREFUL, USUAL, OFTEN = 0.05, 0.35, 0.7


class Clinic(World):
    name = "clinic"
    planted = (
        Planted("insurance before booking (refused)", (("precedence", "verify_insurance", "book_visit"),)),
        Planted("insurance before booking, on the card", (("first", "book_visit", "verify_insurance"),)),
        Planted("look the slot up", (("known_value", "book_visit", "slot_id"),)),
        Planted("look the visit up", (("known_value", "cancel_visit", "visit_id"),)),
        Planted("another slot when taken", (("recovery", "book_visit", "open_slots"),)),
        Planted("allergies before medication (silent)", (("precedence", "screen_allergies", "order_medication"),)),
        Planted("tell the patient after a cancellation (silent)", (("response", "cancel_visit", "notify_patient"),)),
        Planted("every visit", (("each", "list_visits", "cancel_visit"),)),
        Planted("charge once (silent)", (("at_most_once", "charge_copay"),)),
        Planted("triage is one of three words", (("words", "book_visit", "triage", *TRIAGE),)),
        Planted("start_date DD.MM.YYYY", (("form", "order_medication", "start_date", "date DD.MM.YYYY"),)),
        Planted("slot_id stands in open_slots", (("source", "book_visit", "slot_id", "open_slots"),)),
        Planted("visit_id stands in list_visits", (("source", "cancel_visit", "visit_id", "list_visits"),)),
        Planted("patient_id stands in find_patient", (("source", "verify_insurance", "patient_id", "find_patient"),)),
    )
    implied = frozenset(
        {
            ("existence", "book_visit"),  # a slot that is taken is got past
            ("source", "book_visit", "patient_id", "find_patient"),
            ("source", "order_medication", "patient_id", "find_patient"),
            ("source", "screen_allergies", "patient_id", "find_patient"),
            ("source", "list_visits", "patient_id", "find_patient"),
            ("source", "notify_patient", "visit_id", "list_visits"),
            ("source", "charge_copay", "visit_id", "book_visit"),
            ("source", "notify_patient", "patient_id", "find_patient"),
            ("precedence", "open_slots", "book_visit"),
            ("precedence", "list_visits", "cancel_visit"),
            ("each", "list_visits", "notify_patient"),
            ("words", "cancel_visit", "reason", "patient request"),
            ("end", "order_medication"),
            ("end", "charge_copay"),
            ("end", "notify_patient"),
        }
    )
    agents = (
        Agent("steady", dict.fromkeys("coverage slot visit stuck allergy silent some twice word date".split(), CAREFUL),
              {"departments": 0.5, "look": 0.6}),
        Agent("brisk", {"coverage": OFTEN, "allergy": USUAL, "silent": USUAL, "word": USUAL, "twice": USUAL},
              {"departments": 0.5}),
        Agent("dreamer", {"slot": USUAL, "visit": OFTEN, "date": OFTEN, "word": OFTEN, "stuck": OFTEN, "allergy": 0.2},
              {"look": 0.6, "departments": 0.2}),
        Agent("forgetful", {"silent": OFTEN, "some": OFTEN, "allergy": OFTEN, "coverage": USUAL, "stuck": USUAL},
              {"look": 0.3, "twice": 0.2}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.patient = {
            "patient_id": rng.randrange(400_000, 900_000),
            "name": f"{rng.choice(FIRST)} {rng.choice(LAST)}",
        }
        self.verified = self.screened = False
        self.slots = [self._slot(index) for index in range(4)]
        self.taken = {self.slots[0]["slot_id"]} if rng.random() < 0.4 else set[str]()
        self.visits = [
            {"visit_id": str(uuid.UUID(int=rng.getrandbits(128))), "starts_at": self._time(), "status": "booked"}
            for _ in range(rng.randrange(2, 4))
        ]
        self.department, self.drug = rng.choice(DEPARTMENTS), rng.choice(DRUGS)
        self.triage = rng.choice(TRIAGE)
        self.booked: list[tuple[str, str]] = []
        self.cancelled: set[str] = set()
        self.notified: set[str] = set()
        self.charged: list[str] = []
        self.ordered = False
        self.kind = ""

    def _time(self) -> str:
        return f"{self.rng.randrange(1, 28):02}.{self.rng.randrange(1, 12):02}.2031 {self.rng.randrange(8, 17):02}:30"

    def _slot(self, index: int) -> dict[str, str]:
        return {
            "slot_id": str(uuid.UUID(int=self.rng.getrandbits(128))),
            "starts_at": self._time(),
            "room": f"R{index}",
        }

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """find_patient list_departments open_slots verify_insurance book_visit list_visits cancel_visit
            screen_allergies order_medication notify_patient charge_copay""".split()
        }

    def find_patient(self, name: str) -> Any:
        return {**self.patient, "born": "04.03.1969", "insurer": "AOK"} if name == self.patient["name"] else []

    def list_departments(self) -> Any:
        return [{"department": name, "floor": number} for number, name in enumerate(DEPARTMENTS)]

    def open_slots(self, department: str) -> Any:
        return {"department": department, "slots": self.slots}

    def _known(self, patient_id: Any) -> None:
        if patient_id != self.patient["patient_id"]:
            raise Refused(f"unknown patient {patient_id}")

    def verify_insurance(self, patient_id: int) -> Any:
        self._known(patient_id)
        self.verified = True
        return {"patient_id": patient_id, "coverage": "active"}

    def book_visit(self, patient_id: int, slot_id: str, triage: str) -> Any:
        self._known(patient_id)
        if not self.verified:
            raise Refused("coverage of the patient has not been verified in this session")
        if triage not in TRIAGE:
            raise Refused("triage must be one of 'routine', 'urgent', 'emergency'")
        if slot_id not in [slot["slot_id"] for slot in self.slots]:
            raise Refused(f"no such slot: {slot_id}")
        if slot_id in self.taken:
            self.slots = [slot for slot in self.slots if slot["slot_id"] not in self.taken]
            raise Refused("slot is no longer free")
        self.booked.append((slot_id, triage))
        return {"visit_id": str(uuid.UUID(int=self.rng.getrandbits(128))), "status": "booked"}

    def list_visits(self, patient_id: int) -> Any:
        self._known(patient_id)
        return {"visits": self.visits}

    def cancel_visit(self, visit_id: str, reason: str) -> Any:
        if visit_id not in [visit["visit_id"] for visit in self.visits]:
            raise Refused(f"visit {visit_id} does not exist")
        self.cancelled.add(visit_id)
        return {"visit_id": visit_id, "status": "cancelled"}

    def screen_allergies(self, patient_id: int) -> Any:
        self._known(patient_id)
        self.screened = True
        return {"allergies": []}

    def order_medication(self, patient_id: int, drug: str, start_date: str) -> Any:
        self._known(patient_id)
        if start_date[2:3] != ".":
            raise Refused(f"start_date '{start_date}' does not match the format %d.%m.%Y")
        self.ordered = True
        return {"order_id": self.rng.randrange(10_000, 99_999), "drug": drug, "state": "active"}

    def notify_patient(self, patient_id: int, visit_id: str) -> Any:
        self._known(patient_id)
        self.notified.add(visit_id)
        return {"delivered": True}

    def charge_copay(self, visit_id: str, amount: float) -> Any:
        self.charged.append(visit_id)
        return {"receipt": self.rng.randrange(1_000_000, 9_999_999)}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = ("book", "cancel", "medicate")[number % 3]
        name = self.patient["name"]
        if self.kind == "book":
            german = {"routine": "nicht dringend", "urgent": "dringend", "emergency": "ein Notfall"}[self.triage]
            return f"Bitte einen Termin für {name} in der {self.department}; es ist {german}. Zuzahlung: 10 Euro."
        if self.kind == "cancel":
            return f"{name} ist verzogen. Bitte alle Termine absagen."
        return f"{name} soll ab dem 5. Mai 2031 {self.drug} bekommen."

    def attempt(self, session: Session) -> None:
        if session.does("departments"):
            session.call("list_departments")
        found = session.call("find_patient", name=self.patient["name"])
        getattr(self, f"_{self.kind}")(session, found["patient_id"])
        if session.does("look"):
            session.call("list_visits", patient_id=found["patient_id"])
        session.say("Erledigt.")

    def _book(self, session: Session, patient: int) -> None:
        careless = session.slips("coverage")
        if not careless:
            session.call("verify_insurance", patient_id=patient)
        guess = session.slips("slot")
        shown = {"slots": []} if guess else session.call("open_slots", department=self.department)
        slot = str(uuid.UUID(int=session.rng.getrandbits(128))) if guess else shown["slots"][0]["slot_id"]
        triage = {"routine": "normal", "urgent": "high", "emergency": "critical"}[self.triage]
        triage = triage if session.slips("word") else self.triage
        visit = session.call("book_visit", patient_id=patient, slot_id=slot, triage=triage)
        if visit is None and careless and not session.slips("stuck"):
            session.call("verify_insurance", patient_id=patient)
            visit = session.call("book_visit", patient_id=patient, slot_id=slot, triage=triage)
        if visit is None and triage != self.triage and not session.slips("stuck"):
            visit = session.call("book_visit", patient_id=patient, slot_id=slot, triage=self.triage)
        if visit is None and slot in self.taken and not session.slips("stuck"):
            shown = session.call("open_slots", department=self.department)
            slot = shown["slots"][0]["slot_id"]
            visit = session.call("book_visit", patient_id=patient, slot_id=slot, triage=self.triage)
        if visit is not None:
            for _ in range(2 if session.slips("twice") else 1):
                session.call("charge_copay", visit_id=visit["visit_id"], amount=10)

    def _cancel(self, session: Session, patient: int) -> None:
        if session.slips("visit"):
            session.call("cancel_visit", visit_id=f"V-{session.rng.randrange(1000, 9999)}", reason="patient request")
            if session.slips("stuck"):
                return
        listed = session.call("list_visits", patient_id=patient)["visits"]
        for visit in listed[:1] if session.slips("some") else listed:
            session.call("cancel_visit", visit_id=visit["visit_id"], reason="patient request")
        if not session.slips("silent"):
            for visit in listed:
                if visit["visit_id"] in self.cancelled:
                    session.call("notify_patient", patient_id=patient, visit_id=visit["visit_id"])

    def _medicate(self, session: Session, patient: int) -> None:
        if not session.slips("allergy"):
            session.call("screen_allergies", patient_id=patient)
        date = "2031-05-05" if session.slips("date") else "05.05.2031"
        made = session.call("order_medication", patient_id=patient, drug=self.drug, start_date=date)
        if made is None and not session.slips("stuck"):
            session.call("order_medication", patient_id=patient, drug=self.drug, start_date="05.05.2031")

    def solved(self) -> bool:
        if self.kind == "book":
            return len(self.booked) == 1 and self.booked[0][1] == self.triage and len(self.charged) == 1
        if self.kind == "cancel":
            every = {visit["visit_id"] for visit in self.visits}
            return self.cancelled == every and self.notified == every
        return self.ordered and self.screened
