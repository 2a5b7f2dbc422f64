"""`contramem traces`, `doctor` and `convert`: what files hold, what is missing, and runs in contramem's own format."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    reading_options,
    refuse_problems,
)
from contramem.errors import UsageError
from contramem.traces.diagnose import Diagnosis, diagnose
from contramem.traces.discover import discover_sessions
from contramem.traces.read import TraceReading
from contramem.traces.reader import ReadOptions
from contramem.traces.summary import OutcomeCounts, TraceSummary, hints, summarize
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
        summary = summarize(runs)
    if as_json:
        print_json(_as_json(summary))
    else:
        complain(summary.problems, summary.problem_count, nothing_read=not summary.total.runs)
    if not summary.total.runs:
        raise nothing_read_error(summary.problems, summary.ignored)
    if not as_json:
        _show(summary)
    if options.strict:
        refuse_problems(summary.problem_count)


def _discover(as_json: bool) -> None:
    folders = discover_sessions(Path.home())
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


def _as_json(summary: TraceSummary) -> dict[str, Any]:
    return {
        "runs": summary.total.runs,
        "tasks": len(summary.by_task),
        "sources": len(summary.by_source),
        "passed": summary.total.passed,
        "failed": summary.total.failed,
        "unknown": summary.total.unknown,
        "interrupted": summary.interrupted,
        "contrastive_tasks": summary.contrastive_tasks,
        "functions": len(summary.functions),
        "calls": summary.calls,
        "skipped": dict(sorted(summary.skipped.items())),
        "ignored": summary.ignored,
        "problems": [problem._asdict() for problem in summary.problems],
        "calls_without_result": summary.calls_without_result,
        "results_without_call": summary.results_without_call,
        "hints": [finding._asdict() for finding in hints(summary)],
        "by_source": {name: _tally(tally) for name, tally in sorted(summary.by_source.items())},
        "by_ability": {name: _tally(tally) for name, tally in sorted(summary.by_ability.items())},
    }


def _tally(tally: OutcomeCounts) -> dict[str, int]:
    return {"runs": tally.runs, "passed": tally.passed, "failed": tally.failed, "unknown": tally.unknown}


def _show(summary: TraceSummary) -> None:
    console = Console()
    total = summary.total
    console.print(
        f"{plural(total.runs, 'run')} of {plural(len(summary.by_task), 'task')} by "
        f"{plural(len(summary.by_source), 'source')}: [green]{total.passed:,} passed[/], "
        f"[red]{total.failed:,} failed[/], {total.unknown:,} unknown."
    )
    some = summary.contrastive_tasks
    console.print(
        f"{plural(some, 'task')} {'is' if some == 1 else 'are'} contrastive: some runs passed, others failed. "
        f"{plural(summary.calls, 'call')} of {plural(len(summary.functions), 'function')}."
    )
    for title, tallies in (("source", summary.by_source), ("ability", summary.by_ability)):
        console.print(_table(title, tallies))
    for reason, count in sorted(summary.skipped.items()):
        console.print(f"{plural(count, 'run')} left out: {reason}.")
    if summary.interrupted:
        console.print(f"Interrupted: {plural(summary.interrupted, 'run')}. They count as failed, but teach nothing.")
    if summary.ignored:
        console.print(f"Ignored, being no traces: {plural(summary.ignored, 'file')}.")
    if summary.problem_count:
        named = "named above" if summary.problem_count <= SHOWN_PROBLEMS else f"the first {SHOWN_PROBLEMS} named above"
        console.print(f"[yellow]{plural(summary.problem_count, 'problem')}[/], {named}.")
    for finding in hints(summary):
        console.print(f"[yellow]{escape(_sentence(finding.what))}[/] {escape(finding.hint)}")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, paths: tuple[Path, ...], options: ReadOptions, as_json: bool) -> None:
    """Say what the files under PATH... are, what is missing for a contrast, and which command to run next."""
    with reading(paths, options) as runs:
        diagnosis = diagnose(paths, runs, collect_options(context))
    if as_json:
        print_json(_diagnosis_json(diagnosis))
    else:
        _show_diagnosis(diagnosis, Console())
    if not diagnosis.summary.total.runs and not diagnosis.command:
        raise UsageError("no run was read. docs/formats.md lists the formats, and how to write a reader.")


def _diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    summary = diagnosis.summary
    return {
        "formats": dict(diagnosis.formats),
        "other_files": dict(diagnosis.others),
        "runs": summary.total.runs,
        "tasks": len(summary.by_task),
        "sources": sorted(summary.by_source),
        "passed": summary.total.passed,
        "failed": summary.total.failed,
        "unknown": summary.total.unknown,
        "verdict_files": diagnosis.verdict_files,
        "contrasts": diagnosis.contrasts,
        "findings": [finding._asdict() for finding in diagnosis.findings],
        "problems": summary.problem_count,
        "options": list(diagnosis.options),
        "command": diagnosis.command,
    }


def _show_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    summary = diagnosis.summary
    read = ", ".join(f"{plural(count, 'file')} of {name}" for name, count in diagnosis.formats.most_common())
    others = ", ".join(f"{count:,} {ending}" for ending, count in diagnosis.others)
    console.print(
        f"[bold]Files[/]     {read or 'none that a reader knows'}" + (f"; not traces: {others}" if others else "")
    )
    if diagnosis.looks:
        check = " Check the options below." if diagnosis.command else ""
        console.print(f"[bold]Guessed[/]   from {escape(diagnosis.looks)}.{check}")
    if summary.total.runs:
        _show_runs(diagnosis, console)
    for reason, count in sorted(summary.skipped.items()):
        console.print(f"[bold]Left out[/]  {plural(count, 'run')}: {escape(reason)}")
    if summary.problem_count:
        first = escape(str(summary.problems[0]))
        console.print(f"[bold]Problems[/]  {summary.problem_count:,}; the first: [yellow]{first}[/]")
    for finding in diagnosis.findings:
        console.print(f"[bold]Missing[/]   [yellow]{escape(finding.what)}.[/] {escape(finding.hint)}")
    if diagnosis.command:
        console.print("[bold]Continue with[/]")
        console.print(diagnosis.command, markup=False, highlight=False, soft_wrap=True, style="green")


def _show_runs(diagnosis: Diagnosis, console: Console) -> None:
    summary, total = diagnosis.summary, diagnosis.summary.total
    console.print(f"[bold]Runs[/]      {plural(total.runs, 'run')} of {plural(len(summary.by_task), 'task')} by "
                  f"{plural(len(summary.by_source), 'source')}; {plural(summary.calls, 'call')}")  # fmt: skip
    beside = ", ".join(f"{count:,} from {name}" for name, count in sorted(diagnosis.verdict_files.items()))
    console.print(f"[bold]Outcomes[/]  {total.passed:,} passed, {total.failed:,} failed, {total.unknown:,} unknown"
                  + (f" ({beside} beside the runs)" if beside else ""))  # fmt: skip
    console.print(f"[bold]Contrasts[/] {plural(diagnosis.contrasts, 'task')} with passing and failing runs")
