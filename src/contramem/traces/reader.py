"""What a reader of one format is: the protocol, its options and its results.

Readers import this file and never read.py, which imports all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from contramem.errors import TraceError
from contramem.traces.characters import show_hidden
from contramem.traces.files import TraceFile
from contramem.traces.map import FieldsFound, is_location
from contramem.traces.normalize import Naming
from contramem.traces.outcomes import OutcomeRows
from contramem.traces.trajectory import Effect, Trajectory


class Problem(NamedTuple):
    """A run or file that could not be read: `file:position: what is wrong, what to do`."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return show_hidden(f"{self.where}: {self.what}. {self.hint}".rstrip(" "))


class SkippedRun(NamedTuple):
    """A run that was read and left out on purpose, with the reason it is counted under."""

    where: str
    reason: str


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about the traces, over what the traces say themselves."""

    format: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    """Where task_id, source, outcome and so on are: `{"outcome": "scores.final"}` inside a record, `path:-2` in the
    file's path, `file:../report.json#resolved` in another file (locations.py)."""
    outcomes: OutcomeRows | None = None
    outcome_words: Mapping[str, bool | None] = field(default_factory=dict)
    """What values of the mapped outcome mean, where they are no usual words."""
    source_names: Mapping[str, str] = field(default_factory=dict)
    """What sources are called that the traces call otherwise."""
    app: str | None = None
    ability: str | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict)
    rule: str | None = None
    """How sessions without a verdict are judged (session_rules.py)."""
    strict: bool = False
    """Is it an error when a file or a run cannot be read? Commands that read look at it."""
    found: FieldsFound = field(default_factory=FieldsFound, repr=False, compare=False)
    """Filled by readers: which fields they took for ours."""
    _namings: dict[Any, Naming] = field(default_factory=dict, repr=False, compare=False)

    @property
    def record_fields(self) -> Mapping[str, str]:
        """The fields that are inside records; readers look for these. The others are found for every format alike."""
        return {name: place for name, place in self.fields.items() if not is_location(place)}

    @property
    def located_fields(self) -> Mapping[str, str]:
        """The fields that are in the file's path or in another file."""
        return {name: place for name, place in self.fields.items() if is_location(place)}

    def naming(self, fallback: str = "general", aliases: Mapping[str, str] | None = None) -> Naming:
        """How functions are named where no app is given. Shared between files, so that names are settled once."""
        key = (fallback, tuple(sorted(aliases.items())) if aliases else ())
        if key not in self._namings:
            self._namings[key] = Naming(fallback, self.app, aliases, self.effects)
        return self._namings[key]


Reading: TypeAlias = Iterator["Trajectory | Problem | SkippedRun"]


@dataclass(frozen=True)
class Reader:
    """One trace format: a row of the table in readers/__init__.py, or any object with these three attributes that
    another package registers. Stateless: a file that needs another (an outcome, a header) looks beside itself."""

    name: str
    """What `--format` takes."""
    claims: Callable[[TraceFile], bool]
    """Is this file of the format? Sharp and cheap: it looks at names and at `file.head`."""
    read: Callable[[TraceFile, ReadOptions], Reading]
    """Every run in the file. A run that cannot be read comes as a Problem and does not stop the others."""
    call: str = "a tool call"
    """What a call is in this format."""
    is_general: bool = False
    """Reads what no other reader claims: messages or steps that could be anybody's."""


Record = TypeVar("Record")

# What code that expects a shape raises when untrusted data has another.
WRONG_SHAPE = (
    KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, msgspec.MsgspecError,
)  # fmt: skip


def each_run(
    file: TraceFile,
    records: Iterable[tuple[object, Record | TraceError]],
    build: Callable[[Record, str], Trajectory | SkippedRun | None],
) -> Reading:
    """`build(record, position)` for each (position, record), where a record that does not fit becomes a Problem.

    None from `build` means that the record is no run (a header, a comment). A record may itself be the TraceError that
    decoding it raised.
    """
    for position, record in records:
        try:
            if isinstance(record, TraceError):
                raise record
            built = build(record, str(position))
        except TraceError as error:
            yield Problem(_where(file, position), error.what, error.hint)
        except WRONG_SHAPE as error:
            what = f"is not shaped as expected ({_in_words(error)})"
            yield Problem(_where(file, position), what, "Is this the right format? Choose one with --format.")
        else:
            if built is not None:
                yield built


Build: TypeAlias = Callable[[Any, TraceFile, ReadOptions], "Trajectory | SkippedRun | None"]


def one_run(build: Build) -> Callable[[TraceFile, ReadOptions], Reading]:
    """Reads files that are one JSON document and one run each."""
    return lambda file, options: each_run(file, [("", file.document)], lambda run, _: build(run, file, options))


CODING_SESSION = "coding-session"
"""The environment of every coding agent: given the same task id, a Claude Code and a Codex session are attempts at one
task."""


def one_session(build: Build) -> Callable[[TraceFile, ReadOptions], Reading]:
    """Reads logs with one session per file and one entry per line. A line that is not a JSON object, such as an
    incomplete last one, is a Problem, and the others still make the run."""

    def read(file: TraceFile, options: ReadOptions) -> Reading:
        entries: list[dict[str, Any]] = []
        for number, entry in file.lines():
            if isinstance(entry, dict):
                entries.append(entry)
            else:
                no_object = TraceError("is not a JSON object", "Is the line complete?")
                error = entry if isinstance(entry, TraceError) else no_object
                yield Problem(_where(file, number), error.what, error.hint)
        if not entries:
            raise TraceError("has no readable line", "Is this a session log?")
        yield from each_run(file, [("", entries)], lambda session, _: build(session, file, options))

    return read


def first_of(head: Any) -> Any:
    """The first record of a file whose head may be a list of them."""
    return head[0] if isinstance(head, list) and head else head


def _where(file: TraceFile, position: object) -> str:
    return f"{file.origin}:{position}" if str(position) else file.origin


def _in_words(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else str(error)[:200]
