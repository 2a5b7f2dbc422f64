"""The HTTP API: what `Memory` and `Run` do, for programs in any language; also cards, search, freeze and history. Its
bodies refuse unknown fields: a misspelled option is not obeyed in silence. The OpenAPI document is made from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from contramem.bank import acts
from contramem.bank.bank import BankEntry
from contramem.bank.card import SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.errors import ContramemError, StoreError
from contramem.guards.watch import Obligation
from contramem.inject.guidance import Guidance
from contramem.inject.run import Run
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.server.project import Project
from contramem.server.tokens import Scope, Token
from contramem.traces.trajectory import Event, Outcome, Result

# Bodies

Name = Annotated[str, Field(max_length=500)]
RunId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/\\?#.][^\x00-\x1f/\\?#]*$")]
"""A part of an address. One that begins with a dot could be taken for a folder above it, as `..` is."""


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StartRun(Body):
    """A run that begins."""

    task: Annotated[str, Field(max_length=200_000)]
    ability: Name | None = None
    apps: list[Name] | None = None
    """The apps that the task is about; left out, its words tell."""
    tools: list[Name] | None = None
    """The functions that the agent has: it is shown cards of no others."""
    task_id: Name | None = None
    """No card comes back that was learned from this task."""
    scenario_id: Name | None = None
    run_id: RunId | None = None
    """Asking twice with the same id starts one run."""
    profile: Name | None = None


class BeforeCall(Body):
    """A call that is about to be made."""

    function: Name
    arguments: dict[str, Any] | None = None


class CallResult(Body):
    """What a call gave back."""

    content: Any = None
    error: str | None = None


class ObserveEvent(Body):
    """Something that happened in a run."""

    position: Annotated[int, Field(ge=0, le=2**53)] = 0
    actor: Literal["agent", "app", "user", "environment", "verifier"] = "agent"
    kind: Literal["message", "call", "observation", "notification", "wait", "final", "feedback"] = "call"
    text: str = ""
    function: Name = ""
    arguments: dict[str, Any] = {}
    effect: Literal["read", "write", "wait", "finalize", "unknown"] = "unknown"
    result: CallResult | None = None
    time: Annotated[float, Field(allow_inf_nan=False)] | None = None


class FinishRun(Body):
    """How a run ended. `passed` is null when nobody knows yet; it may be told again."""

    passed: bool | None = None
    reward: Annotated[float, Field(allow_inf_nan=False)] | None = None
    feedback: str = ""


class AllowCard(Body):
    """A person allows calls that go against a card, until the run ends."""

    card_id: Name


class ReviewCard(Body):
    """A person's decision about a card."""

    answer: Literal["accept", "mute", "pin", "reject"]
    by: Annotated[str, Field(min_length=1, max_length=100)]
    reason: str = ""


# Answers: their models are for the document alone


def _answer(name: str, about: str = "", /, **fields: Any) -> type[BaseModel]:
    kinds: dict[str, Any] = {field: (kind, ...) for field, kind in fields.items()}
    return create_model(name, __doc__=about or None, **kinds)


def _list_of(model: type[BaseModel]) -> Any:
    return list[model]  # type: ignore[valid-type]


_EMPTY_SAYS_WHY = "Text for the agent. Empty: show nothing; `note` says why."
GuidanceBody = _answer("GuidanceBody", _EMPTY_SAYS_WHY, text=str, tokens=int, encoding=str, card_ids=list[str],
                       listed=list[str], note=str)  # fmt: skip
ObligationBody = _answer("ObligationBody", "What a card still asks for, or what was broken.", text=str, guard=str,
                         card_id=str, title=str, state=str, due=float | None)  # fmt: skip
RunBody = _answer("RunBody", "`withheld` says why the run gets nothing: `holdout` or `off`; empty otherwise.",
                  run_id=str, profile=str, withheld=str, guidance=GuidanceBody)  # fmt: skip
MaybeGuidance = _answer("MaybeGuidance", guidance=GuidanceBody | None)
StopBody = _answer("StopBody", "Why a call has to wait for a person (`ask`), or is not to be made (`deny`).", level=str,
                   text=str, card_ids=list[str])  # fmt: skip
