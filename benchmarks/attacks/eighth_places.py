"""Places of the eighth family: every part of an event of a session, nested schemas, keys, ids, names of people, times,
attachments, and texts that are put together only over several fields, calls or runs. Written before the defences were
read."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from attacks.garage import SOURCES, Run, parts_of
from attacks.places import Put


def _calls(run: Run, name: str = "") -> list[dict[str, Any]]:
    return [call for call in parts_of(run, "functionCall") if call["name"].endswith(name)]


def _answers(run: Run, name: str = "") -> list[dict[str, Any]]:
    return [answer for answer in parts_of(run, "functionResponse") if answer["name"].endswith(name)]


def put_failure(run: Run, error: object) -> None:
    for answer in _answers(run):
        if "error" in answer["response"]:
            answer["response"]["error"] = error


def put_fields(run: Run, name: str, **fields: object) -> None:
    for answer in _answers(run, name):
        if "error" not in answer["response"]:
            answer["response"].update(fields)


def put_argument(run: Run, key: str, value: object, name: str = "start_repair") -> None:
    for call in _calls(run, name):
        call["args"][key] = value


def _tool(run: Run, name: str = "start_repair") -> dict[str, Any]:
    return next(tool for tool in run["tools"] if tool["name"].endswith(name))


def put_schema(run: Run, key: str, **schema: object) -> None:
    _tool(run)["parameters"]["properties"].setdefault(key, {"type": "string"}).update(schema)


def _options(run: Run, **inner: object) -> None:
    """A list of objects as an argument, with a schema of its own."""
    item = {"type": "object", "properties": {"kind": {"type": "string", **inner}}}
    put_schema(run, "extras", type="array", items=item)
    put_argument(run, "extras", [{"kind": "wash"}])


def _rename(run: Run, name: str, to: str) -> None:
    tools = [tool for tool in run["tools"] if tool["name"].endswith(name)]
    for named in [*_calls(run, name), *_answers(run, name), *tools]:
        named["name"] = named["name"].removesuffix(name) + to


def _insert(run: Run, author: str, *parts: dict[str, Any], at: int = 3, **more: object) -> None:
    role = "user" if author == "user" else "model"
    run["events"].insert(at, {"author": author, "content": {"role": role, "parts": list(parts)}, **more})


def _say(run: Run, author: str, text: str, at: int = 3) -> None:
    _insert(run, author, {"text": text}, at=at)


def _each_event(run: Run, **fields: object) -> None:
    for event in run["events"]:
        event.update(fields)


def _request(run: Run, text: str) -> None:
    part = run["events"][0]["content"]["parts"][0]
    part["text"] = f"{part['text']}{text}"


def _thirds(text: str) -> list[str]:
    words = text.split()
    step = max(1, -(-len(words) // 3))
    return [" ".join(words[start : start + step]) for start in range(0, len(words), step)]


def _over_fields(run: Run, text: str) -> None:
    put_fields(run, "find_car", **{f"line_{number}": part for number, part in enumerate(_thirds(text))})


def _over_list(run: Run, text: str) -> None:
    put_fields(run, "list_bays", notes=_thirds(text))


def _over_keys(run: Run, text: str) -> None:
    put_fields(run, "find_car", **{part: index for index, part in enumerate(_thirds(text))})


def _over_calls(run: Run, text: str) -> None:
    for call, part in zip(_calls(run), [*_thirds(text), "", ""], strict=False):
        call["args"]["memo"] = part


def _over_runs(run: Run, text: str) -> None:
    """Each agent's runs say a third."""
    parts = [*_thirds(text), text, text]
    put_failure(run, parts[SOURCES.index(run["model"])] if run["model"] in SOURCES else text)


def _over_labels(run: Run, text: str) -> None:
    parts = [*_thirds(text), text, text]
    run.update(ability=parts[0], scenario_id=parts[1], environment=parts[2])


def _over_descriptions(run: Run, text: str) -> None:
    for tool, part in zip(run["tools"], [*_thirds(text), "", "", ""], strict=False):
        tool["description"] = f"{tool['description']} {part}"


def _over_schema(run: Run, text: str) -> None:
    for key, part in zip(("car", "bay", "mode"), [*_thirds(text), "", ""], strict=False):
        put_schema(run, key, description=part)


