"""What runs say about the tools that their agents had."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from contramem.traces.trajectory import Tool, Trajectory


def described(runs: Iterable[Trajectory]) -> dict[str, Tool]:
    """By function."""
    tools: dict[str, Tool] = {}
    for run in runs:
        take_in(run.tools, tools)
    return tools


def take_in(found: Iterable[Tool], tools: dict[str, Tool]) -> None:
    """Of two descriptions of a function the longer one counts, in whatever order the runs were read."""
    for tool in found:
        known = tools.setdefault(tool.function, tool)
        if known != tool:
            tools[tool.function] = max(known, tool, key=_length_and_words)


def _length_and_words(tool: Tool) -> tuple[int, bytes]:
    written = msgspec.json.encode(tool, order="deterministic")
    return len(written), written
