"""A young bank that more runs change."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from tests.shipped import build, by_four_sources, shipped, written


@pytest.fixture(scope="module")
def young(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bank of every second task, by four sources, with `many.jsonl` beside it to go on with."""
    folder = tmp_path_factory.mktemp("young")
    runs = shipped("desk", "drive", "posts")
    tasks = sorted({run.task_key for run in runs})[::2]
    few = written(folder / "few.jsonl", by_four_sources([run for run in runs if run.task_key in tasks]))
    written(folder / "many.jsonl", runs)
    build(folder / "bank.db", few)
    return folder


@pytest.fixture
def store(young: Path, tmp_path: Path) -> Path:
    """A copy of the young bank that a test may change."""
    return Path(copytree(young, tmp_path / "young")) / "bank.db"
