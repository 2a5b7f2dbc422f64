"""What happened in one Inspect sample, from its events if they were logged, otherwise from its messages.

Events come first because agents tidy their messages: `react()` takes the `submit` call out, compaction drops turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from contramem.traces.normalize import Recorder
from contramem.traces.trajectory import Tool


def record(sample: Any, recorder: Recorder) -> int | None:
    """Record the sample. Returns the number of model calls, if the events show it."""
    events = list(_before_scoring(sample.events or ()))
    calls = len([event for event in events if event.event == "model"])
    if not calls:
        _record_messages(sample.messages, recorder)
        return None
    _record_events(events, recorder)
    return calls


def _before_scoring(events: Any) -> Iterator[Any]:
    """The events before scoring: graders are models too, but not part of the run."""
    return takewhile(lambda event: not _opens_scoring(event), events)


def _opens_scoring(event: Any) -> bool:
    # Spans since 2025, steps in older logs.
    opens = event.event == "span_begin" or (event.event == "step" and event.action == "begin")
    return opens and event.type in ("scorer", "scorers")


def _record_events(events: list[Any], recorder: Recorder) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    asked: set[str] = set()
    for event in events:
        time = event.timestamp.timestamp() if event.timestamp is not None else None
        if event.event == "model":
            _record_turn(event, recorder, seen, time)
        elif event.event == "tool" and event.id not in asked:  # a retried event is logged again under its id
            asked.add(event.id)
            recorder.call(event.function, event.arguments, event.id, time=time)
            if not event.pending:
                recorder.result(_content(event.result), event.id, error=_error(event.error), time=time)


def _record_turn(event: Any, recorder: Recorder, seen: Counter[tuple[str, str]], time: float | None) -> None:
    """Record what the user and the system said since the last turn, and the model's reply."""
    here: Counter[tuple[str, str]] = Counter()
    for message in event.input:
        key = (message.role, message.text)
        here[key] += 1
        if here[key] <= seen[key]:
            continue
        if message.role == "user":
            recorder.message("user", message.text, time)
        elif message.role == "system":
            recorder.instruct(message.text)
        seen[key] = here[key]
    if event.output is not None and event.output.choices:
        recorder.message("agent", event.output.choices[0].message.text, time)


def _record_messages(messages: Any, recorder: Recorder) -> None:
    for message in messages:
        if message.role == "user":
            recorder.message("user", message.text)
        elif message.role == "assistant":
            recorder.message("agent", message.text)
            for call in message.tool_calls or ():
                recorder.call(call.function, call.arguments, call.id)
        elif message.role == "system":
            recorder.instruct(message.text)
        elif message.role == "tool":
            recorder.result(message.text, message.tool_call_id, error=_error(message.error))


def _error(error: Any) -> str | None:
    # Without a ToolCallError the tool itself may still have answered that it failed.
    return None if error is None else f"{error.type}: {error.message}"


def _content(result: Any) -> Any:
    """A tool's result: a value, or parts of which the text counts."""
    parts = result if isinstance(result, list) else [result]
    if all(isinstance(part, (str, int, float, bool)) or part is None for part in parts):
        return result
    return "\n".join(text for part in parts if (text := getattr(part, "text", "")))


def tools_in(sample: Any, recorder: Recorder) -> tuple[Tool, ...]:
    """Every tool that a model was offered before scoring began."""
    tools: dict[str, Tool] = {}
    for event in _before_scoring(sample.events or ()):
        if event.event != "model":
            continue
        for info in event.tools:
            if info.name not in tools:
                parameters = info.parameters.model_dump(exclude_none=True, mode="json")
                tools[info.name] = recorder.naming.tool(info.name, info.description, parameters)
    return tuple(tools.values())
