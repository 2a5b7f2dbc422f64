"""Harbor trials and bare ATIF files (`schema_version: ATIF-v1.*`).

    {"schema_version": "ATIF-v1.6", "agent": {"name": "...", "model_name": "..."}, "steps": [
      {"source": "user", "message": "Fix it."},
      {"source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", ...}],
       "observation": {"results": [{"source_call_id": "c1", "content": "a.py"}]}}]}

ATIF has neither task nor verdict: they are in the trial's `result.json`, one folder up. A trajectory that is
continued in another file (`continued_trajectory_ref`) is one run with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.records import label, tools_of
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory, digest

MAX_PARTS = 100
"""Continuations of one trajectory. More is a loop."""

_LIMITS = ("timeout", "limit")


class HarborReader:
    name = "harbor"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and (_is_atif(head) or _is_result(head))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        def build(document: dict[str, Any], position: str) -> Trajectory | SkippedRun | None:
            if not _is_atif(document):
                return None if _has_trajectory(file) else SkippedRun(file.origin, "trial has no trajectory")
            if (part := _part_of_another(file)) is not None:
                return None if part == ".cont-" else SkippedRun(file.origin, "sub-agent of another run")
            return _trajectory(document, file, options)

        return each_run(file, [("", file.document)], build)


def _has_trajectory(file: TraceFile) -> bool:
    """Its own, or a session of its agent that another reader reads (verdicts.py links it to the trial)."""
    if file.beside("agent/trajectory.json") is not None:
        return True
    return any(path.is_file() for path in (file.path.parent / "agent").rglob("*.jsonl*"))


def _is_atif(head: dict[str, Any]) -> bool:
    return str(head.get("schema_version")).startswith("ATIF-") and "steps" in head


def _is_result(head: dict[str, Any]) -> bool:
    return "trial_name" in head and "task_name" in head and "agent_info" in head


def _part_of_another(file: TraceFile) -> str | None:
    """How this file belongs to a run whose main file is there too; that one reads its continuations itself."""
    for mark in (".cont-", ".summarization-"):
        stem, divider, _ = file.path.name.partition(mark)
        if divider and file.beside(f"{stem}.json") is not None:
            return mark
    return None


def _parts(document: dict[str, Any], file: TraceFile) -> Iterator[dict[str, Any]]:
    """The trajectory and its continuations. If one of them is missing, that is an error: half a run is misleading."""
    yield document
    for part in range(1, MAX_PARTS):
        reference = document.get("continued_trajectory_ref")
        if not reference:
            return
        following = _continuation(str(reference), part, file)
        if following is None:
            raise TraceError(f"is continued in {str(reference)[:200]!r}, not found beside it", "Put the file there.")
        document = following.document
        yield document
    raise TraceError(f"is continued in more than {MAX_PARTS} files", "Do they refer to each other in a circle?")


def _continuation(reference: str, part: int, file: TraceFile) -> TraceFile | None:
    """The file of that name beside this one, or of the usual name if files were renamed. Never one elsewhere."""
    bare = len(reference) < 200 and not set(reference) & set("/\\\0")
    usual = f"{file.path.name.removesuffix('.json')}.cont-{part}.json"
    return (file.beside(reference) if bare else None) or file.beside(usual)


def _trajectory(document: dict[str, Any], file: TraceFile, options: ReadOptions) -> Trajectory:
    result = _result(file)
    agent = document["agent"]
    recorder = Recorder(options.naming(agent["name"]))
    tools = tools_of(agent.get("tool_definitions"), recorder.naming)
    parts = list(_parts(document, file))
    for part in parts:
        for step in _own_steps(part, continued=part is not document):
            _record(recorder, step)
    events = recorder.events()
    task = next((event.text for event in events if event.actor == "user"), "")
    return Trajectory(
        environment=f"harbor/{result['source']}" if result.get("source") else "harbor",
        task_id=label(result.get("task_name"), "task_name") or f"prompt-{digest(task)}",
        source=_source(result, agent),
        origin=Origin(file.origin),
        events=events,
        outcome=_outcome(result),
        run=label(_trial(result, document), "trial_name") or "0",
        task=task,
        # Agents wrap the task in prompts of their own, so the text does not say whether two tasks are the same.
        authored=False,
        tools=tools,
        usage=_usage(parts),
    )


def _trial(result: dict[str, Any], document: dict[str, Any]) -> object:
    return result.get("trial_name") or document.get("trajectory_id") or document.get("session_id")


def _own_steps(part: dict[str, Any], continued: bool) -> list[dict[str, Any]]:
    """The steps that happened in this file: a continuation opens with copies and with the prompts that hand over."""
    steps = [step for step in part["steps"] if not step.get("is_copied_context")]
    opening = next((i for i, step in enumerate(steps) if step["source"] == "agent"), 0) if continued else 0
    return steps[opening:]


def _result(file: TraceFile) -> dict[str, Any]:
    for place in ("../result.json", "result.json"):
        result = file.beside(place)
        if result is not None and isinstance(result.document, dict) and _is_result(result.document):
            document: dict[str, Any] = result.document
            return document
    return {}


def _source(result: dict[str, Any], agent: dict[str, Any]) -> str:
    info = result.get("agent_info") or {}
    name = info.get("name") or agent["name"]
    model = info.get("model_info") or {}
    prefix = f"{model['provider']}/" if model.get("provider") else ""
    full = f"{prefix}{model['name']}" if model.get("name") else agent.get("model_name")
    return f"{name}/{full}" if full else str(name)


def _record(recorder: Recorder, step: dict[str, Any]) -> None:
    source, text, time = step["source"], text_of(step.get("message")), _time(step.get("timestamp"))
    if source == "user":
        recorder.message("user", text, time)
    elif source == "agent":
        recorder.message("agent", step.get("reasoning_content") or "", time)
        recorder.message("agent", text, time)
    elif source != "system":
        raise TraceError(f"has a step with the unknown source {source!r}", "Is this an ATIF trajectory?")
    calls = step.get("tool_calls") or []
    for call in calls:
        recorder.call(call["function_name"], call.get("arguments"), call["tool_call_id"], time=time)
    _record_results(recorder, calls, (step.get("observation") or {}).get("results") or [], time)


def _record_results(
    recorder: Recorder, calls: list[dict[str, Any]], results: list[dict[str, Any]], time: float | None
) -> None:
    in_order = len(calls) == len(results) and all(result.get("source_call_id") is None for result in results)
    for index, result in enumerate(results):
        call_id = calls[index]["tool_call_id"] if in_order else result.get("source_call_id")
        if (content := result.get("content")) is None and call_id is None:
            continue  # a reference to a sub-agent's own trajectory
        failed = (result.get("extra") or {}).get("tool_result_is_error")
        error = failed if isinstance(failed, bool) else None
        recorder.result(content if isinstance(content, str) else text_of(content), call_id, error=error, time=time)


def _time(timestamp: object) -> float | None:
    try:
        return datetime.fromisoformat(str(timestamp)).timestamp() if timestamp else None
    except (ValueError, OverflowError, OSError):
        return None


def _outcome(result: dict[str, Any]) -> Outcome:
    """Several rewards: `reward` if there is one of that name, else all must reach 1."""
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    values = [value for value in map(number, rewards.values()) if value is not None]
    reward = number(rewards.get("reward"))
    if reward is None and values:
        reward = min(values)
    exception = result.get("exception_info") or {}
    ended: Ending = "complete"
    if exception:
        kind = str(exception.get("exception_type")).lower()
        ended = "limit" if any(word in kind for word in _LIMITS) else "interrupted"
    passed = None if reward is None else reward >= 1
    return Outcome(passed, reward, str(exception.get("exception_message") or "")[:2000], ended)


def _usage(parts: list[dict[str, Any]]) -> RunUsage:
    """The usage of the steps, or the totals of the file if its steps have none."""
    steps = [step for part in parts for step in _own_steps(part, continued=False) if step["source"] == "agent"]
    metrics = [step.get("metrics") or {} for step in steps]
    totals = [part.get("final_metrics") or {} for part in parts]
    tokens_in = _sum(metrics, "prompt_tokens") or _sum(totals, "total_prompt_tokens")
    tokens_out = _sum(metrics, "completion_tokens") or _sum(totals, "total_completion_tokens")
    return RunUsage(
        model_calls=sum(map(_llm_calls, steps)),
        tokens_in=None if tokens_in is None else int(tokens_in),
        tokens_out=None if tokens_out is None else int(tokens_out),
        cost_usd=_sum(metrics, "cost_usd") or _sum(totals, "total_cost_usd"),
    )


def _sum(rows: list[dict[str, Any]], key: str) -> float | None:
    values = [value for row in rows if (value := number(row.get(key))) is not None]
    return sum(values) if values else None


def _llm_calls(step: dict[str, Any]) -> int:
    count = number(step.get("llm_call_count"))
    return 1 if count is None else int(count)
