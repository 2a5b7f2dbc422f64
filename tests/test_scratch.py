"""Tests for contramem.scratch: temporary folders are gone when their process is, however it ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contramem.scratch import ScratchFolder, remove_abandoned

KEEPER = """
import sys, time
from contramem.scratch import ScratchFolder
with ScratchFolder("test") as folder:
    (folder / "runs.db").write_text("runs")
    print("ready", flush=True)
    time.sleep(60)
"""
COMMAND = """
import sys, click, time
from contramem import cli
from contramem.scratch import ScratchFolder

@click.command()
def wait():
    with ScratchFolder("test"):
        print("ready", flush=True)
        time.sleep(60)

cli.cli.add_command(wait)
cli.main(["wait"])
"""


@contextmanager
def running(code: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def age(folder: Path) -> None:
    """As if it had been made two minutes ago."""
    for held in folder.glob("contramem-*/held"):
        os.utime(held, (time.time() - 120,) * 2)


def test_a_folder_is_private_and_goes_away_with_its_block(tmp_path: Path) -> None:
    with ScratchFolder("test", tmp_path) as folder:
        assert list(folder.iterdir()) == []
        assert (folder.parent.stat().st_mode & 0o777) == 0o700
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_the_folder_of_a_killed_process_is_removed_by_the_next_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    with running(KEEPER, tmp_path):
        with running(KEEPER, tmp_path):
            pass
        remove_abandoned(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2  # both are too young to be called abandoned
        age(tmp_path)
        with ScratchFolder("test", tmp_path):
            assert len(list(tmp_path.iterdir())) == 2
        (left,) = tmp_path.iterdir()
        assert (left / "work" / "runs.db").read_text() == "runs"


def test_folders_that_only_look_alike_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "contramem-mine").mkdir()
    (tmp_path / "other" / "held").mkdir(parents=True)
    (tmp_path / "contramem-link").symlink_to(tmp_path / "other")
    remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"contramem-mine", "other", "contramem-link"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_a_command_that_is_asked_to_end_cleans_up(tmp_path: Path) -> None:
    with running(COMMAND, tmp_path) as command:
        command.send_signal(signal.SIGTERM)
        assert command.wait() == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
