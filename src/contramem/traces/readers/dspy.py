"""DSPy: predictions of `dspy.ReAct`, whose trajectory numbers its steps.

    {"question": "Mail Bob.", "answer": "Done.", "trajectory": {
      "thought_0": "...", "tool_name_0": "send", "tool_args_0": {"to": "Bob"}, "observation_0": "sent",
      "thought_1": "...", "tool_name_1": "finish", "tool_args_1": {}, "observation_1": "Completed."}}

The inputs of a signature have names of the user's choice: the first text of the record is the task, unless one is
called so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.conversation import call_entry, tool_message
from contramem.traces.readers.records import FIELDS, read_records
from contramem.traces.trajectory import Trajectory

_FAILED = "Execution error in "
_FINISH = "finish"
_TASKS = ("task", "question", "query", "request", "input")
_ANSWERS = ("answer", "response", "output", "result", "process_result")


class DspyReader:
    name = "dspy"

    def claims(self, file: TraceFile) -> bool:
        head = file.head[0] if isinstance(file.head, list) and file.head else file.head
        return _trajectory(head) is not None

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_records(file, options, _as_chat_record)


def _trajectory(record: object) -> Mapping[str, Any] | None:
    steps = record.get("trajectory") if isinstance(record, dict) else None
    return steps if isinstance(steps, dict) and "tool_name_0" in steps else None


def _as_chat_record(record: Any) -> Any:
    steps = _trajectory(record)
    if steps is None:
        return record
    texts = {key: value for key, value in record.items() if isinstance(value, str) and key not in _NO_TASKS}
    task = next((texts[key] for key in (*_TASKS, *texts) if key in texts), "")
    answer = next((record[key] for key in _ANSWERS if isinstance(record.get(key), str)), "")
    asked, answered = {"role": "user", "content": task}, {"role": "assistant", "content": answer}
    return {**record, "messages": [asked, *_messages(steps), *([answered] if answer else [])]}


_NO_TASKS = frozenset({*FIELDS, *_ANSWERS, "model", "reasoning"} - {"task"})


def _messages(steps: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number in count():
        name = steps.get(f"tool_name_{number}")
        if name is None or name == _FINISH:
            return
        yield {"role": "assistant", "tool_calls": [call_entry(str(number), name, steps.get(f"tool_args_{number}"))]}
        observed = steps.get(f"observation_{number}")
        failed = isinstance(observed, str) and observed.startswith(_FAILED)
        yield tool_message(str(number), observed, error=True if failed else None)
