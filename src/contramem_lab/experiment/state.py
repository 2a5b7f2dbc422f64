"""The progress of an experiment, read from its folder alone."""

from __future__ import annotations

from dataclasses import dataclass

from contramem.traces.read import read_traces
from contramem_lab.experiment.folder import MARK, ResultFolder
from contramem_lab.experiment.manifest import NAME


@dataclass(frozen=True)
class CellState:
    """The existing runs of one target under one condition."""

    condition: str
    target: str
    runs: int
    passed: int


@dataclass(frozen=True)
class State:
    name: str
    finished: str
    """`finished <time>`, or `unfinished`."""
    reference_tasks: int
    held_out_tasks: int
    runs: tuple[CellState, ...]
    report: str | None


def state_of(folder: ResultFolder) -> State:
    """The current state. Nothing is changed."""
    manifest = folder.read_json(NAME) or {}
    sessions = manifest.get("sessions") or [{}]
    split = folder.read_json("split.json") or {"folds": []}
    last = sessions[-1].get("finished")
    report = folder.path / "report.html"
    return State(
        name=folder.read_json(MARK)["name"],
        finished=f"finished {last}" if last else "unfinished",
        reference_tasks=len({key for fold in split["folds"] for key in fold["reference"]}),
        held_out_tasks=len({key for fold in split["folds"] for key in fold["held_out"]}),
        runs=tuple(_cells(folder)),
        report=str(report) if last and report.exists() else None,
    )


def _cells(folder: ResultFolder) -> list[CellState]:
    places = sorted(path for path in folder.runs.glob("*/*") if path.is_dir())
    cells = []
    for place in places:
        runs = list(read_traces([place]))
        passed = sum(run.outcome.passed is True for run in runs)
        cells.append(CellState(place.parent.name, place.name, len(runs), passed))
    return cells
