"""`contramem bank validate` checks cards against their runs; `bank preview` shows which cards tasks would get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.locate import load_bank, store_only
from contramem.cli.output import print_json
from contramem.cli.reading import how_to_read, read_pool
from contramem.cli.sections import SectionedCommand
from contramem.retrieve.profiles import PROFILES, profile_named
from contramem.traces.pool import Pool
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from rich.table import Table

    from contramem.build.recheck import Finding
    from contramem.retrieve.preview import Preview

LISTED = 10
"""How many names are listed; `--json` has all."""


@click.command(cls=SectionedCommand)
@click.argument("where", metavar="STORE")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@how_to_read
@click.option("--sources", metavar="A,B", help="Only the runs of these sources, as in the build.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate(where: str, paths: tuple[Path, ...], options: ReadOptions, sources: str | None, as_json: bool) -> None:
    """Check every active card again: its text, and its claims about the runs under PATH... that taught it.

    Give the runs that the bank was built from. A card whose runs are not among them is checked as far as its text
    goes, and counted as unchecked. Ends with exit code 1 if a card is refused.
    """
    from contramem.bank.store import open_store
    from contramem.build.recheck import recheck
    from contramem.contrast.collection import contrast_all
    from contramem.contrast.vocabulary import Vocabulary
    from contramem.validate.validator import Validator

    with open_store(store_only(where)) as store:
        bank, ledger = store.bank(), store.ledger()
    with read_pool(paths, options, sources) if paths else Pool() as pool:
        vocabulary = Vocabulary(pool)
        findings = recheck(bank, ledger, contrast_all(pool, vocabulary), Validator(vocabulary.closed))
    if as_json:
        print_json(_findings_json(findings))
    else:
        click.echo(_summarize(findings))
    if any(finding.refusals for finding in findings):
        raise SystemExit(1)


def _findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    refused = [finding for finding in findings if finding.refusals]
    return {
        "cards": len(findings),
        "refused": len(refused),
        "unchecked": sum(not finding.checked for finding in findings),
        "refusals": dict(sorted(Counter(r.check for finding in refused for r in finding.refusals).items())),
        "findings": [
            {
                "card_id": finding.card_id,
                "refusals": [refusal._asdict() for refusal in finding.refusals],
                "checked": finding.checked,
                "tasks": finding.tasks,
                "missing": list(finding.missing),
            }
            for finding in findings
            if finding.refusals or not finding.checked
        ],
    }


def _summarize(findings: Sequence[Finding]) -> str:
    """One line for each refused card, and a last one with the counts."""
    refused = [finding for finding in findings if finding.refusals]
    lines = [f"{finding.card_id}: {' '.join(map(str, finding.refusals))}" for finding in refused]
    unchecked = [finding for finding in findings if not finding.checked]
    lines.append(f"{len(findings)} cards: {len(refused) or 'none'} refused, {len(unchecked) or 'none'} unchecked.")
    if any(finding.missing for finding in unchecked):
        lines.append("Unchecked: the runs that taught a card are not all among those given, or have changed since.")
    if without_guard := [finding.card_id for finding in unchecked if not finding.tasks]:
        more = f" and {len(without_guard) - LISTED} more" if len(without_guard) > LISTED else ""
        listed = ", ".join(without_guard[:LISTED]) + more
        lines.append(f"Unchecked, because they have no guard, or no runs taught them: {listed}.")
    return "\n".join(lines)


@click.command(cls=SectionedCommand)
@click.argument("where", metavar="BANK")
@click.option(
    "--tasks",
    "paths",
    metavar="PATH",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="Runs of the tasks to retrieve for; may be given several times.",
)
@how_to_read
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="Retrieval profile; by default the one stored in the bank."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def preview(where: str, paths: tuple[Path, ...], options: ReadOptions, profile: str | None, as_json: bool) -> None:
    """Show which cards of BANK the tasks would get, and how plausible they are.

    Cards learned from a task or from its scenario are left out for it. A card is plausible for a task if it names a
    function that runs of the task call. Ends with exit code 1 if a card was given to a task that taught it.
    """
    from contramem.retrieve.preview import preview as preview_bank

    bank, frozen = load_bank(where)
    settings = profile_named(profile or (frozen.header.profile if frozen else "default"))
    with read_pool(paths, options) as pool:
        result = preview_bank(bank, pool, settings)
    if as_json:
        print_json({"profile": settings.name, **_preview_json(result)})
    else:
        _show(result)
    if result.leaks:
        raise SystemExit(1)


def _preview_json(result: Preview) -> dict[str, Any]:
    return {
        "tasks": len(result.tasks),
        "with_a_card": result.with_a_card,
        "skills": sum(len(task.skills) for task in result.tasks),
        "functions": sum(len(task.functions) for task in result.tasks),
        "right_bank": result.right_bank,
        "right_bank_without_label": result.right_bank_without_label,
        "plausible_skills": result.plausible(SkillCard),
        "plausible_functions": result.plausible(FunctionCard),
        "leaks": result.leaks,
        "with_nothing": list(result.with_nothing),
        "never_retrieved": list(result.never_retrieved),
        "by_task": {task.task: [card.card_id for card in task.cards] for task in result.tasks},
    }


def _show(result: Preview) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print(_table(result))
    for what, names in (("Tasks with nothing", result.with_nothing), ("Cards never retrieved", result.never_retrieved)):
        if names:
            more = f" and {len(names) - LISTED} more (--json lists all)" if len(names) > LISTED else ""
            console.print(f"{what}: {', '.join(names[:LISTED])}{more}.", markup=False)
    for task in result.tasks:
        for card_id in task.leaked:
            console.print(f"Leak: {task.task} gets {card_id}, which it or its scenario taught.", markup=False)


def _table(result: Preview) -> Table:
    from rich.table import Table

    tasks = len(result.tasks)
    never = len(result.never_retrieved)
    counts = (sum(len(task.skills) for task in result.tasks), sum(len(task.functions) for task in result.tasks))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, value in (
        ("tasks", str(tasks)),
        ("tasks that get a card", f"{result.with_a_card} ({_percent(result.with_a_card / tasks)})"),
        ("skill cards given", str(counts[0])),
        ("  of the right ability", _percent(result.right_bank)),
        ("  the same, were the ability not told", _percent(result.right_bank_without_label)),
        ("  plausible", _percent(result.plausible(SkillCard))),
        ("function cards given", str(counts[1])),
        ("  plausible", _percent(result.plausible(FunctionCard))),
        ("leaks", f"[red]{result.leaks}[/]" if result.leaks else "0"),
        ("cards never retrieved", str(never)),
    ):
        table.add_row(name, value)
    return table


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
