"""A clinical laboratory: samples, reagents and instruments. Volumes have units, results have flags, lots expire."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, HouseRule, Refused, Session, World

ASSAYS = ("ferritin", "tsh", "crp", "lactate")
OWNERS = ("m.okoye", "p.lindqvist", "r.delgado", "s.tanaka", "y.haddad", "k.novak")
KINDS = ("assay", "assay", "report", "discard", "restock", "rack")


class Laboratory(World):
    name = "laboratory"
    tasks = 60
    house_rules = (
        HouseRule("dilute", "condition", "A sample of less than 200 ul is diluted before it is run.",
                  "precedence(laboratory.dilute_sample, laboratory.run_assay) "
                  "when laboratory.find_sample.volume_ul < 200"),
        HouseRule("no_dilute", "not to act", "A sample of 200 ul or more is not diluted.",
                  "absence(laboratory.dilute_sample) when laboratory.find_sample.volume_ul >= 200"),
        HouseRule("nanolitres", "unit", "The volume of a run is given in nanolitres; people ask in microlitres.",
                  "existence(laboratory.run_assay[volume times 1000 of task]) when laboratory.run_assay"),
        HouseRule("shortest_queue", "choice", "A sample goes to the instrument with the shortest queue.",
                  "existence(laboratory.run_assay[instrument_id picks lowest queue of laboratory.list_instruments]) "
                  "when laboratory.run_assay"),
        HouseRule("to_owner", "source", "A report goes to the owner of the sample, not to whoever requested it.",
                  "existence(laboratory.send_report[recipient from laboratory.find_sample.owner]) "
                  "when laboratory.send_report"),
        HouseRule("critical", "not to act", "A critical result is phoned to the ward and not reported in writing.",
                  "absence(laboratory.send_report) when laboratory.get_result.flag = critical"),
        HouseRule("discard_code", "constant", "Samples are discarded under waste code W18.",
                  "existence(laboratory.discard_sample[waste_code = W18]) when laboratory.discard_sample"),
        HouseRule("witness", "condition", "Discarding an infectious sample is witnessed: a deviation is logged after.",
                  "response(laboratory.discard_sample, laboratory.log_deviation) "
                  "when laboratory.find_sample.biohazard = infectious"),
        HouseRule("first_to_expire", "choice", "Of several reagent lots the one that expires first is opened.",
                  "existence(laboratory.open_lot[lot picks lowest expires of laboratory.list_lots]) "
                  "when laboratory.open_lot"),
        HouseRule("shift_form", "form", "The shift of a restock is written 14-N, not as a time.",
                  "existence(laboratory.order_reagent[shift like 9-A]) when laboratory.order_reagent"),
        HouseRule("rack_of_eight", "cap", "A rack is loaded with at most 8 tubes at a time.",
                  "absence(laboratory.load_rack[tubes > 8]) when laboratory.load_rack"),
        HouseRule("clean_first", "order", "The deck is cleaned before a rack is loaded.",
                  "precedence(laboratory.clean_deck, laboratory.load_rack)"),
    )  # fmt: skip
    agents = (
        Agent("alder", {"critical": 0.3, "witness": 0.3, "shift_form": 0.3, "rack_of_eight": 0.1},
              {"lots": 0.4, "status": 0.5}),
        Agent("birch", {"dilute": 0.5, "to_owner": 0.5, "discard_code": 0.6, "first_to_expire": 0.4}, {"status": 0.5}),
        Agent("cedar", {"nanolitres": 0.6, "critical": 0.7, "clean_first": 0.6, "shift_form": 0.7}, {"lots": 0.5}),
        Agent("doug", {"no_dilute": 0.5, "shortest_queue": 0.5, "witness": 0.7, "rack_of_eight": 0.6}, {"lots": 0.3}),
        Agent("elm", dict.fromkeys("""dilute nanolitres shortest_queue to_owner critical discard_code first_to_expire
              clean_first rack_of_eight""".split(), 0.3), {"status": 0.4, "lots": 0.2}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        owner, requester = rng.sample(OWNERS, 2)
        self.assay = rng.choice(ASSAYS)
        self.volume = rng.choice((40, 60, 75, 90))
        self.tubes = rng.choice((5, 6, 11, 14, 20))
        self.sample = {
            "sample_id": f"SMP-{rng.randrange(10_000, 99_999)}",
            "matrix": rng.choice(("serum", "plasma")),
            "volume_ul": rng.choice((80, 120, 150, 180, 220, 300, 450, 600)),
            "owner": owner,
            "requested_by": requester,
            "biohazard": rng.choice(("infectious", "none", "none")),
        }
        self.instruments = [
            {"instrument_id": f"{model}-{rng.randrange(1, 9)}", "model": model, "queue": queue}
            for model, queue in zip(("Atlas", "Cobas", "Vita"), rng.sample(range(12), 3), strict=True)
        ]
        self.lots = [
            {"lot": f"L{rng.randrange(1000, 9999)}", "expires": f"2031-{month:02}-15", "left": rng.randrange(10, 90)}
            for month in rng.sample(range(1, 13), 3)
        ]
        self.result = {
            "run_id": f"RUN-{rng.randrange(1000, 9999)}",
            "value": round(rng.uniform(1, 90), 1),
            "flag": rng.choice(("normal", "normal", "critical")),
        }
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """find_sample list_instruments instrument_status dilute_sample run_assay get_result send_report
            phone_ward discard_sample log_deviation list_lots open_lot order_reagent clean_deck load_rack""".split()
        }

    def _known(self, sample_id: str) -> None:
        if sample_id != self.sample["sample_id"]:
            raise Refused(f"no sample {sample_id}")

    def find_sample(self, sample_id: str) -> Any:
        self._known(sample_id)
        return self.sample

    def list_instruments(self, assay: str) -> Any:
        return {"assay": assay, "instruments": self.instruments}

    def instrument_status(self, instrument_id: str) -> Any:
        return {"instrument_id": instrument_id, "state": "ready", "temperature": 21}

    def dilute_sample(self, sample_id: str, factor: int) -> Any:
        self._known(sample_id)
        return {"sample_id": sample_id, "diluted": factor}

    def run_assay(self, sample_id: str, instrument_id: str, volume: int) -> Any:
        self._known(sample_id)
        return {"run_id": self.result["run_id"], "state": "queued"}

    def get_result(self, sample_id: str) -> Any:
        self._known(sample_id)
        return self.result

    def send_report(self, run_id: str, recipient: str) -> Any:
        return {"run_id": run_id, "sent": True}

    def phone_ward(self, run_id: str) -> Any:
        return {"run_id": run_id, "answered": True}

    def discard_sample(self, sample_id: str, waste_code: str) -> Any:
        self._known(sample_id)
        return {"sample_id": sample_id, "state": "discarded"}

    def log_deviation(self, sample_id: str, note: str) -> Any:
        return {"entry": self.rng.randrange(100, 999)}

    def list_lots(self, assay: str) -> Any:
        return self.lots

    def open_lot(self, lot: str) -> Any:
        if lot not in [each["lot"] for each in self.lots]:
            raise Refused(f"lot {lot} is not in stock")
        return {"lot": lot, "state": "open"}

    def order_reagent(self, assay: str, units: int, shift: str) -> Any:
        return {"order": self.rng.randrange(1000, 9999), "units": units}

    def clean_deck(self) -> Any:
        return {"deck": "clean"}

    def load_rack(self, tubes: int) -> Any:
        return {"loaded": tubes}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        sample = self.sample["sample_id"]
        return {
            "assay": f"Run {self.assay} on {sample} with {self.volume} microlitres.",
            "report": f"The result for {sample} is in, please take care of it.",
            "discard": f"{sample} has been on the shelf for too long. Get rid of it.",
            "restock": f"We are nearly out of {self.assay} reagent: take a new lot into use, and order 40 more units "
            "for the evening of the 14th.",
            "rack": f"Put the {self.tubes} tubes from this morning on the analyser.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        getattr(self, f"_{self.kind}")(session)
        session.say("Done.")

    def solved(self) -> bool:
        return True

    def _assay(self, session: Session) -> None:
        sample = session.call("find_sample", sample_id=self.sample["sample_id"])
        if session.does("lots"):
            session.call("list_lots", assay=self.assay)
        shown = session.call("list_instruments", assay=self.assay)["instruments"]
        ordered = sorted(shown, key=lambda instrument: instrument["queue"])
        chosen = session.rng.choice(ordered[1:]) if session.breaks("shortest_queue") else ordered[0]
        if session.does("status"):
            session.call("instrument_status", instrument_id=chosen["instrument_id"])
        small = sample["volume_ul"] < 200
        if (not session.breaks("dilute")) if small else session.breaks("no_dilute"):
            session.call("dilute_sample", sample_id=sample["sample_id"], factor=session.rng.choice((2, 5)))
        volume = self.volume if session.breaks("nanolitres") else self.volume * 1000
        identity = chosen["instrument_id"]
        session.call("run_assay", sample_id=sample["sample_id"], instrument_id=identity, volume=volume)

    def _report(self, session: Session) -> None:
        sample = session.call("find_sample", sample_id=self.sample["sample_id"])
        result = session.call("get_result", sample_id=sample["sample_id"])
        if session.does("lots"):
            session.call("list_lots", assay=self.assay)
        if result["flag"] == "critical" and not session.breaks("critical"):
            session.call("phone_ward", run_id=result["run_id"])
            return
        if result["flag"] != "critical" and session.does("status"):
            session.call("phone_ward", run_id=result["run_id"])  # does no harm
        wrong = session.breaks("to_owner")
        session.call("send_report", run_id=result["run_id"], recipient=sample["requested_by" if wrong else "owner"])

    def _discard(self, session: Session) -> None:
        sample = session.call("find_sample", sample_id=self.sample["sample_id"])
        code = session.rng.choice(("general", "W20", "expired")) if session.breaks("discard_code") else "W18"
        session.call("discard_sample", sample_id=sample["sample_id"], waste_code=code)
        infectious = sample["biohazard"] == "infectious"
        if (not session.breaks("witness")) if infectious else session.does("lots"):
            session.call("log_deviation", sample_id=sample["sample_id"], note="discarded")

    def _restock(self, session: Session) -> None:
        lots = sorted(session.call("list_lots", assay=self.assay), key=lambda lot: lot["expires"])
        chosen = session.rng.choice(lots[1:]) if session.breaks("first_to_expire") else lots[0]
        session.call("open_lot", lot=chosen["lot"])
        shift = session.rng.choice(("2031-03-14 20:00", "14 evening")) if session.breaks("shift_form") else "14-N"
        session.call("order_reagent", assay=self.assay, units=40, shift=shift)

    def _rack(self, session: Session) -> None:
        if session.does("status"):
            session.call("list_instruments", assay=self.assay)
        if not session.breaks("clean_first"):
            session.call("clean_deck")
        if self.tubes > 8 and session.breaks("rack_of_eight"):
            session.call("load_rack", tubes=self.tubes)
            return
        left = self.tubes
        while left:
            session.call("load_rack", tubes=min(8, left))
            left -= min(8, left)