MaybeStop = _answer("MaybeStop", stop=StopBody | None)
Obligations = _answer("Obligations", obligations=_list_of(ObligationBody))
Finished = _answer("Finished", run_id=str)
CardBody = _answer("CardBody", card_id=str, kind=str, name=str, status=str, reviewed=bool, card=dict[str, Any])
CardList = _answer("CardList", total=int, cards=_list_of(CardBody))
FoundCard = _answer("FoundCard", card_id=str, kind=str, name=str, score=float)
Found = _answer("Found", hits=_list_of(FoundCard))
FrozenBody = _answer("FrozenBody", "`jsonl` is the whole file, for `Memory.load`.", content_sha256=str, decision=int,
                     jsonl=str)  # fmt: skip
DecisionBody = _answer("DecisionBody", number=int, at=str, decision=dict[str, Any])
History = _answer("History", decisions=_list_of(DecisionBody))
ErrorDetail = _answer("ErrorDetail", status=int, message=str)
ErrorBody = _answer("ErrorBody", error=ErrorDetail)


# Routes

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


def _started(run: Run) -> dict[str, Any]:
    about = {"run_id": run.run_id, "profile": run.profile.name, "withheld": run.withheld}
    return {**about, "guidance": guidance_json(run.guidance)}


def start(call: Call, body: StartRun) -> dict[str, Any]:
    number, memory = call.project.memory()
    request = {name: value for name, value in body.model_dump(exclude={"run_id"}).items() if value is not None}
    return _started(call.project.live.start(memory, number, body.run_id, request))


def guidance(call: Call, _: None) -> dict[str, Any]:
    return _started(_run(call))


def before_call(call: Call, body: BeforeCall) -> dict[str, Any]:
    run = _run(call)
    given = run.before_call(body.function, body.arguments)
    if given is not None:  # what was shown is not shown again, even after a restart
        call.project.live.note(run.run_id, "before_call", body.model_dump())
    return {"guidance": guidance_json(given) if given else None}


def stop(call: Call, body: BeforeCall) -> dict[str, Any]:
    given = _run(call).stop(body.function, body.arguments)
    return {"stop": given._asdict() if given else None}


def allow(call: Call, body: AllowCard) -> dict[str, Any]:
    run = _run(call)
    run.allow(body.card_id)
    call.project.live.note(run.run_id, "allow", body.model_dump())
    return {"stop": None}


def before_final(call: Call, _: None) -> dict[str, Any]:
    run = _run(call)
    given = run.before_final()
    call.project.live.note(run.run_id, "before_final", {})
    return {"guidance": guidance_json(given) if given else None}


def observe(call: Call, body: ObserveEvent) -> dict[str, Any]:
    run = _run(call)
    result = Result(**body.result.model_dump()) if body.result else None
    event = Event(**body.model_dump(exclude={"result"}), result=result)
    broken = run.observe(event)
    call.project.live.note(run.run_id, "observe", msgspec.to_builtins(event))
    return _obligations(broken)


def pending(call: Call, _: None) -> dict[str, Any]:
    return _obligations(_run(call).pending())


def would_break(call: Call, body: BeforeCall) -> dict[str, Any]:
    return _obligations(_run(call).would_break(body.function, body.arguments))


def finish(call: Call, body: FinishRun) -> dict[str, Any]:
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
    found = memory.retriever.retrieve(Query(call.query.get("q", "")[:20_000]), profile)
    hits = [*found.skills, *found.functions]
    return {"hits": [{"card_id": hit.card.card_id, "kind": hit.kind, "name": hit.name,
                      "score": round(float(hit.score), 6)} for hit in hits]}  # fmt: skip


def review_card(call: Call, body: ReviewCard) -> dict[str, Any]:
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
    return {name: getattr(given, name) for name in GuidanceBody.model_fields}


def _obligations(found: Iterable[Obligation]) -> dict[str, Any]:
    names = ObligationBody.model_fields
    return {
        "obligations": [{name: getattr(owed, name) for name in names} | {"guard": str(owed.guard)} for owed in found]
    }


def card_json(entry: BankEntry) -> dict[str, Any]:
    card = entry.card
    kind, name = ("skill", card.title) if isinstance(card, SkillCard) else ("function", card.tool)
    return {"card_id": card.card_id, "kind": kind, "name": name, "status": entry.status, "reviewed": entry.reviewed,
            "card": card.model_dump(mode="json")}  # fmt: skip


