"""`claude -p --output-format stream-json`: one JSON object a line, from `system`/`init` to `result`.

    {"type": "system", "subtype": "init", "session_id": "s", "model": "..."}
    {"type": "assistant", "session_id": "s", "message": {"content": [{"type": "tool_use", "id": "c1", "name": "Bash",
      "input": {"command": "ls"}}]}}
    {"type": "user", "session_id": "s", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1", ...}]}}
    {"type": "result", "subtype": "success", "total_cost_usd": 0.01}

The stream does not repeat the prompt. The task is then named by the file or by `--map task_id=...`; with
`--replay-user-messages` the prompt is in the stream and is the task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.messages import record_content
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.records import label
from contramem.traces.readers.session import ENVIRONMENT, Entry, opening, read_session
from contramem.traces.readers.tool_blocks import has_anthropic_blocks
from contramem.traces.trajectory import Ending, Origin, Outcome, Trajectory, digest


class ClaudeStreamReader:
    name = "claude-stream"

    def claims(self, file: TraceFile) -> bool:
        return any("session_id" in entry and _is_stream_entry(entry) for entry in opening(file))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_session(file, options, _trajectory)


def _is_stream_entry(entry: Entry) -> bool:
    if entry.get("type") == "system":
        return entry.get("subtype") == "init"
    return entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)


def _trajectory(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    recorder, meter = Recorder(options.naming("claude-code")), Meter()
    task = ""
    for entry in entries:
        if entry.get("parent_tool_use_id") or entry.get("type") not in ("user", "assistant"):
            continue  # a subagent's turns: the session shows them as one call with its report
        message = entry["message"]
        if entry["type"] == "assistant":
            record_content(recorder, "agent", message.get("content"), unmarked=False)
            meter.add(message.get("usage"))
        else:
            text = record_content(recorder, "user", message.get("content"), unmarked=False)
            task = task or ("" if has_anthropic_blocks(message) else text.strip())
    events = recorder.events()
    if not events:
        return SkippedRun(file.origin, "session without a turn")
    result = next((entry for entry in reversed(entries) if entry.get("type") == "result"), {})
    meter.spend(result.get("total_cost_usd"))
    opened = next((entry for entry in entries if entry.get("type") == "system"), {})
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=digest(task) if task else file.name.partition(".")[0],
        source=label(opened.get("model"), "model") or _model(entries) or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=Outcome(ended=_ending(result)),
        run=label(opened.get("session_id") or result.get("session_id"), "session_id") or file.name,
        task=task,
        authored=bool(task),
        usage=meter.usage(),
    )


def _model(entries: list[Entry]) -> str | None:
    messages: list[Any] = [entry.get("message") for entry in entries]
    return next((message["model"] for message in messages if isinstance(message, dict) and message.get("model")), None)


def _ending(result: Entry) -> Ending:
    subtype = str(result.get("subtype") or "")
    if "max_turns" in subtype or "budget" in subtype:
        return "limit"
    return "interrupted" if "error" in subtype or number(result.get("api_error_status")) else "complete"
