"""`contramem doctor`: says what files are, what is missing, and which command to run next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from contramem.cli.output import print_json
from contramem.cli.reading import collect_options, plural, reading, reading_options
from contramem.cli.sections import SectionedCommand
from contramem.errors import UsageError
from contramem.traces.diagnose import Diagnosis, diagnose
from contramem.traces.reader import ReadOptions


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, paths: tuple[Path, ...], options: ReadOptions, as_json: bool) -> None:
    """Say what the files under PATH... are, what is missing for a contrast, and which command to run next."""
    with reading(paths, options) as runs:
        diagnosis = diagnose(paths, runs, collect_options(context))
    if as_json:
        print_json(_as_json(diagnosis))
    else:
        _show(diagnosis, Console())
    if not diagnosis.summary.total.runs and not diagnosis.command:
        raise UsageError("no run was read. docs/formats.md lists the formats, and how to write a reader.")


def _as_json(diagnosis: Diagnosis) -> dict[str, Any]:
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


def _show(diagnosis: Diagnosis, console: Console) -> None:
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
