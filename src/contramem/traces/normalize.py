"""From a framework's records to contramem's events: names of functions, arguments, errors, effects, order.

Every reader writes through a `Recorder`, so that one function seen in two frameworks is written the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.privacy.secrets import find_secrets
from contramem.traces.characters import has_hidden
from contramem.traces.effects import effect_of
from contramem.traces.result_errors import error_in
from contramem.traces.sanitize import plain_label
from contramem.traces.shell import exit_code_error, shell_call
from contramem.traces.trajectory import Actor, Effect, Event, Kind, Result, Tool, digest

MAX_SYSTEM_CHARS = 20_000
"""Maximum length of a system prompt. A longer one is a manual; its beginning and end say who asks and what day it
is."""
MAX_DEPTH = 64
"""Arguments and results nested deeper are refused: no tool needs that, and recursion must be bounded."""

_ADDRESS = re.compile(r"@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]|://|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")
"""Of a person, a page or a machine."""
_decode = msgspec.json.Decoder().decode
_TEXT = {str}
_NESTED = {dict, list}


class Naming:
    """How bare tool names become `App.function` in one trace.

    The app is, in this order: `forced` (the user said so), what the record itself says, the tool name
    (`Emails__send_email`, `mcp__server__tool`, `app.function`), and `fallback` (suite, domain or toolset).
    `aliases` maps one app name to another where a trace has several names for one app.
    """

    def __init__(
        self,
        fallback: str = "general",
        forced: str | None = None,
        aliases: Mapping[str, str] | None = None,
        effects: Mapping[str, Effect] | None = None,
    ) -> None:
        self.fallback = plain_label(fallback)  # a label of the trace, before it is made an identifier
        self.forced = forced
        self.aliases = aliases or {}
        self.effects = effects or {}
        self._names: dict[tuple[str, str], str] = {}
        self._effects: dict[str, Effect] = {}

    def function(self, name: str, app: str = "") -> str:
        """`App.function` for the tool that the trace calls `name`; deterministic, and the same for every spelling."""
        key = (name, app)
        function = self._names.get(key)
        if function is None:
            function = self._names[key] = self._split(name, app)
        return function

    def _split(self, name: str, app: str) -> str:
        own, function = split_tool_name(name) if _is_named(name) else ("", f"unnamed_{digest(name)[:6]}")
        chosen = self.forced or self.aliases.get(app, app) or self.aliases.get(own, own) or self.fallback
        return f"{clean_name(chosen)}.{clean_name(function)}"

    def effect(self, function: str, annotated: Effect | None = None, description: str = "") -> Effect:
        """The effect of `function`: as set by the user, else annotated in the trace, else according to its name and
        documentation."""
        effect = self._effects.get(function)
        if effect is None:
            bare = function.rpartition(".")[2]
            effect = (
                self.effects.get(function) or self.effects.get(bare) or annotated or effect_of(function, description)
            )
            self._effects[function] = effect
        return effect

    def is_given(self, function: str) -> bool:
        """Did the user set the effect of `function`?"""
        return function in self.effects or function.rpartition(".")[2] in self.effects

    def tool(
        self, name: str, description: str = "", parameters: Mapping[str, Any] | None = None, app: str = ""
    ) -> Tool:
        """A documented tool. This also determines its effect for the calls that follow."""
        function = self.function(name, app)
        self.effect(function, None, description)
        return Tool(function, description, dict(parameters or {}))


_UNPRINTABLE = re.compile(r"[^\w\-:/]+")


def _is_named(name: str) -> bool:
    """Is it no address, no pair of a name and a value, and is nothing hidden in it? Asked before the name is made an
    identifier, which would hide its form."""
    is_whole = not has_hidden(name) and "=" not in name and not _ADDRESS.search(name)
    return is_whole and next(find_secrets(name), None) is None


def clean_name(name: str) -> str:
    """A name as an identifier: models invent tool names with spaces, markup or whole sentences in them."""
    return _UNPRINTABLE.sub("_", name)[:80].strip("_") or "unnamed"


def split_tool_name(name: str) -> tuple[str, str]:
    """(app, function) according to the tool name alone; the app is empty if the name does not contain it."""
    if name.startswith("mcp__"):
        name = name[5:]
    if "__" in name.strip("_"):
        app, _, function = name.partition("__")
        if app and function:
            return app, function
    app, _, function = name.rpartition(".")
    return (app, function) if app and function else ("", name)


def arguments_of(raw: object) -> dict[str, Any]:
    """Canonical arguments: a dict with text keys. JSON text is decoded; anything but an object is stored under
    `input`."""
    if isinstance(raw, str):
        stripped = raw.strip()
        if not stripped:
            return {}
        try:
            raw = _decode(stripped)
        except (msgspec.DecodeError, RecursionError):
            return {"input": stripped}
    if raw is None:
        return {}
    if isinstance(raw, dict):
        check_depth(raw)
        return raw if set(map(type, raw)) <= _TEXT else {str(key): value for key, value in raw.items()}
    check_depth(raw)
    return {"input": raw}


def check_depth(value: object, limit: int = MAX_DEPTH) -> None:
    """Refuse a value nested deeper than `limit`, without recursing into it."""
    if type(value) is dict and _NESTED.isdisjoint(map(type, value.values())):  # nearly always, so told quickly
        return
    level: list[object] = [value]
    for _ in range(limit):
        level = [
            child
            for node in level
            if isinstance(node, (dict, list))
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise TraceError(f"a value is nested deeper than {limit} levels", "Leave the run out, or flatten the value.")


def text_of(content: object) -> str:
    """The text of message content: a string, or the textual parts of a list."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _text_of_part(part)))
    if isinstance(content, dict):
        return _text_of_part(content)
    return str(content)


