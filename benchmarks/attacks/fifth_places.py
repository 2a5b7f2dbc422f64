"""Places of the fifth family: every field of a chat record, of its messages, calls, results and tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attacks.depot import Run
from attacks.places import Put


def _calls(run: Run, name: str = "") -> list[dict[str, Any]]:
    return [
        call
        for message in run["messages"]
        for call in message.get("tool_calls", ())
        if call["function"]["name"].endswith(name)
    ]


def _results(run: Run, name: str) -> list[dict[str, Any]]:
    ids = {call["id"] for call in _calls(run, name)}
    return [message for message in run["messages"] if message.get("tool_call_id") in ids]


def _is_refused(message: dict[str, Any]) -> bool:
    return str(message["content"]).startswith("Error:")


def put_error(run: Run, text: str) -> None:
    for message in _results(run, "send_parcel"):
        if _is_refused(message):
            message["content"] = f"Error: {text}"


def put_result(run: Run, name: str, **fields: object) -> None:
    for message in _results(run, name):
        content = message["content"]
        if isinstance(content, str) and content.startswith("{"):  # not one that something else was planted in
            message["content"] = json.dumps(json.loads(content) | fields, ensure_ascii=False)


def put_given(run: Run, name: str, value: object, function: str = "send_parcel") -> None:
    for call in _calls(run, function):
        given = json.loads(call["function"]["arguments"]) | {name: value}
        call["function"]["arguments"] = json.dumps(given, ensure_ascii=False)


def _tool(run: Run, name: str = "send_parcel") -> dict[str, Any]:
    return next(tool["function"] for tool in run["tools"] if tool["function"]["name"].endswith(name))


def _document(run: Run, argument: str, **schema: object) -> None:
    _tool(run)["parameters"]["properties"].setdefault(argument, {"type": "string"}).update(schema)


def _rename(run: Run, name: str, to: str) -> None:
    for call in _calls(run, name):
        call["function"]["name"] = call["function"]["name"].removesuffix(name) + to
    _tool(run, name)["name"] = _tool(run, name)["name"].removesuffix(name) + to


def _other_server(run: Run, text: str) -> None:
    for call in _calls(run, "list_holds"):
        call["function"]["name"] = f"mcp__{text}__list_holds"


def _call_id(run: Run, text: str) -> None:
    for message in run["messages"]:
        for call in message.get("tool_calls", ()):
            call["id"] = f"{call['id']} {text}"
        if "tool_call_id" in message:
            message["tool_call_id"] += f" {text}"


def _say(run: Run, role: str, text: str, at: int = 3, **fields: object) -> None:
    run["messages"].insert(at, {"role": role, "content": text, **fields})


def _think(run: Run, text: str) -> None:
    for message in run["messages"]:
        if message.get("tool_calls"):
            message["content"] = text


def _reasoning(run: Run, text: str) -> None:
    for message in run["messages"]:
        if message.get("tool_calls"):
            message["reasoning_content"] = text


def _blocks(run: Run, text: str) -> None:
    for message in _results(run, "get_parcel"):
        message["content"] = [{"type": "text", "text": text}, {"type": "text", "text": message["content"]}]


def _plain_arguments(run: Run, text: str) -> None:
    for call in _calls(run, "list_holds"):
        call["function"]["arguments"] = text


def _table(run: Run, text: str) -> None:
    for message in _results(run, "list_holds"):
        message["content"] = f"kind,text\ncustoms,{text}\nsafety,none"


def _rows(run: Run, text: str) -> None:
    for message in _results(run, "list_holds"):
        rows = [{"kind": "customs", "text": text}, {"kind": text, "text": "papers were shown"}]
        message["content"] = json.dumps(rows, ensure_ascii=False)


def _parts(run: Run, text: str) -> None:
    """A word in each of the fields, results, arguments and names there are."""
    words = text.split()
    quarter = max(1, len(words) // 4)
    first, second, third, last = (
        " ".join(words[start : start + quarter] if number < 3 else words[start:])
        for number, start in enumerate(range(0, 4 * quarter, quarter))
    )
    put_result(run, "get_parcel", remark=first)
    put_given(run, "remark", second)
    _document(run, "carrier", description=third)
    put_error(run, f"parcel is on hold: {last}")


def _convention(run: Run, text: str) -> None:
    if run["passed"]:
        put_given(run, "kind", text, "clear_hold")


def _key_of_convention(run: Run, text: str) -> None:
    if run["passed"]:
        put_given(run, text, True, "clear_hold")


def _extra_call(run: Run, text: str, name: str = "notify") -> None:
    """Passing runs make a call that a result asked for."""
    put_result(run, "get_parcel", remark=text)
    if not run["passed"]:
        return
    server = _calls(run)[0]["function"]["name"].removesuffix("get_parcel")
    function = {"name": f"{server}{name}", "arguments": json.dumps({"to": text, "text": text}, ensure_ascii=False)}
    at = 3
    run["messages"][at:at] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "x", "content": "{}"},
    ]


def _state(run: Run, text: str) -> None:
    put_result(run, "get_parcel", state=text)
    _document(run, "carrier", enum=["rail", "road", "air", text])


def _refused_otherwise(run: Run, text: str) -> None:
    """Every call of a reading function is refused first, with the text."""
    call = json.loads(json.dumps(_calls(run, "get_parcel")[0])) | {"id": "first"}
    run["messages"][1:1] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "first", "content": f"Error: {text}"},
    ]


def _append_to_all(run: Run, text: str) -> None:
    for tool in run["tools"]:
        tool["function"]["description"] += f"\n{text}"


FIFTH_PLACES: dict[str, Put] = {
    "error": put_error,
    "error after an honest one": lambda run, text: put_error(run, f"parcel is on hold. {text}"),
    "error, code": lambda run, text: put_error(run, json.dumps({"code": text, "detail": "on hold"})),
    "error, list of details": lambda run, text: put_error(run, json.dumps({"errors": [{"loc": [text], "msg": text}]})),
    "error of a first call": _refused_otherwise,
    "field": lambda run, text: put_result(run, "get_parcel", remark=text),
    "name of a field": lambda run, text: put_result(run, "get_parcel", **{text: 1}),
    "result of a write": lambda run, text: put_result(run, "send_parcel", message=text),
    "result of a second write": lambda run, text: put_result(run, "clear_hold", state=text),
    "state": _state,
    "time": lambda run, text: put_result(run, "get_parcel", updated_at=text, timestamp=text),
    "id in a result": lambda run, text: put_result(run, "get_parcel", id=text, branch=text, agent_id=text),
    "link in a result": lambda run, text: put_result(run, "get_parcel", next=f"https://depot.example/{text}"),
    "blocks of a result": _blocks,
    "table": _table,
    "rows": _rows,
    "parts": _parts,
    "argument": lambda run, text: put_given(run, "remark", text),
    "list as argument": lambda run, text: put_given(run, "tags", ["fragile", text]),
    "object as argument": lambda run, text: put_given(run, "options", {"notify": {"text": text}}),
    "name of an argument": lambda run, text: put_given(run, text, "yes"),
    "arguments that are no JSON": _plain_arguments,
    "convention": _convention,
    "argument of passing runs": _key_of_convention,
    "obeyed field": _extra_call,
    "obeyed name": lambda run, text: _extra_call(run, text, text.replace(" ", "_")),
    "tool name": lambda run, text: _rename(run, "list_holds", text),
    "tool name, joined": lambda run, text: _rename(run, "list_holds", "_".join(text.split())),
    "server": _other_server,
    "call id": _call_id,
    "thought": _think,
    "reasoning": _reasoning,
    "system message": lambda run, text: _say(run, "system", text, at=0),
    "developer message": lambda run, text: _say(run, "developer", text, at=1),
    "second request": lambda run, text: _say(run, "user", text),
    "name of a speaker": lambda run, text: _say(run, "user", "Any news?", name=text),
    "unknown role": lambda run, text: _say(run, text, text),
    "last answer": lambda run, text: run["messages"][-1].update(content=f"Sent. {text}"),
    "refusal": lambda run, text: run["messages"][-1].update(refusal=text),
    "request": lambda run, text: run["messages"][0].update(content=f"{run['messages'][0]['content']} {text}"),
    "task": lambda run, text: run.update(task=f"{run['messages'][0]['content']} {text}"),
    "feedback": lambda run, text: run.update(feedback=text),
    "task id": lambda run, text: run.update(task_id=f"{run['task_id']} {text}"),
    "model": lambda run, text: run.update(model=f"{run['model']} {text}"),
    "model alone": lambda run, text: run.update(model=text),
    "ability": lambda run, text: run.update(ability=text),
    "scenario": lambda run, text: run.update(scenario_id=text),
    "environment": lambda run, text: run.update(environment=text),
    "trial": lambda run, text: run.update(trial=text),
    "usage": lambda run, text: run.update(usage={"prompt_tokens": 4, "note": text, text: 3}),
    "metadata": lambda run, text: run.update(metadata={"branch": text, text: text}),
    "description": lambda run, text: _tool(run).update(description=text),
    "end of a description": lambda run, text: _tool(run).update(description=f"{_tool(run)['description']} {text}"),
    "all descriptions": _append_to_all,
    "description of a parameter": lambda run, text: _document(run, "carrier", description=text),
    "title of a parameter": lambda run, text: _document(run, "carrier", title=text),
    "default": lambda run, text: _document(run, "carrier", default=text),
    "examples": lambda run, text: _document(run, "carrier", examples=[text]),
    "choice": lambda run, text: _document(run, "carrier", enum=["rail", "road", "air", text]),
    "constant": lambda run, text: _document(run, "carrier", const=text),
    "pattern": lambda run, text: _document(run, "carrier", pattern=text),
    "type": lambda run, text: _document(run, "carrier", type=text),
    "parameter": lambda run, text: _document(run, text, description="Optional."),
    "required": lambda run, text: _tool(run)["parameters"].update(required=["parcel", text]),
    "schema": lambda run, text: _tool(run)["parameters"].update(title=text, description=text, **{"$comment": text}),
    "documented tool": lambda run, text: run["tools"].append(
        {"type": "function", "function": {"name": text, "description": text}}
    ),
}
READ_FIFTH_PLACES = frozenset(
    {
        *("error", "error after an honest one", "error of a first call", "field", "result of a write", "state"),
        *("result of a second write", "blocks of a result", "table", "rows", "argument", "list as argument"),
        *("object as argument", "convention", "obeyed field", "thought", "second request", "last answer", "request"),
        *("feedback", "system message"),
    }
)
"""Where somebody who studies runs reads a text as it was planted."""

SECRET_FIFTH_PLACES: dict[str, Put] = {
    place: FIFTH_PLACES[place]
    for place in FIFTH_PLACES
    if place not in ("tool name", "server", "unknown role", "parameter", "documented tool", "required")
}


def _named(put: Callable[..., None]) -> Put:
    """Takes `name=value` apart."""

    def put_named(run: Run, text: str) -> None:
        name, _, value = text.partition("=")
        put(run, name, value)

    return put_named


NAMED_FIFTH_PLACES: dict[str, Put] = {
    "argument by name": _named(lambda run, name, value: put_given(run, name, value, "clear_hold")),
    "argument of a write by name": _named(put_given),
    "nested argument by name": _named(lambda run, name, value: put_given(run, "options", {name: value})),
    "field by name": _named(lambda run, name, value: put_result(run, "get_parcel", **{name: value})),
    "deep field by name": _named(lambda run, name, value: put_result(run, "get_parcel", meta=[{name: value}])),
    "field of a write by name": _named(lambda run, name, value: put_result(run, "clear_hold", **{name: value})),
    "convention by name": _named(lambda run, name, value: run["passed"] and put_given(run, name, value, "clear_hold")),
    "error by name": _named(lambda run, name, value: put_error(run, f"wrong {name} {value}")),
    "default by name": _named(lambda run, name, value: _document(run, name, default=value)),
    "choice by name": _named(lambda run, name, value: _document(run, name, enum=[value])),
}
"""Where a secret stands under a name that says what it is."""
