"""The shipped runs in parts, and `contramem` called on them as a user would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contramem.bank.bank import Bank
from contramem.bank.frozen import freeze
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.cli import cli, main
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem.traces.write import write_traces

RUNS = Path(__file__).parents[1] / "examples" / "runs"


@cache
def shipped(*scenarios: str) -> tuple[Trajectory, ...]:
    """The runs of some scenarios (`drive`, `desk`, `posts`, ...); without a name, all."""
    return tuple(run for run in read_traces([RUNS]) if not scenarios or run.scenario_id in scenarios)


def written(path: Path, runs: Sequence[Trajectory]) -> Path:
    write_traces(runs, path)
    return path


def contramem(*arguments: object, **more: Any) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False, **more)


def build(store: Path, *arguments: object) -> dict[str, Any]:
    """Build into `store` and give back what `--json` says."""
    found: dict[str, Any] = json.loads(contramem("build", *arguments, "--bank", store, "--json").stdout)
    return found


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command says last that ends with exit code 1."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("contramem: ")
    return said


def bank(store: Path) -> Bank:
    with open_store(store) as living:
        return living.bank()


def frozen(store: Path) -> bytes:
    return freeze(bank(store))


def decisions(store: Path) -> list[Decision]:
    """The ledger without its time stamps."""
    with open_store(store) as living:
        return [entry.decision for entry in living.ledger()]


def by_four_sources(runs: Sequence[Trajectory]) -> list[Trajectory]:
    named = ("scripted-careful", "scripted-hasty", "scripted-quitter", "scripted-recoverer")
    return [run for run in runs if run.source in named]
