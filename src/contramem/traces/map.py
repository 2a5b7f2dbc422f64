"""`--map`: fields of a run that are under other names in its record, in the file's path, or in another file.

`outcome=scores.final` leads into the record, `messages=steps.calls` through the items of a list, `source==gpt-x` says
the value itself. `source=path:1` is the first folder below the one that was named,
`path:-1` the file's name without its ending, `path:-2` the folder it lies in. `outcome=file:../report.json#resolved` is
a value in a file, relative to the run's own; `#` leads into it.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from contramem.errors import TraceError, UsageError
from contramem.traces.files import TraceFile
from contramem.traces.outcomes import VERDICTS, VerdictField, verdict_fields, verdict_in_document, verdict_of
from contramem.traces.trajectory import Trajectory

FIELDS = "task_id source trial outcome task messages ability scenario_id environment tools feedback".split()
"""What `--map` takes on its left side, beside `records`: where a document keeps the list of its records."""

STEP_FIELDS = "run tool arguments result".split()
"""What it takes as well with `--format steps`: where a row names its run, and a step the parts of its call."""

_DEFAULTS = {"source": ("model", "source"), "outcome": ("passed", "reward")}
_SOURCES = ("model", "model_name", "source", "agent_name", "agent")
"""What the model or agent is called, in a record or in an object there, where no documented field names it."""
MAX_SAID = 1_000
"""Different values of verdicts that are counted. A score may have any."""
ABSENT: Any = object()


def value_at(record: Any, path: str) -> Any:
    """The value at `path`, which may lead into objects and lists; ABSENT if there is none. `=text` is text itself."""
    if path.startswith("="):
        return path[1:]
    if isinstance(record, dict) and path in record:
        return record[path]
    value = record
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.lstrip("-").isdecimal() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def rows_at(record: Any, path: str) -> Any:
    """The list at `path`. Where the path leads through a list, what each of its items has there, one after the other;
    where it leads to columns, their rows."""
    value = _through_lists(record, path.split(".")) if path else record
    if isinstance(value, dict):
        columns = {name: column for name, column in value.items() if isinstance(column, list)}
        length = max(map(len, columns.values()), default=0)
        if columns:
            return [
                {name: column[row] for name, column in columns.items() if row < len(column)} for row in range(length)
            ]
    return value


def _through_lists(value: Any, steps: list[str]) -> Any:
    for place, step in enumerate(steps):
        if isinstance(value, list) and not step.lstrip("-").isdecimal():
            inner = [_through_lists(item, steps[place:]) for item in value]
            return [row for rows in inner if rows is not ABSENT for row in (rows if isinstance(rows, list) else [rows])]
        value = value_at(value, step)
    return value


def at(record: Any, *paths: str) -> Any:
    """The first value under one of `paths` that says something; None if there is none."""
    for path in paths:
        if (value := value_at(record, path)) is not ABSENT and value not in (None, "", [], {}):
            return value
    return None


@dataclass(frozen=True)
class FieldsFound:
    """Which fields of records were taken for ours, and what else could be the verdict."""

    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records by (our field, where it was)."""
    guessed: Counter[str] = field(default_factory=Counter)
    """Records by the field that was taken for the verdict because of its name alone."""
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records by (where the outcome was or could be, what it says)."""
    verdicts: Counter[tuple[str, str, bool | None, bool]] = field(default_factory=Counter)
    """Records by (where the outcome was, where another could be, what the one says, what the other says)."""

    def add(self, other: FieldsFound) -> None:
        """Count in what was found elsewhere."""
        self.places.update(other.places)
        self.guessed.update(other.guessed)
        self.said.update(other.said)
        self.verdicts.update(other.verdicts)


class FieldMap:
    """Finds our fields in a record; remembers where they were, and which mapped ones were never there."""

    def __init__(
        self,
        paths: Mapping[str, str],
        found: FieldsFound | None = None,
        judged: tuple[str, ...] = (),
        words: Mapping[str, bool | None] | None = None,
    ) -> None:
        if unknown := sorted(set(paths) - set(FIELDS)):
            raise UsageError(
                f"--map: unknown field {', '.join(unknown)}. The fields are {', '.join((*FIELDS, 'records'))}; "
                f"with --format steps also {', '.join(STEP_FIELDS)}."
            )
        self.paths = paths
        self._judged = judged
        self._words = words or {}
        self._unseen = set(paths)
        self._keys: dict[str, None] = {}
        self.found = found or FieldsFound()

    def find_source(self, record: Mapping[str, Any]) -> Any:
        """A name of the model or agent under a usual name."""
        holders = [("", record), *((f"{key}.", value) for key, value in record.items() if isinstance(value, dict))]
        for name in _SOURCES:
            for around, fields in holders:
                if isinstance(value := fields.get(name), str) and value:
                    self.found.places["source", around + name] += 1
                    return value
        return None

    def find_outcome(self, record: Mapping[str, Any]) -> tuple[bool | None, float | None]:
        """(passed, reward), where the user or the format says; else by the documented fields, else by the first whose
        name says that the run passed. What other fields say is remembered."""
        fields = {field.place: field for field in verdict_fields(record)}
        place, passed, reward = self._outcome(record, fields)
        if place:
            self.found.places["outcome", place] += 1
        for said in {place, *fields} - {""}:
            if len(self.found.said) < MAX_SAID or (said, str(value_at(record, said))) in self.found.said:
                self.found.said[said, str(value_at(record, said))[:20]] += 1
        for other in fields.values():
            if other.place != place:
                self.found.verdicts[place, other.place, passed, other.passed] += 1
        return passed, reward

    def _outcome(
        self, record: Mapping[str, Any], fields: Mapping[str, VerdictField]
    ) -> tuple[str, bool | None, float | None]:
        if "outcome" in self.paths:
            value = self.get(record, "outcome")
            return (self.paths["outcome"], *verdict_of(self._words.get(str(value), value)))
        for place in self._judged:
            if (value := value_at(record, place)) is not ABSENT:
                return (place, *verdict_of(value))
        passed, reward = verdict_of(record.get("passed"))
        by_reward, reward = verdict_of(record.get("reward")) if reward is None else (passed, reward)
        if passed is not None or by_reward is not None:
            return ("passed", passed, reward) if passed is not None else ("reward", by_reward, reward)
        plain = [field for field in fields.values() if field.is_plain]
        chosen = min(plain, key=lambda field: (field.place not in VERDICTS, "." in field.place), default=None)
        if chosen is None:
            return "", None, reward
        self.found.guessed[chosen.place] += 1
        return chosen.place, chosen.passed, reward

    def get(self, record: Mapping[str, Any], field: str) -> Any:
        """The value of `field`, or None. Without a map it is under our name for it, or under a usual one."""
        path = self.paths.get(field)
        if path is None:
            return next((record[key] for key in _DEFAULTS.get(field, (field,)) if record.get(key) is not None), None)
        value = value_at(record, path)
        if value is not ABSENT:
            self._unseen.discard(field)
            return value
        if len(self._keys) < 40:
            for key, held in record.items():
                self._keys.update(
                    dict.fromkeys([key, *(f"{key}.{inner}" for inner in held)] if isinstance(held, dict) else [key])
                )
        return None

    def missing(self) -> Iterator[tuple[str, str]]:
        """(what is wrong, what there is instead) for each mapped field that no record has."""
        for name in sorted(self._unseen if self._keys else ()):
            what = f"no record has {self.paths[name]!r}, which --map names for {name}"
            yield what, f"Records have: {', '.join(list(self._keys)[:40])}."


class MapFile(NamedTuple):
    """A mapping that was written into a file, `--map FILE.toml`."""

    format: str | None
    fields: dict[str, str]
    outcomes: dict[str, bool | None]
    sources: dict[str, str]


def read_map(path: Path) -> MapFile:
    """format = "steps"                  # as --format
    [fields]                          # as --map
    messages = "steps.calls"
    outcome = "eval.grade"
    [outcomes]                        # what the values of the outcome mean
    "A" = true
    "not judged" = "unknown"
    [sources]                         # what sources are called
    "run-7" = "model-7b"
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read as a map in TOML ({getattr(error, 'strerror', None) or error})."
        ) from None
    if unknown := sorted(table.keys() - {"format", "fields", "outcomes", "sources"}):
        raise UsageError(f"{path}: has {', '.join(unknown)}; a map has format, [fields], [outcomes] and [sources].")
    for name in ("fields", "sources"):
        if not all(isinstance(value, str) for value in table.get(name, {}).values()):
            raise UsageError(f"{path}: every value in [{name}] is a text.")
    meanings = {True: True, False: False, "unknown": None}
    if odd := [word for word, means in table.get("outcomes", {}).items() if means not in meanings]:
        raise UsageError(f'{path}: {odd[0]!r} in [outcomes] means true, false or "unknown".')
    outcomes = {word: meanings[means] for word, means in table.get("outcomes", {}).items()}
    return MapFile(table.get("format"), table.get("fields", {}), outcomes, table.get("sources", {}))


