"""tau-bench results (the first version): one list of rows per file, one row per run.

    {"task_id": 3, "reward": 1.0, "trial": 0, "info": {"task": {"instruction": "..."}},
     "traj": [{"role": "user", "content": "..."}, {"role": "assistant", "tool_calls": [...]}, {"role": "tool", ...}]}

The model is only in the file name (`tool-calling-<model>-<temperature>_range_...`, or `<model>-<domain>.json`).
The instruction of the simulated user is the authored text of the task; it is the same in every file for one task id.
The row also holds the expected actions: they did not happen and are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.plain_names import plain_label
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import record_call
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Origin, Outcome, Trajectory

_RUN_NAME = re.compile(r"^(?:tool-calling|act|react|few-shot)-(.+?)(?:-\d+(?:\.\d+)?)?_range_")
_DOMAIN = re.compile(r"(?<![a-z])(retail|airline)(?![a-z])")
_STOP = re.compile(r"\s*###(?:STOP|TRANSFER|OUT-OF-SCOPE)###\s*")
_TRANSFER = "transfer_to_human_agents"
"""The one tool after which the environment ends the run."""


class TauBenchReader:
    name = "tau-bench"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        row = head[0] if isinstance(head, list) and head else None
        return isinstance(row, dict) and {"task_id", "reward", "info", "traj"} <= row.keys()

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        if not isinstance(file.document, list):
            raise TraceError("is not a list of rows", "Is this a tau-bench result? Choose a reader with --format.")
        domain = domain_of(file)
        source = source_of(file.name)

        def build(row: dict[str, Any], position: str) -> Trajectory | SkippedRun:
            origin = Origin(file.origin, position)
            if row["info"].get("error") and not row.get("traj"):
                return SkippedRun(str(origin), "api error")
            return _trajectory(row, origin, domain, source, options)

        yield from each_run(file, enumerate(file.document), build)


def source_of(name: str) -> str:
    """The model that a result file is named after."""
    stem = name.removesuffix(".json")
    if named := _RUN_NAME.match(stem):
        return named.group(1)
    domain = _DOMAIN.search(stem)
    return (stem[: domain.start()].rstrip("-_. ") if domain else stem) or stem or "unknown"


def domain_of(file: TraceFile) -> str:
    """`retail` or `airline`, from the file's name or the nearest folder that says so; empty when none does."""
    matches = (_DOMAIN.search(part.lower()) for part in reversed(file.parts))
    return next((match.group(1) for match in matches if match), "")


def _trajectory(row: dict[str, Any], origin: Origin, domain: str, source: str, options: ReadOptions) -> Trajectory:
    info, messages = row["info"], row["traj"]
    recorder = Recorder(options.naming(domain or "tau-bench"))
    asked = _tell(recorder, messages)
    outcome = _outcome(row, ended=_has_ended(messages))
    instruction = text_of((info.get("task") or {}).get("instruction"))
    return Trajectory(
        environment=f"tau-bench/{domain}" if domain else "tau-bench",
        task_id=label(row["task_id"], "task_id") or "",
        source=source,
        origin=origin,
        events=recorder.events(finalize=outcome.ended == "complete"),
        outcome=outcome,
        run=label(row.get("trial"), "trial") or "0",
        task=instruction or asked,
        authored=bool(instruction),
        ability=domain or None,
        system=recorder.system,
    )


def _tell(recorder: Recorder, messages: Sequence[Mapping[str, Any]]) -> str:
    """Record the conversation. Returns the user's first words."""
    first = ""
    answer = answer_at(messages)
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "assistant":
            recorder.message("agent", text_of(message.get("content")), kind="final" if index == answer else "message")
            for call in message.get("tool_calls") or ():
                _tell_call(recorder, call)
        elif role == "tool":
            recorder.result(text_of(message.get("content")), message.get("tool_call_id"))
        elif role == "user":
            text = without_stop(text_of(message.get("content")))
            first = first or text
            recorder.message("user", text)
        elif role == "system":
            recorder.instruct(text_of(message.get("content")))
        else:
            raise TraceError(
                f"has a message with the unknown role {plain_label(str(role))!r}", "Is this a tau-bench result?"
            )
    return first


def _tell_call(recorder: Recorder, call: Mapping[str, Any]) -> None:
    function = call["function"]
    if function["name"] == _TRANSFER:
        recorder.call(_TRANSFER, function["arguments"], call.get("id"), effect="finalize")
    else:
        record_call(recorder, call)


def answer_at(messages: Sequence[Mapping[str, Any]]) -> int:
    """Where the agent gave its final answer: its message before the one with which the user ends the run. Or -1.

    The user's goodbye may hold words of its own, so the answer is not always the last thing said.
    """
    if len(messages) < 2 or messages[-1]["role"] != "user" or messages[-2]["role"] != "assistant":
        return -1
    stopped = _STOP.search(text_of(messages[-1].get("content"))) and not messages[-2].get("tool_calls")
    return len(messages) - 2 if stopped else -1


def without_stop(text: str) -> str:
    """What the user said, without the tokens that only the simulation reads."""
    return _STOP.sub(" ", text).strip() if "###" in text else text


def _has_ended(messages: Sequence[Mapping[str, Any]]) -> bool:
    last = messages[-1] if messages else {}
    if last.get("role") == "tool":
        return last.get("name") == _TRANSFER
    return bool(_STOP.search(text_of(last.get("content"))))


def _outcome(row: Mapping[str, Any], ended: bool) -> Outcome:
    reward = number(row.get("reward"))
    judged = row["info"].get("reward_info")
    return Outcome(
        passed=None if reward is None else reward >= 1,
        reward=reward,
        feedback=_feedback(judged) if isinstance(judged, dict) else "",
        # The environment judges a run when it ends; one that it has not judged ran out of steps.
        ended="complete" if ended or judged else "limit",
    )


def _feedback(judged: Mapping[str, Any]) -> str:
    details = judged.get("info") or {}
    if number(details.get("r_actions")) == 0:
        return "The final state of the database is not the expected one."
    if number(details.get("r_outputs")) == 0:
        return "The user was not told everything that was asked for."
    return ""
