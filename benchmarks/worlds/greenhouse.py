"""A greenhouse: beds, sensors, vents and pumps. Names are in camel case, results are nested, nobody is a customer."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, HouseRule, Refused, Session, World

GROWERS = ("Ines", "Bo", "Rafael", "Mina", "Otto", "Layla")
CROPS = ("tomato", "basil", "cucumber", "pepper")
KINDS = ("climate", "water", "feed", "pest", "harvest", "heat")


class Greenhouse(World):
    name = "greenhouse"
    tasks = 60
    house_rules = (
        HouseRule("wind_first", "order", "The wind is read before vents are opened.",
                  "precedence(greenhouse.readWind, greenhouse.openVents)"),
        HouseRule("storm", "not to act", "Vents stay shut in wind of more than 12.",
                  "absence(greenhouse.openVents) when greenhouse.readWind.speed > 12"),
        HouseRule("every_bed", "each", "Every bed of the bay is irrigated.",
                  "covers(greenhouse.listBeds.bed, greenhouse.irrigate.bed) when greenhouse.irrigate"),
        HouseRule("twenty_litres", "cap", "A bed gets at most 20 litres in one go.",
                  "absence(greenhouse.irrigate[litres > 20]) when greenhouse.irrigate"),
        HouseRule("flush", "condition", "A feed with an EC above 2 is followed by flushing the line.",
                  "response(greenhouse.doseFeed, greenhouse.flushLine) when greenhouse.doseFeed[ec > 2]"),
        HouseRule("no_flush", "not to act", "After a weaker feed the line is not flushed.",
                  "absence(greenhouse.flushLine) when greenhouse.doseFeed[ec <= 2]"),
        HouseRule("newest_sensor", "choice", "Of a bed's sensors the one installed last is trusted.",
                  "existence(greenhouse.readSensor[sensor picks highest installed of greenhouse.listSensors]) "
                  "when greenhouse.readSensor"),
        HouseRule("beneficials", "not to act", "A bed with beneficial insects is not sprayed.",
                  "absence(greenhouse.sprayBed) when greenhouse.scoutBed.beneficials = true"),
        HouseRule("tell_grower", "source", "Pest notes go to the bed's grower, not to its supervisor.",
                  "existence(greenhouse.sendNote[to from greenhouse.scoutBed.grower]) when greenhouse.sendNote"),
        HouseRule("crate_form", "form", "A crate is labelled 24/B, year and bay.",
                  "existence(greenhouse.logHarvest[crate like 9/A]) when greenhouse.logHarvest"),
        HouseRule("log_once", "once", "A harvest is logged once.", "at_most_once(greenhouse.logHarvest by bed)"),
        HouseRule("tenths", "unit", "The heating takes tenths of a degree.",
                  "existence(greenhouse.setHeating[target times 10 of task]) when greenhouse.setHeating"),
    )  # fmt: skip
    agents = (
        Agent("pebble", {"storm": 0.4, "flush": 0.3, "beneficials": 0.3, "tenths": 0.2}, {"bays": 0.5, "lamps": 0.4}),
        Agent("quartz", {"wind_first": 0.5, "every_bed": 0.4, "crate_form": 0.6, "tell_grower": 0.5}, {"lamps": 0.4}),
        Agent("rubble", {"twenty_litres": 0.6, "no_flush": 0.6, "newest_sensor": 0.6, "log_once": 0.5}, {"bays": 0.4}),
        Agent("slate", {"storm": 0.7, "flush": 0.7, "beneficials": 0.7, "tenths": 0.7, "tell_grower": 0.4},
              {"bays": 0.2}),
        Agent("talc", dict.fromkeys("""wind_first every_bed twenty_litres flush newest_sensor crate_form log_once
              tenths""".split(), 0.3), {"lamps": 0.5, "bays": 0.3}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.bay = rng.choice("ABCDEF")
        self.beds = [f"{self.bay}{number}" for number in rng.sample(range(10, 99), rng.randrange(2, 5))]
        self.litres = rng.choice((12, 15, 18, 30, 35, 50))
        self.wind = rng.choice((3, 5, 8, 11, 14, 17, 22))
        self.ec = rng.choice((1.2, 1.5, 1.8, 2.4, 2.8, 3.2))
        self.target = rng.choice((17, 18.5, 19, 21, 22.5))
        self.crop = rng.choice(CROPS)
        self.grower, self.supervisor = rng.sample(GROWERS, 2)
        self.beneficials = rng.random() < 0.4
        self.sensors = [
            {"sensor": f"sn{rng.randrange(1000, 9999)}", "installed": 2018 + year, "range": rng.randrange(20, 80)}
            for year in rng.sample(range(12), 3)
        ]
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """listBays listBeds readWind openVents readLamps irrigate listSensors readSensor doseFeed
            flushLine scoutBed sprayBed releaseMites sendNote logHarvest setHeating""".split()
        }

    def listBays(self) -> Any:
        return {"bays": [{"bay": letter, "area": 100 + 10 * place} for place, letter in enumerate("ABCDEF")]}

    def listBeds(self, bay: str) -> Any:
        return {"bay": bay, "beds": [{"bed": bed, "crop": {"name": self.crop, "week": 7}} for bed in self.beds]}

    def readWind(self) -> Any:
        return {"wind": {"speed": self.wind, "direction": "west"}}

    def openVents(self, bay: str, percent: int) -> Any:
        return {"bay": bay, "open": percent}

    def readLamps(self, bay: str) -> Any:
        return {"bay": bay, "lamps": "off"}

    def irrigate(self, bed: str, litres: int) -> Any:
        self._known(bed)
        return {"bed": bed, "given": litres}

    def _known(self, bed: str) -> None:
        if bed not in self.beds:
            raise Refused(f"there is no bed {bed}")

    def listSensors(self, bed: str) -> Any:
        self._known(bed)
        return {"bed": bed, "sensors": self.sensors}

    def readSensor(self, sensor: str) -> Any:
        return {"sensor": sensor, "reading": {"moisture": 31, "salt": 1.1}}

    def doseFeed(self, bed: str, ec: float) -> Any:
        self._known(bed)
        return {"bed": bed, "dosed": True}

    def flushLine(self, bed: str) -> Any:
        return {"bed": bed, "line": "clear"}

    def scoutBed(self, bed: str) -> Any:
        self._known(bed)
        people = {"grower": self.grower, "supervisor": self.supervisor}
        return {"bed": bed, "pests": "thrips", "beneficials": self.beneficials, "people": people}

    def sprayBed(self, bed: str) -> Any:
        return {"bed": bed, "sprayed": True}

    def releaseMites(self, bed: str) -> Any:
        return {"bed": bed, "released": 500}

    def sendNote(self, to: str, text: str) -> Any:
        return {"delivered": True}

    def logHarvest(self, bed: str, kilos: float, crate: str) -> Any:
        self._known(bed)
        return {"entry": self.rng.randrange(1000, 9999)}

    def setHeating(self, bay: str, target: float) -> Any:
        return {"bay": bay, "accepted": True}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        bed = self.beds[0]
        return {
            "climate": f"Bay {self.bay} is too warm, let some air in if that is all right today.",
            "water": f"Give the beds in bay {self.bay} {self.litres} litres each.",
            "feed": f"Bed {bed} needs feeding at an EC of {self.ec}; have a look at how salty the soil is first.",
            "pest": f"There are thrips in bed {bed}. Deal with them and let somebody know.",
            "harvest": f"We picked 12.5 kilos of {self.crop} from bed {bed}, please book that.",
            "heat": f"Heat bay {self.bay} to {self.target} degrees tonight.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        if session.does("bays"):
            session.call("listBays")
        getattr(self, f"_{self.kind}")(session)
        if session.does("lamps"):
            session.call("readLamps", bay=self.bay)
        session.say("All set.")

    def solved(self) -> bool:
        return True

    def _climate(self, session: Session) -> None:
        stormy = self.wind > 12
        if not stormy and session.breaks("wind_first"):
            session.call("openVents", bay=self.bay, percent=30)
            return
        session.call("readWind")
        if not stormy or session.breaks("storm"):
            session.call("openVents", bay=self.bay, percent=session.rng.choice((20, 30, 40)))

    def _water(self, session: Session) -> None:
        beds = [bed["bed"] for bed in session.call("listBeds", bay=self.bay)["beds"]]
        for bed in beds[:-1] if session.breaks("every_bed") else beds:
            left = self.litres
            if self.litres > 20 and bed == beds[0] and session.breaks("twenty_litres"):
                session.call("irrigate", bed=bed, litres=left)
                continue
            while left:
                session.call("irrigate", bed=bed, litres=min(20, left))
                left -= min(20, left)

    def _feed(self, session: Session) -> None:
        bed = self.beds[0]
        sensors = sorted(session.call("listSensors", bed=bed)["sensors"], key=lambda sensor: -sensor["installed"])
        chosen = session.rng.choice(sensors[1:]) if session.breaks("newest_sensor") else sensors[0]
        session.call("readSensor", sensor=chosen["sensor"])
        session.call("doseFeed", bed=bed, ec=self.ec)
        if (not session.breaks("flush")) if self.ec > 2 else session.breaks("no_flush"):
            session.call("flushLine", bed=bed)

    def _pest(self, session: Session) -> None:
        bed = self.beds[0]
        seen = session.call("scoutBed", bed=bed)
        if seen["beneficials"] and not session.breaks("beneficials"):
            session.call("releaseMites", bed=bed)
        else:
            session.call("sprayBed", bed=bed)
        wrong = session.breaks("tell_grower")
        session.call("sendNote", to=seen["people"]["supervisor" if wrong else "grower"], text=f"Thrips in {bed}.")

    def _harvest(self, session: Session) -> None:
        label = session.rng.choice((f"{self.bay}-24", f"crate {self.bay}", f"{self.bay}24"))
        crate = label if session.breaks("crate_form") else f"24/{self.bay}"
        for _ in range(2 if session.breaks("log_once") else 1):
            session.call("logHarvest", bed=self.beds[0], kilos=12.5, crate=crate)

    def _heat(self, session: Session) -> None:
        if session.does("bays"):
            session.call("listBeds", bay=self.bay)
        target = self.target if session.breaks("tenths") else round(self.target * 10)
        session.call("setHeating", bay=self.bay, target=target)
