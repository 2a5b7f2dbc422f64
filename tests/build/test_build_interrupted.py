"""Two builds at once, and a disk that is full: a clear line, and a store that can be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.shipped import build, complaint, decisions, frozen, shipped, written

from contramem.bank.ledger import fold
from contramem.bank.store import open_store


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("runs") / "runs.jsonl", shipped("desk", "drive"))


@pytest.fixture(scope="module")
def calm(runs: Path) -> Path:
    """The bank as it is when nothing comes in between."""
    build(runs.with_name("calm.db"), runs)
    return runs.with_name("calm.db")


def test_a_second_build_on_a_store_is_told_who_is_building(
    runs: Path, calm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "bank.db"
    with open_store(store, create=True) as first, first.writing("build"):
        said = complaint(capsys, "build", runs, "--bank", store)
        assert "is in use by `contramem build`, process" in said
        assert "Wait for it to end." in said
        assert first.ledger() == ()
    build(store, runs)
    assert frozen(store) == frozen(calm)


@pytest.mark.slow
def test_builds_that_start_together_on_one_store_do_not_harm_each_other(runs: Path, calm: Path, tmp_path: Path) -> None:
    store = tmp_path / "bank.db"
    command = [sys.executable, "-m", "contramem", "build", str(runs), "--bank", str(store)]
    building = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [(process.communicate()[1], process.returncode) for process in building]
    assert 0 in {code for _, code in said}
    for complaints, code in said:
        # A builder that has the place but has not signed its name yet is "another process".
        assert code == 0 or "is in use by" in complaints or "locked" in complaints
    assert decisions(store) == decisions(calm)
    assert frozen(store) == frozen(calm)


ON_A_FULL_DISK = """
import resource, signal, sys
from contramem.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write past the limit fails as on a full disk
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
main(sys.argv[2:])
"""


NO_BYTECODE = ("-B",)  # the limit would cut modules short that are compiled on the way, and break them for everybody


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100_000, 300_000])
def test_a_full_disk_ends_a_build_in_one_clear_line_and_it_goes_on_later(
    limit: int, runs: Path, calm: Path, tmp_path: Path
) -> None:
    store = tmp_path / "bank.db"
    command = [sys.executable, *NO_BYTECODE, "-c", ON_A_FULL_DISK, str(limit), "build", str(runs), "--bank", str(store)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    *reading, error = ended.stderr.splitlines()
    assert [line.split()[0] for line in reading] == ["Run", "Call", "Outcome", "Source"]
    assert error.startswith(f"contramem: {store}: ") and "disk" in error
    with open_store(store) as half:
        assert fold(half.ledger()) == half.bank()
        assert len(half.ledger()) < len(decisions(calm))
    build(store, runs)
    assert decisions(store) == decisions(calm)
    assert frozen(store) == frozen(calm)