def write_map(path: Path, options: Sequence[str], candidates: Mapping[str, str]) -> None:
    """A map to go on from, with these options of a command line in it and with what may be the outcome."""
    pairs = dict(pair.split("=", 1) for name, pair in pairwise(options) if name == "--map" and "=" in pair)
    formats = [value for name, value in pairwise(options) if name == "--format"]
    lines = ["# How contramem reads these files: contramem traces PATH --map THIS_FILE"]
    lines += [f"format = {_toml(formats[-1])}" if formats else '# format = "steps"', "", "[fields]"]
    lines += [f"{name} = {_toml(place)}" for name, place in pairs.items()]
    lines += [f"# outcome = {_toml(place)}  # {said}" for place, said in candidates.items()]
    lines += [f'# {name} = "FIELD"' for name in ("task_id", "source", "outcome") if name not in pairs]
    lines += ["", "[outcomes]  # what the values of the outcome mean", '# "A" = true', '# "not judged" = "unknown"']
    lines += ["", "[sources]  # what sources are called", '# "run-7" = "model-7b"', ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def _toml(text: str) -> str:
    return msgspec.json.encode(text).decode()


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
    for name, place in places.items():
        value = _value(file, place)
        if value is None:
            continue
        if name == "outcome":
            passed, reward = verdict_of(value)
            changes["outcome"] = msgspec.structs.replace(trajectory.outcome, passed=passed, reward=reward)
        elif name == "feedback":
            outcome = changes.get("outcome", trajectory.outcome)
            changes["outcome"] = msgspec.structs.replace(outcome, feedback=str(value))
        else:
            changes[_TEXTS[name]] = str(value)
            if name == "task_id":  # the user says which runs belong together, whatever each of them was asked
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
    if beside.ending not in (".json", ".jsonl"):
        return beside.content.decode("utf-8", "replace").strip()
    try:
        document = beside.document
    except TraceError:
        return None
    value = value_at(document, pointer.strip("/").replace("/", ".")) if pointer else verdict_in_document(document, ())
    return None if value is ABSENT else value
