"""A town's permits office: building, events, parking, market pitches. Kept apart from the work on the rules.

It was written without reading the code that finds rules. Tools have a prefix, many look alike, some take objects;
answers are lists of records among other things; conditions are spread over records that point at each other; and each
kind of task is asked for in several wordings.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

from worlds.permits_files import (
    NAMES,
    WORDINGS,
    draw_application,
    draw_event,
    draw_household,
    draw_objections,
    draw_owner,
    draw_parcel,
    draw_waiting,
)
from worlds.world import Agent, HouseRule, Refused, Session, World

PREFIX = "townhall__"
OPENINGS = ("We refer to your application.", "Thank you for your plans.", "Your application has been decided upon.")
APPEALS = ("You may appeal within six weeks.", "An appeal is open to you until six weeks from now.",
           "If you disagree, you can lodge an appeal at the town hall.")  # fmt: skip
KINDS = ("decide", "fee", "event", "decide", "refuse", "parking", "next", "archive", "pitch")


class Permits(World):
    name = "permits"
    tasks = 70
    house_rules = (
        HouseRule("board", "exception", "In the heritage zone the board is heard before a permit, fences excepted.",
                  "precedence(townhall.requestBoardOpinion, townhall.grantPermit) "
                  "when townhall.fetchParcel.zone = heritage unless townhall.fetchApplication.category = fence"),
        HouseRule("flood", "several conditions", "An extension where the risk of floods is high is not permitted here.",
                  "absence(townhall.grantPermit) "
                  "when townhall.fetchApplication.category = extension and townhall.fetchParcel.floodRisk = high"),
        HouseRule("cents", "unit", "Invoices are in cents; fees are quoted in euros.",
                  "existence(townhall.issueInvoice[amount times 100 of townhall.quoteFee.euros]) "
                  "when townhall.issueInvoice"),
        HouseRule("payer", "joined", "The fee is billed to the billing address of the parcel's owner.",
                  "existence(townhall.issueInvoice[payer from townhall.fetchOwner.billingEmail]) "
                  "when townhall.issueInvoice"),
        HouseRule("reference", "form", "The reference of an invoice is written BP-31-4127.",
                  "existence(townhall.issueInvoice[reference like A-9-9]) when townhall.issueInvoice"),
        HouseRule("late", "deadline", "An event that is applied for less than three weeks ahead is not licensed.",
                  "absence(townhall.grantEventLicence) "
                  "when townhall.fetchEvent.startsOn falls at most 20 days after townhall.fetchEvent.receivedOn"),
        HouseRule("police", "condition", "The police hear of licensed events with more than 400 visitors.",
                  "response(townhall.grantEventLicence, townhall.notifyPolice) "
                  "when townhall.fetchEvent.expectedVisitors > 400"),
        HouseRule("appeal", "letter", "A letter about a refusal says that the applicant may appeal.",
                  "existence(townhall.sendLetter[letter contains appeal]) when townhall.refuseApplication"),
        HouseRule("objector", "letter", "A letter does not name who objected.",
                  "absence(townhall.sendLetter[letter mentions townhall.listObjections.name])"),
        HouseRule("fines", "not to act", "A household that owes more than 50 in fines gets no parking permit.",
                  "absence(townhall.issueResidentPermit) when townhall.fetchHousehold.finesDue > 50"),
        HouseRule("one_permit", "once", "There is one parking permit for a car, however many drive it.",
                  "at_most_once(townhall.issueResidentPermit by plate)"),
        HouseRule("oldest", "choice", "The next file is the one that came first, of those that are complete.",
                  "existence(townhall.assignCase[applicationNumber picks earliest receivedOn of townhall.listWaiting "
                  "where state = complete]) when townhall.assignCase"),
        HouseRule("lots", "cap", "The archive takes five documents at a time.",
                  "absence(townhall.archiveDocuments[documentIds has at least 6 items])"),
        HouseRule("release", "order", "A pitch is released before it is given to somebody else.",
                  "precedence(townhall.releasePitch, townhall.assignPitch)"),
    )  # fmt: skip
    agents = (
        Agent("amber", {"board": 0.5, "cents": 0.5, "late": 0.5, "lots": 0.5, "police": 0.4, "fines": 0.4},
              {"history": 0.5, "search": 0.3}),
        Agent("basalt", {"flood": 0.6, "payer": 0.5, "appeal": 0.5, "one_permit": 0.5, "objector": 0.3},
              {"memo": 0.5, "fire": 0.3}),
        Agent("cobalt", {"reference": 0.5, "police": 0.6, "fines": 0.5, "release": 0.5},
              {"courtesy": 0.6, "guess": 0.3}),
        Agent("dolomite", {"oldest": 0.6, "objector": 0.5, "board": 0.4, "payer": 0.3, "appeal": 0.3},
              {"history": 0.3, "preview": 0.6, "board_anyway": 0.3}),
        Agent("emerald", {"one_permit": 0.4, "lots": 0.4, "late": 0.5, "flood": 0.5, "oldest": 0.3, "release": 0.3,
              "cents": 0.4}, {"small_lots": 0.5, "letter_first": 0.5, "police_anyway": 0.4}),
        Agent("flint", dict.fromkeys("""board flood cents payer reference late police appeal objector fines one_permit
              oldest lots release""".split(), 0.2), {"search": 0.2, "courtesy": 0.2, "memo": 0.2}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        names = rng.sample(NAMES, 5)
        self.application = draw_application(rng, names[0])
        self.parcel = draw_parcel(rng, self.application["parcelId"])
        self.owner = draw_owner(rng, names[1], self.parcel["ownerId"])
        self.euros = rng.choice((95, 140, 187.5, 260, 312.5, 480))
        self.objections = draw_objections(rng, names[2:4])
        self.event = draw_event(rng, names[4])
        self.household = draw_household(rng, names)
        self.plate = f"{rng.choice('KLM')}{rng.choice('XYZ')}-{rng.randrange(100, 999)}"
        self.waiting = draw_waiting(rng)
        self.documents = [f"D{number}" for number in rng.sample(range(1000, 9999), rng.choice((3, 5, 7, 8, 11, 13)))]
        self.pitch, self.trader = f"M{rng.randrange(10, 60)}", rng.randrange(700, 999)
        self.officer = f"OF{rng.randrange(10, 99)}"
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            f"{PREFIX}{name}": getattr(self, name)
            for name in """searchApplications fetchApplication fetchParcel fetchParcelHistory fetchOwner quoteFee
            previewInvoice issueInvoice requestBoardOpinion referToEngineer grantPermit refuseApplication listObjections
            sendLetter sendMemo fetchEvent grantEventLicence returnEventRequest notifyPolice notifyFireService
            fetchHousehold issueResidentPermit deferResidentPermit listWaiting assignCase listDocuments
            archiveDocuments fetchPitch fetchTrader releasePitch assignPitch""".split()
        }

    def _reply(self, *records: Any) -> Any:
        """As every tool answers: a list, and what the service says about itself."""
        meta = {"requestId": f"{self.rng.randrange(16**8):08x}", "tookMs": self.rng.randrange(8, 90), "api": "v3"}
        return {"data": list(records), "count": len(records), "meta": meta}

    def _known(self, application: str) -> None:
        if application != self.application["applicationNumber"]:
            raise Refused(f"no application {application}")

    def searchApplications(self, text: str) -> Any:
        return self._reply({key: self.application[key] for key in ("applicationNumber", "channel")})

    def fetchApplication(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply(self.application)

    def fetchParcel(self, parcelId: str) -> Any:
        return self._reply(self.parcel)

    def fetchParcelHistory(self, parcelId: str) -> Any:
        return self._reply({"parcelId": parcelId, "year": 1974, "entry": "divided"}, {"year": 2003, "entry": "sold"})

    def fetchOwner(self, ownerId: int) -> Any:
        return self._reply(self.owner)

    def quoteFee(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply({"quoteId": self.rng.randrange(100, 999), "euros": self.euros, "tariff": "2031-A"})

    def previewInvoice(self, payer: str, amount: int, reference: str) -> Any:
        return self._reply({"pages": 1})

    def issueInvoice(self, payer: str, amount: int, reference: str, terms: dict[str, Any]) -> Any:
        return self._reply({"invoiceNumber": self.rng.randrange(10_000, 99_999), "state": "issued"})

    def requestBoardOpinion(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply({"applicationNumber": applicationNumber, "opinion": "no objection"})

    def referToEngineer(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply({"applicationNumber": applicationNumber, "desk": "engineer"})

    def grantPermit(self, applicationNumber: str, terms: dict[str, Any]) -> Any:
        self._known(applicationNumber)
        return self._reply({"applicationNumber": applicationNumber, "state": "granted"})

    def refuseApplication(self, applicationNumber: str, ground: str) -> Any:
        self._known(applicationNumber)
        return self._reply({"applicationNumber": applicationNumber, "state": "refused"})

    def listObjections(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply(*self.objections)

    def sendLetter(self, letter: dict[str, str]) -> Any:
        return self._reply({"letterId": self.rng.randrange(1000, 9999)})

    def sendMemo(self, memo: dict[str, str]) -> Any:
        return self._reply({"memoId": self.rng.randrange(1000, 9999)})

    def fetchEvent(self, eventId: str) -> Any:
        if eventId != self.event["eventId"]:
            raise Refused(f"no event {eventId}")
        return self._reply(self.event)

    def grantEventLicence(self, eventId: str, terms: dict[str, Any]) -> Any:
        return self._reply({"eventId": eventId, "state": "licensed"})

    def returnEventRequest(self, eventId: str, reason: str) -> Any:
        return self._reply({"eventId": eventId, "state": "returned"})

    def notifyPolice(self, eventId: str) -> Any:
        return self._reply({"eventId": eventId, "told": "police"})

    def notifyFireService(self, eventId: str) -> Any:
        return self._reply({"eventId": eventId, "told": "fire service"})

    def fetchHousehold(self, householdId: int) -> Any:
        return self._reply(self.household)

    def issueResidentPermit(self, plate: str, holder: dict[str, str], zone: str) -> Any:
        return self._reply({"permit": self.rng.randrange(1000, 9999), "plate": plate})

    def deferResidentPermit(self, householdId: int, plate: str) -> Any:
        return self._reply({"householdId": householdId, "state": "deferred"})

    def listWaiting(self, queue: str) -> Any:
        return self._reply(*self.waiting)

    def assignCase(self, applicationNumber: str, officer: str) -> Any:
        if applicationNumber not in [each["applicationNumber"] for each in self.waiting]:
            raise Refused(f"application {applicationNumber} is not waiting")
        return self._reply({"applicationNumber": applicationNumber, "officer": officer})

    def listDocuments(self, applicationNumber: str) -> Any:
        self._known(applicationNumber)
        return self._reply(*({"documentId": each, "pages": self.rng.randrange(1, 30)} for each in self.documents))

    def archiveDocuments(self, documentIds: list[str]) -> Any:
        return self._reply({"shelf": self.rng.randrange(10, 99), "taken": len(documentIds)})

    def fetchPitch(self, pitchId: str) -> Any:
        return self._reply({"pitchId": pitchId, "metres": 4, "power": True})

    def fetchTrader(self, traderId: int) -> Any:
        return self._reply({"traderId": traderId, "goods": self.rng.choice(("cheese", "flowers", "bread"))})

    def releasePitch(self, pitchId: str) -> Any:
        return self._reply({"pitchId": pitchId, "state": "free"})

    def assignPitch(self, pitchId: str, traderId: int) -> Any:
        return self._reply({"pitchId": pitchId, "traderId": traderId})

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        return self.rng.choice(WORDINGS[self.kind]).format(
            application=self.application["applicationNumber"],
            name=self.application["applicant"]["name"],
            event=self.event["eventId"],
            household=self.household["householdId"],
            plate=self.plate,
            officer=self.officer,
            pitch=self.pitch,
            trader=self.trader,
        )

    def attempt(self, session: Session) -> None:
        getattr(self, f"_{self.kind}")(session)
        if session.does("memo"):
            _call(session, "sendMemo", memo={"to": "registry", "text": session.rng.choice(("Done.", "See the file."))})
        session.say(session.rng.choice(("That is settled.", "All done.", "I have dealt with it.")))

    def solved(self) -> bool:
        return True

    def _open_file(self, session: Session) -> Any:
        number = self.application["applicationNumber"]
        if session.does("search"):
            _call(session, "searchApplications", text=number)
        if session.does("guess"):
            _call(session, "fetchApplication", applicationNumber=number[1:])
        return _call(session, "fetchApplication", applicationNumber=number)[0]

    def _decide(self, session: Session) -> None:
        application = self._open_file(session)
        number = application["applicationNumber"]
        (parcel,) = _call(session, "fetchParcel", parcelId=application["parcelId"])
        if session.does("history"):
            _call(session, "fetchParcelHistory", parcelId=parcel["parcelId"])
        flooded = application["category"] == "extension" and parcel["floodRisk"] == "high"
        if flooded and not session.breaks("flood"):
            _call(session, "referToEngineer", applicationNumber=number)
            return
        needed = parcel["zoning"]["zone"] == "heritage" and application["category"] != "fence"
        if (not session.breaks("board")) if needed else session.does("board_anyway"):
            _call(session, "requestBoardOpinion", applicationNumber=number)
        terms = {"validMonths": session.rng.choice((24, 36)), "siteNotice": True}
        _call(session, "grantPermit", applicationNumber=number, terms=terms)
        if session.does("courtesy"):
            self._write(session, application, "Permit", "Your permit is granted.")

    def _write(self, session: Session, application: Any, subject: str, *said: str) -> None:
        body = " ".join((f"Dear {application['applicant']['name']},", session.rng.choice(OPENINGS), *said))
        letter = {"to": application["applicant"]["email"], "subject": subject, "body": body}
        _call(session, "sendLetter", letter=letter)

    def _fee(self, session: Session) -> None:
        application = self._open_file(session)
        number = application["applicationNumber"]
        (quote,) = _call(session, "quoteFee", applicationNumber=number)
        (parcel,) = _call(session, "fetchParcel", parcelId=application["parcelId"])
        (owner,) = _call(session, "fetchOwner", ownerId=parcel["ownerId"])
        if session.breaks("payer"):
            payer = session.rng.choice((application["applicant"]["email"], owner["email"]))
        else:
            payer = owner["billingEmail"]
        amount = quote["euros"] if session.breaks("cents") else round(quote["euros"] * 100)
        reference = f"BP-31-{number[1:]}"
        if session.breaks("reference"):
            reference = session.rng.choice((number, f"2031/{number[1:]}", f"BP {number}"))
        if session.does("preview"):
            _call(session, "previewInvoice", payer=payer, amount=amount, reference=reference)
        terms = {"days": 30, "remind": session.rng.random() < 0.5}
        _call(session, "issueInvoice", payer=payer, amount=amount, reference=reference, terms=terms)

    def _event(self, session: Session) -> None:
        (event,) = _call(session, "fetchEvent", eventId=self.event["eventId"])
        ahead = date.fromisoformat(event["startsOn"]) - date.fromisoformat(event["receivedOn"])
        if ahead.days < 21 and not session.breaks("late"):
            reason = session.rng.choice(("Too late.", "It came in at too short notice."))
            _call(session, "returnEventRequest", eventId=event["eventId"], reason=reason)
            return
        terms = {"until": session.rng.choice(("22:00", "23:00")), "toilets": event["expectedVisitors"] // 100 + 1}
        _call(session, "grantEventLicence", eventId=event["eventId"], terms=terms)
        if session.does("fire"):
            _call(session, "notifyFireService", eventId=event["eventId"])
        large = event["expectedVisitors"] > 400
        if (not session.breaks("police")) if large else session.does("police_anyway"):
            _call(session, "notifyPolice", eventId=event["eventId"])

    def _refuse(self, session: Session) -> None:
        application = self._open_file(session)
        number = application["applicationNumber"]
        objection = _call(session, "listObjections", applicationNumber=number)[0]
        said = [f"It cannot be permitted because of {objection['ground']}."]
        if session.breaks("objector"):
            said.append(f"This was brought forward by {objection['by']['name']}.")
        if not session.breaks("appeal"):
            said.append(session.rng.choice(APPEALS))
        letter_first = session.does("letter_first")
        if letter_first:
            self._write(session, application, "Refusal", *said)
        _call(session, "refuseApplication", applicationNumber=number, ground=objection["ground"])
        if not letter_first:
            self._write(session, application, "Refusal", *said)

    def _parking(self, session: Session) -> None:
        (household,) = _call(session, "fetchHousehold", householdId=self.household["householdId"])
        if household["finesDue"] > 50 and not session.breaks("fines"):
            _call(session, "deferResidentPermit", householdId=household["householdId"], plate=self.plate)
            return
        residents = household["residents"]
        for holder in residents if session.breaks("one_permit") else residents[:1]:
            _call(session, "issueResidentPermit", plate=self.plate, holder=holder, zone=household["zone"])

    def _next(self, session: Session) -> None:
        waiting = sorted(_call(session, "listWaiting", queue="building"), key=lambda each: str(each["receivedOn"]))
        oldest = next(each for each in waiting if each["state"] == "complete")
        if session.breaks("oldest"):
            chosen = session.rng.choice([each for each in waiting if each is not oldest])
        else:
            chosen = oldest
        _call(session, "assignCase", applicationNumber=chosen["applicationNumber"], officer=self.officer)

    def _archive(self, session: Session) -> None:
        listed = _call(session, "listDocuments", applicationNumber=self.application["applicationNumber"])
        documents = [each["documentId"] for each in listed]
        lot = 3 if session.does("small_lots") else 5
        if len(documents) > 5 and session.breaks("lots"):
            lot = len(documents)
        for start in range(0, len(documents), lot):
            _call(session, "archiveDocuments", documentIds=documents[start : start + lot])

    def _pitch(self, session: Session) -> None:
        _call(session, "fetchPitch", pitchId=self.pitch)
        _call(session, "fetchTrader", traderId=self.trader)
        steps = [("releasePitch", {}), ("assignPitch", {"traderId": self.trader})]
        for tool, more in reversed(steps) if session.breaks("release") else steps:
            _call(session, tool, pitchId=self.pitch, **more)


def _call(session: Session, tool: str, /, **arguments: Any) -> Any:
    """The records of the tool's answer; None when it refuses."""
    answer = session.call(f"{PREFIX}{tool}", **arguments)
    return answer and answer["data"]
