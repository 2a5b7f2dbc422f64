"""Replies of models that always have something to say, or never: the ends of what a build can cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count, cycle
from typing import Any

from contramem.build.author import MAX_DELTAS
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import Request
from tests.model_replies import Runs, deltas_of, fenced

LONGEST = 590
"""Words of a card: the checks let 600 through."""
ORDINALS = ("first", "second", "third")


class Talkative(Runs):
    """Says `deltas` lessons about every packet, each of about `words` words. The Curator does each `operation` in turn.

    A lesson is made of the functions that the packet's runs call, so that tasks that call the same are neighbours.
    """

    def __init__(
        self, packets: list[Packet], vocabulary: Vocabulary, *, deltas: int = MAX_DELTAS, words: int = LONGEST,
        operations: Sequence[str] = ("ADD",),
    ) -> None:  # fmt: skip
        super().__init__(packets, vocabulary)
        self._operations = operations
        numbers = count()
        self._lessons = {
            packet.task_key: [lesson(packet, ORDINALS[place], words, next(numbers)) for place in range(deltas)]
            for packet in packets
        }
        self._turn = {
            delta["title"]: number for number, delta in enumerate(d for all_ in self._lessons.values() for d in all_)
        }

    def reply(self, request: Request) -> dict[str, Any]:
        if request.stage == "reflector":
            return {"deltas": self._lessons[request.subject]}
        if request.stage == "curator":
            return {"decisions": [self._decide(delta, request) for delta in deltas_of(request)]}
        return super().reply(request)

    def _decide(self, delta: dict[str, Any], request: Request) -> dict[str, Any]:
        operation = self._operations[self._turn[delta["title"]] % len(self._operations)]
        decision = {"delta_index": delta["delta_index"], "reason": "No card is about this."}
        if operation in ("ADD", "ADD in full"):
            card = {name: delta[name] for name in ("title", "skill")} if operation == "ADD in full" else None
            return {**decision, "operation": "ADD", "new_or_updated_card": card}
        cards = [json.loads(line)["card_id"] for line in (fenced(request, "cards") or "").splitlines()][:1]
        return {**decision, "operation": "NOOP", "target_card_ids": cards, "reason": "A card says it."}


def nothing(request: Request) -> dict[str, Any]:
    """No card, no lesson."""
    return {"card": None} if request.stage == "builder" else {"deltas": []}


def lesson(packet: Packet, ordinal: str, words: int, number: int) -> dict[str, Any]:
    """A lesson about a packet that passes every check, whatever it is worth."""
    runs = [run for run in packet.runs if run.counts and run.actions]
    functions = sorted({step.function for run in runs for step in run.actions if step.function})
    sentences = cycle(_sentences(functions, number))
    fields = 13
    said = [_filled(sentences, words // fields) for _ in range(fields)]
    failed = not packet.passing
    names = " and ".join(name.partition(".")[2] for name in functions[:3]) or "the answer"
    return {
        "title": f"The {ordinal} lesson about {names}"[:100] + f", {_spelled(number)}",
        "applies_when": said[0],
        "solves": said[1],
        "tags": ["diagnostic"] if failed else ["order"],
        "skill": {
            "core_rule": said[2], "completion": said[3:6], "success_failure_contrast": said[6], "recovery": said[7],
            "efficiency": said[8],
        },
        "evidence": {
            "feedback": said[9], "transition": said[10], "good_example": "" if failed else said[11],
            "bad_example": said[12],
        },
        "functions_used": functions[:8],
        "cites": [f"{run.letter}#{run.actions[0].position}" for run in runs],
    }  # fmt: skip


def _sentences(functions: Sequence[str], number: int) -> list[str]:
    named = [f"`{name}`" for name in functions] or ["the answer"]
    turned = named[number % len(named) :] + named[: number % len(named)]
    return [
        said
        for name, after in zip(turned, [*turned[1:], turned[0]], strict=True)
        for said in (
            f"Read all that {name} gives back before anything is built on it.",
            f"Go on to {after} only with what was seen in this very run.",
            "Finish when each part that was asked for is done, once, and can be shown.",
        )
    ]


def _filled(sentences: Iterator[str], words: int) -> str:
    said: list[str] = []
    while sum(len(sentence.split()) for sentence in said) < words:
        said.append(next(sentences))
    return " ".join(" ".join(said).split()[:words])


def _spelled(number: int) -> str:
    """A number in letters: digits in a card look like somebody's."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))
