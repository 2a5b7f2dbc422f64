"""Verdicts that lie beside runs: agents write a trajectory, and graders write what it was worth somewhere near it.

Looked for in this order, never above the folder that was named: files in the run's folder and the one above it, a tree
of `logs/` that mirrors the runs, and a summary of the whole run. Only a run that knows no verdict gets one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.trajectory import Trajectory
from contramem.traces.verdict_files import (
    Verdict,
    exit_code_verdict,
    junit_verdict,
    reward_verdict,
    verdict_in_document,
    word_verdict,
)

MAX_LEVELS = 4
_REPORTS = ("report.json", "results.json", "result.json", "evaluation.json", "eval.json")
_PLAIN: dict[str, Callable[[TraceFile], Verdict | None]] = {
    "reward.txt": reward_verdict,
    "verifier/reward.txt": reward_verdict,
    "exit_code": exit_code_verdict,
    "exit_code.txt": exit_code_verdict,
    "returncode": exit_code_verdict,
    "status.txt": word_verdict,
    "result.txt": word_verdict,
    "outcome.txt": word_verdict,
    "verdict.txt": word_verdict,
    "junit.xml": junit_verdict,
    "test-results.xml": junit_verdict,
    "results.xml": junit_verdict,
}
_MIRRORS = ("logs", "eval_outputs", "evaluation", "reports")


class VerdictsBeside:
    """Finds the verdict of a run that knows none. Remembers which files are there, and what reports say."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self._documents: dict[str, object] = {}
        self.found = 0
        """How many runs got their verdict from a file beside them."""
        self.files: dict[str, int] = {}
        """How many verdicts came from files of each name."""

    def apply(self, trajectory: Trajectory, file: TraceFile) -> Trajectory:
        if trajectory.outcome.passed is not None or ("content" in file.__dict__ and not file.path.exists()):
            return trajectory
        file.looked_beside = True
        trial = self._trial(file)
        if trial and trajectory.task_id != trial.get("task_name"):
            trajectory = _of_trial(trajectory, trial)
        names = (trajectory.task_id, file.name.partition(".")[0], file.path.parent.name, trajectory.run)
        for relative, read in self._places(file, trajectory.task_id):
            verdict = self._read(file, relative, read, names)
            if verdict is not None and verdict.passed is not None:
                self.count(Path(relative).name)
                return _with_verdict(trajectory, verdict)
        return trajectory

    def count(self, name: str, verdicts: int = 1) -> None:
        """Take note of verdicts that came from files of this name."""
        self.found += verdicts
        self.files[name] = self.files.get(name, 0) + verdicts

    def _trial(self, file: TraceFile) -> dict[str, object]:
        """The Harbor trial that a session was recorded in: its `result.json` names task and agent."""
        for level in range(1, 8):
            relative = "../" * level + "result.json"
            if not self._exists(file, relative):
                continue
            document = self._document(file, relative)
            if isinstance(document, dict) and {"trial_name", "task_name", "agent_info"} <= document.keys():
                return document
        return {}

    def _places(
        self, file: TraceFile, task_id: str
    ) -> Iterator[tuple[str, Callable[[TraceFile], Verdict | None] | None]]:
        for above in ("", "../"):
            for name in _REPORTS:
                yield above + name, None
            for name, read in _PLAIN.items():
                yield above + name, read
        yield "../results/results.json", None  # the experiments of SWE-bench: trajs/, logs/ and results/ side by side
        for level in range(1, MAX_LEVELS + 1):
            for mirror in _MIRRORS:
                for inner in dict.fromkeys((task_id, file.path.parent.name)):
                    yield "../" * level + f"{mirror}/{inner}/report.json", None
        for level in range(2, MAX_LEVELS + 1):
            for name in _REPORTS:
                yield "../" * level + name, None
        trial = self._levels_to_trial(file)
        if trial:
            yield trial, None

    def _levels_to_trial(self, file: TraceFile) -> str:
        return next(("../" * level + "result.json" for level in range(MAX_LEVELS + 1, 8)
                     if self._exists(file, "../" * level + "result.json")), "")  # fmt: skip

    def _exists(self, file: TraceFile, relative: str) -> bool:
        """Whether the file is there, with one look into each folder: most runs lie beside thousands of others."""
        if "\0" in relative or len(relative) > 1000:
            return False
        path = Path(file.path.parent, relative)
        folder = str(path.parent)
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(entry.name for entry in path.parent.iterdir())
            except (OSError, ValueError):
                self._names[folder] = frozenset()
        return path.name in self._names[folder]

    def _read(
        self, file: TraceFile, relative: str, read: Callable[[TraceFile], Verdict | None] | None, names: tuple[str, ...]
    ) -> Verdict | None:
        if not self._exists(file, relative):
            return None
        if read is None:
            return verdict_in_document(self._document(file, relative), names)
        beside = file.beside(relative)
        try:
            return None if beside is None else read(beside)
        except TraceError:
            return None

    def _document(self, file: TraceFile, relative: str) -> object:
        beside = file.beside(relative)
        if beside is None or beside.path == file.path:
            return None
        key = str(beside.path)
        if key not in self._documents:
            if len(self._documents) > 256:
                self._documents.clear()
            try:
                self._documents[key] = beside.document
            except TraceError:
                self._documents[key] = None
        return self._documents[key]


def _of_trial(trajectory: Trajectory, trial: dict[str, object]) -> Trajectory:
    info = trial.get("agent_info")
    agent = info.get("name") if isinstance(info, dict) else None
    source = f"{agent}/{trajectory.source}" if isinstance(agent, str) and agent else trajectory.source
    return msgspec.structs.replace(
        trajectory,
        environment=f"harbor/{trial['source']}" if trial.get("source") else "harbor",
        task_id=str(trial["task_name"]),
        run=str(trial["trial_name"]),
        source=source,
        authored=False,
    )


def _with_verdict(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    outcome = msgspec.structs.replace(
        trajectory.outcome,
        passed=verdict.passed,
        reward=verdict.reward if trajectory.outcome.reward is None else trajectory.outcome.reward,
        feedback=trajectory.outcome.feedback or verdict.feedback,
    )
    return msgspec.structs.replace(trajectory, outcome=outcome)