def _decision_json(entry: Any) -> dict[str, Any]:
    return {"number": entry.number, "at": entry.at, "decision": entry.decision.model_dump(mode="json")}


def _run(call: Call) -> Run:
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
ROUTES = (
    ApiRoute("start_run", "POST", f"{_BASE}/runs", "guide", start, StartRun, RunBody, "Start a run", 201),
    ApiRoute("get_run", "GET", _RUN, "guide", guidance, None, RunBody, "The guidance of a run"),
    ApiRoute("before_call", "POST", f"{_RUN}/before-call", "guide", before_call, BeforeCall, MaybeGuidance,
             "What to show before a call"),
    ApiRoute("stop", "POST", f"{_RUN}/stop", "guide", stop, BeforeCall, MaybeStop, "Whether a call is stopped"),
    ApiRoute("allow", "POST", f"{_RUN}/allow", "review", allow, AllowCard, MaybeStop, "Allow calls against a card"),
    ApiRoute("would_break", "POST", f"{_RUN}/would-break", "guide", would_break, BeforeCall, Obligations,
             "What a call would break"),
    ApiRoute("before_final", "POST", f"{_RUN}/before-final", "guide", before_final, None, MaybeGuidance,
             "What to show before the run ends"),
    ApiRoute("pending", "GET", f"{_RUN}/pending", "guide", pending, None, Obligations, "What is still owed"),
    ApiRoute("observe", "POST", f"{_RUN}/events", "record", observe, ObserveEvent, Obligations,
             "Tell what happened"),
    ApiRoute("finish_run", "POST", f"{_RUN}/finish", "record", finish, FinishRun, Finished, "Tell how it ended"),
    ApiRoute("list_cards", "GET", f"{_BASE}/cards", "read", cards, None, CardList, "The cards in service",
             query=("offset", "limit"), slow=True),
    ApiRoute("get_card", "GET", f"{_BASE}/cards/{{card_id}}", "read", card, None, CardBody, "One card", slow=True),
    ApiRoute("review_card", "POST", f"{_BASE}/cards/{{card_id}}/review", "review", review_card, ReviewCard,
             DecisionBody, "Decide about a card", slow=True),
    ApiRoute("search", "GET", f"{_BASE}/search", "read", search, None, Found, "Cards for a task", query=("q",)),
    ApiRoute("freeze", "POST", f"{_BASE}/freeze", "admin", freeze_bank, None, FrozenBody,
             "The bank as one file, as it is now", slow=True),
    ApiRoute("history", "GET", f"{_BASE}/history", "read", history, None, History, "Decisions, the newest first",
             query=("before", "limit", "card"), slow=True),
)  # fmt: skip


# The OpenAPI document

_NUMBERS = {"offset": 10**8, "limit": MAX_LISTED, "before": 10**8}
_ERRORS = {
    "400": "The request can't be read",
    "401": "No token, or one that is not known",
    "403": "The token lacks the scope",
    "404": "No such project, run or card",
    "409": "Another process is writing to the bank, or a run at another task has this id",
    "413": "The body is too large",
    "415": "The body isn't JSON",
    "422": "The body or a parameter is not valid",
    "429": "Too many requests",
}


@cache
def openapi_document() -> dict[str, Any]:
    models = {route.gives for route in ROUTES} | {route.body for route in ROUTES if route.body} | {ErrorBody}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "contramem", "version": version("contramem"),
                 "description": "Procedural memory for agents: start a run, get guidance, report what happened."},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }  # fmt: skip


def _operation(route: ApiRoute) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0}
    in_query = {name: {**number, "maximum": _NUMBERS[name]} if name in _NUMBERS else {"type": "string"}
                for name in route.query}  # fmt: skip
    in_path = {"in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    responses = {str(route.status): {"description": "Done", **_content(route.gives)}}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": f"Needs the scope `{route.scope}`.",
        "parameters": [
            *({"name": name, **in_path} for name in re.findall(r"{(\w+)}", route.path)),
            *({"name": name, "in": "query", "schema": schema} for name, schema in in_query.items()),
        ],
        "responses": responses | {code: {"description": what, **_content(ErrorBody)} for code, what in _ERRORS.items()},
    }
    if route.body:
        operation["requestBody"] = {"required": True, **_content(route.body)}
    return operation


def _content(model: type[BaseModel]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}}
