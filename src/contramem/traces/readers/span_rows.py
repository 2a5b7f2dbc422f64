"""Shared by platforms that export each step as a row that names its parent (Braintrust, Opik).

The type of a row often says less than the rows around it. A function is a tool if a model of the trace asked for it by
name. A model's step with other models inside is a loop around them. What a scorer does is no part of the run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from contramem.errors import TraceError
from contramem.traces.readers.otel_messages import OtelCall, json_of
from contramem.traces.readers.otel_spans import Span, seconds
from contramem.traces.readers.span_tree import (
    BROKEN,
    Spans,
    SpanStep,
    calls_asked_for,
    model_span,
    plain_span,
    spans_of,
    tool_span,
)

Kind = Literal["model", "tool", "judge", "other"]
Key = tuple[str, str]
"""A trace, and the id of something in it."""
_FRAMES = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*(?:\n|\Z)|\n)+|\n\s+at \S.*")
"""Of a Python traceback, which may stand before what was thrown or after it, and of a JavaScript stack."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step, in the same fields for every platform."""

    place: SpanStep
    id: str
    kind: Kind
    name: str
    sent: Any = None
    reply: Any = None
    end: Any = None
    model: Any = None
    usage: Any = None
    tools: Any = None
    """Definitions of the tools that a model was offered."""
    call_id: Any = None
    about: dict[str, Any] = field(default_factory=dict)
    """What the row says about the whole run: its labels, its task and its scores."""

    @property
    def key(self) -> Key:
        return self.place.trace, self.id


def spans_of_rows(records: Iterable[tuple[object, Any]], read_row: Callable[[Any], StepRow]) -> Spans:
    """The spans of all records, which may come in any order; anything else comes as a TraceError."""
    rows = list(spans_of(records, lambda record: [read_row(record)]))
    tree = _Tree([row for _, row in rows if not isinstance(row, TraceError)])
    return spans_of(rows, tree.spans)


class _Tree:
    """The rows of a file, and what each is among the others."""

    def __init__(self, rows: list[StepRow]) -> None:
        self._rows = {row.key: row for row in rows}
        self._asked: dict[str, list[OtelCall]] = {}
        """The calls that the models of each trace asked for."""
        self._inside: dict[Key, set[Kind]] = {}
        """The kinds of the steps inside each row."""
        for row in rows:
            if row.kind == "model" and not self._is_judged(row):
                self._asked.setdefault(row.place.trace, []).extend(_asked_by(row))
        self._names = {trace: {call.name for call in calls} for trace, calls in self._asked.items()}
        for row in rows:
            for outer in self._above(row):
                self._inside.setdefault(outer.key, set()).add(self._kind(row))
        tools = [row for row in rows if self._kind(row) == "tool"]
        self._innermost = self._find_innermost(tools)
        self._call_ids = self._find_call_ids(tools)

    def spans(self, row: StepRow) -> Iterator[Span]:
        if self._is_judged(row) or (row.call_id and self._innermost.get(_call_key(row), row) is not row):
            return
        kind, inside = self._kind(row), self._inside.get(row.key, set())
        if kind == "tool":
            yield tool_span(row.place, row.name, row.sent, row.reply, row.call_id or self._call_ids.get(row.key))
        elif kind == "model" and "model" not in inside:
            yield from _model_spans(row, is_loop="tool" in inside)
        if row.about or kind in ("judge", "other"):
            # its own operation: attributes that look like a model's or a tool's make it neither
            yield plain_span(row.place, {**row.about, "gen_ai.operation.name": "invoke_agent"})

    def _kind(self, row: StepRow) -> Kind:
        is_asked = row.kind == "other" and row.place.parent and row.name in self._names.get(row.place.trace, ())
        return "tool" if is_asked else row.kind

    def _above(self, row: StepRow) -> Iterator[StepRow]:
        """The rows that a row is nested in, from the inside out."""
        trace, seen = row.place.trace, {row.id}
        while (outer := self._rows.get((trace, row.place.parent))) is not None and outer.id not in seen:
            seen.add(outer.id)
            yield outer
            row = outer

    def _is_judged(self, row: StepRow) -> bool:
        return any(outer.kind == "judge" for outer in self._above(row))

    def _find_innermost(self, tools: list[StepRow]) -> dict[Key, StepRow]:
        """The row of each call. Some integrations log a call once more, on the agent that made it."""
        outer_first = sorted(tools, key=lambda row: sum(1 for _ in self._above(row)))
        return {_call_key(row): row for row in outer_first if row.call_id}

    def _find_call_ids(self, tools: list[StepRow]) -> dict[Key, str]:
        """The id of each row that names none: that of the next call with its arguments that a model asked for.

        Where a model's reply is logged without its calls, a later request shows them. They are no further calls."""
        waiting: dict[tuple[str, str, str], dict[str, None]] = {}
        for trace, calls in self._asked.items():
            for call in calls:
                if call.id:
                    waiting.setdefault((trace, call.name, _write(call.arguments)), {})[call.id] = None
        found = {}
        for row in sorted(tools, key=lambda row: row.place.start):
            ids = waiting.get((row.place.trace, row.name, _write(row.sent)))
            if ids and not row.call_id:
                found[row.key] = next(iter(ids))
                del ids[found[row.key]]
        return found


def _call_key(row: StepRow) -> Key:
    return row.place.trace, str(row.call_id)


def _write(arguments: object) -> str:
    return json.dumps(json_of(arguments), sort_keys=True, default=str)


def _asked_by(row: StepRow) -> list[OtelCall]:
    try:
        return calls_asked_for([model_span(row.place, row.sent, row.reply, row.model)])
    except BROKEN:  # named as a problem when the trace is read
        return []


def _model_spans(row: StepRow, is_loop: bool) -> Iterator[Span]:
    """A loop that logs its tools, but not each call of the model, has its reply after them."""
    asking = model_span(row.place, row.sent, None if is_loop else row.reply, row.model, row.usage)
    asking.attributes["gen_ai.tool.definitions"] = row.tools
    yield asking
    if is_loop:
        end = row.place.start if row.end is None else seconds(row.end)
        yield model_span(row.place._replace(start=end), None, row.reply, row.model)


def without_traceback(thrown: str) -> str:
    return next((text.strip() for text in reversed(_FRAMES.split(thrown)) if text.strip()), "")
