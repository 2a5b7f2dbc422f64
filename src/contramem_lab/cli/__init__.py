"""`contramem lab`: registered by an entry point of the group `contramem.commands`."""

from __future__ import annotations

import click

from contramem.cli import LazyGroup

COMMANDS = {
    **{name: f"contramem_lab.cli.{name}:{name}" for name in ("experiment", "bench", "conditions", "foresight", "door")},
    "state-bench": "contramem_lab.cli.state_bench:state_bench",
}
SUMMARIES = {
    "experiment": "Run a whole experiment from one file; resumable.",
    "bench": "Run an agent with or without a bank in ARE / GAIA2, AppWorld or STATE-Bench.",
    "conditions": "Compare ways to build a memory from the same recorded runs.",
    "door": "Be the agent, the user or the judge of a benchmark, from a shell.",
    "state-bench": "Give STATE-Bench's recorded runs their verdicts.",
    "foresight": "Do guards tell failing runs from passing ones on unseen tasks?",
}


@click.group(cls=LazyGroup, places=COMMANDS, summaries=SUMMARIES)
def lab() -> None:
    """Run experiments and benchmarks, and compare ways to build a memory."""
