"""What runs say about the tools that their agents had."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from contramem.traces.trajectory import Tool, Trajectory


def tools_by_function(runs: Iterable[Trajectory]) -> dict[str, Tool]:
    """By function."""
    tools: dict[str, Tool] = {}
    for run in runs:
        merge_tools(run.tools, tools)
    return tools


def merge_tools(tools_of_run: Iterable[Tool], tools: dict[str, Tool]) -> None:
    """Of two descriptions of a function the longer one counts, in whatever order the runs were read."""
    for tool in tools_of_run:
        longest = tools.setdefault(tool.function, tool)
        if longest != tool:
            tools[tool.function] = max(longest, tool, key=_length_and_words)


def _length_and_words(tool: Tool) -> tuple[int, bytes]:
    written = msgspec.json.encode(tool, order="deterministic")
    return len(written), written
