"""What the instruments print: tables for people, plain values for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contramem.chance import OutcomeTable
from contramem.study.ask import ExplainReport, KindReport, TrialReport
from contramem.study.explain import Difference
from contramem.study.tables import QueryAnswer
from contramem.study.values_seen import SeenValues

SHOWN_RUNS = 5
SHOWN_TASKS = 40
MAX_CELL = 80


def show_answer(answer: QueryAnswer, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*("" if value is None else str(value)[:MAX_CELL] for value in row))
    console.print(table)
    if answer.is_cut:
        console.print(f"[dim]Only the first {len(answer.rows):,} rows are shown. Ask for a sum, or use LIMIT.[/]")


def show_kinds(rows: Sequence[KindReport], console: Console) -> None:
    width = max((len(row.kind) for row in rows[:SHOWN_TASKS]), default=4)
    console.print(Text(f"{'kind':{width}}  tasks    runs  passed  best and worst source", "dim"))
    for row in rows[:SHOWN_TASKS]:
        rates = sorted(((passed / runs, source) for source, (passed, runs) in row.by_source.items()), reverse=True)
        spread = f"{rates[0][1]} {rates[0][0]:.0%}, {rates[-1][1]} {rates[-1][0]:.0%}" if rates else ""
        share = f"{row.passed / row.runs:.0%}" if row.runs else "?"
        line = f"{row.kind:{width}}  {len(row.tasks):5,}  {row.runs:6,}  {share:>6}  {spread}"
        console.print(Text(line), overflow="ellipsis", no_wrap=True)
        console.print(Text(f"  {row.example[: 2 * MAX_CELL]}", "dim"), overflow="ellipsis", no_wrap=True)
    if len(rows) > SHOWN_TASKS:
        console.print(f"[dim]... and {len(rows) - SHOWN_TASKS} smaller kinds; --json has all.[/]")


def show_trial(report: TrialReport, console: Console) -> None:
    trial = report.trial
    console.print(Text(str(trial.guard), "bold"))
    console.print(Text(trial.guard.sentence))
    where = "all tasks" if report.on_all else "the open half of the tasks"
    console.print(
        f"On {where}: [bold]{trial.judgement}[/]. It speaks about {_runs(sum(trial.counts))} of {trial.tasks} tasks."
    )
    console.print(_counts_table({"all": trial.counts}, ""))
    if trial.judgement != "never tried":
        console.print(f"Chance explains such a difference with probability {trial.chance:.2g} (dealt within tasks).")
        console.print(_counts_table(trial.by_kind, "kind"))
        console.print(_counts_table(trial.by_source, "source"))
    for title, runs in (("passed and broke it", trial.contradicting), ("failed and kept it", trial.kept_in_vain)):
        for run in runs[:SHOWN_RUNS]:
            console.print(Text(f"{title}: {run.name}", "dim"))
        if len(runs) > SHOWN_RUNS:
            console.print(f"[dim]... and {len(runs) - SHOWN_RUNS} more; --json lists them.[/]")
    _show_values(report.values, console)
    if report.splits:
        console.print("A condition would sharpen it:")
        for split in report.splits:
            console.print(Text(f"  {split.guard}  {_line(split.inside)}, chance {split.chance:.2g}"))
    _show_confirmation(report, console)


def _show_confirmation(report: TrialReport, console: Console) -> None:
    found = report.confirmation
    if found is not None:
        again = " (decided before; the same runs give no second chance)" if found.is_repeated else ""
        word = "proven" if found.is_proven else "not proven"
        console.print(f"On the half kept back: [bold]{word}[/]{again}. {_line(found.entry.counts)}.")
        console.print(f"Chance explains that with probability {found.entry.chance:.2g}.", end=" ")
        console.print(f"At look {found.looks} at most {found.level:.2g} was allowed.")
    console.print(f"[dim]{report.tried} guards tried on these runs, {report.looks} of them on the half kept back.[/]")


def show_explanation(reports: Sequence[ExplainReport], console: Console) -> None:
    for report in reports:
        found = report.explanation
        console.print(Text.assemble((report.name, "bold"), f"  {report.tasks} tasks, {_runs(found.runs)}"), end="")
        console.print(
            f", {found.failing} failed, {found.unexplained} of them unexplained; {found.tried:,} guards tried"
        )
        for number, difference in enumerate(found.differences, 1):
            console.print(Text(f"  {number}. {difference.guard}"))
            console.print(
                Text(f"     {_line(difference.counts)}, {difference.tasks} tasks, {_rest(difference)}", "dim")
            )
            _show_values(report.values.get(difference.guard, {}), console)
        for difference in found.overlapping:
            console.print(Text(f"  also {difference.guard}"))
            console.print(Text(f"     {_line(difference.counts)}; these failures are explained above", "dim"))
        if not found.differences:
            console.print("[dim]  nothing that holds up[/]")


def _show_values(values: SeenValues, console: Console) -> None:
    for place, sides in values.items():
        for side, seen in sides.items():
            line = Text(f"     {place} in runs that {side}: {seen}", "dim")
            console.print(line, overflow="ellipsis", no_wrap=True)


def _rest(difference: Difference) -> str:
    same = f"; {len(difference.same)} others fit the same runs" if difference.same else ""
    doubt = "; doubtful: other conditions fit as well by luck" if difference.is_doubtful else ""
    return f"chance {difference.chance:.2g}, explains {difference.explains} failures{same}{doubt}"


def _runs(number: int) -> str:
    return f"{number:,} run{'' if number == 1 else 's'}"


def _line(counts: OutcomeTable) -> str:
    kept, broke = counts.kept_passed + counts.kept_failed, counts.broke_passed + counts.broke_failed
    return f"kept: {counts.kept_passed} of {kept} passed; broke: {counts.broke_passed} of {broke} passed"


def _counts_table(counts: Any, title: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (title, "kept: passed", "failed", "broke: passed", "failed"):
        table.add_column(name, justify="left" if name == title else "right")
    for name, row in counts.items():
        table.add_row(Text(name), *map(str, row))
    return table
