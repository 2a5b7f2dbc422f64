"""Replies that a good model could give, made from the rules: what the tests' scripted model answers with."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from contramem.bank.store import Store, open_store
from contramem.build.model.answering import AskNow
from contramem.build.model.author import ModelAuthor, ModelChoice
from contramem.build.model.replies import FunctionText
from contramem.build.model.rounds import BuildPlan, Rounds
from contramem.build.rules.author import RuleAuthor
from contramem.collection.runs import Collection
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import Model, Request
from contramem.llm.exchange import Exchange, ModelCaller, ScriptedModel
from contramem.mining.functions import build_function_card
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.validate.validator import Validator

RUNS = Path(__file__).parents[1] / "examples" / "runs"


class Runs:
    """Packets of some runs, with the checks that hold for them and the replies that fit them."""

    def __init__(self, packets: list[Packet], vocabulary: Vocabulary) -> None:
        self.packets = packets
        self.vocabulary = vocabulary
        self.checks = Validator(vocabulary.public)
        self._observed = by_function(packets)
        self._packets = {packet.task_key: packet for packet in packets}
        self._replies: dict[tuple[str, str], dict[str, Any]] = {}

    @classmethod
    @cache
    def shipped(cls) -> Runs:
        with Collection(read_traces([RUNS], ReadOptions())) as pool:
            vocabulary = Vocabulary(pool)
            return cls(list(contrast(pool, vocabulary)), vocabulary)

    @classmethod
    def some(cls) -> Runs:
        """Four tasks of each of two abilities."""
        shipped = cls.shipped()
        groups = [[packet for packet in shipped.packets if packet.ability == name] for name in ("search", "ambiguity")]
        return cls([packet for group in groups for packet in group[:4]], shipped.vocabulary)

    def reply(self, request: Request) -> dict[str, Any]:
        """By stage: the rules' card, the rules' lessons, and the smallest edit that the prompt's own data allow."""
        if request.stage == "curator":
            return curated(request)
        key = request.stage, request.subject
        if key not in self._replies:
            self._replies[key] = self._card(request.subject) if request.stage == "builder" else self._deltas(request)
        return deepcopy(self._replies[key])

    def _deltas(self, request: Request) -> dict[str, Any]:
        return {"deltas": [_delta(candidate) for candidate in RuleAuthor().reflect(self._packets[request.subject])]}

    def _card(self, function: str) -> dict[str, Any]:
        observations = self._observed[function]
        card = build_function_card(function, observations, None, self.vocabulary)
        if card is None or self.checks.card(card, observations, self.packets):
            return {"card": None}
        return {"card": card.model_dump(mode="json", include=set(FunctionText.model_fields))}

    def scripted(self, **options: Any) -> ScriptedModel:
        return ScriptedModel(by=self.reply, **options)


def _delta(candidate: Any) -> dict[str, Any]:
    cites = [f"{cite.run}#{cite.position}" for cite in candidate.cites]
    return {**candidate.delta.model_dump(mode="json"), "cites": cites}


def fenced(request: Request, name: str) -> str | None:
    """What stands between the marks of that name in the prompt's data."""
    found = re.search(rf"<{name} (\w+)>\n(.*)\n</{name} \1>", request.messages[1].text, re.DOTALL)
    return found[2] if found else None


def curated(request: Request) -> dict[str, Any]:
    cards = [json.loads(line) for line in (fenced(request, "cards") or "").splitlines()]
    return {"decisions": [_curated(delta, cards) for delta in deltas_of(request)]}


def deltas_of(request: Request) -> list[dict[str, Any]]:
    """What a Curator is asked about."""
    return [json.loads(line) for line in (fenced(request, "deltas") or "").splitlines()]


def _curated(delta: dict[str, Any], cards: list[dict[str, Any]]) -> dict[str, Any]:
    same = next((card for card in cards if card["skill"]["core_rule"] == delta["skill"]["core_rule"]), None)
    if same is not None:
        return {
            "delta_index": delta["delta_index"], "operation": "NOOP", "target_card_ids": [same["card_id"]],
            "retained_card_id": same["card_id"], "reason": "A card says it.",
        }  # fmt: skip
    return {"delta_index": delta["delta_index"], "operation": "ADD", "reason": "No card is about this."}


def build(
    runs: Runs, store: Store, model: Model, *, parallel: int = 4, keep: bool = True, sleep: Any = lambda s: None,
    caller: ModelCaller | None = None, choice: ModelChoice | None = None, **plan: Any,
) -> tuple[Rounds, Exchange]:  # fmt: skip
    """A whole build; the store is written."""
    exchange = Exchange(store, keep=keep)
    with store.writing("build"):
        author = ModelAuthor(choice or ModelChoice(model.name), exchange, runs.checks, runs.packets)
        rounds = Rounds(BuildPlan(runs.packets, **plan), store, author, runs.checks)
        rounds.run(AskNow(caller or ModelCaller(model, parallel, sleep=sleep), exchange))
    return rounds, exchange


def new_store(folder: Path, name: str = "bank.db") -> Store:
    return open_store(folder / name, create=True)


def ticket(runs: Runs) -> Packet:
    """The one in which failing runs never log in."""
    return next(p for p in runs.packets if "TicketAPI.ticket_login" in {s.function for r in p.runs for s in r.actions})