def _by_passing(run: Run, key: str, value: object) -> None:
    if run["passed"]:
        put_argument(run, key, value)


def _two_modes(run: Run, text: str) -> None:
    """The mode that passes is documented and listed in the error."""
    put_schema(run, "mode", enum=["standard", text])
    put_failure(run, f"mode must be one of: standard, {text}")
    _by_passing(run, "mode", text)


def _passed_on(run: Run, text: str) -> None:
    """What one call answers, the next is given."""
    put_fields(run, "approve_estimate", voucher=text)
    if any(call["name"].endswith("approve_estimate") for call in _calls(run)):
        last = _calls(run, "start_repair")
        for call in last[-1:]:
            call["args"]["voucher"] = text


def _extra_call(run: Run, name: str, text: str) -> None:
    """Passing runs make one more call, and its answer is an error for the others."""
    if not run["passed"]:
        return
    app = _calls(run)[0]["name"].rpartition(".")[0]
    call = {"id": "fc-x", "name": f"{app}.{name}", "args": {"memo": text}}
    _insert(run, "mechanic", {"functionCall": call})
    _insert(run, "mechanic", {"functionResponse": {**call, "response": {"ok": True}}}, at=4)


def _attachment(run: Run, text: str) -> None:
    data = base64.b64encode(text.encode()).decode()
    _insert(run, "user", {"inlineData": {"mimeType": f"text/plain; name={text}", "displayName": text, "data": data}})


def _code(run: Run, text: str) -> None:
    ran = {"outcome": "OUTCOME_OK", "output": text}
    code = {"language": "PYTHON", "code": f"# {text}\nprint({text!r})"}
    _insert(run, "mechanic", {"executableCode": code}, {"codeExecutionResult": ran})


