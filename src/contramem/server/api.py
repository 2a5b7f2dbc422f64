"""The HTTP API: what `Memory` and `Run` do, for programs in any language; also cards, search, freeze and history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from contramem.bank import acts
from contramem.bank.bank import BankEntry
from contramem.bank.card import SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.errors import ContramemError, StoreError
from contramem.guards.watch import Obligation
from contramem.inject.guidance import Guidance
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.server import schemas
from contramem.server.project import Project
from contramem.server.tokens import Scope, Token
from contramem.traces.trajectory import Event, Outcome, Result

MAX_LISTED = 200
encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Call:
    """An authorized API call."""

    project: Project
    token: Token
    path: Mapping[str, Any]
    query: Mapping[str, str]

    def number(self, name: str, otherwise: int, top: int = MAX_LISTED) -> int:
        text = self.query.get(name, "")
        if not text:
            return otherwise
        if not (text.isascii() and text.isdigit() and len(text) < 10) or int(text) > top:
            raise HTTPException(422, f"{name} has to be an integer from 0 to {top}; it is {text!r}.")
        return int(text)


Answer = Callable[[Call, Any], Any]


class ApiRoute(NamedTuple):
    """An operation of the API. Routes, the OpenAPI document and the authorization tests are made from these."""

    name: str
    method: str
    path: str
    scope: Scope
    answer: Answer
    body: type[BaseModel] | None
    gives: type[BaseModel]
    summary: str
    status: int = 200
    query: tuple[str, ...] = ()
    slow: bool = False
    """Runs in a thread: it reads or writes the store."""


def parse_body(route: ApiRoute, content: bytes, media_type: str) -> BaseModel | None:
    if route.body is None:
        return None
    # A form of another site cannot send this type without the browser asking us first.
    if media_type.partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with `Content-Type: application/json`.")
    try:
        return route.body.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise HTTPException(422, f"{where}: {first['msg']}" if where else first["msg"]) from None


def status_of(error: ContramemError) -> int:
    return 409 if isinstance(error, StoreError) else 422


def start(call: Call, body: schemas.StartRun) -> dict[str, Any]:
    number, memory = call.project.memory()
    request = {name: value for name, value in body.model_dump(exclude={"run_id"}).items() if value is not None}
    run = call.project.live.start(memory, number, body.run_id, request)
    return {"run_id": run.run_id, "profile": run.profile.name, "withheld": run.withheld,
            "guidance": guidance_json(run.guidance)}  # fmt: skip


def guidance(call: Call, _: None) -> dict[str, Any]:
    run = _run(call)
    return {"run_id": run.run_id, "profile": run.profile.name, "withheld": run.withheld,
            "guidance": guidance_json(run.guidance)}  # fmt: skip


def before_call(call: Call, body: schemas.BeforeCall) -> dict[str, Any]:
    run = _run(call)
    given = run.before_call(body.function, body.arguments)
    if given is not None:  # what was shown is not shown again, even after a restart
        call.project.live.note(run.run_id, "before_call", body.model_dump())
    return {"guidance": guidance_json(given) if given else None}


def before_final(call: Call, _: None) -> dict[str, Any]:
    run = _run(call)
    given = run.before_final()
    call.project.live.note(run.run_id, "before_final", {})
    return {"guidance": guidance_json(given) if given else None}


def observe(call: Call, body: schemas.ObserveEvent) -> dict[str, Any]:
    run = _run(call)
    fields = body.model_dump(exclude={"result"})
    result = Result(**body.result.model_dump()) if body.result else None
    event = Event(**fields, result=result)
    broken = run.observe(event)
    call.project.live.note(run.run_id, "observe", msgspec.to_builtins(event))
    return {"obligations": [obligation_json(obligation) for obligation in broken]}


def pending(call: Call, _: None) -> dict[str, Any]:
    return {"obligations": [obligation_json(obligation) for obligation in _run(call).pending()]}


def would_break(call: Call, body: schemas.BeforeCall) -> dict[str, Any]:
    broken = _run(call).would_break(body.function, body.arguments)
    return {"obligations": [obligation_json(obligation) for obligation in broken]}


def finish(call: Call, body: schemas.FinishRun) -> dict[str, Any]:
    run = _run(call)
    run.finish(Outcome(passed=body.passed, reward=body.reward, feedback=body.feedback))
    call.project.live.note(run.run_id, "finish", body.model_dump())
    return {"run_id": run.run_id}


def cards(call: Call, _: None) -> dict[str, Any]:
    by_id = sorted(call.project.current().bank.entries.items())
    entries = [entry for _card_id, entry in by_id if entry.served]
    offset, limit = call.number("offset", 0, 10**8), call.number("limit", 50)
    return {"total": len(entries), "cards": [card_json(entry) for entry in entries[offset : offset + limit]]}


def card(call: Call, _: None) -> dict[str, Any]:
    return card_json(_entry(call))


def search(call: Call, _: None) -> dict[str, Any]:
    memory = call.project.memory()[1]
    profile = profile_named(memory.bank.header.profile)
    retrieval = memory.retriever.retrieve(Query(call.query.get("q", "")[:20_000]), profile)
    hits = [*retrieval.skills, *retrieval.functions]
    return {
        "hits": [
            {"card_id": hit.card.card_id, "kind": hit.kind, "name": hit.name, "score": round(float(hit.score), 6)}
            for hit in hits
        ]
    }


def review_card(call: Call, body: schemas.ReviewCard) -> dict[str, Any]:
    card_id = _entry(call).card.card_id
    by = acts.person(call.token.name if call.token.sha256 else body.by)
    verdicts: dict[str, acts.Verdict] = {"accept": "ACCEPT", "mute": "MUTE", "pin": "PIN", "reject": "REJECT"}
    entry = call.project.record(
        lambda bank: acts.judge(bank, card_id, verdicts[body.answer], by, body.reason), str(by), "review"
    )
    return _decision_json(entry)


def freeze_bank(call: Call, _: None) -> dict[str, Any]:
    snapshot = call.project.current()
    text = freeze(snapshot.bank)
    header = parse_frozen(text, call.project.name).header
    jsonl = text if isinstance(text, str) else text.decode()
    return {"content_sha256": header.content_sha256, "decision": snapshot.decision, "jsonl": jsonl}


def history(call: Call, _: None) -> dict[str, Any]:
    card_id = call.query.get("card")
    if card_id:
        entries = call.project.store.ledger(card_id)[-MAX_LISTED:]
    else:
        before = call.number("before", call.project.current().decision + 1, 10**8)
        entries = call.project.store.ledger_page(before, call.number("limit", 50))
    return {"decisions": [_decision_json(entry) for entry in entries]}


def guidance_json(given: Guidance) -> dict[str, Any]:
    return {"text": given.text, "tokens": given.tokens, "encoding": given.encoding, "card_ids": given.card_ids,
            "listed": given.listed, "note": given.note}  # fmt: skip


def obligation_json(obligation: Obligation) -> dict[str, Any]:
    return {
        "text": obligation.text,
        "guard": str(obligation.guard),
        "card_id": obligation.card_id,
        "title": obligation.title,
        "state": obligation.state,
        "due": getattr(obligation, "due", None),
    }


def card_json(entry: BankEntry) -> dict[str, Any]:
    card = entry.card
    is_skill = isinstance(card, SkillCard)
    return {
        "card_id": card.card_id,
        "kind": "skill" if is_skill else "function",
        "name": card.title if isinstance(card, SkillCard) else card.tool,
        "status": entry.status,
        "reviewed": entry.reviewed,
        "card": card.model_dump(mode="json"),
    }


def _decision_json(entry: Any) -> dict[str, Any]:
    return {"number": entry.number, "at": entry.at, "decision": entry.decision.model_dump(mode="json")}


def _run(call: Call) -> Any:
    try:
        return call.project.live.get(call.path["run_id"])
    except ContramemError as error:
        raise HTTPException(404, str(error)) from None


def _entry(call: Call) -> BankEntry:
    entry = call.project.current().bank.entries.get(call.path["card_id"])
    if entry is None:
        raise HTTPException(404, f"there is no card {call.path['card_id']!r}.")
    return entry


_BASE = "/api/v1/{project}"
_RUN = f"{_BASE}/runs/{{run_id}}"
S = schemas
ROUTES = (
    ApiRoute("start_run", "POST", f"{_BASE}/runs", "guide", start, S.StartRun, S.RunBody, "Start a run", 201),
    ApiRoute("get_run", "GET", _RUN, "guide", guidance, None, S.RunBody, "The guidance of a run"),
    ApiRoute("before_call", "POST", f"{_RUN}/before-call", "guide", before_call, S.BeforeCall, S.MaybeGuidance,
             "What to show before a call"),
    ApiRoute("would_break", "POST", f"{_RUN}/would-break", "guide", would_break, S.BeforeCall, S.Obligations,
             "What a call would break"),
    ApiRoute("before_final", "POST", f"{_RUN}/before-final", "guide", before_final, None, S.MaybeGuidance,
             "What to show before the run ends"),
    ApiRoute("pending", "GET", f"{_RUN}/pending", "guide", pending, None, S.Obligations, "What is still owed"),
    ApiRoute("observe", "POST", f"{_RUN}/events", "record", observe, S.ObserveEvent, S.Obligations,
             "Tell what happened"),
    ApiRoute("finish_run", "POST", f"{_RUN}/finish", "record", finish, S.FinishRun, S.Finished, "Tell how it ended"),
    ApiRoute("list_cards", "GET", f"{_BASE}/cards", "read", cards, None, S.CardList, "The cards in service",
             query=("offset", "limit"), slow=True),
    ApiRoute("get_card", "GET", f"{_BASE}/cards/{{card_id}}", "read", card, None, S.CardBody, "One card", slow=True),
    ApiRoute("review_card", "POST", f"{_BASE}/cards/{{card_id}}/review", "review", review_card, S.ReviewCard,
             S.DecisionBody, "Decide about a card", slow=True),
    ApiRoute("search", "GET", f"{_BASE}/search", "read", search, None, S.Found, "Cards for a task", query=("q",)),
    ApiRoute("freeze", "POST", f"{_BASE}/freeze", "admin", freeze_bank, None, S.FrozenBody,
             "The bank as one file, as it is now", slow=True),
    ApiRoute("history", "GET", f"{_BASE}/history", "read", history, None, S.History, "Decisions, the newest first",
             query=("before", "limit", "card"), slow=True),
)  # fmt: skip
