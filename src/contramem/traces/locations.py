"""Fields of a run that are outside its record: in the file's path, or in another file.

`path:1` is the first folder below the one that was named, `path:-1` the file's name without its ending, `path:-2` the
folder it lies in. `file:../report.json#resolved` is a value in a file, relative to the run's own; `#` leads into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from contramem.errors import TraceError, UsageError
from contramem.traces.files import TraceFile
from contramem.traces.trajectory import Trajectory
from contramem.traces.verdict_files import verdict_in_document, verdict_of

_PATH = re.compile(r"path:(-?\d+)")
_TEXTS = {"task_id": "task_id", "source": "source", "trial": "run", "environment": "environment", "task": "task",
          "ability": "ability", "scenario_id": "scenario_id"}  # fmt: skip


def is_location(place: str) -> bool:
    return place.startswith(("path:", "file:"))


def check_location(field: str, place: str) -> None:
    """Refuse a `--map` without meaning before anything is read."""
    if place.startswith("path:") and (_PATH.fullmatch(place) is None or place == "path:0"):
        raise UsageError(f"--map {field}={place}: write path:1 for the first folder, path:-1 for the file's own name.")
    if field not in (*_TEXTS, "outcome", "feedback"):
        raise UsageError(f"--map {field}={place}: only {', '.join((*_TEXTS, 'outcome', 'feedback'))} can be elsewhere.")


def path_parts(file: TraceFile) -> list[str]:
    """The path below the named folder, with the file's name without suffixes."""
    parts = list(file.path.relative_to(file.root).parts if file.root is not None else file.path.parts)
    name = file.name.removesuffix(".json").removesuffix(".jsonl").removesuffix(".traj")
    return [*parts[:-1], name.removesuffix(file.ending) or name]


def apply_locations(trajectory: Trajectory, file: TraceFile, places: Mapping[str, str]) -> Trajectory:
    """The run with each located field. If a field does not exist, what the trace says stays."""
    changes: dict[str, Any] = {}
    for field, place in places.items():
        value = _value(file, place)
        if value is None:
            continue
        if field == "outcome":
            passed, reward = verdict_of(value)
            changes["outcome"] = msgspec.structs.replace(trajectory.outcome, passed=passed, reward=reward)
        elif field == "feedback":
            outcome = changes.get("outcome", trajectory.outcome)
            changes["outcome"] = msgspec.structs.replace(outcome, feedback=str(value))
        else:
            changes[_TEXTS[field]] = str(value)
            if field == "task_id":  # the user says which runs belong together, whatever each of them was asked
                changes["authored"] = False
    return msgspec.structs.replace(trajectory, **changes) if changes else trajectory


def _value(file: TraceFile, place: str) -> Any:
    if match := _PATH.fullmatch(place):
        parts, index = path_parts(file), int(match[1])
        index = index - 1 if index > 0 else index
        return parts[index] if -len(parts) <= index < len(parts) else None
    name, _, pointer = place.removeprefix("file:").partition("#")
    beside = file.beside(name)
    if beside is None:
        return None
    try:
        return _inside(beside, pointer)
    except TraceError:
        return None


def _inside(found: TraceFile, pointer: str) -> Any:
    if found.ending not in (".json", ".jsonl"):
        return found.content.decode("utf-8", "replace").strip()
    value = found.document
    if not pointer:
        return verdict_in_document(value, ())
    for step in pointer.strip("/").replace("/", ".").split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdecimal() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
