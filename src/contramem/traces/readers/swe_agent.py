"""SWE-agent's `.traj`: `history` with tool calls, or in older files `trajectory` with one shell command per step.

    {"info": {"exit_status": "submitted", "model_stats": {...}}, "replay_config": "...",
     "trajectory": [{"thought": "...", "action": "ls", "observation": "a.py"}],
     "history": [{"role": "user", "content": "..."}, {"role": "assistant", "tool_calls": [...]},
                 {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]}]}

The file is named after the task. The verdict is in SWE-bench's report, which is looked for beside the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import decode, number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import record_message
from contramem.traces.readers.session import ENVIRONMENT
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory


class SweAgentReader:
    name = "swe-agent"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if not isinstance(head, dict) or not isinstance(head.get("trajectory"), list):
            return False
        steps = head["trajectory"]
        return "info" in head and (not steps or (isinstance(steps[0], dict) and "observation" in steps[0]))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return each_run(file, [("", file.document)], lambda document, _: _trajectory(document, file, options))


def _trajectory(document: Mapping[str, Any], file: TraceFile, options: ReadOptions) -> Trajectory:
    info, history = document.get("info") or {}, document.get("history") or []
    recorder = Recorder(options.naming("swe-agent"))
    turns = [message for message in history if not message.get("is_demo")]
    task = next((text_of(turn.get("content")) for turn in turns if turn["role"] == "user"), "")
    if any(turn.get("tool_calls") for turn in turns):
        for turn in turns:
            record_message(recorder, turn)
    else:
        recorder.message("user", task)
        _record_steps(recorder, document["trajectory"])
    stats = info.get("model_stats") or {}
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=file.name.partition(".")[0] or "unknown",
        source=_model(document) or file.path.parent.name or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(ended=_ending(str(info.get("exit_status") or ""))),
        task=task,
        system=recorder.system,
        usage=RunUsage(
            _count(stats.get("api_calls")),
            _count(stats.get("tokens_sent")),
            _count(stats.get("tokens_received")),
            number(stats.get("instance_cost")),
        ),
    )


def _record_steps(recorder: Recorder, steps: list[Mapping[str, Any]]) -> None:
    for step in steps:
        recorder.message("agent", text_of(step.get("thought")))
        action = text_of(step.get("action")).strip()
        if action == "submit":
            recorder.call("submit", {})
        elif action:
            recorder.call("bash", {"command": action})
        if action:
            recorder.result(text_of(step.get("observation")))


def _model(document: Mapping[str, Any]) -> str | None:
    """The model of the agent's configuration, which older files keep as JSON text."""
    config = document.get("replay_config")
    if isinstance(config, str):
        try:
            config = decode(config.encode("utf-8", "replace"))
        except TraceError:
            return None
    agent = config.get("agent") if isinstance(config, dict) else None
    model = agent.get("model") if isinstance(agent, dict) else None
    name = model.get("name") or model.get("model_name") if isinstance(model, dict) else None
    return name if isinstance(name, str) else None


def _ending(status: str) -> Ending:
    if status.startswith("submitted") and "(" not in status:
        return "complete"
    if any(word in status for word in ("cost", "limit", "context", "timeout", "format")):
        return "limit"
    return "complete" if status in ("", "submitted", "skipped") or status.startswith("submitted") else "interrupted"


def _count(value: object) -> int | None:
    amount = number(value)
    return None if amount is None else int(amount)
