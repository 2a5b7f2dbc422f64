"""Runs in object storage are read like files, and problems name their URL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.made_runs import call, run

from contramem.errors import UsageError
from contramem.traces.files import url_of
from contramem.traces.read import read_traces
from contramem.traces.write import write_traces

fsspec = pytest.importorskip("fsspec", reason="the extra `cloud` is not installed")


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Any]:
    """A bucket in memory that holds a run in a folder."""
    write_traces([run("A", True, call("Desk.read"), "done")], tmp_path / "run.jsonl")
    files = fsspec.filesystem("memory")
    files.pipe("/bucket/day1/run.jsonl", (tmp_path / "run.jsonl").read_bytes())
    yield files
    files.rm("/bucket", recursive=True)


@pytest.mark.parametrize("url", ["memory://bucket", "memory://bucket/day1", "memory://bucket/day1/run.jsonl"])
def test_a_folder_or_a_file_of_a_bucket_is_read(storage: Any, url: str) -> None:
    (read,) = read_traces([url])
    assert read.source == "A"


def test_a_problem_names_the_url(storage: Any) -> None:
    storage.pipe("/bucket/day1/broken.jsonl", b'{"contramem_trace": ')
    reading = read_traces(["memory://bucket"])
    assert len(list(reading)) == 1
    named = [str(problem) for problem in reading.problems] + reading.ignored_files
    assert any("memory://bucket/day1/broken.jsonl" in name for name in named)


def test_a_url_with_nothing_under_it_is_an_error(storage: Any) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        list(read_traces(["memory://bucket/day2"]))


def test_a_storage_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(UsageError, match="nowhere://x"):
        list(read_traces(["nowhere://x"]))


def test_local_paths_are_not_urls() -> None:
    assert url_of(Path("s3://bucket/runs")) == "s3://bucket/runs"
    assert url_of("runs/a.jsonl") is None
    assert url_of("C:/runs") is None
