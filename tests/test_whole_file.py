"""Files appear whole or not at all, and what is no file is never put aside for one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from contramem.whole_file import replacing


def test_a_failed_write_leaves_the_old_file_and_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_text("before")
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    link = tmp_path / "bank.jsonl"
    link.symlink_to(tmp_path / "shared" / "bank.jsonl")
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink() and (tmp_path / "shared" / "bank.jsonl").read_bytes() == b"new"


def test_a_pipe_is_written_to_directly_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with replacing(pipe) as file:
        file.write(b"new")
    reader.join()
    assert read == [b"new"] and pipe.is_fifo()
