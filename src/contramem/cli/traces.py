"""`contramem traces`, `doctor` and `convert`: what files hold, what is missing, and runs in contramem's own format."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contramem.cli.kit import SectionedCommand, print_json
from contramem.cli.reading import (
    SHOWN_PROBLEMS,
    collect_options,
    complain,
    nothing_read_error,
    optional_paths,
    plural,
    reading,
    reading_as_json,
    reading_options,
    refuse_problems,
    show_reading,
)
from contramem.errors import UsageError
from contramem.traces.doctor import Diagnosis, diagnose, judge_reading, outcome_candidates, read_once, said_at
from contramem.traces.map import write_map
from contramem.traces.read import TraceReading
from contramem.traces.reader import ReadOptions
from contramem.traces.report import OutcomeCounts
from contramem.traces.trajectory import Trajectory
from contramem.traces.write import write_traces


@click.command(cls=SectionedCommand)
@optional_paths
@click.option(
    "--discover", is_flag=True, help="List your Claude Code, Codex and Gemini CLI sessions without opening them."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def traces(paths: tuple[Path, ...], options: ReadOptions, discover: bool, as_json: bool) -> None:
    """Read PATH... (files, folders, archives) and say what is in them."""
    if discover:
        _discover(as_json)
        return
    if not paths:
        raise UsageError("name the files to read, or list your own sessions with --discover.")
    with reading(paths, options) as runs:
        read_once(runs)
    is_empty = not runs.tally.total.runs
    if as_json:
        print_json(_as_json(runs))
    else:
        complain(runs.problems, runs.problem_count, nothing_read=is_empty)
    if is_empty:
        raise nothing_read_error(runs.problems, runs.ignored)
    if not as_json:
        _show(runs)
    if options.strict:
        refuse_problems(runs.problem_count)


def _discover(as_json: bool) -> None:
    folders = _discover_sessions(Path.home())
    if as_json:
        print_json([{**folder._asdict(), "folder": str(folder.folder)} for folder in folders])
        return
    if not folders:
        raise UsageError("there are no sessions of Claude Code, Codex or Gemini CLI in your home folder.")
    for folder in folders:
        click.echo(
            f"{folder.agent:<12} {plural(folder.sessions, 'session'):>12} {folder.bytes / 1e6:8.1f} MB  {folder.folder}"
        )
    click.echo(f"Read one with: contramem traces {shlex.quote(str(folders[0].folder))} --rule tests")


class SessionFolder(NamedTuple):
    """Sessions in one folder: a project of Claude Code or Gemini CLI, or a month of Codex."""

    agent: str
    folder: Path
    sessions: int
    bytes: int
    newest: float
    """Seconds since 1970."""


def _discover_sessions(home: Path, environment: Mapping[str, str] = os.environ) -> list[SessionFolder]:
    """The projects of Claude Code and Gemini CLI and the months of Codex, the newest first."""
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
    folders = [
        *_session_folders("claude-code", claude, "*", "*.jsonl"),
        *_session_folders("codex", codex, "*/*", "**/rollout-*.jsonl*"),
        *_session_folders("gemini-cli", home / ".gemini" / "tmp", "*", "chats/session-*.json*"),
    ]
    return sorted(folders, key=lambda folder: (-folder.newest, str(folder.folder)))


def _session_folders(agent: str, root: Path, folders: str, files: str) -> Iterator[SessionFolder]:
    for folder in sorted(root.glob(folders)) if root.is_dir() else ():
        sizes = [path.stat() for path in folder.glob(files) if path.is_file() and not path.name.startswith("agent-")]
        if sizes:
            newest = max(size.st_mtime for size in sizes)
            yield SessionFolder(agent, folder, len(sizes), sum(size.st_size for size in sizes), newest)


def _as_json(runs: TraceReading) -> dict[str, Any]:
    tally = runs.tally
    return {
        "runs": tally.total.runs,
        "tasks": len(tally.by_task),
        "sources": len(tally.by_source),
        "passed": tally.total.passed,
        "failed": tally.total.failed,
        "unknown": tally.total.unknown,
        "interrupted": tally.interrupted,
        "contrastive_tasks": tally.contrastive_tasks,
        "functions": len(tally.functions),
        "calls": tally.calls,
        "skipped": dict(sorted(runs.skipped.items())),
        "ignored": runs.ignored,
        "problems": [problem._asdict() for problem in runs.problems],
        "calls_without_result": tally.calls_without_result,
        "results_without_call": tally.results_without_call,
        "reading": reading_as_json(judge_reading(runs)),
        "by_source": {name: _tally(counts) for name, counts in sorted(tally.by_source.items())},
        "by_ability": {name: _tally(counts) for name, counts in sorted(tally.by_ability.items())},
    }


def _tally(tally: OutcomeCounts) -> dict[str, int]:
    return {"runs": tally.runs, "passed": tally.passed, "failed": tally.failed, "unknown": tally.unknown}


def _show(runs: TraceReading) -> None:
    console, tally = Console(), runs.tally
    total, some = tally.total, tally.contrastive_tasks
    console.print(
        f"{plural(total.runs, 'run')} of {plural(len(tally.by_task), 'task')} by "
        f"{plural(len(tally.by_source), 'source')}: [green]{total.passed:,} passed[/], "
        f"[red]{total.failed:,} failed[/], {total.unknown:,} unknown."
    )
    console.print(
        f"{plural(some, 'task')} {'is' if some == 1 else 'are'} contrastive: some runs passed, others failed. "
        f"{plural(tally.calls, 'call')} of {plural(len(tally.functions), 'function')}."
    )
    for title, tallies in (("source", tally.by_source), ("ability", tally.by_ability)):
        console.print(_table(title, tallies))
    for reason, count in sorted(runs.skipped.items()):
        console.print(f"{plural(count, 'run')} left out: {reason}.")
    if tally.interrupted:
        console.print(f"Interrupted: {plural(tally.interrupted, 'run')}. They count as failed, but teach nothing.")
    if runs.ignored:
        console.print(f"Ignored, being no traces: {plural(runs.ignored, 'file')}.")
    if runs.problem_count:
        named = "named above" if runs.problem_count <= SHOWN_PROBLEMS else f"the first {SHOWN_PROBLEMS} named above"
        console.print(f"[yellow]{plural(runs.problem_count, 'problem')}[/], {named}.")
    show_reading(judge_reading(runs), console)


def _table(title: str, tallies: dict[str, OutcomeCounts]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in (title, "runs", "passed", "failed", "unknown", "pass rate"):
        left = heading in (title, "pass rate")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading != title, overflow="fold")
    for name, tally in sorted(tallies.items(), key=lambda item: (-_rate(item[1]), item[0])):
        judged = tally.passed + tally.failed
        rate = f"{_bar(_rate(tally))} {_rate(tally):4.0%}" if judged else "[dim]unknown[/]"
        table.add_row(name, *(f"{n:,}" for n in (tally.runs, tally.passed, tally.failed, tally.unknown)), rate)
    return table


def _rate(tally: OutcomeCounts) -> float:
    judged = tally.passed + tally.failed
    return tally.passed / judged if judged else 0.0


def _bar(share: float, width: int = 12) -> str:
    full = round(share * width)
    return f"[green]{'━' * full}[/][red]{'─' * (width - full)}[/]"  # readable without colour too


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write (.jsonl, or .jsonl.gz ...).")
def convert(paths: tuple[Path, ...], options: ReadOptions, out: Path) -> None:
    """Write the runs under PATH... in contramem's own format. Reading it back gives the same runs."""
    written = 0

    def counting(runs: TraceReading) -> Iterator[Trajectory]:
        nonlocal written
        for run in runs:
            written += 1
            yield run
        if not written:
            raise nothing_read_error(runs.problems, runs.ignored)

    with reading(paths, options) as runs:
        write_traces(counting(runs), out)
    complain(runs.problems, runs.problem_count, strict=options.strict)
    click.echo(f"{plural(written, 'run')} written to {out}.")


