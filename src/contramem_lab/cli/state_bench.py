"""`contramem lab state-bench`: what is special about STATE-Bench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from contramem.cli import Group
from contramem.cli.kit import print_json
from contramem.traces.write import write_traces
from contramem_lab.state_bench import DOMAINS, StateBench, replay_train_runs


@click.group("state-bench", cls=Group)
def state_bench() -> None:
    """Learn from STATE-Bench's recorded runs. `contramem lab bench state-bench` runs an agent in it."""


@state_bench.command("verdicts")
@click.argument("checkout", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("domain", type=click.Choice(DOMAINS))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the runs with their verdicts, as JSONL."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verdicts(checkout: Path, domain: Any, out: Path | None, as_json: bool) -> None:
    """Make the calls of the recorded train runs again, and judge the state they lead to by the benchmark's own code.

    Nothing of the test split is opened. The dialogue is not judged.
    """
    replay = replay_train_runs(StateBench(checkout, domain))
    if out is not None:
        write_traces(replay.runs, out)
    counts = {"runs": len(replay.runs), "passed": replay.passed, "calls": replay.calls, "different": replay.different}
    if as_json:
        print_json(counts)
        return
    click.echo(
        f"{len(replay.runs)} runs, {replay.passed} satisfy the state requirements. {replay.calls:,} calls made again, "
        f"{replay.different} with another result than recorded."
    )
    if out is not None:
        click.echo(f"Runs: {out}   Next: contramem build {out} --bank bank.db")
