"""Rollouts of reinforcement learning: what a model was prompted with, what it did, and the reward.

    {"example_id": 3, "prompt": [{"role": "user", "content": "Mail Bob."}], "reward": 1.0, "completion": [
      {"role": "assistant", "tool_calls": [...]}, {"role": "tool", "content": "sent"}, ...]}

`example_id` names the task where there is one. Trainers that keep texts instead of messages are read if calls stand in
them between tags (tagged_calls.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.messages import is_message
from contramem.traces.readers.records import read_records
from contramem.traces.readers.tagged_calls import split_tags
from contramem.traces.trajectory import Trajectory


class RolloutReader:
    name = "rollouts"

    def claims(self, file: TraceFile) -> bool:
        return _messages(file.head[0] if isinstance(file.head, list) and file.head else file.head) is not None

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_records(file, options, _as_chat_record)


def _messages(record: object) -> list[Any] | None:
    """The conversation of a rollout; None for any other record."""
    if not isinstance(record, dict) or "messages" in record:
        return None
    prompt, completion = record.get("prompt"), record.get("completion")
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if isinstance(completion, str) and split_tags(completion).calls:
        completion = [{"role": "assistant", "content": completion}]
    if not isinstance(prompt, list) or not isinstance(completion, list) or not completion:
        return None
    messages = [*prompt, *completion]
    return messages if all(map(is_message, messages)) else None


def _as_chat_record(record: Any) -> Any:
    messages = _messages(record)
    if messages is None:
        return record
    if "example_id" not in record:
        return {**record, "messages": messages}
    # Environments are given the name of a kind of tasks as `task`: many examples share it.
    own = {name: value for name, value in record.items() if name != "task"}
    return {"task_id": record["example_id"], "ability": record.get("task"), **own, "messages": messages}
