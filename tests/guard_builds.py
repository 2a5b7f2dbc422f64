"""Builds by a scripted model whose cards have guards."""

from __future__ import annotations

from typing import Any

from contramem.bank.ledger import Decision
from contramem.bank.store import Store
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import Request
from contramem.llm.exchange import ScriptedModel
from tests.made_runs import Call, call, packet, run
from tests.model_replies import Runs, build, curated

GUARD = "precedence(Mail.search, Mail.delete)"


DELTA: dict[str, Any] = {
    "title": "Search before deleting",
    "applies_when": "A task asks to delete something.",
    "solves": "Deletes of what nobody has looked at.",
    "tags": ["delete"],
    "skill": {"core_rule": "Call search before delete.", "completion": ["search came first"]},
    "functions_used": ["Mail.search", "Mail.delete"],
    "guards": [GUARD],
    "cites": ["A#1", "B#1"],
}


SEARCH = call("Mail.search", {"query": "news"}, [{"id": 17}])


DELETE = call("Mail.delete", {"id": 17})


def task(name: str, *runs: tuple[bool, tuple[Call, ...]]) -> Packet:
    """Runs of one task by sources `a`, `b` and so on."""
    return packet(
        *(run(source, passed, *steps, "done", task=f"Delete what {name} sent.", task_id=name)
          for source, (passed, steps) in zip("abcdefgh", runs, strict=False))
    )  # fmt: skip


def shows_it(name: str, *first: Call) -> Packet:
    return task(name, (True, (*first, SEARCH, DELETE)), (False, (*first, DELETE)))


def taught_by(name: str, **changes: Any) -> Any:
    """A model that has one lesson to give, about one task."""

    def reply(request: Request) -> dict[str, Any]:
        if request.stage == "builder":
            return {"card": None}
        if request.stage == "reflector":
            return {"deltas": [{**DELTA, **changes}] if f"/{name}#" in f"{request.subject}#" else []}
        return curated(request)

    return reply


def learn(store: Store, packets: list[Packet], reply: Any) -> list[Decision]:
    return learn_from(store, Runs(packets, Vocabulary()), reply)


def learn_from(store: Store, runs: Runs, reply: Any) -> list[Decision]:
    rounds, _ = build(runs, store, ScriptedModel(by=reply))
    assert rounds.finished
    return [entry.decision for entry in store.ledger()]
