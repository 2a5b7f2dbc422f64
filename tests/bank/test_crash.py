"""A build that is killed again and again ends in the same bank as one that was left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from small_build import DELTAS, build

from contramem.bank.frozen import freeze
from contramem.bank.ledger import fold
from contramem.bank.store import open_store

PACKETS, KILLS = 500, 50
WORKER = Path(__file__).with_name("small_build.py")


def killed_after(path: Path, work_s: float) -> bool:
    """Start a build that is killed when it has worked for so long. False: it was done before."""
    command = [sys.executable, str(WORKER), str(path), str(PACKETS), str(work_s)]
    worker = subprocess.run(command, capture_output=True, text=True, check=False)
    assert worker.stdout == "ready\n", f"the place of a killed writer is free again: {worker.stderr}"
    assert worker.returncode in (0, -signal.SIGPROF)
    return worker.returncode < 0


@pytest.mark.slow
def test_killing_a_build_loses_nothing_and_repeats_nothing(tmp_path):
    with open_store(tmp_path / "calm.db", create=True) as calm, calm.writing("build"):
        build(calm, PACKETS)
        expected, decisions = freeze(calm.bank()), [entry.decision for entry in calm.ledger()]
    rng = Random(20260504)
    reached = []
    for _ in range(KILLS):
        assert killed_after(tmp_path / "shaken.db", rng.uniform(0.001, 0.03)), "more packets are needed"
        with open_store(tmp_path / "shaken.db") as shaken:
            reached.append(len(shaken.ledger()))
            assert fold(shaken.ledger()) == shaken.bank()
            assert sum(map(int, shaken.progress().values())) == reached[-1]
    assert len(set(reached)) > KILLS / 2, "most kills came at another decision"
    with open_store(tmp_path / "shaken.db") as shaken, shaken.writing("build"):
        build(shaken, PACKETS)
        assert len(shaken.ledger()) == PACKETS * DELTAS
        assert [entry.decision for entry in shaken.ledger()] == decisions
        assert freeze(shaken.bank()) == expected
