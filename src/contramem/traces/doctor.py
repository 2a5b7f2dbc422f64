"""The verdict on a reading, and the diagnosis of a folder: what it contains, what is wrong, which command to run next.

A reading that is wrong is worse than none, because cards are built on it. So each thing that a wrong reading looks like
is a doubt: a function here and a row of `DOUBTS`. A build refuses a grave one unless the user trusts the reading.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

from contramem.errors import TraceError, UsageError
from contramem.traces.files import TraceFile
from contramem.traces.outcomes import read_outcomes, verdict_of
from contramem.traces.read import TraceReading, readers
from contramem.traces.readers.steps import TABLE_ENDINGS
from contramem.traces.report import MAX_FOLDERS, ReadingReport
from contramem.traces.run_content import content_digest
from contramem.traces.shell import is_program
from contramem.traces.trajectory import Trajectory
from contramem.traces.unknown import ATTEMPT, OWN_LOGS, UnknownFile, describe_unknown

Severity: TypeAlias = Literal["grave", "note"]
ENOUGH = 5
"""Runs from which on it is no chance that all of them look alike."""
MOST = 0.9
MAX_NAMED = 4


class Doubt(NamedTuple):
    """Something that a wrong reading looks like."""

    kind: str
    severity: Severity
    what: str
    """With counts."""
    hint: str
    """What to check or to do."""
    place: str = ""
    """A file and a place in it, for example."""
    affected: int = 0
    total: int = 0


@dataclass(frozen=True)
class ReadingVerdict:
    """What a run, a call, an outcome and a source are, as they were read, and what is suspicious about it."""

    run: str
    call: str
    outcome: str
    source: str
    doubts: tuple[Doubt, ...]

    @property
    def grave(self) -> tuple[Doubt, ...]:
        """The doubts with which nothing should be learned."""
        return tuple(doubt for doubt in self.doubts if doubt.severity == "grave")


def judge_reading(report: ReadingReport) -> ReadingVerdict:
    """The verdict on what was read."""
    found = (doubt for kind, look in DOUBTS.items() for doubt in look(report))
    doubts = sorted(found, key=lambda doubt: doubt.severity != "grave")
    return ReadingVerdict(
        _tell_runs(report), _tell_calls(report), _tell_outcomes(report), _tell_sources(report), tuple(doubts)
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _tell_runs(report: ReadingReport) -> str:
    several = len(report.tally.files)
    formats = ", ".join(f"{_count(count, 'file')} of {name}" for name, count in report.formats.most_common())
    kind = f"one record; {_count(several, 'file')} with several" if several else "one file"
    return f"{kind} ({_count(report.tally.total.runs, 'run')} in {formats})" if formats else "none"


def _tell_calls(report: ReadingReport) -> str:
    functions, calls = report.tally.functions, report.tally.calls
    if not calls:
        return "none"
    kinds = dict.fromkeys(getattr(readers().get(name), "call", "a tool call") for name in report.formats)
    most = ", ".join(f"{name} {count:,}" for name, count in functions.most_common(3))
    results = _count(calls - report.tally.calls_without_result, "result")
    counts = f"{_count(calls, 'call')}, {results}; {_count(len(functions), 'function')}, most often {most}"
    return f"{' or '.join(kinds)} ({counts})"


def _tell_outcomes(report: ReadingReport) -> str:
    total, places = report.tally.total, dict.fromkeys(report.tally.outcome_from, "")
    fields = ", ".join(f"{place!r}" for (field, place), _ in report.fields.places.most_common() if field == "outcome")
    told = [f"{'the field ' + fields if place == 'the run' and fields else place}: {count:,}"
            for place, count in report.tally.outcome_from.most_common()]  # fmt: skip
    known = f" from {'; '.join(told)}" if places else ""
    return f"{total.passed:,} passed, {total.failed:,} failed, {total.unknown:,} unknown{known}"


def _tell_sources(report: ReadingReport) -> str:
    tally = report.tally
    names = ", ".join(sorted(tally.by_source)[:MAX_NAMED]) + (", ..." if len(tally.by_source) > MAX_NAMED else "")
    told = f"; {tally.sources_by_folder:,} runs are named after their folder" if tally.sources_by_folder else ""
    return f"{len(tally.by_source):,}: {names}{told}" if tally.by_source else "none"


# The doubts

_Look: TypeAlias = Callable[[ReadingReport], Iterator[Doubt]]


def _no_calls(report: ReadingReport) -> Iterator[Doubt]:
    runs = report.tally.total.runs
    if runs and not report.tally.calls:
        hint = (
            "If the agents did use tools, their calls are written in a way that this reader does not know: try another"
        )
        hint += " --format, or steps with --map."
        yield Doubt(
            "no-calls", "grave", "no run calls a tool, so nothing can be learned", hint, affected=runs, total=runs
        )


def _no_results(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    missing, calls = tally.calls_without_result, tally.calls
    if calls and missing > calls / 2:
        what = f"{missing:,} of {calls:,} calls have no result"
        hint = "Results may be under another call id, or were not recorded; is it the right --format?"
        severity: Severity = "grave" if missing >= MOST * calls and tally.total.runs >= ENOUGH else "note"
        yield Doubt("no-results", severity, what, hint, tally.examples.get("no result", ""), missing, calls)


def _one_call_a_run(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    runs, alone = tally.total.runs, tally.runs_of_one_call
    if runs >= ENOUGH and alone >= MOST * runs:
        what = f"{alone:,} of {runs:,} runs are a single call"
        hint = "Is each step a record of its own, or is the call what started the agent? Its own log may lie beside it."
        is_started = len(tally.functions) == 1 and is_program(next(iter(tally.functions)))
        severity: Severity = "grave" if is_started or tally.calls_without_result > tally.calls / 2 else "note"
        yield Doubt("one-call", severity, what, hint, tally.examples.get("one call", ""), alone, runs)


def _same_function(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    if tally.total.runs >= ENOUGH and len(tally.functions) == 1:
        ((name, calls),) = tally.functions.items()
        what = f"all {calls:,} calls are of one function, {name}"
        hint = "Does what it really does stand in its arguments? Name the tool with --format steps --map tool=FIELD."
        yield Doubt("same-function", "note", what, hint, affected=calls, total=calls)


def _continued_runs(report: ReadingReport) -> Iterator[Doubt]:
    continued, several = report.tally.continued.total(), report.tally.files.total()
    if continued >= max(ENOUGH, several / 5):
        place = next(iter(report.tally.continued))
        what = f"{continued:,} of {several:,} runs begin with all of the run before them in their file"
        hint = "Each step was saved with what came before it, so one run is read many times. Try --format model-calls."
        yield Doubt("continued", "grave", what, hint, place, continued, several)


def _contradicted(report: ReadingReport) -> Iterator[Doubt]:
    """Of all fields that say something else than the one that was taken, the one that does so most often."""
    guessed, disagreed, both = report.fields.guessed, Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (place, other, mine, theirs), count in report.fields.verdicts.items():
        if place and mine is not None and theirs is not None:
            both[place, other] += count
            disagreed[place, other] += count * (mine != theirs)
    for (place, other), count in disagreed.most_common(1):
        if not count or count < report.fields.places["outcome", place] * (0.01 if place in guessed else 0.05):
            return
        what = (
            f"the outcome was taken from {place!r}, and {other!r} says otherwise in {count:,} of {both[place, other]:,}"
        )
        hint = f"Name the verdict: {_choices(report, [place, other])}."
        severity: Severity = "grave" if place in guessed else "note"
        yield Doubt("contradicted", severity, what, hint, affected=count, total=both[place, other])


def _unchosen_outcome(report: ReadingReport) -> Iterator[Doubt]:
    if not report.tally.total.runs or report.tally.outcome_from:
        return
    if candidates := outcome_candidates(report):
        hint = f"Name it: {_choices(report, candidates)}."
        yield Doubt("unchosen-outcome", "note", "no outcome was taken, but a field may be it", hint)


def outcome_candidates(report: ReadingReport) -> list[str]:
    """The fields that may be the verdict, in the order in which records have them."""
    counts = Counter[str]()
    for (place, _), count in report.fields.said.items():
        counts[place] += count
    return [place for place, _ in counts.most_common(MAX_NAMED)]


def _choices(report: ReadingReport, places: Iterable[str]) -> str:
    """`--map outcome=eval.eval (success 387, failure 260) or --map outcome=success (True 495, False 152)`."""
    return " or ".join(f"--map outcome={place} ({said_at(report, place)})" for place in places)


def said_at(report: ReadingReport, place: str) -> str:
    """What a field says and how often."""
    said = Counter({value: count for (where, value), count in report.fields.said.items() if where == place})
    return ", ".join(f"{value} {count:,}" for value, count in said.most_common(MAX_NAMED))


def _no_outcome(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    if tally.total.runs and tally.total.unknown == tally.total.runs:
        hint = "Say where the verdict is: --map outcome=FIELD, --map outcome=file:report.json#resolved, --outcomes CSV."
        if any(function.startswith("shell.") for function in tally.functions):
            hint += " Or judge sessions by what they ran last: --rule tests, exit or commit."
        yield Doubt("no-outcome", "note", "no outcome is known, so no Skill Card can be learned", hint)


def _one_sided(report: ReadingReport) -> Iterator[Doubt]:
    total = report.tally.total
    judged = total.passed + total.failed
    if judged >= 2 * ENOUGH and not (total.passed and total.failed):
        what = f"all {judged:,} runs with an outcome {'passed' if total.passed else 'failed'}"
        hint = (
            "Does the field say how the run ended rather than whether it succeeded? Name another: --map outcome=FIELD."
        )
        yield Doubt("one-sided", "note", what, hint, affected=judged, total=judged)


def _no_contrast(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    if tally.by_task and tally.total.unknown < tally.total.runs and not tally.contrastive_tasks:
        several = any(counts.runs > 1 for counts in tally.by_task.values())
        what = "no task has both passing and failing runs" if several else "every task has one run only"
        hint = "A contrast needs several runs of a task: of other models, or more tries of this one."
        yield Doubt("no-contrast", "note", what, hint)


def _no_source(report: ReadingReport) -> Iterator[Doubt]:
    tally = report.tally
    if len(tally.by_source) == 1 and len(tally.folders) > 1 and not tally.sources_by_folder:
        names = ", ".join(sorted(tally.folders)[:MAX_NAMED])
        (source,) = tally.by_source
        what = f"all runs are of one source, {source}, but their folders tell {len(tally.folders)}: {names}"
        yield Doubt("one-source", "note", what, "If folders are models or agents, say so: --map source=path:-2.")
    elif set(tally.by_source) == {"unknown"}:
        yield Doubt(
            "no-source", "note", "no run says which model or agent it is of", "--map source=FIELD, or source=path:-2."
        )


def _source_for_each_run(report: ReadingReport) -> Iterator[Doubt]:
    runs, sources = report.tally.total.runs, len(report.tally.by_source)
    if runs >= 2 * ENOUGH and sources > max(MAX_FOLDERS / 5, runs * MOST):
        what = f"there are {sources:,} sources for {runs:,} runs, such as {next(iter(report.tally.by_source))}"
        hint = "A source is a model or an agent; this looks like the name of a run. Name another: --map source=FIELD."
        yield Doubt("many-sources", "grave", what, hint, affected=sources, total=runs)


def _one_request(report: ReadingReport) -> Iterator[Doubt]:
    """One task has far more runs than the others: what opens every conversation was taken for the request."""
    counts = sorted((counts.runs for counts in report.tally.by_task.values()), reverse=True)
    if len(counts) >= ENOUGH and counts[0] >= max(20, 10 * counts[len(counts) // 2], sum(counts) / 10):
        task = max(report.tally.by_task, key=lambda task: report.tally.by_task[task].runs)
        what = f"{counts[0]:,} of {sum(counts):,} runs are of one task, {task}"
        hint = "Does every conversation open with the same words? Name the task: --map task_id=FIELD or path:-2."
        yield Doubt("one-task", "note", what, hint, affected=counts[0], total=sum(counts))


def _results_without_call(report: ReadingReport) -> Iterator[Doubt]:
    alone, calls = report.tally.results_without_call, report.tally.calls
    if alone > max(10, calls):
        hint = "Calls may be written in a way that this reader does not know; try another --format."
        yield Doubt(
            "no-call", "note", f"{alone:,} results belong to no call", hint, affected=alone, total=alone + calls
        )


def _tasks_as_environments(report: ReadingReport) -> Iterator[Doubt]:
    count, runs = report.tally.tasks_as_environments, report.tally.total.runs
    if count and count > runs / 2:
        hint = "Every task then has functions of its own; name one app for all with --app NAME."
        what = f"in {count:,} runs the environment is the task's own id"
        yield Doubt("environment", "note", what, hint, affected=count, total=runs)


def _left_aside(report: ReadingReport) -> Iterator[Doubt]:
    aside, read = report.aside.total(), report.formats.total()
    if aside >= ENOUGH and read and aside >= (aside + read) / 20:
        options, _ = report.aside.most_common(1)[0]
        what = f"{aside:,} files hold messages or steps and are not read, beside {read:,} that are"
        severity: Severity = "grave" if aside >= read / 2 else "note"
        yield Doubt(
            "left-aside", severity, what, f"Read them apart: {shlex.join(options)}.", affected=aside, total=aside + read
        )


def _left_out(report: ReadingReport) -> Iterator[Doubt]:
    reasons = Counter({reason: count for reason, count in report.skipped.items() if reason != "duplicate"})
    if reasons.total() > max(ENOUGH, report.tally.total.runs / 2):
        reason, count = reasons.most_common(1)[0]
        what = f"{reasons.total():,} runs were left out, {count:,} of them because: {reason}"
        hint = "What these agents did is not in the files that were named. Is there a log of their own?"
        yield Doubt(
            "left-out", "note", what, hint, affected=reasons.total(), total=reasons.total() + report.tally.total.runs
        )


def _duplicates(report: ReadingReport) -> Iterator[Doubt]:
    count, runs = report.skipped["duplicate"], report.tally.total.runs
    if count >= max(2, runs / 10):
        what = f"{count:,} runs are there twice and count once"
        yield Doubt(
            "duplicates", "note", what, "Were folders copied, or exported again?", affected=count, total=count + runs
        )


def _unreadable(report: ReadingReport) -> Iterator[Doubt]:
    count, runs = report.problem_count, report.tally.total.runs
    if runs and count >= max(2, runs / 10):
        severity: Severity = "grave" if count >= runs else "note"
        what = f"{count:,} files, runs or lines could not be read, beside {runs:,} runs that were"
        place = report.problems[0].where if report.problems else ""
        yield Doubt(
            "unreadable",
            severity,
            what,
            "Are the files complete? Is it the right --format?",
            place,
            count,
            count + runs,
        )


DOUBTS: dict[str, _Look] = {
    "no-calls": _no_calls,
    "no-results": _no_results,
    "one-call": _one_call_a_run,
    "same-function": _same_function,
    "continued": _continued_runs,
    "contradicted": _contradicted,
    "unchosen-outcome": _unchosen_outcome,
    "no-outcome": _no_outcome,
    "one-sided": _one_sided,
    "no-contrast": _no_contrast,
    "one-source": _no_source,
    "many-sources": _source_for_each_run,
    "one-task": _one_request,
    "no-call": _results_without_call,
    "environment": _tasks_as_environments,
    "left-aside": _left_aside,
    "left-out": _left_out,
    "duplicates": _duplicates,
    "unreadable": _unreadable,
}


def read_once(reading: TraceReading, on_run: Callable[[Trajectory], None] = lambda run: None) -> None:
    """Read everything. The same run found in two places counts once, the other as a duplicate; `on_run` is shown both:
    another folder may be another source."""
    reading.is_counting = False
    seen: set[bytes] = set()
    for run in reading:
        on_run(run)
        digest = content_digest(run)
        if digest in seen:
            reading.skipped["duplicate"] += 1
        else:
            seen.add(digest)
            reading.tally.count(run)


# The diagnosis

MAX_SOURCES = 50
MAX_TABLES = 10
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
    reading: TraceReading
    verdict: ReadingVerdict
    missing: tuple[str, ...]
    """What the files look like and which options to try, where nothing was read."""
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
    read_once(reading, lambda run: rows.append(_row(run, paths)))
    missing: list[str] = []
    for improve in (_diagnose_with_verdicts, _diagnose_by_path):
        if better := improve(paths, reading, given, looks, rows):
            return better
    if not rows and not looks and (unknown := _first_unknown(paths, reading)) is not None:
        if guessed := _diagnose_guess(paths, reading, given, unknown):
            return guessed
        if not reading.problem_count and not reading.skipped:
            advice = unknown.hint or (_advise_to_map(unknown.options) if unknown.options else f"{OWN_LOGS}.")
            missing.append(f"no run was read; the first file looks like {unknown.looks}. {advice}")
    elif not rows and not looks and not reading.formats and not reading.ignored and not reading.problem_count:
        missing.append("the folder is empty. Name the files or the folder with your runs.")
    elif not rows and looks:
        missing.append(f"no run was read with the options that were guessed. {_advise_to_map(given)}")
    chosen = [] if any(option.startswith("outcome=") for option in given) else [*reading.fields.guessed][:1]
    options = (*_better_fields(rows), *(word for place in chosen for word in ("--map", f"outcome={place}")))
    contrasts = _contrasts(_remap(rows, options))
    suffixes = Counter(PurePosixPath(file).suffix or "without a suffix" for file in reading.ignored_files)
    return Diagnosis(
        reading=reading,
        verdict=judge_reading(reading),
        missing=tuple(missing),
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
    again = reading.read_again(format_, fields)
    again.fields.guessed.update([place for name, place in fields.items() if name == "outcome"])
    guessed = diagnose(paths, again, (*given, *unknown.options), unknown.looks)
    is_one_file = len(paths) == 1 and paths[0].is_file()
    return guessed if guessed.reading.tally.total.runs or is_one_file else None


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
        if found.reading.tally.total.passed or found.reading.tally.total.failed:
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
    return found if found.reading.tally.total.runs else None


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
    files.sort(key=lambda file: file.suffix not in (".json", ".jsonl", ".ndjson"))
    described = [describe_unknown(TraceFile(file)) for file in files[:50]]
    return next((unknown for unknown in described if unknown.options), described[0] if described else None)


def _better_fields(rows: list[RunRow]) -> Iterator[str]:
    """`--map` options for what the traces leave open, each only where it makes a difference."""
    if not rows:
        return
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
        if len(names) > 1 and not all(map(ATTEMPT.fullmatch, names)):
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
    return shlex.join(["contramem", "build", *map(str, paths), *options, *only])
