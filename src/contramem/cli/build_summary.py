"""The summary at the end of `contramem build`: what was decided, what was refused, and what to do next."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from contramem.bank.bank import Bank
from contramem.build.recorder import BuildReport
from contramem.cli.reading import plural
from contramem.contrast.selection import Selection


def summary_as_json(report: BuildReport, bank: Bank, selection: Selection) -> dict[str, Any]:
    return {
        "packets": selection.tasks.total(),
        "contrastive": selection.contrastive,
        "left_out": selection.left_out(),
        "unchanged": report.unchanged,
        "deltas": report.deltas,
        "decisions": dict(sorted(report.decisions.items())),
        "function_decisions": dict(sorted(report.functions.items())),
        "refused": dict(sorted(report.refused.items())),
        "retired": dict(sorted(report.retired.items())),
        "functions": len(bank.functions),
        "skills": {ability: len(bank.skills_of(ability)) for ability in bank.abilities},
    }


def show_summary(
    report: BuildReport, bank: Bank, selection: Selection, where: str, *, is_waiting: bool = False
) -> None:
    """`is_waiting`: replies of a model are still to come."""
    console = Console()
    console.print(
        f"[bold]{selection.tasks.total():,}[/] tasks, {selection.contrastive:,} of them contrastive: some runs passed, "
        "others failed."
    )
    for ability, count in sorted(selection.left_out().items()):
        kept = selection.tasks[ability] - count
        console.print(
            f"[yellow]{ability}: learned from {kept:,} of {selection.tasks[ability]:,} tasks, drawn evenly from "
            "groups that call the same functions and end alike (--max-tasks raises this)."
        )
    if not report.changed and is_waiting:
        console.print("Nothing decided yet: the replies of the model are still to come.")
    elif not report.changed:
        console.print(_nothing_changed(report, selection.contrastive))
    else:
        console.print(_decisions(report))
    if retired := report.decisions["RETIRE"]:
        console.print(
            f"{plural(retired, 'lesson')} retired: across all runs, following the rule didn't go with passing "
            f"clearly enough. `contramem bank history {where}` says why."
        )
    for check, count in sorted(report.refused.items()):
        what = f"{count:,} refused[/] by {check}"
        if check == "guard":
            what = f"{count:,} {'guard' if count == 1 else 'guards'} refused[/], the cards kept without"
        console.print(f"[yellow]{what}; `contramem bank history {where}` says why.")
    skills = ", ".join(f"{ability} {len(bank.skills_of(ability))}" for ability in bank.abilities)
    console.print(f"The bank holds [blue]{plural(len(bank.functions), 'Function Card')}[/] and "
                  f"[green]{plural(len(bank.skills), 'Skill Card')}[/]{f' ({skills})' if skills else ''}.")  # fmt: skip
    for what, command in (("Look:", f"cards {where}"), ("Ship:", f"freeze {where} --out bank.jsonl")):
        console.print(f"[dim]{what} contramem bank {command}[/]", soft_wrap=True)  # to be copied as one line


def _nothing_changed(report: BuildReport, contrastive: int) -> str:
    if report.unchanged:
        return "Nothing new: these runs were already learned from. The bank is unchanged."
    if not contrastive:
        return "Nothing learned: no task has both passing and failing runs (`contramem traces` counts them)."
    return "Nothing learned: what separates the runs can't be stated as a rule (`contramem contrast` shows it)."


def _decisions(report: BuildReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("decisions")
    operations = ("ADD", "PATCH", "MERGE", "NARROW", "NOOP", "RETIRE")
    for operation in operations:
        table.add_column(operation, justify="right")
    for name, counts in (("Function Cards", report.functions), ("Skill Cards", report.decisions)):
        table.add_row(
            name, *(f"{counts[operation]:,}" if counts[operation] else "[dim]·[/]" for operation in operations)
        )
    return table
