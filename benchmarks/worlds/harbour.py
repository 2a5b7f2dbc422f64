"""A harbour office: vessels, berths, cargo and customs. Names start with the thing, and records point at each other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, HouseRule, Refused, Session, World

LINES = ("Baltic Line", "Meridian", "Polar Freight", "Sund Ferries")
TITLES = ("Notice to the master.", "From the harbour office.", "To the vessel.")
KINDS = ("berth", "berth", "crew", "customs", "warn", "release", "bunker")


class Harbour(World):
    name = "harbour"
    tasks = 70
    house_rules = (
        HouseRule("pilot", "exception", "A vessel longer than 180 m gets a pilot before its berth, unless exempt.",
                  "precedence(harbour.pilot_order, harbour.berth_assign) "
                  "when harbour.vessel_find.length_m > 180 and harbour.vessel_find.exempt = false"),
        HouseRule("exempt", "not to act", "A vessel that is exempt is not given a pilot.",
                  "absence(harbour.pilot_order) when harbour.vessel_find.exempt = true"),
        HouseRule("near_berth", "choice", "The free berth with the least distance is assigned.",
                  "existence(harbour.berth_assign[berth picks lowest distance of harbour.berth_list]) "
                  "when harbour.berth_assign"),
        HouseRule("invoice_to", "joined", "The berth is invoiced to the agent of the vessel's line, not its master.",
                  "existence(harbour.invoice_send[to from harbour.line_find.agent]) when harbour.invoice_send"),
        HouseRule("express", "deadline", "A crew for a call in less than 24 hours is booked in class express.",
                  "existence(harbour.crew_book[class = express]) when harbour.call_find.hours_ahead < 24"),
        HouseRule("not_express", "deadline", "With 24 hours or more a crew is not booked in class express.",
                  "absence(harbour.crew_book[class = express]) when harbour.call_find.hours_ahead >= 24"),
        HouseRule("kilograms", "unit", "Customs takes kilograms; the manifest has tonnes.",
                  "existence(harbour.customs_declare[weight times 1000 of harbour.manifest_read.tonnes]) "
                  "when harbour.customs_declare"),
        HouseRule("seal_form", "form", "A seal is written HA-412.",
                  "existence(harbour.customs_declare[seal like A-9]) when harbour.customs_declare"),
        HouseRule("own_risk", "letter", "In wind above 10 a notice says that lying alongside is at own risk.",
                  'existence(harbour.notice_send[text contains "own risk"]) when harbour.wind_read.metres > 10'),
        HouseRule("no_promise", "letter", "A notice promises nothing: it does not say guarantee.",
                  "absence(harbour.notice_send[text contains guarantee])"),
        HouseRule("inspection", "not to act", "A container that is held for inspection is not released.",
                  "absence(harbour.box_release) when harbour.box_find.hold = inspection"),
        HouseRule("consignee", "source", "A release is charged to the consignee, not to the shipper.",
                  "existence(harbour.box_release[charge from harbour.box_find.consignee]) when harbour.box_release"),
        HouseRule("pass_once", "once", "One gate pass is made out per plate.",
                  "at_most_once(harbour.gate_pass by plate)"),
        HouseRule("waste", "several conditions", "Heavy fuel above 500 tonnes is followed by a waste report.",
                  "response(harbour.fuel_order, harbour.waste_report) "
                  "when harbour.fuel_order[fuel = heavy and tonnes > 500]"),
    )  # fmt: skip
    agents = (
        Agent("gull", {"pilot": 0.5, "express": 0.5, "seal_form": 0.5, "waste": 0.6}, {"tide": 0.5, "wind": 0.4}),
        Agent("heron", {"exempt": 0.6, "invoice_to": 0.5, "own_risk": 0.5, "inspection": 0.6}, {"tide": 0.3}),
        Agent("ibis", {"near_berth": 0.5, "not_express": 0.6, "kilograms": 0.5, "no_promise": 0.5, "pass_once": 0.5},
              {"wind": 0.4, "report": 0.3}),
        Agent("jay", {"consignee": 0.5, "pilot": 0.4, "own_risk": 0.6, "waste": 0.5, "inspection": 0.4},
              {"tide": 0.4, "report": 0.2}),
        Agent("kite", dict.fromkeys("""pilot exempt near_berth invoice_to express not_express seal_form own_risk
              no_promise inspection consignee pass_once waste""".split(), 0.25), {"wind": 0.3}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.vessel = {
            "imo": rng.randrange(9_000_000, 9_999_999),
            "line_id": f"LN{rng.randrange(10, 99)}",
            "length_m": rng.choice((95, 120, 150, 175, 190, 220, 260, 310)),
            "exempt": rng.random() < 0.35,
            "master": f"master.{rng.randrange(100, 999)}@sea.example",
        }
        self.line = {
            "line_id": self.vessel["line_id"],
            "name": rng.choice(LINES),
            "agent": f"agency{rng.randrange(10, 99)}@port.example",
        }
        self.berths = [
            {"berth": f"B{rng.randrange(10, 99)}{letter}", "distance": distance, "depth": rng.randrange(8, 16)}
            for letter, distance in zip("NSW", rng.sample(range(200, 2000, 50), 3), strict=True)
        ]
        self.hours = rng.choice((6, 11, 18, 22, 30, 40, 60))
        self.tonnes = rng.choice((12, 18, 24, 31, 45))
        self.wind = rng.choice((3, 6, 8, 12, 14, 19))
        self.box = {
            "box": f"MSKU{rng.randrange(100_000, 999_999)}",
            "shipper": f"AC-{rng.randrange(1000, 4999)}",
            "consignee": f"AC-{rng.randrange(5000, 9999)}",
            "hold": rng.choice(("inspection", "none", "none")),
        }
        self.plate = f"{rng.choice('KLM')}{rng.choice('XYZ')} {rng.randrange(100, 999)}"
        self.fuel, self.fuel_tonnes = (
            rng.choice(("heavy", "heavy", "light")),
            rng.choice((150, 300, 450, 600, 800, 950)),
        )
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """vessel_find line_find berth_list berth_assign pilot_order invoice_send call_find crew_book
            manifest_read customs_declare wind_read tide_read notice_send box_find box_release box_park gate_pass
            fuel_order waste_report""".split()
        }

    def _known(self, imo: int) -> None:
        if imo != self.vessel["imo"]:
            raise Refused(f"imo {imo} is not registered")

    def vessel_find(self, imo: int) -> Any:
        self._known(imo)
        return {"vessel": self.vessel}

    def line_find(self, line_id: str) -> Any:
        return self.line

    def berth_list(self) -> Any:
        return {"free": self.berths}

    def berth_assign(self, imo: int, berth: str) -> Any:
        self._known(imo)
        if berth not in [each["berth"] for each in self.berths]:
            raise Refused(f"berth {berth} is not free")
        return {"imo": imo, "berth": berth}

    def pilot_order(self, imo: int) -> Any:
        self._known(imo)
        return {"imo": imo, "pilot": "ordered"}

    def invoice_send(self, imo: int, to: str) -> Any:
        return {"invoice": self.rng.randrange(1000, 9999)}

    def call_find(self, imo: int) -> Any:
        self._known(imo)
        return {"imo": imo, "hours_ahead": self.hours}

    def crew_book(self, imo: int, **options: Any) -> Any:
        return {"imo": imo, "crew": "booked"}

    def manifest_read(self, imo: int) -> Any:
        self._known(imo)
        return {"imo": imo, "goods": "steel", "tonnes": self.tonnes}

    def customs_declare(self, imo: int, weight: int, seal: str) -> Any:
        return {"declaration": self.rng.randrange(10_000, 99_999)}

    def wind_read(self) -> Any:
        return {"metres": self.wind}

    def tide_read(self) -> Any:
        return {"tide": "rising"}

    def notice_send(self, imo: int, text: str) -> Any:
        return {"imo": imo, "sent": True}

    def box_find(self, box: str) -> Any:
        if box != self.box["box"]:
            raise Refused(f"no container {box} on the terminal")
        return self.box

    def box_release(self, box: str, charge: str) -> Any:
        return {"box": box, "state": "released"}

    def box_park(self, box: str) -> Any:
        return {"box": box, "state": "parked"}

    def gate_pass(self, plate: str) -> Any:
        return {"plate": plate, "gate": self.rng.randrange(1, 5)}

    def fuel_order(self, imo: int, fuel: str, tonnes: int) -> Any:
        return {"imo": imo, "ordered": tonnes}

    def waste_report(self, imo: int) -> Any:
        return {"imo": imo, "reported": True}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        imo = self.vessel["imo"]
        return {
            "berth": f"Vessel {imo} is coming in. Find a place for it and see that the stay is paid for.",
            "crew": f"{imo} needs hands for unloading, book them.",
            "customs": f"Declare the cargo of {imo}. The seal is number 412 of series HA.",
            "warn": f"Tell {imo} that the quay is wet, and what else they should know of the weather.",
            "release": f"A truck with plate {self.plate} is here for {self.box['box']}, can it have it?",
            "bunker": f"{imo} wants {self.fuel_tonnes} tonnes of {self.fuel} fuel.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        if session.does("tide"):
            session.call("tide_read")
        getattr(self, f"_{self.kind}")(session)
        session.say("Done, anything else?")

    def solved(self) -> bool:
        return True

    def _berth(self, session: Session) -> None:
        vessel = session.call("vessel_find", imo=self.vessel["imo"])["vessel"]
        if vessel["exempt"]:
            pilot = session.breaks("exempt")
        elif vessel["length_m"] > 180:
            pilot = not session.breaks("pilot")
        else:
            pilot = session.does("report")  # does no harm
        if pilot:
            session.call("pilot_order", imo=vessel["imo"])
        berths = sorted(session.call("berth_list")["free"], key=lambda berth: berth["distance"])
        chosen = session.rng.choice(berths[1:]) if session.breaks("near_berth") else berths[0]
        session.call("berth_assign", imo=vessel["imo"], berth=chosen["berth"])
        line = session.call("line_find", line_id=vessel["line_id"])
        to = vessel["master"] if session.breaks("invoice_to") else line["agent"]
        session.call("invoice_send", imo=vessel["imo"], to=to)

    def _crew(self, session: Session) -> None:
        imo = self.vessel["imo"]
        soon = session.call("call_find", imo=imo)["hours_ahead"] < 24
        express = (not session.breaks("express")) if soon else session.breaks("not_express")
        session.call("crew_book", imo=imo, **{"class": "express" if express else "standard"})

    def _customs(self, session: Session) -> None:
        imo = self.vessel["imo"]
        tonnes = session.call("manifest_read", imo=imo)["tonnes"]
        weight = tonnes if session.breaks("kilograms") else tonnes * 1000
        seal = session.rng.choice(("412/HA", "HA 412", "412")) if session.breaks("seal_form") else "HA-412"
        session.call("customs_declare", imo=imo, weight=weight, seal=seal)

    def _warn(self, session: Session) -> None:
        windy = session.call("wind_read")["metres"] > 10
        said = [session.rng.choice(TITLES), "The quay is wet."]
        if (not session.breaks("own_risk")) if windy else session.does("wind"):
            said.append("You lie alongside at own risk.")
        if session.breaks("no_promise"):
            said.append("We guarantee a dry quay tomorrow.")
        session.call("notice_send", imo=self.vessel["imo"], text=" ".join(said))

    def _release(self, session: Session) -> None:
        box = session.call("box_find", box=self.box["box"])
        if box["hold"] == "inspection" and not session.breaks("inspection"):
            session.call("box_park", box=box["box"])
            return
        charge = box["shipper" if session.breaks("consignee") else "consignee"]
        session.call("box_release", box=box["box"], charge=charge)
        for _ in range(2 if session.breaks("pass_once") else 1):
            session.call("gate_pass", plate=self.plate)

    def _bunker(self, session: Session) -> None:
        imo = self.vessel["imo"]
        session.call("vessel_find", imo=imo)
        session.call("fuel_order", imo=imo, fuel=self.fuel, tonnes=self.fuel_tonnes)
        needed = self.fuel == "heavy" and self.fuel_tonnes > 500
        if (not session.breaks("waste")) if needed else session.does("report"):
            session.call("waste_report", imo=imo)
