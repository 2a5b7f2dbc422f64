"""OpenHands: `output.jsonl` of its evaluation (one run per line), event logs as one list, and folders of event files.

    {"instance_id": "t1", "instruction": "...", "metadata": {"llm_config": {"model": "..."}}, "history": [events],
     "report": {"resolved": true}}

openhands_events.py shows the events.

In a folder `events/event-00000-….json`, the first file stands for the run and the others are read with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.openhands_events import Event, is_event, record_event
from contramem.traces.readers.records import label
from contramem.traces.readers.session import ENVIRONMENT
from contramem.traces.trajectory import Origin, Outcome, RunUsage, Trajectory, digest
from contramem.traces.verdict_files import verdict_of

_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-.*)?\.json")


class OpenHandsReader:
    name = "openhands"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if isinstance(head, list):
            return bool(head) and is_event(head[0])
        return isinstance(head, dict) and (_has_history(head) or is_event(head))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        def build(record: Any, position: str) -> Trajectory | SkippedRun | None:
            if isinstance(record, dict) and "history" in record:
                return _read_evaluation(record, Origin(file.origin, position), options)
            if isinstance(record, list):
                return _session(record, file, options)
            return _session(_events_beside(record, file), file, options) if _is_first(file) else None

        records: Iterable[tuple[object, Any]] = file.lines() if file.is_lines else [("", file.document)]
        if file.is_lines and is_event(file.head):
            records = [("", [line for _, line in file.lines() if isinstance(line, dict)])]
        return each_run(file, records, build)


def _has_history(record: Mapping[str, Any]) -> bool:
    history = record.get("history")
    if not isinstance(history, list) or not history or not ("instance_id" in record or "instruction" in record):
        return False
    first = history[0][0] if isinstance(history[0], list) and history[0] else history[0]
    return is_event(first)


def _is_first(file: TraceFile) -> bool:
    match = _EVENT_FILE.fullmatch(file.name)
    return match is None or int(match[1]) == 0


def _events_beside(first: Event, file: TraceFile) -> list[Event]:
    names = {
        int(match[1]): path.name for path in file.path.parent.iterdir() if (match := _EVENT_FILE.fullmatch(path.name))
    }
    others = (file.beside(names[number]) for number in sorted(names) if number)
    documents = (other.document for other in others if other is not None)
    return [first, *(document for document in documents if isinstance(document, dict))]


def _flatten(history: list[Any]) -> list[Event]:
    """Older outputs pair each action with its observation."""
    return [event for entry in history for event in (entry if isinstance(entry, list) else [entry])]


def _read_evaluation(record: Mapping[str, Any], origin: Origin, options: ReadOptions) -> Trajectory:
    recorder = Recorder(options.naming("openhands"))
    asked = next(filter(None, [record_event(recorder, event) for event in _flatten(record["history"])]), "")
    task = text_of(record.get("instruction")) or asked
    metadata = record.get("metadata") or {}
    model = (metadata.get("llm_config") or {}).get("model")
    issue = record.get("issue") or {}
    named = record.get("instance_id") or (f"{issue.get('repo')}#{issue['number']}" if issue.get("number") else None)
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=label(named, "instance_id") or digest(task),
        source=label(model, "model") or label(metadata.get("agent_class"), "agent") or "openhands",
        origin=origin,
        events=recorder.events(),
        outcome=_outcome(record),
        task=task,
        usage=RunUsage(cost_usd=number((record.get("metrics") or {}).get("accumulated_cost"))),
    )


def _outcome(record: Mapping[str, Any]) -> Outcome:
    report, tested = record.get("report"), record.get("test_result")
    holders = [holder for holder in (report, tested, record) if isinstance(holder, dict)]
    values = [
        holder[key] for holder in holders for key in ("resolved", "success", "passed") if holder.get(key) is not None
    ]
    error = text_of(record.get("error"))
    limit = "maximum iteration" in error.lower() or "stuck" in error.lower()
    passed = verdict_of(values[0])[0] if values else None
    return Outcome(passed, None, error[:2000], "limit" if limit else "interrupted" if error else "complete")


def _session(events: list[Event], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    recorder = Recorder(options.naming("openhands"))
    task = next(filter(None, [record_event(recorder, event) for event in events]), "")
    if not task:
        return SkippedRun(file.origin, "session without a prompt")
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=digest(task),
        source=_model(events, file) or "openhands",
        origin=Origin(file.origin),
        events=recorder.events(),
        run=file.path.parent.parent.name if _EVENT_FILE.fullmatch(file.name) else file.name.partition(".")[0],
        task=task,
        authored=True,
    )


def _model(events: list[Event], file: TraceFile) -> str | None:
    """From the model's own replies, which V0 events carry, or from the SDK's state one folder up."""
    for event in events:
        reply = (event.get("tool_call_metadata") or {}).get("model_response")
        named = reply.get("model") if isinstance(reply, dict) else None
        if isinstance(named, str):
            return named
    state = file.beside("../base_state.json")
    agent = state.document.get("agent") if state is not None and isinstance(state.document, dict) else None
    model = (agent.get("llm") or {}).get("model") if isinstance(agent, dict) else None
    return model if isinstance(model, str) else None
