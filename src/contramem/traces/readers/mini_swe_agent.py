r"""mini-swe-agent's `.traj.json`: `trajectory_format: mini-swe-agent-1.*`, or the bare list of messages of version 1.

    {"trajectory_format": "mini-swe-agent-1", "info": {"exit_status": "Submitted", "model_stats": {...}}, "messages": [
      {"role": "user", "content": "Fix it."},
      {"role": "assistant", "content": "I look.\n```bash\nls\n```"},
      {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"}]}

Every step is one shell command. The file is named after the task; the verdict is in SWE-bench's report, which is looked
for beside the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.session import ENVIRONMENT
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory

SUFFIX = ".traj.json"
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What the agent prints to end its run."""

_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_ENDINGS: dict[str, Ending] = {
    "Submitted": "complete",
    "": "complete",
    "LimitsExceeded": "limit",
    "TimeExceeded": "limit",
}


class MiniSweAgentReader:
    name = "mini-swe-agent"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if isinstance(head, dict):
            return str(head.get("trajectory_format")).startswith("mini-swe-agent")
        return file.path.name.endswith(SUFFIX) and isinstance(head, list) and _is_message(head[:1])

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return each_run(file, [("", file.document)], lambda document, position: _trajectory(document, file, options))


def _is_message(opening: list[Any]) -> bool:
    return bool(opening) and isinstance(opening[0], dict) and "role" in opening[0]


def _trajectory(document: Any, file: TraceFile, options: ReadOptions) -> Trajectory:
    messages, info = (document, {}) if isinstance(document, list) else (document["messages"], document["info"])
    recorder = Recorder(options.naming("mini-swe-agent"))
    task = next((text_of(message.get("content")) for message in messages if message["role"] == "user"), "")
    recorder.message("user", task)
    for message in _after_the_task(messages):
        if not _record(recorder, message):
            break
    events = recorder.events()
    model = ((info.get("config") or {}).get("model") or {}).get("model_name")
    stats = info.get("model_stats") or {}
    calls = number(stats.get("api_calls"))
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=file.path.name.removesuffix(SUFFIX).removesuffix(".json"),
        source=str(model or file.path.parent.name or "unknown"),
        origin=Origin(file.origin),
        events=events,
        outcome=Outcome(ended=_ENDINGS.get(str(info.get("exit_status") or ""), "interrupted")),
        task=task,
        usage=RunUsage(model_calls=None if calls is None else int(calls), cost_usd=number(stats.get("instance_cost"))),
    )


def _after_the_task(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = next((place for place, message in enumerate(messages) if message["role"] == "user"), -1)
    return messages[asked + 1 :]


def _record(recorder: Recorder, message: dict[str, Any]) -> bool:
    """False: with this message the agent has ended its run."""
    role, text, extra = message["role"], text_of(message.get("content")), message.get("extra") or {}
    if role == "assistant":
        commands = _commands(extra, text)
        ends = any(SUBMIT in command for command in commands)
        recorder.message("agent", _BLOCK.sub("", text).strip() or ("Submitted." if ends else ""))
        for command in () if ends else commands:
            recorder.call("bash", {"command": command})
        return not ends
    if role in ("user", "tool"):  # after the task, the harness speaks in the user's place
        code = number(extra.get("returncode"))
        content = extra["raw_output"] if isinstance(extra.get("raw_output"), str) else text
        recorder.result(content if code is None else {"exit_code": int(code), "output": content})
    return True


def _commands(extra: dict[str, Any], text: str) -> list[str]:
    """What the harness took as commands; older files leave it to the code block."""
    actions = extra.get("actions")
    if isinstance(actions, list):
        return [str(action["command"]) for action in actions if isinstance(action, dict) and action.get("command")]
    return _BLOCK.findall(text)[:1]