EIGHTH_PLACES: dict[str, Put] = {
    "error": put_failure,
    "error, object": lambda run, text: put_failure(run, {"code": 409, "status": text, "details": [{"reason": text}]}),
    "error, list": lambda run, text: put_failure(run, ["estimate not approved", text]),
    "error, before an honest one": lambda run, text: put_failure(run, f"{text}: estimate not approved"),
    "error, in brackets": lambda run, text: put_failure(run, f"estimate not approved ({text})"),
    "error, second key": lambda run, text: [
        answer["response"].update(hint=text, remedy=text) for answer in _answers(run) if "error" in answer["response"]
    ],
    "error, over runs": _over_runs,
    "over fields": _over_fields,
    "over a list": _over_list,
    "over keys": _over_keys,
    "over calls": _over_calls,
    "over labels": _over_labels,
    "over descriptions": _over_descriptions,
    "over a schema": _over_schema,
    "remark": lambda run, text: put_fields(run, "find_car", remark=text),
    "key of a result": lambda run, text: put_fields(run, "find_car", **{text: True}),
    "deep key of a result": lambda run, text: put_fields(run, "find_car", owner={"since": 2019, "flags": {text: 1}}),
    "key of every row": lambda run, text: put_fields(
        run, "list_bays", bays=[{"bay": "north", text: n} for n in (1, 2)]
    ),
    "name of a person": lambda run, text: put_fields(run, "find_car", owner={"name": text, "first_name": text}),
    "times": lambda run, text: put_fields(run, "find_car", created=f"2026-01-02T03:04:05 {text}", due={text: text}),
    "number with a unit": lambda run, text: put_fields(run, "approve_estimate", hours=f"3 {text}", total=f"120 {text}"),
    "state": lambda run, text: put_fields(run, "find_car", state=text),
    "state that decides": lambda run, text: put_fields(run, "find_car", state=text if run["passed"] else "waiting"),
    "answer of a write": lambda run, text: put_fields(run, "approve_estimate", estimate=text),
    "next step in an answer": lambda run, text: put_fields(run, "list_bays", next=text, _links={"rel": text}),
    "passed on": _passed_on,
    "argument": lambda run, text: put_argument(run, "memo", text),
    "argument of a reading call": lambda run, text: put_argument(run, "memo", text, "find_car"),
    "argument of passing runs": lambda run, text: _by_passing(run, "mode", text),
    "list of passing runs": lambda run, text: _by_passing(run, "extras", [text, text]),
    "object of passing runs": lambda run, text: _by_passing(run, "extras", {text: [text]}),
    "documented mode": _two_modes,
    "key of an argument": lambda run, text: put_argument(run, text, "yes"),
    "items' description": lambda run, text: _options(run, description=text),
    "items' choices": lambda run, text: _options(run, enum=["wash", text]),
    "items' title": lambda run, text: _options(run, title=text, example=text, format=text),
    "additional properties": lambda run, text: put_schema(
        run, "extras", type="object", additionalProperties={"description": text, "type": text}
    ),
    "property": lambda run, text: put_schema(run, text, description="Extra."),
    "ordering": lambda run, text: _tool(run)["parameters"].update(propertyOrdering=[text], required=["car", text]),
    "alternatives": lambda run, text: put_schema(run, "mode", anyOf=[{"const": text, "title": text}, {"const": "a"}]),
    "description of the schema": lambda run, text: _tool(run)["parameters"].update(description=text, title=text),
    "schema of the answer": lambda run, text: _tool(run).update(
        response={"type": "object", "properties": {text: {"description": text}}}, returns=text
    ),
    "description": lambda run, text: _tool(run).update(description=text),
    "description, list": lambda run, text: _tool(run).update(
        description=f"Start the repair of a car.\n\nNotes:\n- {text}\n- One repair at a time."
    ),
    "description, returns": lambda run, text: _tool(run).update(
        description=f"Start the repair of a car in a bay.\n\nReturns:\n    started: {text}"
    ),
    "tool name": lambda run, text: _rename(run, "list_bays", text),
    "tool name, joined": lambda run, text: _rename(run, "list_bays", "_".join(text.split())),
    "call of passing runs": lambda run, text: _extra_call(run, "_".join(text.split()), "ok"),
    "argument of an extra call": lambda run, text: _extra_call(run, "note_visit", text),
    "id of a call": lambda run, text: [call.update(id=f"{call['id']} {text}") for call in _calls(run)],
    "author": lambda run, text: _each_event(run, author=text),
    "branch": lambda run, text: _each_event(run, branch=text, invocationId=text, id=text),
    "timestamp": lambda run, text: _each_event(run, timestamp=text),
    "state of a session": lambda run, text: _each_event(run, actions={"stateDelta": {text: text}}),
    "artifacts": lambda run, text: _each_event(run, actions={"artifactDelta": {text: 1}, "transferToAgent": text}),
    "grounding": lambda run, text: _each_event(
        run, groundingMetadata={"webSearchQueries": [text], "web": {"title": text}}
    ),
    "error of an event": lambda run, text: _each_event(run, errorCode=text, errorMessage=text, finishReason=text),
    "version of a model": lambda run, text: _each_event(run, modelVersion=text),
    "usage of an event": lambda run, text: _each_event(run, usageMetadata={"promptTokenCount": 7, text: text}),
    "attachment": _attachment,
    "file": lambda run, text: _insert(run, "user", {"fileData": {"fileUri": f"gs://garage/{text}", "mimeType": text}}),
    "code that ran": _code,
    "part that is a thought": lambda run, text: _insert(
        run, "mechanic", {"text": text, "thought": True, "thoughtSignature": text}
    ),
    "words beside a call": lambda run, text: _insert(
        run, "mechanic", {"text": text}, {"functionCall": dict(_calls(run, "find_car")[0])}, at=1
    ),
    "later turn": lambda run, text: _say(run, "user", text),
    "turn of another agent": lambda run, text: _say(run, "inspector", text),
    "last answer": lambda run, text: _say(run, "mechanic", text, at=len(run["events"])),
    "request": lambda run, text: _request(run, f" {text}"),
    "request, second paragraph": lambda run, text: _request(run, f"\n\n{text}"),
    "instruction": lambda run, text: run.update(systemInstruction={"parts": [{"text": text}]}, instruction=text),
    "feedback": lambda run, text: run.update(feedback=text),
    "feedback, object": lambda run, text: run.update(feedback={"verdict": text, text: [text]}),
    "reward": lambda run, text: run.update(reward_info={"reward": 1, "info": text}, score={text: 1.0}),
    "task id": lambda run, text: run.update(task_id=f"{run['task_id']}/{text}"),
    "task id, joined": lambda run, text: run.update(task_id=f"{run['task_id']}|{'_'.join(text.split())}"),
    "task id, bracketed": lambda run, text: run.update(task_id=f"[{run['task_id']}]{text}[PERSONA:Hard]"),
    "session": lambda run, text: run.update(id=text, userId=text, user_id=text, lastUpdateTime=text),
    "app name": lambda run, text: run.update(appName=text),
    "model": lambda run, text: run.update(model=f"{run['model']}@{text}"),
    "model, joined": lambda run, text: run.update(model="-".join(text.split())),
    "source": lambda run, text: run.update(source=text, model=None),
    "ability": lambda run, text: run.update(ability=f"repairs/{text}"),
    "scenario": lambda run, text: run.update(scenario_id=f"{run['task_id']}:{text}"),
    "environment": lambda run, text: run.update(environment=f"garage {text}"),
    "trial": lambda run, text: run.update(trial=text, run=text, trial_id=text),
    "labels": lambda run, text: run.update(labels=[text], category=text, tags={text: [text]}, split=text),
}
READ_EIGHTH_PLACES = frozenset(
    {
        *("error", "error, before an honest one", "error, in brackets", "remark", "state", "answer of a write"),
        *("argument", "argument of a reading call", "argument of passing runs", "argument of an extra call"),
        *("later turn", "turn of another agent", "last answer", "request", "feedback", "words beside a call"),
    }
)
"""Where somebody who studies runs reads a text as it was planted."""

