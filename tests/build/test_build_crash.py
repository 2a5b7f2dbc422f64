"""A `contramem build` that is killed at random points, again and again, ends in the bank of one that was left alone."""

from __future__ import annotations

import signal
import time
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from random import Random

import pytest
from tests.shipped import decisions, frozen, shipped, written

from contramem.bank.ledger import fold
from contramem.bank.store import open_store
from contramem.cli import main

KILLS = 50
SCENARIOS = ("desk", "posts", "trip")


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Starts processes that have imported the build already, so that kills hit the build and not its imports."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["contramem.cli.build"])
    return context


def start(processes: ForkServerContext, store: Path, runs: Path) -> ForkServerProcess:
    building = processes.Process(target=main, args=(["build", str(runs), "--bank", str(store)],))
    building.start()
    return building


def killed_after(delay_s: float, building: ForkServerProcess) -> bool:
    """Kill the build after `delay_s`. False: it was done before."""
    building.join(delay_s)
    building.kill()
    building.join()
    assert building.exitcode in (0, -signal.SIGKILL), "a build after a killed one goes on"
    return building.exitcode != 0


@pytest.mark.slow
def test_killing_a_build_at_random_points_loses_nothing_and_repeats_nothing(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    runs = written(tmp_path / "runs.jsonl", shipped(*SCENARIOS))
    start(processes, tmp_path / "first.db", runs).join()  # which waits for the imports
    calm, began = tmp_path / "calm.db", time.perf_counter()
    start(processes, calm, runs).join()
    whole_s = time.perf_counter() - began
    rng = Random(20260504)
    kills, rounds, reached = 0, 0, set[int]()
    while kills < KILLS:
        # Each round builds one store from nothing, in as many pieces as it takes.
        rounds += 1
        store = tmp_path / f"shaken{rounds}.db"
        while killed_after(rng.uniform(0, whole_s), start(processes, store, runs)):
            kills += 1
            reached.add(recorded(store))
        assert decisions(store) == decisions(calm), "none lost, none twice, none out of order"
        assert frozen(store) == frozen(calm)
    assert len(reached) > 10, "kills came at many different decisions"


def recorded(store: Path) -> int:
    """How many decisions a killed build left; whatever it left is whole."""
    if not store.exists() or store.stat().st_size == 0:
        return 0
    with open_store(store, create=True) as living:
        assert fold(living.ledger()) == living.bank()
        return len(living.ledger())
