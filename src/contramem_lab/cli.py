"""`contramem lab`, registered by an entry point of the group `contramem.commands`. Commands are imported on use."""

from __future__ import annotations

import click

from contramem.cli import LazyGroup, Place

COMMANDS = {
    "experiment": Place("commands:experiment", "Run a whole experiment from one file; resumable."),
    "bench": Place("commands:bench", "Run an agent with or without a bank in ARE / GAIA2, AppWorld or STATE-Bench."),
    "conditions": Place("recorded:conditions", "Compare ways to build a memory from the same recorded runs."),
    "door": Place("commands:door", "Be the agent, the user or the judge of a benchmark, from a shell."),
    "state-bench": Place("commands:state_bench", "Give STATE-Bench's recorded runs their verdicts."),
    "foresight": Place("recorded:foresight", "Do guards tell failing runs from passing ones on unseen tasks?"),
}


@click.group(cls=LazyGroup, places=COMMANDS, package=__package__)
def lab() -> None:
    """Run experiments and benchmarks, and compare ways to build a memory."""
