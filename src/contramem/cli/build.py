"""`contramem build`: from runs to a bank, with a progress bar and a summary of what was decided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from contramem.bank.bank import Bank
from contramem.bank.store import open_store
from contramem.build.construction import Report
from contramem.build.rules import RuleAuthor
from contramem.cli.reading import pooled, reading_options
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.pipeline import Progress as Told
from contramem.pipeline import build_bank, contrast_all
from contramem.traces.read import ReadOptions
from contramem.traces.trajectory import Tool
from contramem.validate.validator import Validator


@click.command()
@reading_options
@click.option("--bank", "where", required=True, metavar="STORE", help="SQLite path or PostgreSQL URL; made if absent.")
@click.option("--sources", metavar="A,B", help="Learn only from runs of these sources.")
@click.option("--only", type=click.Choice(["functions", "skills"]), help="Build only these cards.")
@click.option("--append-only", is_flag=True, help="Keep every delta as a card of its own, for comparison.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def build(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    sources: str | None,
    only: str | None,
    append_only: bool,
    as_json: bool,
) -> None:
    """Learn cards from the runs under PATH... and fold them into a bank. No key, no network."""
    tools: dict[str, Tool] = {}
    with pooled(paths, options, sources, tools) as pool, open_store(where, create=True) as store, _progress() as tell:
        vocabulary = Vocabulary(pool)
        packets = contrast_all(pool, vocabulary, tell)
        author = RuleAuthor(vocabulary)
        report = build_bank(
            packets,
            store,
            author,
            Validator(vocabulary.closed),
            only=only,
            append_only=append_only,
            tools=tools,
            on_progress=tell,
        )
        bank = store.bank()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_as_json(report, bank, packets)), indent=2))
    else:
        _show(report, bank, packets, where)


@contextmanager
def _progress() -> Iterator[Told]:
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bars:  # fmt: skip
        stages: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total)
            bars.update(stages[stage], completed=done)

        yield tell


def _as_json(report: Report, bank: Bank, packets: list[Packet]) -> dict[str, Any]:
    return {
        "packets": len(packets),
        "contrastive": sum(packet.is_contrastive for packet in packets),
        "unchanged": report.unchanged,
        "deltas": report.deltas,
        "decisions": dict(sorted(report.decisions.items())),
        "function_decisions": dict(sorted(report.functions.items())),
        "refused": dict(sorted(report.refused.items())),
        "functions": len(bank.functions),
        "skills": {ability: len(bank.skills_of(ability)) for ability in bank.abilities},
    }


def _show(report: Report, bank: Bank, packets: list[Packet], where: str) -> None:
    console = Console()
    contrastive = sum(packet.is_contrastive for packet in packets)
    console.print(f"[bold]{len(packets):,}[/] tasks, {contrastive:,} of them contrastive.")
    if not report.changed:
        console.print("Nothing new: these runs had been learned from already. The bank is as it was.")
    else:
        console.print(_decisions(report))
    for check, count in sorted(report.refused.items()):
        console.print(f"[yellow]{count:,} refused[/] by {check}; `contramem bank history {where}` says why.")
    skills = ", ".join(f"{ability} {len(bank.skills_of(ability))}" for ability in bank.abilities)
    console.print(f"The bank holds [blue]{len(bank.functions)} Function Cards[/] and "
                  f"[green]{len(bank.skills)} Skill Cards[/]{f' ({skills})' if skills else ''}.")  # fmt: skip
    console.print(f"[dim]Look: contramem bank cards {where}   Ship: contramem bank freeze {where} --out bank.jsonl[/]")


def _decisions(report: Report) -> Table:
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
