"""`contramem guide`: shows exactly what an agent would be shown for a task, and why."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from contramem.cli.kit import print_json
from contramem.errors import nearest
from contramem.inject.loaded_bank import bank_at
from contramem.inject.run import Memory, Run
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import PROFILES

if TYPE_CHECKING:
    from rich.table import Table

MORE = 5
"""How many cards of each kind `--explain` lists beyond those that the agent gets."""
WORDS = 8


@click.command()
@click.argument("task")
@click.option("--bank", required=True, metavar="BANK", help="Frozen bank, or a store (used as if frozen now).")
@click.option("--ability", metavar="A", help="Search the skills of this ability only.")
@click.option("--apps", metavar="A,B", help="Apps the task is about; by default taken from its words.")
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="Retrieval profile; by default the one stored in the bank."
)
@click.option(
    "--exclude-task", metavar="ID", help="Leave out cards learned from this task or from a task of this text."
)
@click.option("--explain", is_flag=True, help="Show how each card got its score, and which ones just missed.")
@click.option("--json", "as_json", is_flag=True, help="Print text, tokens and hits as JSON.")
def guide(
    task: str,
    bank: str,
    ability: str | None,
    apps: str | None,
    profile: str | None,
    exclude_task: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Show the guidance an agent gets at the start of TASK (`-` reads the task from standard input)."""
    memory = Memory(bank_at(bank))
    text = sys.stdin.read() if task == "-" else task
    named = None if apps is None else [app.strip() for app in apps.split(",") if app.strip()]
    apps_of_bank = _apps(memory)
    for app in named or ():
        if app not in apps_of_bank:
            which = f"Apps of this bank: {', '.join(sorted(apps_of_bank))}."
            click.echo(f"contramem: no card is about {app!r}{nearest(app, apps_of_bank)} {which}", err=True)
    start = partial(memory.start, text, ability=ability, apps=named, task_id=exclude_task)
    run = start(profile=profile)
    if as_json:
        print_json(_as_json(run))
        return
    click.echo(run.guidance.text or f"(nothing: {run.guidance.note})")
    if run.guidance and run.guidance.note:
        click.echo(f"contramem: {run.guidance.note}", err=True)
    if explain:
        own = run.profile
        _explain(run, start(profile=replace(own, skills=own.skills + MORE, functions=own.functions + MORE, floor=0.0)))


def _apps(memory: Memory) -> set[str]:
    functions = {card.tool for card in memory.bank.functions}
    functions.update(function for card in memory.bank.skills for function in card.functions_used)
    return {function.partition(".")[0] for function in functions}


def _as_json(run: Run) -> dict[str, Any]:
    guidance = run.guidance
    return {
        "text": guidance.text,
        "tokens": guidance.tokens,
        "encoding": guidance.encoding,
        "budget_tokens": run.profile.budget_tokens,
        "profile": run.profile.name,
        "hits": [hit.as_json() for hit in guidance.hits],
        "shortened": guidance.shortened,
        "listed": guidance.listed,
        "left_out": guidance.left_out,
        "note": guidance.note,
    }


def _explain(run: Run, more: Run) -> None:
    from rich.console import Console

    guidance, retrieval = run.guidance, more.retrieval
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    console.print()
    console.print(
        f"[bold]{guidance.tokens}[/] of {run.profile.budget_tokens} tokens ({guidance.encoding}), "
        f"profile [bold]{run.profile.name}[/]",
    )
    if retrieval is None:
        return
    apps = ", ".join(sorted(retrieval.apps)) or "not told by its words"
    console.print(f"apps of the task: {apps}", markup=False)
    for title, hits in (("Skills", retrieval.skills), ("Functions", retrieval.functions)):
        if hits:
            console.print(_table(title, hits, run))
    if guidance.listed_cards:
        console.print("Skills, one sentence each", style="bold")
        for card in guidance.listed_cards:
            console.print(f"  {card.title}  [dim]{card.card_id}[/]")


def _table(title: str, hits: tuple[Hit, ...], run: Run) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title, title_justify="left", title_style="bold", header_style="dim", box=None, padding=(0, 2, 0, 0)
    )
    for column in ("", "score", "relevance", "apps"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("card")
    table.add_column("words")
    for hit in hits:
        verdict = _verdict(hit, run)
        words = "  ".join(f"{term} {part:.2f}" for term, part in islice(hit.terms.items(), WORDS))
        name = Text(hit.name, style="bold" if not verdict else "")
        name.append(f"\n{verdict or hit.card.card_id}", style="dim")
        marks = ("●" if not verdict else "·", f"{hit.score:.2f}", f"{hit.relevance:.2f}", f"{hit.prior:+.2f}")
        table.add_row(*marks, name, Text(words), style="dim" if verdict else "")
    return table


def _verdict(hit: Hit, run: Run) -> str:
    """Why the agent does not get this card in full; empty if it does."""
    if hit.card.card_id in run.guidance.listed:
        return "one sentence: see below"
    if hit.card.card_id in run.guidance.card_ids:
        return ""
    if hit.card.card_id in run.guidance.left_out:
        return "left out: over the budget"
    retrieved = run.retrieval
    hits = (retrieved.skills if hit.kind == "skill" else retrieved.functions) if retrieved else ()
    limit = run.profile.skills if hit.kind == "skill" else run.profile.functions
    return f"not shown: {limit} are enough" if len(hits) >= limit else "not shown: under the floor of relevance"
