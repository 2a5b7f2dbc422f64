"""`contramem lab`: registered by an entry point of the group `contramem.commands`."""

from __future__ import annotations

import click

from contramem.cli import LazyGroup

COMMANDS = {name: f"contramem_lab.cli.{name}:{name}" for name in ("experiment", "bench", "conditions", "foresight")}
SUMMARIES = {
    "experiment": "Run a whole experiment from one file; resumable.",
    "bench": "Run an agent with or without a bank in ARE / GAIA2 or AppWorld.",
    "conditions": "Compare ways to build a memory from the same recorded runs.",
    "foresight": "Do guards tell failing runs from passing ones on unseen tasks?",
}


@click.group(cls=LazyGroup, places=COMMANDS, summaries=SUMMARIES)
def lab() -> None:
    """Run experiments and benchmarks, and compare ways to build a memory."""