@click.command(cls=SectionedCommand)
@reading_options
@click.option(
    "--write-map", "map_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML file to write a map into."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(
    context: click.Context, paths: tuple[Path, ...], options: ReadOptions, map_file: Path | None, as_json: bool
) -> None:
    """Say what the files under PATH... are, what is missing for a contrast, and which command to run next."""
    with reading(paths, options) as runs:
        diagnosis = diagnose(paths, runs, collect_options(context))
    if as_json:
        print_json(_diagnosis_json(diagnosis))
    else:
        _show_diagnosis(diagnosis, Console())
    if map_file is not None:
        found = diagnosis.reading
        candidates = {place: said_at(found, place) for place in outcome_candidates(found)}
        write_map(map_file, shlex.split(diagnosis.command), candidates)
        click.echo(f"A map to go on from is in {map_file}; read it with --map {map_file}.", err=True)
    if not diagnosis.reading.tally.total.runs and not diagnosis.command:
        raise UsageError("no run was read. docs/formats.md lists the formats, and how to write a reader.")


def _diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    runs, tally = diagnosis.reading, diagnosis.reading.tally
    return {
        "formats": dict(runs.formats),
        "other_files": dict(diagnosis.others),
        "runs": tally.total.runs,
        "tasks": len(tally.by_task),
        "sources": sorted(tally.by_source),
        "passed": tally.total.passed,
        "failed": tally.total.failed,
        "unknown": tally.total.unknown,
        "verdict_files": runs.verdicts.files,
        "contrasts": diagnosis.contrasts,
        "reading": reading_as_json(diagnosis.verdict),
        "missing": list(diagnosis.missing),
        "problems": runs.problem_count,
        "options": list(diagnosis.options),
        "command": diagnosis.command,
    }


def _show_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    runs, tally = diagnosis.reading, diagnosis.reading.tally
    read = ", ".join(f"{plural(count, 'file')} of {name}" for name, count in runs.formats.most_common())
    others = ", ".join(f"{count:,} {ending}" for ending, count in diagnosis.others)
    console.print(
        f"[bold]Files[/]     {read or 'none that a reader knows'}" + (f"; not traces: {others}" if others else "")
    )
    if diagnosis.looks:
        check = " Check the options below." if diagnosis.command else ""
        console.print(f"[bold]Guessed[/]   from {escape(diagnosis.looks)}.{check}")
    if tally.total.runs:
        beside = ", ".join(f"{count:,} from {name}" for name, count in sorted(runs.verdicts.files.items()))
        counted = f"{plural(tally.total.runs, 'run')} of {plural(len(tally.by_task), 'task')}"
        counted += f" by {plural(len(tally.by_source), 'source')}; {plural(tally.calls, 'call')}"
        console.print(f"[bold]Runs[/]      {counted}{f'; outcomes beside the runs: {beside}' if beside else ''}")
        show_reading(diagnosis.verdict, console)
        console.print(f"[bold]Contrasts[/] {plural(diagnosis.contrasts, 'task')} with passing and failing runs")
    for reason, count in sorted(runs.skipped.items()):
        console.print(f"[bold]Left out[/]  {plural(count, 'run')}: {escape(reason)}")
    if runs.problem_count:
        first = escape(str(runs.problems[0]))
        console.print(f"[bold]Problems[/]  {runs.problem_count:,}; the first: [yellow]{first}[/]")
    for what in diagnosis.missing:
        console.print(f"[bold]Missing[/]   [yellow]{escape(what)}[/]")
    if diagnosis.command:
        console.print("[bold]Continue with[/]")
        console.print(diagnosis.command, markup=False, highlight=False, soft_wrap=True, style="green")
