"""Places of the seventh family: every block of an Anthropic message, schemas, labels, and names of files in an archive.
Written before the defences were read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attacks.clinic import SOURCES, Run, blocks_of
from attacks.places import Put


def _uses(run: Run, name: str = "") -> list[dict[str, Any]]:
    return [block for block in blocks_of(run, "tool_use") if block["name"].endswith(name)]


def _results(run: Run, name: str) -> list[dict[str, Any]]:
    ids = {use["id"] for use in _uses(run, name)}
    return [block for block in blocks_of(run, "tool_result") if block["tool_use_id"] in ids]


def put_failure(run: Run, text: str) -> None:
    for block in blocks_of(run, "tool_result"):
        if block.get("is_error"):
            block["content"] = text


def put_fields(run: Run, name: str, **fields: object) -> None:
    for block in _results(run, name):
        if not block.get("is_error") and str(block["content"]).startswith("{"):
            block["content"] = json.dumps(json.loads(block["content"]) | fields, ensure_ascii=False)


def put_input(run: Run, key: str, value: object, name: str = "book_slot") -> None:
    for use in _uses(run, name):
        use["input"][key] = value


def _tool(run: Run, name: str = "book_slot") -> dict[str, Any]:
    return next(tool for tool in run["tools"] if tool["name"].endswith(name))


def put_schema(run: Run, key: str, **schema: object) -> None:
    _tool(run)["input_schema"]["properties"].setdefault(key, {"type": "string"}).update(schema)


def _rename(run: Run, name: str, to: str) -> None:
    for block in [*_uses(run, name), _tool(run, name)]:
        block["name"] = block["name"].removesuffix(name) + to


def _insert(run: Run, role: str, *blocks: dict[str, Any], at: int = 3) -> None:
    run["messages"].insert(at, {"role": role, "content": list(blocks)})


def _say(run: Run, role: str, text: str, at: int = 3) -> None:
    _insert(run, role, {"type": "text", "text": text}, at=at)


def _beside_uses(run: Run, block: dict[str, Any]) -> None:
    for message in run["messages"]:
        if message["role"] == "assistant":
            message["content"].insert(0, dict(block))


def _block_of_a_result(run: Run, text: str) -> None:
    for block in _results(run, "find_patient"):
        block["content"] = [{"type": "text", "text": str(block["content"])}, {"type": "text", "text": text}]


def _failure_in_blocks(run: Run, text: str) -> None:
    for block in blocks_of(run, "tool_result"):
        if block.get("is_error"):
            block["content"] = [{"type": "text", "text": "referral not checked"}, {"type": "text", "text": text}]


def _document_block(run: Run, text: str) -> None:
    _insert(run, "user", {"type": "document", "title": text, "context": text, "source": {"type": "text", "data": text}})


def _several_turns(run: Run, text: str) -> None:
    half = len(text) // 2
    _say(run, "user", text[:half])
    _say(run, "assistant", "Yes?", at=4)
    _say(run, "user", text[half:], at=5)


def _by_failing_runs(run: Run, text: str) -> None:
    if not run["passed"]:
        put_input(run, "channel", text)


def _by_passing_runs(run: Run, text: str) -> None:
    if run["passed"]:
        put_input(run, "channel", text)


def _list_by_passing_runs(run: Run, text: str) -> None:
    if run["passed"]:
        put_input(run, "copies", [text])


def _documented_choice(run: Run, text: str) -> None:
    put_schema(run, "channel", enum=["letter", "mail", text])
    _by_passing_runs(run, text)


def _condition(run: Run, text: str) -> None:
    """A state that decides: only such patients need a check."""
    put_fields(run, "find_patient", status=text if run["passed"] else "active")


def _slot_of(run: Run, text: str) -> None:
    """A value that a result gives and the next call passes on."""
    for block in _results(run, "list_slots"):
        block["content"] = json.dumps([{"slot": text, "room": "blue", "free": True}], ensure_ascii=False)
    put_input(run, "slot", text)


def _step(run: Run, name: str, text: str) -> None:
    """Passing runs make one more call."""
    if not run["passed"]:
        return
    server = _uses(run)[0]["name"].removesuffix("find_patient")
    use = {"type": "tool_use", "id": "toolu_x", "name": f"{server}{name}", "input": {"note": text}}
    _insert(run, "assistant", use)
    _insert(run, "user", {"type": "tool_result", "tool_use_id": "toolu_x", "content": "{}"}, at=4)


def _last_step(run: Run, text: str) -> None:
    if run["passed"]:
        _step(run, "log_visit", text)
        put_schema(run, "note", description=f"What log_visit was told, {text}")


def _two_errors(run: Run, text: str) -> None:
    """The same words come as an error of two functions."""
    put_failure(run, text)
    first = _uses(run, "list_slots")[0]
    use = {**first, "id": "toolu_y", "input": dict(first["input"])}
    _insert(run, "assistant", use)
    _insert(run, "user", {"type": "tool_result", "tool_use_id": "toolu_y", "content": text, "is_error": True}, at=4)


def _one_source(run: Run, text: str) -> None:
    if run["model"] == SOURCES[1]:
        put_failure(run, text)
        put_fields(run, "check_referral", referral=text)


def _keys(run: Run, text: str) -> None:
    put_fields(run, "find_patient", history={text: {text: [1, 2]}})


def _nested_schema(run: Run, text: str) -> None:
    inner = {"type": "object", "title": text, "properties": {text: {"type": "string", "enum": [text]}}}
    put_schema(run, "options", type="object", anyOf=[inner], description="Options.")
    put_input(run, "options", {text: text})


def _definitions(run: Run, text: str) -> None:
    _tool(run)["input_schema"]["$defs"] = {text: {"description": text, "enum": [text]}}


def _second_tool(run: Run, text: str) -> None:
    run["tools"].append({"name": text, "description": text, "input_schema": {"type": "object", "properties": {}}})


SEVENTH_PLACES: dict[str, Put] = {
    "error": put_failure,
    "error after an honest one": lambda run, text: put_failure(run, f"referral not checked\n{text}"),
    "error, in blocks": _failure_in_blocks,
    "error, nested": lambda run, text: put_failure(run, json.dumps({"fault": {"code": text, "hint": {"en": text}}})),
    "error, code": lambda run, text: put_failure(run, f"E-{text}: referral not checked"),
    "error of a named field": lambda run, text: put_failure(run, f"channel: {text}"),
    "error of two functions": _two_errors,
    "one source": _one_source,
    "comment": lambda run, text: put_fields(run, "find_patient", comment=text),
    "unit": lambda run, text: put_fields(run, "find_patient", weight={"value": 71, "unit": text}),
    "currency": lambda run, text: put_fields(run, "book_slot", fee=12.5, currency=text),
    "timestamp": lambda run, text: put_fields(run, "find_patient", created_at=text, updated=text),
    "keys": _keys,
    "state that decides": _condition,
    "status": lambda run, text: put_fields(run, "find_patient", status=text),
    "answer of a write": lambda run, text: put_fields(run, "check_referral", referral=text),
    "block of a result": _block_of_a_result,
    "slot": _slot_of,
    "input": lambda run, text: put_input(run, "note", text),
    "input of passing runs": _by_passing_runs,
    "input of failing runs": _by_failing_runs,
    "list of passing runs": _list_by_passing_runs,
    "key of an input": lambda run, text: put_input(run, text, True),
    "deep key of an input": lambda run, text: put_input(run, "options", {"more": {text: 1}}),
    "documented choice of passing runs": _documented_choice,
    "choice": lambda run, text: put_schema(run, "channel", enum=["letter", "mail", text]),
    "default": lambda run, text: put_schema(run, "channel", default=text),
    "format": lambda run, text: put_schema(run, "channel", format=text, pattern=text),
    "description of a property": lambda run, text: put_schema(run, "channel", description=text),
    "property": lambda run, text: put_schema(run, text, description="Optional."),
    "nested schema": _nested_schema,
    "definitions": _definitions,
    "required": lambda run, text: _tool(run)["input_schema"].update(required=["patient", text]),
    "description": lambda run, text: _tool(run).update(description=text),
    "description, second sentence": lambda run, text: _tool(run).update(description=f"Book a slot. {text}"),
    "description, first clause": lambda run, text: _tool(run).update(
        description=f"Book a slot for a patient ({text})."
    ),
    "another tool": _second_tool,
    "tool name": lambda run, text: _rename(run, "list_slots", text),
    "tool name, joined": lambda run, text: _rename(run, "list_slots", "_".join(text.split())),
    "call of passing runs": lambda run, text: _step(run, "_".join(text.split()), "ok"),
    "input of an extra call": lambda run, text: _step(run, "log_visit", text),
    "input of an extra call, documented": _last_step,
    "server": lambda run, text: [use.update(name=f"mcp__{text}__list_slots") for use in _uses(run, "list_slots")],
    "id of a call": lambda run, text: [
        block.update({key: f"{block[key]}{text}"})
        for kind, key in (("tool_use", "id"), ("tool_result", "tool_use_id"))
        for block in blocks_of(run, kind)
    ],
    "thinking": lambda run, text: _beside_uses(run, {"type": "thinking", "thinking": text, "signature": text}),
    "words beside a call": lambda run, text: _beside_uses(run, {"type": "text", "text": text}),
    "unknown block": lambda run, text: _beside_uses(run, {"type": text, text: text}),
    "document": _document_block,
    "image": lambda run, text: _insert(run, "user", {"type": "image", "alt": text, "source": {"url": text}}),
    "several turns": _several_turns,
    "later turn": lambda run, text: _say(run, "user", text),
    "system": lambda run, text: run.update(system=[{"type": "text", "text": text}]),
    "last answer": lambda run, text: _say(run, "assistant", text, at=len(run["messages"])),
    "request": lambda run, text: run["messages"][0].update(content=f"{run['messages'][0]['content']} {text}"),
    "request, second line": lambda run, text: run["messages"][0].update(
        content=f"{run['messages'][0]['content']}\n\n{text}"
    ),
    "feedback": lambda run, text: run.update(feedback=text),
    "task id": lambda run, text: run.update(task_id=f"{run['task_id']}-{text}"),
    "model": lambda run, text: run.update(model=f"{run['model']}/{text}"),
    "model alone": lambda run, text: run.update(model=text),
    "agent": lambda run, text: run.update(agent=text, agent_name=text, source=text),
    "ability": lambda run, text: run.update(ability=text),
    "scenario": lambda run, text: run.update(scenario_id=text),
    "environment": lambda run, text: run.update(environment=text, domain=text),
    "tags": lambda run, text: run.update(tags=[text], labels={text: text}, split=text),
    "metadata": lambda run, text: run.update(metadata={text: text}, extra=[text], run_id=text, id=text),
    "usage": lambda run, text: run.update(usage={"input_tokens": 4, text: text}, stop_reason=text),
    "name of a file": lambda run, text: run.update(file="".join(char for char in text if char not in "/\0")[:60]),
    "name of a folder": lambda run, text: run.update(
        file=f"{''.join(char for char in text if char not in '/' + chr(0))[:60]}/{run['file']}"
    ),
}
READ_SEVENTH_PLACES = frozenset(
    {
        *("error", "error after an honest one", "error, in blocks", "error of a named field", "error of two functions"),
        *(
            "comment",
            "status",
            "answer of a write",
            "block of a result",
            "input",
            "input of passing runs",
            "later turn",
        ),
        *("words beside a call", "last answer", "request", "feedback", "input of an extra call"),
    }
)
"""Where somebody who studies runs reads a text as it was planted."""

SECRET_SEVENTH_PLACES: dict[str, Put] = {
    place: put
    for place, put in SEVENTH_PLACES.items()
    if place not in ("tool name", "server", "another tool", "property", "required", "unknown block")
}


def _named(put: Callable[..., object]) -> Put:
    """Takes `name=value` apart."""

    def put_named(run: Run, text: str) -> None:
        name, _, value = text.partition("=")
        put(run, name, value)

    return put_named


NAMED_SEVENTH_PLACES: dict[str, Put] = {
    "input by name": _named(put_input),
    "input of a reading call by name": _named(lambda run, name, value: put_input(run, name, value, "find_patient")),
    "deep input by name": _named(lambda run, name, value: put_input(run, "login", {"as": "desk", name: value})),
    "pair in a list": _named(lambda run, name, value: put_input(run, "fields", [{"name": name, "value": value}])),
    "field by name": _named(lambda run, name, value: put_fields(run, "find_patient", **{name: value})),
    "field of a write by name": _named(lambda run, name, value: put_fields(run, "check_referral", **{name: value})),
    "passing runs by name": _named(lambda run, name, value: run["passed"] and put_input(run, name, value)),
    "error by name": _named(lambda run, name, value: put_failure(run, f"invalid {name}: {value}")),
    "request by name": _named(
        lambda run, name, value: run["messages"][0].update(content=f"{run['messages'][0]['content']} {name}: {value}")
    ),
    "later turn by name": _named(lambda run, name, value: _say(run, "user", f"{name} {value}")),
    "answer by name": _named(
        lambda run, name, value: _say(run, "assistant", f"{name} = {value}", at=len(run["messages"]))
    ),
    "default by name": _named(lambda run, name, value: put_schema(run, name, default=value, examples=[value])),
    "choice by name": _named(lambda run, name, value: put_schema(run, name, enum=[value])),
    "description by name": _named(
        lambda run, name, value: _tool(run).update(description=f"Book a slot for a patient with {name} {value}.")
    ),
}
"""Where a secret stands under a name that says what it is."""