def _text_of_part(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for key in ("text", "content", "value") if part.get("type") == "text" else ("text", "content"):
            value = part.get(key)
            if isinstance(value, str):
                return value
        if isinstance(document := part.get("document"), dict):  # Cohere's way to bring a result
            return text_of(document.get("data"))
    return ""


class Recorder:
    """Collects the events of one run in order and assigns results to their calls.

    A reader tells what happened (`message`, `call`, `result`, ...) and takes `events()` at the end. Positions, function
    names, canonical arguments, effects and the final answer are settled here, the same for every format.
    """

    __slots__ = ("_calls", "_rows", "naming", "system")

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.system = ""
        """The system prompt."""
        # Rows are mutable until `events()`: a result arrives after its call, often several messages later.
        self._rows: list[list[Any]] = []
        self._calls: dict[str, list[int]] = {}

    def instruct(self, text: str) -> None:
        """Add a part of the system prompt. It is not an event."""
        said = f"{self.system}\n{text}".strip()
        half = MAX_SYSTEM_CHARS // 2
        self.system = said if len(said) <= MAX_SYSTEM_CHARS else f"{said[: half - 1]}\n{said[-half:]}"

    def message(self, actor: Actor, text: str, time: float | None = None, kind: Kind = "message") -> None:
        """Add a message. Empty text is not an event."""
        if text and not text.isspace():
            self._rows.append([actor, kind, text, "", {}, "unknown", None, time])

    def call(
        self,
        name: str,
        arguments: object,
        call_id: str | None = None,
        *,
        app: str = "",
        actor: Actor = "agent",
        effect: Effect | None = None,
        time: float | None = None,
    ) -> None:
        """Add a call. `call_id` is what the trace uses to link the result to it; with None, the next result belongs to
        it."""
        values = arguments_of(arguments)
        if command := shell_call(name, values):
            function = command.function  # whatever app the user names: a shell is the same everywhere
            settled = self.naming.effects.get(function) or command.effect  # `sed` reads or writes, call by call
        else:
            function = self.naming.function(name, app)
            settled = self.naming.effect(function, effect)
        kind: Kind = "wait" if settled == "wait" else "call"
        self._calls.setdefault(call_id or "", []).append(len(self._rows))
        row = [actor, kind, "", function, values, settled, None, time]
        self._rows.append([*row, True] if effect is not None or self.naming.is_given(function) else row)

    def result(
        self, content: object, call_id: str | None = None, *, error: str | bool | None = None, time: float | None = None
    ) -> None:
        """What came back. `error` is the message, True when the content is the message, False when it is none for
        sure, None when the trace does not say. A result that belongs to no call becomes an observation."""
        if isinstance(content, (dict, list)):
            check_depth(content)
        waiting = self._calls.get(call_id or "") or (self._calls.get("") if call_id else None)
        if error is True:
            error = text_of(content) or "failed"
        elif error is None:
            error = error_in(content)
        if waiting:
            row = self._rows[waiting.pop(0)]
            if error is None:
                error = exit_code_error(row[3], content)
            row[6] = Result(content, error or None)
        else:
            self._rows.append(["app", "observation", text_of(content), "", {}, "unknown", None, time])

    def events(self, *, finalize: bool = True) -> tuple[Event, ...]:
        """The events so far. With `finalize`, the agent's last message is its answer if nothing happened after it."""
        rows = self._rows
        if finalize and rows and rows[-1][0] == "agent" and rows[-1][1] == "message":
            rows[-1][1] = "final"
        return tuple([Event(position, *row) for position, row in enumerate(rows)])
