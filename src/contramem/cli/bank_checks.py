"""`contramem bank validate` checks cards against their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contramem.bank.locate import store_only
from contramem.cli.output import print_json
from contramem.cli.reading import how_to_read, read_pool
from contramem.cli.sections import SectionedCommand
from contramem.traces.pool import Pool
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.build.recheck import Finding

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
