"""Explains why a build produced few Skill Cards."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from contramem.build.thin import ModelCost, ThinBank
from contramem.cli.reading import collect_options, plural


def show_thin(thin: ThinBank, paths: Sequence[Path], where: str) -> None:
    console = Console()
    console.print(
        f"[yellow]Few Skill Cards:[/] {thin.several_runs:,} of {plural(thin.tasks, 'task')} have several runs with an "
        f"outcome; "
        f"{plural(thin.proposed, 'lesson')} proposed, {thin.in_service:,} in service."
    )
    for reason, count in thin.not_kept.items():
        console.print(f"  {count:,} not kept: {reason}")
    if thin.joined:
        console.print(f"  {thin.joined:,} joined to another that says the same, or refused by a check")
    console.print("What helps:")
    for advice in thin.advice(shlex.join(map(str, paths))):
        console.print(f"  runs: {advice}")
    if (model := thin.model) is None:
        return
    price = f", ${model.cost_usd:,.2f}" if model.cost_usd is not None else ""
    most = f"; at most ${model.most_usd:,.2f}" if model.most_usd is not None else ""
    console.print(
        f"  a model on these runs: about {model.calls:,} calls, {model.tokens:,} tokens{price} ({model.model}{most}). "
        "In detail, without asking it:"
    )
    console.print(f"[dim]  {model_command(model, paths, where)}[/]", soft_wrap=True)


def thin_json(thin: ThinBank, paths: Sequence[Path], where: str) -> dict[str, Any]:
    return {
        "tasks_without_outcome": thin.without_outcome,
        "tasks_with_several_runs": thin.several_runs,
        "tasks_always_passed": thin.always_passed,
        "tasks_never_passed": thin.never_passed,
        "proposed": thin.proposed,
        "in_service": thin.in_service,
        "not_kept": thin.not_kept,
        "joined": thin.joined,
        "advice": thin.advice(shlex.join(map(str, paths))),
        "model": _model_json(thin.model, paths, where) if thin.model else None,
    }


def _model_json(model: ModelCost, paths: Sequence[Path], where: str) -> dict[str, Any]:
    return {
        "name": model.model,
        "calls": model.calls,
        "tokens": model.tokens,
        "cost_usd": None if model.cost_usd is None else round(model.cost_usd, 2),
        "most_usd": None if model.most_usd is None else round(model.most_usd, 2),
        "command": model_command(model, paths, where),
    }


def model_command(model: ModelCost, paths: Sequence[Path], where: str) -> str:
    """The same build with a model, as it can be run: with the options that say how to read the runs."""
    how_to_read = collect_options(click.get_current_context())
    words = [*map(str, paths), *how_to_read, "--bank", where, "--model", model.model, "--dry-run"]
    return shlex.join(["contramem", "build", *words])
