"""OpenAI chat messages: JSONL of records, a list of them, one record, or a bare list of messages.

    {"task_id": "t1", "model": "...", "passed": true, "messages": [
      {"role": "user", "content": "Mail Bob."},
      {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "send", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "sent"}]}

Nothing but the messages is standard, so the rest is found by our names or by the user's map (records.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.cline import is_cline
from contramem.traces.readers.model_calls import is_model_call
from contramem.traces.readers.records import first_messages, read_records
from contramem.traces.readers.tool_blocks import has_anthropic_blocks
from contramem.traces.trajectory import Trajectory

_OTHERS = frozenset({"suite_name", "termination_reason", "trajectory_format", "trajectory"})
"""Keys of other formats that hold chat messages too."""


class ChatReader:
    name = "openai-chat"

    def claims(self, file: TraceFile) -> bool:
        return claims_messages(file) and not any(map(has_anthropic_blocks, first_messages(file)))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_records(file, options)


def claims_messages(file: TraceFile) -> bool:
    """Is this a file of chat messages, rather than of another format that contains some?"""
    head = file.head
    first = head[0] if isinstance(head, list) and head else head
    if is_model_call(first) or (isinstance(head, dict) and not _OTHERS.isdisjoint(head)):
        return False
    # Agents of the SWE family save bare messages under names of their own.
    messages = first_messages(file)
    return not file.name.endswith((".traj", ".traj.json")) and bool(messages) and not is_cline(messages)
