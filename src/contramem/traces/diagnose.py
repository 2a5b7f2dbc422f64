"""Diagnoses a folder of files: what it contains, why it cannot be learned from, and which command to run next.

The runs are read once; what `--map` could say better is then tried on a small table of them, not by reading again.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.read import TraceReading
from contramem.traces.summary import Hint, TraceSummary, hints, summarize_runs
from contramem.traces.trajectory import Trajectory
from contramem.traces.unknown import OWN_LOGS, UnknownFile, describe_unknown
from contramem.traces.verdict_files import verdict_of

MAX_SOURCES = 50
_VERDICT_WORDS = ("report", "result", "eval", "score", "verdict", "grade", "outcome", "summary", "reward")
_VERDICT_KEYS = ("resolved", "is_resolved", "passed", "reward", "success", "is_correct", "correct", "score", "solved")


class RunRow(NamedTuple):
    """What the search for better fields needs to know of a run."""

    file: str
    parts: tuple[str, ...]
    """Of the path below the folder that was named, the file's name without its endings."""
    task: str
    source: str
    passed: bool | None


@dataclass(frozen=True)
class Diagnosis:
    formats: Counter[str]
    """Files by the reader that accepted them."""
    verdict_files: dict[str, int]
    """Verdicts by the name of the files beside runs that gave them."""
    summary: TraceSummary
    findings: tuple[Hint, ...]
    options: tuple[str, ...]
    """The options to add to every command that reads these files."""
    contrasts: int
    """Tasks with passing and failing runs, once the options are given."""
    command: str
    others: tuple[tuple[str, int], ...]
    """How many files are not traces, by suffix."""
    looks: str = ""
    """What the files look like, where no reader knows them and the options were guessed."""


def diagnose(paths: Iterable[Path], reading: TraceReading, given: tuple[str, ...] = (), looks: str = "") -> Diagnosis:
    """Read everything under `paths` once; once more where no reader knows a file whose shape tells how to read it.

    `given` are the options that the user gave already, or that were guessed from what the files look like.
    """
    paths = tuple(paths)
    rows: list[RunRow] = []
    summary = summarize_runs(reading, lambda run: rows.append(_row(run, paths)))
    findings = hints(summary)
    if not rows and not looks and (unknown := _first_unknown(paths, reading)) is not None:
        if guessed := _diagnose_guess(paths, reading, given, unknown):
            return guessed
        if not summary.problem_count and not summary.skipped:
            what = f"no run was read; the first file looks like {unknown.looks}"
            findings.append(Hint(what, _advise_to_map(unknown.options) if unknown.options else f"{OWN_LOGS}."))
    elif not rows and looks:
        findings.append(Hint("no run was read with the options that were guessed", _advise_to_map(given)))
    options = tuple(_better_fields(rows)) if rows else ()
    contrasts = _contrasts(_remap(rows, options))
    suffixes = Counter(PurePosixPath(file).suffix or "without a suffix" for file in reading.ignored_files)
    return Diagnosis(
        formats=reading.formats,
        verdict_files=dict(reading.verdicts.files),
        summary=summary,
        findings=tuple(findings),
        options=options,
        contrasts=contrasts,
        command=_command(paths, (*given, *options), contrasts) if rows else "",
        others=tuple(suffixes.most_common(6)),
        looks=looks,
    )


def _diagnose_guess(
    paths: tuple[Path, ...], reading: TraceReading, given: tuple[str, ...], unknown: UnknownFile
) -> Diagnosis | None:
    """The diagnosis with the options that an unknown file suggests. None where it suggests none, or where they read
    nothing in a folder: then they may be wrong for most of its files."""
    if not unknown.options or "--format" in given:
        return None
    format_, fields = unknown.options[1], dict(option.split("=", 1) for option in unknown.options[3::2])
    guessed = diagnose(paths, reading.read_again(format_, fields), (*given, *unknown.options), unknown.looks)
    is_one_file = len(paths) == 1 and paths[0].is_file()
    return guessed if guessed.summary.total.runs or is_one_file else None


def _advise_to_map(options: tuple[str, ...]) -> str:
    fields = "--map task_id=FIELD, --map source=FIELD, --map outcome=FIELD"
    return f"Try these options, and add what is missing ({fields}): {shlex.join(options)}"


