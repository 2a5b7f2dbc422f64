"""Scenarios as tasks. A GAIA2 folder holds `CONFIG/SPLIT/*.json`; any folder of scenario files is read too."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError
from contramem.retrieve.hit import Query
from contramem.traces.readers.are import ABILITIES
from contramem.traces.trajectory import Tool
from contramem.whole_file import replacing
from contramem_lab.bench.environment import Task

BUILT_IN = (
    "scenario_tutorial",
    "scenario_events_tutorial",
    "scenario_validation_tutorial",
    "scenario_apps_tutorial",
    "scenario_find_image_file",
)
COLUMNS = ("task_id", "environment", "ability", "scenario_id", "wording")


@dataclass(frozen=True)
class AreTask(Task):
    """A scenario. Its request is known before it runs, except for built-in scenarios and Python classes."""

    place: str = field(default="", kw_only=True)
    """As the worker takes it: a JSON file, `file.py:Class`, or the name of a built-in scenario."""

    def query(self, tools: Iterable[Tool]) -> Query:
        names = frozenset(tool.function for tool in tools)
        return Query(self.wording, self.ability, frozenset(self.apps) or None, names or None)


def read_scenarios(places: Iterable[str], problems: list[str]) -> dict[str, AreTask]:
    """The scenarios at these places, by id. A file that is not a scenario goes to `problems`; the others are read."""
    tasks: dict[str, AreTask] = {}
    for place in places:
        for task in _tasks_at(place, problems):
            if task.id in tasks:
                raise UsageError(f"{task.place}: the scenario {task.id} is also in {tasks[task.id].place}.")
            tasks[task.id] = task
    if not tasks:
        first = f" First problem: {problems[0]}" if problems else ""
        raise UsageError(f"{', '.join(places)}: there is no scenario.{first} GAIA2 folders hold CONFIG/SPLIT/*.json.")
    return tasks


def _tasks_at(place: str, problems: list[str]) -> Iterator[AreTask]:
    path = Path(place)
    if place in BUILT_IN:
        yield AreTask(place, ("",), (), place=place)
    elif ".py:" in place:
        yield AreTask(place.rpartition(":")[2], ("",), (), place=place)
    elif path.exists():
        files = [path] if path.is_file() else sorted(path.rglob("*.json"))
        for file in files:
            try:
                yield scenario_task(file)
            except (ValueError, KeyError, TypeError, OSError) as error:
                problems.append(f"{file}: is not an ARE scenario ({_reason(error)}).")
    else:
        raise UsageError(f"{place}: is neither a file, a folder, file.py:Class nor one of {', '.join(BUILT_IN)}.")


def _reason(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def scenario_task(file: Path) -> AreTask:
    """The task of one scenario file. Nothing that only the oracle knows is looked at."""
    document: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    definition = document["metadata"]["definition"]
    return AreTask(
        id=str(definition["scenario_id"]),
        turns=(_first_request(document["events"]),),
        apps=tuple(dict.fromkeys(str(app["class_name"]) for app in document["apps"])),
        ability=_ability(definition.get("tags") or (), file),
        place=str(file),
    )


def _ability(tags: Iterable[str], file: Path) -> str | None:
    """By its tag; else by the folder of GAIA2's layout that it lies in."""
    tagged = next((tag.lower() for tag in tags if tag.lower() in ABILITIES), None)
    folder = file.parent.parent.name.lower()
    return tagged or (folder if folder in ABILITIES else None)


def _first_request(events: Iterable[dict[str, Any]]) -> str:
    for event in events:
        action = event.get("action") or {}
        if action.get("function") == "send_message_to_agent" and event.get("event_type") in ("USER", "ENV"):
            return str(next(arg["value"] for arg in action["args"] if arg["name"] == "content"))
    raise ValueError("nobody asks the agent for anything in it")


def write_task_list(tasks: Iterable[AreTask], path: Path) -> None:
    """All tasks as CSV, for a split that is fixed before any run exists."""
    rows = [[task.id, "are", task.ability or "general", task.family or task.id, task.wording] for task in tasks]
    with replacing(path) as binary:
        lines = csv.writer(_Encoded(binary))
        lines.writerow(COLUMNS)
        lines.writerows(rows)


class _Encoded:
    """Writes text to a binary file."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode())
