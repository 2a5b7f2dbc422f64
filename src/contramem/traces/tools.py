"""What runs say about the tools that their agents had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import msgspec

from contramem.traces.trajectory import Tool, Trajectory


class ToolDescriptions:
    """The descriptions of each function, counted by who brings them. One run cannot outvote the others."""

    def __init__(self, runs: Iterable[Trajectory] = ()) -> None:
        self._runs: dict[str, dict[bytes, int]] = defaultdict(partial(defaultdict, int))
        self._sources: dict[str, dict[bytes, set[str]]] = defaultdict(partial(defaultdict, set))
        for run in runs:
            self.add(run)

    def add(self, run: Trajectory) -> None:
        """Count what one run says."""
        for tool in run.tools:
            written = msgspec.json.encode(tool, order="deterministic")
            self._runs[tool.function][written] += 1
            self._sources[tool.function][written].add(run.source)

    def combine(self, other: ToolDescriptions) -> None:
        """Count what other runs say."""
        for function, written in other._runs.items():
            for text, runs in written.items():
                self._runs[function][text] += runs
                self._sources[function][text] |= other._sources[function][text]

    def by_function(self) -> dict[str, Tool]:
        """The description that most sources give, then most runs; of equals the shorter, whatever came first."""
        return {
            function: msgspec.json.decode(min(written, key=lambda text: self._rank(function, text)), type=Tool)
            for function, written in self._runs.items()
        }

    def find_disputed(self) -> tuple[str, ...]:
        """Functions that runs describe in more than one way."""
        return tuple(sorted(function for function, written in self._runs.items() if len(written) > 1))

    def _rank(self, function: str, written: bytes) -> tuple[int, int, int, bytes]:
        sources, runs = self._sources[function][written], self._runs[function][written]
        return -len(sources), -runs, len(written), written


def tools_by_function(runs: Iterable[Trajectory]) -> dict[str, Tool]:
    """What most sources say about each function."""
    return ToolDescriptions(runs).by_function()