def _row(run: Trajectory, paths: tuple[Path, ...]) -> RunRow:
    file = run.origin.file
    root = next((str(path) for path in paths if path.is_dir() and file.startswith(f"{path}/")), "")
    parts = PurePosixPath(file[len(root) :].strip("/").replace("!", "/")).parts
    stem = parts[-1].partition(".")[0] if parts else ""
    return RunRow(file, (*parts[:-1], stem), run.task_key, run.source, run.outcome.passed)


def _first_unknown(paths: tuple[Path, ...], reading: TraceReading) -> UnknownFile | None:
    """The first file that no reader took and whose shape says something, else the first of all."""
    files = [Path(file) for file in reading.ignored_files if "!" not in file] or [
        path for path in paths if path.is_file()
    ]
    described = [describe_unknown(TraceFile(file)) for file in files[:50]]
    return next((unknown for unknown in described if unknown.options), described[0] if described else None)


def _better_fields(rows: list[RunRow]) -> Iterator[str]:
    """`--map` options for what the traces leave open, each only where it makes a difference."""
    fields = {}
    if {row.source for row in rows} == {"unknown"} and (place := _source_place(rows)):
        fields["source"] = place
    if not any(len(group) > 1 for group in _by_task(rows).values()) and (place := _task_place(rows)):
        fields["task_id"] = place
    if all(row.passed is None for row in rows) and (place := _outcome_place(rows)):
        fields["outcome"] = place
    for field, place in fields.items():
        yield from ("--map", f"{field}={place}")


def _by_task(rows: list[RunRow]) -> dict[str, list[RunRow]]:
    tasks: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        tasks[row.task].append(row)
    return tasks


def _source_place(rows: list[RunRow]) -> str:
    """The folder whose names look like sources: few of them, and several for one task."""
    depth = min(len(row.parts) for row in rows)
    for place in range(2, depth + 1):
        names = {row.parts[-place] for row in rows}
        if not 2 <= len(names) <= MAX_SOURCES:
            continue
        shared = [group for group in _by_task(rows).values() if len({row.parts[-place] for row in group}) > 1]
        if shared or len(names) < len(rows):
            return f"path:-{place}"
    return ""


def _task_place(rows: list[RunRow]) -> str:
    """The part of the path that repeats as a task would: many names, each in several folders."""
    depth = min(len(row.parts) for row in rows)
    for place in range(1, depth + 1):
        counts = Counter(row.parts[-place] for row in rows)
        if len(counts) > 1 and sum(1 for count in counts.values() if count > 1) > len(counts) / 2 and place <= 2:
            return f"path:-{place}"
    return ""


def _outcome_place(rows: list[RunRow]) -> str:
    """A file near the runs that holds a verdict under a usual name."""
    row = rows[0]
    file = TraceFile(Path(row.file)) if "!" not in row.file else None
    folder = file.path.parent if file is not None else None
    for above in ("", "../") if folder is not None else ():
        for path in sorted((folder / above).glob("*.json"))[:50] if folder is not None else ():
            if path != Path(row.file) and any(word in path.name.lower() for word in _VERDICT_WORDS):
                key = _verdict_key(_document(path), "")
                if key:
                    return f"file:{above}{path.name}#{key}"
    return ""


def _document(path: Path) -> Any:
    try:
        return TraceFile(path).document
    except TraceError:
        return None


def _verdict_key(value: Any, path: str, depth: int = 0) -> str:
    if not isinstance(value, dict) or depth > 3:
        return ""
    for key, child in value.items():
        here = f"{path}.{key}" if path else str(key)
        if key in _VERDICT_KEYS and verdict_of(child)[0] is not None:
            return here
        if deeper := _verdict_key(child, here, depth + 1):
            return deeper
    return ""


def _remap(rows: list[RunRow], options: tuple[str, ...]) -> list[RunRow]:
    places = dict(option.split("=", 1) for option in options if "=path:" in option)
    task = places.get("task_id", "").removeprefix("path:")
    return [row._replace(task=row.parts[int(task)]) for row in rows] if task else rows


def _contrasts(rows: list[RunRow]) -> int:
    tasks = _by_task(rows).values()
    return sum(1 for group in tasks if {True, False} <= {row.passed for row in group})


def _command(paths: tuple[Path, ...], options: tuple[str, ...], contrasts: int) -> str:
    only = [] if contrasts else ["--only", "functions"]
    return shlex.join(["contramem", "build", *map(str, paths), *options, *only, "--bank", "bank.db"])
