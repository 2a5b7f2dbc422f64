"""AgentDojo runs: `runs/<model>/<suite>/<task>/<attack>/<injection>.json`, one run per file.

    {"suite_name": "banking", "user_task_id": "user_task_0", "attack_type": null, "utility": true, "messages": [
      {"role": "user", "content": "Pay it."},
      {"role": "assistant", "content": "", "tool_calls": [{"function": "pay", "args": {...}, "id": "c1"}]},
      {"role": "tool", "content": "paid", "tool_call_id": "c1", "error": null}]}

The model is the folder, because the `pipeline_name` inside repeats one name for several models. Tasks changed their
wording between versions of the benchmark, so the prompt is part of the task.
"""

from __future__ import annotations

from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import ReadOptions
from contramem.traces.readers.messages import unknown_role
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Origin, Outcome, Trajectory, digest


def is_agentdojo(file: TraceFile) -> bool:
    return isinstance(file.head, dict) and {"suite_name", "user_task_id", "utility"} <= file.head.keys()


def agentdojo(run: dict[str, Any], file: TraceFile, options: ReadOptions) -> Trajectory:
    suite = label(run["suite_name"], "suite") or "agentdojo"
    recorder = Recorder(options.naming(suite))
    task = ""
    for message in run["messages"]:
        role = message["role"]
        if role == "assistant":
            recorder.message("agent", text_of(message["content"]))
            for call in message.get("tool_calls") or ():
                recorder.call(call["function"], call["args"], label(call.get("id"), "call id"))
        elif role == "tool":
            # The message names its call; the id alone is null for models without native tool calls.
            call_id = label(message.get("tool_call_id") or (message.get("tool_call") or {}).get("id"), "call id")
            recorder.result(text_of(message["content"]), call_id, error=text_of(message.get("error")) or False)
        elif role == "user":
            text = text_of(message["content"])
            task = task or text
            recorder.message("user", text)
        elif role == "system":
            recorder.instruct(text_of(message["content"]))
        else:
            raise unknown_role(role, "Is this an AgentDojo run?")
    passed, injection = run["utility"], run.get("injection_task_id")
    model = file.parts[-5] if len(file.parts) >= 5 else ""
    return Trajectory(
        environment=f"agentdojo/{suite}",
        task_id=label(run["user_task_id"], "task id") or digest(task),
        source=model or label(run.get("pipeline_name"), "pipeline name") or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(
            passed=passed if isinstance(passed, bool) else None,
            feedback=text_of(run.get("error")),
            ended="interrupted" if run.get("error") else "complete",
        ),
        run=f"{run['attack_type']}-{injection}" if injection else "0",
        task=task,
        authored=True,
        ability=suite,
        system=recorder.system,
    )
