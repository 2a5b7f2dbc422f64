"""smolagents memory: `agent.memory.get_full_steps()` or `get_succinct_steps()`, a list of steps.

    {"task": "Mail Bob."}
    {"step_number": 1, "tool_calls": [{"id": "c1", "function": {"name": "send", "arguments": {"to": "Bob"}}}],
     "observations": "sent", "error": null, "token_usage": {...}}

A step holds its calls and one text of observations for all of them. A CodeAgent's call is its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import record_call
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Origin, Outcome, Trajectory, digest
from contramem.traces.verdict_files import verdict_of


class SmolagentsReader:
    name = "smolagents"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if isinstance(head, list) and head and isinstance(head[0], dict) and "steps" in head[0]:
            head = head[0]
        return any(isinstance(step, dict) and "step_number" in step for step in _steps(head))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        def build(record: Any, position: str) -> Trajectory:
            return _trajectory(record, Origin(file.origin, position), options)

        if file.is_lines:
            return each_run(file, file.lines(), build)
        document = file.document
        if isinstance(document, list) and document and isinstance(document[0], dict) and "steps" in document[0]:
            return each_run(file, enumerate(document), build)
        return each_run(file, [("", document)], build)


def _steps(record: Any) -> list[Any]:
    if isinstance(record, dict):
        record = next(
            (record[key] for key in ("steps", "memory", "full_steps") if isinstance(record.get(key), list)), []
        )
    return record if isinstance(record, list) else []


def _trajectory(record: Any, origin: Origin, options: ReadOptions) -> Trajectory:
    recorder, meter = Recorder(options.naming("smolagents")), Meter()
    task = ""
    for step in _steps(record):
        if isinstance(step.get("task"), str):
            task = task or step["task"]
            recorder.message("user", step["task"])
        elif "step_number" in step:
            _record_step(recorder, step)
            meter.add(step.get("token_usage"))
    about = record if isinstance(record, dict) else {}
    return Trajectory(
        environment=label(about.get("environment"), "environment") or "smolagents",
        task_id=label(about.get("task_id"), "task_id") or digest(task),
        source=label(about.get("model") or about.get("source"), "model") or "unknown",
        origin=origin,
        events=recorder.events(),
        outcome=Outcome(*verdict_of(about.get("passed", about.get("reward")))),
        run=label(about.get("trial"), "trial") or "0",
        task=task,
        usage=meter.usage(),
    )


def _record_step(recorder: Recorder, step: Mapping[str, Any]) -> None:
    """A step's observations answer its last call; the error of a step is that of its last call, too."""
    recorder.message("agent", "" if step.get("code_action") else text_of(step.get("model_output")))
    calls = step.get("tool_calls") or _calls_of_failed_step(step)
    for call in calls:
        record_call(recorder, call)
    error = step.get("error")
    message = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
    for call in calls[:-1]:
        recorder.result("", call.get("id"), error=False)
    if calls:
        recorder.result(text_of(step.get("observations")), calls[-1].get("id"), error=message or None)
    elif message:
        recorder.message("environment", message, kind="notification")
    if step.get("is_final_answer") or (calls and _name(calls[-1]) == "final_answer"):
        answer = text_of(step.get("action_output")) or text_of(step.get("observations"))
        recorder.message("agent", answer, kind="final")


def _calls_of_failed_step(step: Mapping[str, Any]) -> list[Any]:
    """The calls that the model asked for, of a step that failed: smolagents lists only calls that came back."""
    asked = step.get("model_output_message")
    calls = asked.get("tool_calls") if step.get("error") and isinstance(asked, dict) else None
    return calls if isinstance(calls, list) else []


def _name(call: Mapping[str, Any]) -> object:
    function = call.get("function")
    return function.get("name") if isinstance(function, dict) else call.get("name")
