"""`contramem watch` learns from runs as they appear."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contramem.cli.engine_options import EngineChoice
from contramem.cli.kit import SectionedCommand
from contramem.cli.reading import plural, reading_options
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.watch import WatchRound


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--bank", "where", required=True, metavar="STORE", help="Store to learn into; created if missing.")
@click.option("--serve", type=click.Path(path_type=Path, dir_okay=False), default=Path("bank.jsonl"), show_default=True,
              help="Frozen bank to keep up to date; agents with reload=True pick it up.")  # fmt: skip
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds between checks.",
)
@click.option("--settle", type=click.FloatRange(min=0), default=5.0, show_default=True,
              help="Seconds that the runs must stay unchanged before they are read.")  # fmt: skip
@click.option("--max-changes", type=click.IntRange(min=1), default=20, show_default=True,
              help="Gate: how many cards may change at once.")  # fmt: skip
@click.option("--keep", type=click.IntRange(min=1), default=10, show_default=True, help="Banks kept to go back to.")
@click.option("--min-sources", type=click.IntRange(1), default=1, metavar="N",
              help="Serve only cards that runs of N sources show; others stay muted until they do.")  # fmt: skip
@click.option("--profile", default="default", show_default=True, help="Retrieval profile to store in the file.")
@click.option("--once", is_flag=True, help="Learn from what is there now, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each round.")
def watch(
    paths: tuple[Path, ...], options: ReadOptions, where: str, serve: Path, every: float, settle: float,
    max_changes: int, keep: int, min_sources: int, profile: str, once: bool, as_json: bool,
) -> None:  # fmt: skip
    """Fold the runs under PATH... into a store as they appear, and serve the bank when it passes the gate.

    The gate: memory harmed no task in the recorded runs, every card validates, and not too many cards change at once.
    A card that lost at least two tasks more than it gained, in runs that followed it, is muted.
    """
    from contramem.watch import WatchOptions, learn_once
    from contramem.watch import watch as watch_runs

    kept = EngineChoice("local", workers=1, address=None).keep(paths, where)
    chosen = WatchOptions(paths, where, serve, max_changes, keep, profile, min_sources, options, kept)

    def tell(done: WatchRound) -> None:
        if as_json:
            click.echo(json.dumps(asdict(done)))
        else:
            click.echo(_line(done, serve))

    def wait() -> bool:
        time.sleep(every)
        return True

    if once:
        tell(learn_once(chosen))
        return
    try:
        watch_runs(chosen, wait, tell, settled=lambda: time.sleep(settle))
    except KeyboardInterrupt:
        click.echo("Stopped; the store and the served bank are complete.", err=True)


def _line(done: WatchRound, serve: Path) -> str:
    return "\n".join([_outcome(done, serve), *(f"Muted {card}" for card in done.muted)])


def _outcome(done: WatchRound, serve: Path) -> str:
    runs = plural(done.runs, "run")
    if done.refusals:
        return f"{runs} read. Not served: {'; '.join(done.refusals)}."
    if not done.served:
        return f"{runs} read. Nothing new to serve."
    return f"{runs} read. {serve} is served now: {done.added} added, {done.changed} changed, {done.removed} removed."
