"""Anthropic Messages: the same files as in chat.py, whose messages call tools in content blocks.

    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Bob"}}]}
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sent"}]}

The blocks are read in tool_blocks.py, which Claude Code sessions share.
"""

from __future__ import annotations

from collections.abc import Iterator

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.chat import claims_messages
from contramem.traces.readers.records import first_messages, read_records
from contramem.traces.readers.tool_blocks import has_anthropic_blocks
from contramem.traces.trajectory import Trajectory


class AnthropicReader:
    name = "anthropic"

    def claims(self, file: TraceFile) -> bool:
        return claims_messages(file) and any(map(has_anthropic_blocks, first_messages(file)))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_records(file, options)
