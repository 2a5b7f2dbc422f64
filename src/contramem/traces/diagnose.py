"""Diagnoses a folder of files: what it contains, why it cannot be learned from, and which command to run next.

The runs are read once; what `--map` could say better is then tried on a small table of them, not by reading again.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from contramem.errors import TraceError, UsageError
from contramem.traces.files import TraceFile
from contramem.traces.outcomes import read_outcomes
from contramem.traces.read import TraceReading
from contramem.traces.readers.steps import TABLE_ENDINGS
from contramem.traces.summary import Hint, TraceSummary, hints, summarize_runs
from contramem.traces.trajectory import Trajectory
from contramem.traces.unknown import OWN_LOGS, UnknownFile, describe_unknown
from contramem.traces.verdict_files import verdict_of

MAX_SOURCES = 50
MAX_TABLES = 10
_ATTEMPT = re.compile(r"(?i:run|trial|attempt|try|seed|sample|rep|iter|iteration|episode)?[-_. ]?\d+")
"""The name of a folder or file that counts attempts: `run1`, `trial-2`, `03`."""
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
    for improve in (_diagnose_with_verdicts, _diagnose_by_path):
        if better := improve(paths, reading, given, looks, rows):
            return better
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


def _diagnose_with_verdicts(
    paths: tuple[Path, ...], reading: TraceReading, given: tuple[str, ...], looks: str, rows: list[RunRow]
) -> Diagnosis | None:
    """The diagnosis with a table of verdicts that lies among the runs, where they know none themselves."""
    if not rows or reading.options.outcomes is not None or any(row.passed is not None for row in rows):
        return None
    files = dict.fromkeys((*reading.ignored_files, *_files_with_problems(reading)))
    tables = [Path(file) for file in files if file.endswith(TABLE_ENDINGS) and "!" not in file]
    for table in tables[:MAX_TABLES]:
        try:
            again = reading.read_again(outcomes=read_outcomes(table))
        except UsageError:
            continue
        found = diagnose(paths, again, (*given, "--outcomes", str(table)), looks)
        if found.summary.total.passed or found.summary.total.failed:
            return found
    return None


def _diagnose_by_path(
    paths: tuple[Path, ...], reading: TraceReading, given: tuple[str, ...], looks: str, rows: list[RunRow]
) -> Diagnosis | None:
    """The diagnosis with tasks named by a folder, where a reader knows the files and no run could be read."""
    if rows or not reading.formats or "task_id" in reading.options.fields:
        return None
    files = _files_with_problems(reading)
    place = _task_place([RunRow(file, _parts(file, paths), "", "", None) for file in files]) if files else ""
    if not place:
        return None
    again = reading.read_again(fields={"task_id": place})
    found = diagnose(paths, again, (*given, "--map", f"task_id={place}"), looks)
    return found if found.summary.total.runs else None


def _files_with_problems(reading: TraceReading) -> list[str]:
    return list(dict.fromkeys(re.sub(r":\d+\Z", "", problem.where) for problem in reading.problems))


def _advise_to_map(options: tuple[str, ...]) -> str:
    fields = "--map task_id=FIELD, --map source=FIELD, --map outcome=FIELD"
    return f"Try these options, and add what is missing ({fields}): {shlex.join(options)}"


def _row(run: Trajectory, paths: tuple[Path, ...]) -> RunRow:
    file = run.origin.file
    return RunRow(file, _parts(file, paths), run.task_key, run.source, run.outcome.passed)


def _parts(file: str, paths: tuple[Path, ...]) -> tuple[str, ...]:
    root = next((str(path) for path in paths if path.is_dir() and file.startswith(f"{path}/")), "")
    parts = PurePosixPath(file[len(root) :].strip("/").replace("!", "/")).parts
    return (*parts[:-1], parts[-1].partition(".")[0] if parts else "")


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
    tasks = list(_by_task(rows).values())
    for place in _places(rows):
        names = [{row.parts[-place] for row in group} for group in tasks]
        if place > 1 and len(set().union(*names)) <= MAX_SOURCES and any(len(group) > 1 for group in names):
            return f"path:-{place}"
    for place in _places(rows):
        names = [{row.parts[-place] for row in group} for group in tasks]
        is_task = len(tasks) > 1 and len(set().union(*names)) == len(tasks)
        if place > 1 and len(set().union(*names)) <= min(MAX_SOURCES, len(rows) - 1) and not is_task:
            return f"path:-{place}"
    return ""


def _task_place(rows: list[RunRow]) -> str:
    """The part of the path that repeats as a task would: many names, each in several folders."""
    for place in list(_places(rows))[:2]:
        counts = Counter(row.parts[-place] for row in rows)
        if sum(1 for count in counts.values() if count > 1) > len(counts) / 2:
            return f"path:-{place}"
    return ""


def _places(rows: list[RunRow]) -> Iterator[int]:
    """The places in a path, counted from its end, where the runs differ by more than the number of the attempt."""
    for place in range(1, min(len(row.parts) for row in rows) + 1):
        names = {row.parts[-place] for row in rows}
        if len(names) > 1 and not all(map(_ATTEMPT.fullmatch, names)):
            yield place


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
