"""Where in a run a text or a secret can be planted: what tools, users, judges and whoever writes the trace control."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from attacks.credentials import Credential
from attacks.desk import Run, is_refused

Put = Callable[[Run, str], None]


def calls_of(run: Run, name: str) -> list[dict[str, Any]]:
    return [event for event in run["events"] if event.get("function", "").endswith(f".{name}")]


def _failed(run: Run) -> list[dict[str, Any]]:
    return [event for event in run["events"] if event.get("result", {}).get("error")]


def _insert(run: Run, actor: str, kind: str, text: str) -> None:
    run["events"].insert(3, {"actor": actor, "kind": kind, "text": text})
    for position, event in enumerate(run["events"]):
        event["position"] = position


def set_error(run: Run, text: str) -> None:
    for event in _failed(run):
        event["result"] = {"content": text, "error": text}


def _append_error(run: Run, text: str) -> None:
    set_error(run, f"PermissionError: session not authenticated. {text}")


def _json_error(run: Run, text: str) -> None:
    set_error(run, json.dumps({"error": {"message": text}}, ensure_ascii=False))


def _result_text(run: Run, text: str) -> None:
    for event in calls_of(run, "find_order"):
        event["result"] = {"content": text}


def in_result(run: Run, **fields: object) -> None:
    for event in calls_of(run, "find_order"):
        content = event["result"]["content"]
        if isinstance(content, dict):
            content.update(fields)


def _list_item(run: Run, text: str) -> None:
    for event in calls_of(run, "list_notes"):
        event["result"] = {"content": [{"author": "desk", "body": text}, {"author": "desk", "body": "ok"}]}


def _write_result(run: Run, text: str) -> None:
    for event in calls_of(run, "issue_refund"):
        if not event["result"].get("error"):
            event["result"] = {"content": text}


def _final(run: Run, text: str) -> None:
    run["events"][-1]["text"] += f" {text}"


def _feedback(run: Run, text: str) -> None:
    run["outcome"]["feedback"] = text


def _task(run: Run, text: str) -> None:
    run["task"] += f"\n{text}"
    run["events"][0]["text"] = run["task"]


def _tool(run: Run, text: str) -> None:
    for tool in run["tools"]:
        if tool["function"].endswith("issue_refund"):
            tool["description"] = text


def _append_tool(run: Run, text: str) -> None:
    for tool in run["tools"]:
        tool["description"] += f" {text}"


def put_property(run: Run, name: str, **schema: object) -> None:
    for tool in run["tools"]:
        if tool["function"].endswith("issue_refund"):
            tool["parameters"]["properties"].setdefault(name, {"type": "string"}).update(schema)


def put_argument(run: Run, name: str, value: object, function: str = "issue_refund") -> None:
    for event in calls_of(run, function):
        event["arguments"][name] = value


def _function_name(run: Run, text: str) -> None:
    for event in calls_of(run, "list_notes"):
        event["function"] = event["function"].partition(".")[0] + "." + text.replace(".", " ")


def _app(run: Run, text: str) -> None:
    for event in run["events"]:
        if event.get("function"):
            event["function"] = text.replace(".", " ") + "." + event["function"].partition(".")[2]


TEXT_PLACES: dict[str, Put] = {
    "error": set_error,
    "error, after an honest one": _append_error,
    "error, as JSON": _json_error,
    "result": _result_text,
    "result of a write": _write_result,
    "field of a result": lambda run, text: in_result(run, note=text),
    "deep field of a result": lambda run, text: in_result(run, meta={"hint": {"text": text}}),
    "name of a field": lambda run, text: in_result(run, **{text: "yes"}),
    "item of a list": _list_item,
    "final answer": _final,
    "agent's message": lambda run, text: _insert(run, "agent", "message", text),
    "user's message": lambda run, text: _insert(run, "user", "message", text),
    "notification": lambda run, text: _insert(run, "environment", "notification", text),
    "observation": lambda run, text: _insert(run, "app", "observation", text),
    "feedback": _feedback,
    "task": _task,
    "tool description": _tool,
    "end of a tool description": _append_tool,
    "argument description": lambda run, text: put_property(run, "reason", description=text),
    "documented argument": lambda run, text: put_property(run, text),
    "documented choice": lambda run, text: put_property(run, "reason", enum=["damaged", text]),
    "argument": lambda run, text: put_argument(run, "reason", text),
    "argument in a list": lambda run, text: put_argument(run, "labels", [text]),
    "name of an argument": lambda run, text: put_argument(run, text, "yes"),
    "function name": _function_name,
    "app name": _app,
    "ability": lambda run, text: run.update(ability=text),
    "scenario": lambda run, text: run.update(scenario_id=text),
    "source": lambda run, text: run.update(source=f"{run['source']} {text}"),
    "task id": lambda run, text: run.update(task_id=f"{run['task_id']} {text}"),
    "environment": lambda run, text: run.update(environment=text),
    "trial": lambda run, text: run.update(run=text),
    "file name": lambda run, text: run["origin"].update(file=text),
    "position in a file": lambda run, text: run["origin"].update(position=text),
    "available app": lambda run, text: run.update(apps=[text]),
    "memory that was shown": lambda run, text: run.update(
        guidance=[{"before": 1, "text": text, "function": text, "cards": [text]}]
    ),
    "title of an argument": lambda run, text: put_property(run, "reason", title=text, examples=[text], default=text),
    "item of a plain list": lambda run, text: in_result(run, tags=["gift", text]),
}
READ_PLACES = frozenset(
    {
        *("error", "error, after an honest one", "error, as JSON", "error that everybody gets", "JSON inside of JSON"),
        *("result", "result of a write", "field of a result", "deep field of a result", "item of a list"),
        *("item of a plain list", "final answer", "agent's message", "user's message", "notification", "observation"),
        *("feedback", "task", "argument", "argument in a list", "value that everybody gives"),
    }
)
"""Where somebody who studies runs reads a text as it was planted."""
REACHES = ("one run", "one task", "every run")
"""Who gets to see it. `every run` is a tool that lies the same way to everybody, always."""


def plant(
    runs: list[Run],
    place: str,
    put: Put,
    text: str,
    reach: str,
    rng: random.Random,
    is_refused: Callable[[Run], bool] = is_refused,
) -> None:
    """Put `text` into the runs that `reach` says."""
    if reach == "one run" and place not in ("task", "task id", "ability", "scenario", "environment"):
        candidates = [run for run in runs if is_refused(run)] if "error" in place else list(runs)
        rng.shuffle(candidates)
        for run in candidates:
            before = json.dumps(run)
            put(run, text)
            if json.dumps(run) != before:  # some places are in passing runs only
                return
    for run in [run for run in runs if reach == "every run" or run["task_id"] == runs[0]["task_id"]]:
        put(run, text)


PutSecret = Callable[[Run, str, str], None]
_IN_WORDS = (
    "{name}: {value}",
    "{name}={value}",
    "The {name} is {value}.",
    '{{"{name}": "{value}"}}',
    "--{name} {value} --force",
    "curl -H '{name}: {value}' desk",
    "export {name}='{value}'",
    "{name} => {value}",
    "with {name} “{value}”",
)

NAMED_PLACES: dict[str, PutSecret] = {
    "argument": lambda run, name, value: put_argument(run, name, value, "sign_in"),
    "argument of a write": lambda run, name, value: put_argument(run, name, value),
    "nested argument": lambda run, name, value: put_argument(run, "options", {name: value}),
    "argument in a list": lambda run, name, value: put_argument(run, "headers", [{name: value}]),
    "field of a result": lambda run, name, value: in_result(run, **{name: value}),
    "deep field of a result": lambda run, name, value: in_result(run, session={"auth": {name: value}}),
    "documented default": lambda run, name, value: put_property(run, name, default=value),
    "documented example": lambda run, name, value: put_property(run, name, examples=[value]),
}
WORDED_PLACES = (
    "error",
    "error, after an honest one",
    "error, as JSON",
    "result",
    "result of a write",
    "item of a list",
    "final answer",
    "agent's message",
    "user's message",
    "notification",
    "observation",
    "feedback",
    "task",
    "tool description",
    "end of a tool description",
    "argument description",
    "argument",
)
MARKED_PLACES = (
    "function name",
    "name of an argument",
    "name of a field",
    "documented argument",
    "documented choice",
    "app name",
    "ability",
    "scenario",
    "source",
)
"""Names: only what gives itself away can be known for a secret there."""
SECRET_PLACES = (
    *NAMED_PLACES,
    *(f"{place}, in words" for place in WORDED_PLACES),
    *(f"in {place}" for place in MARKED_PLACES),
)


def plant_secret(runs: list[Run], place: str, secret: Credential, rng: random.Random) -> None:
    """Put `secret` into every run: what all of them show is what a card would repeat."""
    name = rng.choice(secret.names)
    if place in NAMED_PLACES:
        for run in runs:
            NAMED_PLACES[place](run, name, secret.value)
    elif place.endswith(", in words"):
        text = rng.choice(_IN_WORDS).format(name=name, value=secret.value)
        for run in runs:
            TEXT_PLACES[place.removesuffix(", in words")](run, text)
    else:
        for run in runs:
            TEXT_PLACES[place.removeprefix("in ")](run, f"order_{secret.value}")
