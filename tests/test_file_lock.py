"""Tests for contramem.file_lock: one writer at a time, and nothing left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from contramem.file_lock import sole_holder

CONTENDER = """
import os, sys
from pathlib import Path
from contramem.file_lock import sole_holder

folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
for _ in range(rounds):
    with sole_holder(folder / "bank.db-lock") as free:
        if free:
            os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))  # fails if somebody else is inside
            (folder / "inside").unlink()
"""


def test_the_lock_file_is_removed_after_use(tmp_path: Path):
    with sole_holder(tmp_path / "bank.db-lock") as free:
        assert free
        with sole_holder(tmp_path / "bank.db-lock") as second:
            assert not second
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_two_processes_never_hold_the_lock_at_once_even_as_its_file_is_removed_and_recreated(tmp_path: Path):
    command = [sys.executable, "-c", CONTENDER, str(tmp_path), "1000"]
    contenders = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [contender.communicate()[1] for contender in contenders] == ["", "", ""]
    assert list(tmp_path.iterdir()) == []
