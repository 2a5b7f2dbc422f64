"""A file that is appended to and never stops an agent."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from contramem.inject.log import AppendFile


def test_a_loss_is_reported_once_and_again_after_a_success(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = AppendFile(tmp_path / "folder" / "log", "log")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            file.append(lambda: b"lost\n")
        (tmp_path / "folder").mkdir()
        file.append(lambda: b"kept\n")
        (tmp_path / "folder" / "log").rename(tmp_path / "old")
        (tmp_path / "folder").rmdir()
        file.append(lambda: b"lost\n")
    assert (tmp_path / "old").read_bytes() == b"kept\n"
    assert len(caplog.records) == 2
    assert caplog.messages[0].startswith(f"the log {tmp_path}")


def test_a_line_that_cannot_be_encoded_is_lost_like_one_that_cannot_be_written(tmp_path: Path) -> None:
    def fail() -> bytes:
        raise TypeError("no JSON for this")

    AppendFile(tmp_path / "log", "log").append(fail)
    assert not (tmp_path / "log").exists()


def test_a_file_stops_growing_at_its_limit(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "log", "log", max_bytes=10)
    for _ in range(3):
        file.append(lambda: b"12345\n")
    assert (tmp_path / "log").read_bytes() == b"12345\n"