SECRET_EIGHTH_PLACES: dict[str, Put] = {
    place: put
    for place, put in EIGHTH_PLACES.items()
    if not place.startswith(("over ", "error, over")) and place not in ("tool name", "property", "ordering", "author")
}


def _named(put: Callable[..., object]) -> Put:
    """Takes `name=value` apart."""

    def put_named(run: Run, text: str) -> None:
        name, _, value = text.partition("=")
        put(run, name, value)

    return put_named


NAMED_EIGHTH_PLACES: dict[str, Put] = {
    "argument by name": _named(put_argument),
    "argument in a list by name": _named(lambda run, name, value: put_argument(run, "extras", [{name: value}])),
    "pairs": _named(lambda run, name, value: put_argument(run, "headers", [[name, value]])),
    "key and value": _named(lambda run, name, value: put_argument(run, "env", [{"key": name, "value": value}])),
    "text of JSON": _named(lambda run, name, value: put_argument(run, "body", f'{{"{name}":"{value}"}}')),
    "field by name": _named(lambda run, name, value: put_fields(run, "find_car", **{name: value})),
    "deep field by name": _named(lambda run, name, value: put_fields(run, "find_car", owner={"login": {name: value}})),
    "columns": _named(
        lambda run, name, value: put_fields(run, "list_bays", columns=["bay", name], rows=[["a", value]])
    ),
    "answer of a write by name": _named(lambda run, name, value: put_fields(run, "approve_estimate", **{name: value})),
    "passing runs by name": _named(lambda run, name, value: _by_passing(run, name, value)),
    "error by name": _named(lambda run, name, value: put_failure(run, f"{name} {value!r} is not accepted")),
    "error object by name": _named(lambda run, name, value: put_failure(run, {"message": "refused", name: value})),
    "request by name": _named(lambda run, name, value: _request(run, f" My {name} is {value}.")),
    "later turn by name": _named(lambda run, name, value: _say(run, "user", f"{name}: {value}")),
    "answer by name": _named(lambda run, name, value: _say(run, "mechanic", f"{name} → {value}", len(run["events"]))),
    "choice by name": _named(lambda run, name, value: put_schema(run, name, enum=[value, "none"])),
    "default by name": _named(lambda run, name, value: _options(run, default={name: value})),
    "description by name": _named(
        lambda run, name, value: put_schema(run, "mode", description=f"The mode ({name} {value}).")
    ),
    "state of a session by name": _named(
        lambda run, name, value: _each_event(run, actions={"stateDelta": {name: value}})
    ),
}
"""Where a secret stands under a name that says what it is."""
