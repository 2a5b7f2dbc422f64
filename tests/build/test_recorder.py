"""A `contramem build` that is killed at random points, again and again, ends in the bank of one that was left alone."""

from __future__ import annotations

import signal
import time
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
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


def build(store: Path, runs: Path, work_s: float, took: Path) -> None:
    """Build, and be killed in the middle of it. Processor time, not the clock: a busy machine changes nothing."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, work_s)  # the signal ends a process that does not handle it
    try:
        main(["build", str(runs), "--bank", str(store)])
    finally:
        took.write_text(str(time.process_time() - began))


def killed_after(work_s: float, processes: ForkServerContext, store: Path, runs: Path) -> bool:
    """Start a build that is killed when it has worked for so long; 0: never. False: it was done before."""
    building = processes.Process(target=build, args=(store, runs, work_s, runs.with_name("took")))
    building.start()
    building.join()
    assert building.exitcode in (0, -signal.SIGPROF), "a build after a killed one goes on"
    return building.exitcode != 0


@pytest.mark.slow
def test_killing_a_build_at_random_points_loses_nothing_and_repeats_nothing(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    runs = written(tmp_path / "runs.jsonl", shipped(*SCENARIOS))
    calm = tmp_path / "calm.db"
    assert not killed_after(0, processes, calm, runs)
    whole_s = float((tmp_path / "took").read_text())
    rng = Random(20260504)
    kills, rounds, reached = 0, 0, set[int]()
    while kills < KILLS:
        # Each round builds one store from nothing, in as many pieces as it takes.
        rounds += 1
        store = tmp_path / f"shaken{rounds}.db"
        while killed_after(rng.uniform(0.01, whole_s), processes, store, runs):
            kills += 1
            reached.add(recorded(store))
        assert decisions(store) == decisions(calm), "none lost, none twice, none out of order"
        assert frozen(store) == frozen(calm)
    assert len(reached) > 4, "kills came at different decisions"


def recorded(store: Path) -> int:
    """How many decisions a killed build left; whatever it left is whole."""
    if not store.exists() or store.stat().st_size == 0:
        return 0
    with open_store(store, create=True) as living:
        assert fold(living.ledger()) == living.bank()
        return len(living.ledger())
