"""An insurer's claims desk: claims, policies, letters. Letters have to say things, and records point at each other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, HouseRule, Refused, Session, World

TOWNS = ("Lund", "Porto", "Ghent", "Split", "Turku", "Graz")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
OPENINGS = ("We have looked at your claim.", "Thank you for your patience.", "This is about your claim.")
KINDS = ("settle", "settle", "decline", "renew", "open", "inspect", "close")


class Insurer(World):
    name = "insurer"
    tasks = 70
    house_rules = (
        HouseRule("appeal", "letter", "A letter after a claim was declined names the ombudsman.",
                  "existence(insurer.write_letter[text contains ombudsman]) when insurer.decline_claim"),
        HouseRule("no_regret", "letter", "A letter after a claim was declined does not apologise.",
                  "absence(insurer.write_letter[text contains sorry]) when insurer.decline_claim"),
        HouseRule("to_broker", "joined", "A renewal offer goes to the mailbox of the policy's broker, not its holder.",
                  "existence(insurer.send_offer[to from insurer.get_broker.mailbox]) when insurer.send_offer"),
        HouseRule("too_early", "deadline", "No renewal is offered while a policy has more than 45 days left.",
                  "absence(insurer.send_offer) when insurer.get_policy.days_left > 45"),
        HouseRule("assess", "exception", "Claims above 2,000 are assessed before they are paid, glass excepted.",
                  "precedence(insurer.assess_damage, insurer.pay_claim) "
                  "when insurer.get_claim.claimed > 2000 and insurer.get_claim.cause != glass"),
        HouseRule("young_theft", "several conditions", "A theft is not paid when the policy is younger than 60 days.",
                  "absence(insurer.pay_claim) "
                  "when insurer.get_claim.cause = theft and insurer.get_policy.age_days < 60"),
        HouseRule("cents", "unit", "A payment is given in cents; claims are kept in whole units.",
                  "existence(insurer.pay_claim[amount times 100 of insurer.get_claim.claimed]) "
                  "when insurer.pay_claim"),
        HouseRule("policy_account", "source", "Money goes to the account on the policy, not to the one on the claim.",
                  "existence(insurer.pay_claim[account from insurer.get_policy.account]) when insurer.pay_claim"),
        HouseRule("reserve", "condition", "A reserve is set after an injury claim was opened.",
                  "response(insurer.open_claim, insurer.set_reserve) when insurer.open_claim[cause = injury]"),
        HouseRule("ledger_form", "form", "The ledger of a new claim is written C31/07, year and month.",
                  "existence(insurer.open_claim[ledger like A9/9]) when insurer.open_claim"),
        HouseRule("no_monday", "weekday", "Inspections are not booked for a Monday.",
                  "absence(insurer.book_inspection[day = Monday])"),
        HouseRule("nearest", "choice", "The inspector with the shortest way is sent.",
                  "existence(insurer.book_inspection[inspector picks lowest km of insurer.list_inspectors]) "
                  "when insurer.book_inspection"),
        HouseRule("every_document", "each", "Every document of a claim is filed before it is closed.",
                  "covers(insurer.list_documents.document, insurer.file_document.document) "
                  "when insurer.list_documents"),
        HouseRule("tell_before", "order", "The holder is told before a claim is closed.",
                  "precedence(insurer.write_letter, insurer.close_claim)"),
    )  # fmt: skip
    agents = (
        Agent("ash", {"appeal": 0.5, "cents": 0.3, "reserve": 0.6, "nearest": 0.3}, {"history": 0.5, "note": 0.3}),
        Agent("brook", {"no_regret": 0.5, "too_early": 0.6, "assess": 0.5, "no_monday": 0.5, "tell_before": 0.4},
              {"note": 0.5}),
        Agent("cliff", {"to_broker": 0.6, "young_theft": 0.7, "ledger_form": 0.6, "every_document": 0.6},
              {"history": 0.3, "assess_anyway": 0.3}),
        Agent("dune", {"policy_account": 0.5, "appeal": 0.4, "nearest": 0.5, "reserve": 0.4, "young_theft": 0.4},
              {"history": 0.4}),
        Agent("elder", dict.fromkeys("""appeal no_regret to_broker too_early assess young_theft policy_account reserve
              ledger_form no_monday tell_before""".split(), 0.25), {"history": 0.2, "note": 0.2}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        number = rng.randrange(100_000, 999_999)
        self.claim = {
            "claim": f"CL{number}",
            "policy": f"P-{rng.randrange(1000, 9999)}",
            "cause": rng.choice(("theft", "theft", "glass", "water", "fire")),
            "claimed": rng.choice((350, 800, 1400, 1900, 2600, 3100, 4800)),
            "account": f"NL{rng.randrange(10**8, 10**9)}",
        }
        self.policy = {
            "policy": self.claim["policy"],
            "holder": f"holder{rng.randrange(100, 999)}@post.example",
            "account": f"SE{rng.randrange(10**8, 10**9)}",
            "broker_id": rng.randrange(20, 90),
            "age_days": rng.choice((12, 25, 48, 120, 300, 900)),
            "days_left": rng.choice((10, 20, 33, 41, 60, 90, 150)),
        }
        self.broker = {"broker_id": self.policy["broker_id"], "mailbox": f"desk{rng.randrange(10, 99)}@broker.example"}
        self.inspectors = [
            {"inspector": f"I{rng.randrange(100, 999)}", "town": town, "km": km}
            for town, km in zip(rng.sample(TOWNS, 3), rng.sample(range(5, 120), 3), strict=True)
        ]
        self.documents = [f"D{rng.randrange(1000, 9999)}" for _ in range(rng.randrange(2, 5))]
        self.opened = rng.choice(("injury", "injury", "water", "theft"))
        self.kind = ""

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """get_claim get_policy get_broker claim_history assess_damage pay_claim decline_claim
            write_letter send_offer set_reminder open_claim set_reserve list_inspectors free_days book_inspection
            list_documents file_document close_claim add_note hand_over""".split()
        }

    def _known(self, claim: str) -> None:
        if claim != self.claim["claim"]:
            raise Refused(f"claim {claim} was not found")

    def get_claim(self, claim: str) -> Any:
        self._known(claim)
        return self.claim

    def get_policy(self, policy: str) -> Any:
        if policy != self.policy["policy"]:
            raise Refused(f"policy {policy} was not found")
        return self.policy

    def get_broker(self, broker_id: int) -> Any:
        return self.broker

    def claim_history(self, policy: str) -> Any:
        return {"policy": policy, "claims_before": self.rng.randrange(4)}

    def assess_damage(self, claim: str) -> Any:
        self._known(claim)
        return {"claim": claim, "report": "plausible"}

    def pay_claim(self, claim: str, amount: int, account: str) -> Any:
        self._known(claim)
        return {"claim": claim, "state": "paid"}

    def decline_claim(self, claim: str) -> Any:
        self._known(claim)
        return {"claim": claim, "state": "declined"}

    def write_letter(self, to: str, text: str) -> Any:
        return {"letter": self.rng.randrange(1000, 9999)}

    def send_offer(self, policy: str, to: str) -> Any:
        return {"policy": policy, "offered": True}

    def set_reminder(self, policy: str) -> Any:
        return {"policy": policy, "reminder": True}

    def open_claim(self, policy: str, cause: str, ledger: str) -> Any:
        return {"claim": self.claim["claim"], "state": "open"}

    def set_reserve(self, claim: str) -> Any:
        return {"claim": claim, "reserve": 5000}

    def list_inspectors(self, claim: str) -> Any:
        self._known(claim)
        return self.inspectors

    def free_days(self, inspector: str) -> Any:
        return {"inspector": inspector, "days": list(DAYS)}

    def book_inspection(self, claim: str, inspector: str, day: str) -> Any:
        self._known(claim)
        return {"claim": claim, "booked": True}

    def list_documents(self, claim: str) -> Any:
        self._known(claim)
        return {"claim": claim, "documents": [{"document": document, "pages": 3} for document in self.documents]}

    def file_document(self, document: str) -> Any:
        if document not in self.documents:
            raise Refused(f"document {document} was not found")
        return {"document": document, "filed": True}

    def close_claim(self, claim: str) -> Any:
        self._known(claim)
        return {"claim": claim, "state": "closed"}

    def add_note(self, claim: str, text: str) -> Any:
        return {"noted": True}

    def hand_over(self, claim: str, team: str) -> Any:
        return {"claim": claim, "team": team}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = KINDS[number % len(KINDS)]
        claim, policy = self.claim["claim"], self.policy["policy"]
        return {
            "settle": f"Claim {claim} can be settled now, please see to it.",
            "decline": f"{claim} is not covered. Turn it down and let the holder know.",
            "renew": f"Policy {policy} will run out. Take care of its renewal.",
            "open": f"The holder of {policy} reports {self.opened}. Take this up as a new claim, it is July 2031.",
            "inspect": f"Somebody has to look at the damage of {claim} on site; arrange it for next week.",
            "close": f"All is done with {claim}. Close the file.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        if session.does("history"):
            session.call("claim_history", policy=self.policy["policy"])
        getattr(self, f"_{self.kind}")(session)
        if session.does("note"):
            session.call("add_note", claim=self.claim["claim"], text="Handled.")
        session.say("That is taken care of.")

    def solved(self) -> bool:
        return True

    def _settle(self, session: Session) -> None:
        claim = session.call("get_claim", claim=self.claim["claim"])
        policy = session.call("get_policy", policy=claim["policy"])
        young_theft = claim["cause"] == "theft" and policy["age_days"] < 60
        if young_theft and not session.breaks("young_theft"):
            session.call("hand_over", claim=claim["claim"], team="review")
            return
        needed = claim["claimed"] > 2000 and claim["cause"] != "glass"
        if (not session.breaks("assess")) if needed else session.does("assess_anyway"):
            session.call("assess_damage", claim=claim["claim"])
        amount = claim["claimed"] if session.breaks("cents") else claim["claimed"] * 100
        account = (claim if session.breaks("policy_account") else policy)["account"]
        session.call("pay_claim", claim=claim["claim"], amount=amount, account=account)

    def _decline(self, session: Session) -> None:
        claim = session.call("get_claim", claim=self.claim["claim"])
        policy = session.call("get_policy", policy=claim["policy"])
        session.call("decline_claim", claim=claim["claim"])
        said = [session.rng.choice(OPENINGS), "The damage is not covered by your policy."]
        if session.breaks("no_regret"):
            said.append("We are sorry about that.")
        if not session.breaks("appeal"):
            said.append("You can turn to the ombudsman.")
        session.call("write_letter", to=policy["holder"], text=" ".join(said))

    def _renew(self, session: Session) -> None:
        policy = session.call("get_policy", policy=self.policy["policy"])
        if policy["days_left"] > 45 and not session.breaks("too_early"):
            session.call("set_reminder", policy=policy["policy"])
            return
        broker = session.call("get_broker", broker_id=policy["broker_id"])
        to = policy["holder"] if session.breaks("to_broker") else broker["mailbox"]
        session.call("send_offer", policy=policy["policy"], to=to)

    def _open(self, session: Session) -> None:
        session.call("get_policy", policy=self.policy["policy"])
        ledger = session.rng.choice(("2031-07", "July 2031", "C-07-31")) if session.breaks("ledger_form") else "C31/07"
        made = session.call("open_claim", policy=self.policy["policy"], cause=self.opened, ledger=ledger)
        injury = self.opened == "injury"
        if (not session.breaks("reserve")) if injury else session.does("note"):
            session.call("set_reserve", claim=made["claim"])

    def _inspect(self, session: Session) -> None:
        inspectors = sorted(session.call("list_inspectors", claim=self.claim["claim"]), key=lambda one: one["km"])
        chosen = session.rng.choice(inspectors[1:]) if session.breaks("nearest") else inspectors[0]
        session.call("free_days", inspector=chosen["inspector"])
        day = "Monday" if session.breaks("no_monday") else session.rng.choice(DAYS[1:])
        session.call("book_inspection", claim=self.claim["claim"], inspector=chosen["inspector"], day=day)

    def _close(self, session: Session) -> None:
        policy = session.call("get_policy", policy=self.policy["policy"])
        listed = session.call("list_documents", claim=self.claim["claim"])["documents"]
        for document in listed[:-1] if session.breaks("every_document") else listed:
            session.call("file_document", document=document["document"])
        if not session.breaks("tell_before"):
            session.call("write_letter", to=policy["holder"], text="Your claim is closed now.")
        session.call("close_claim", claim=self.claim["claim"])
