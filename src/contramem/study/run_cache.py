"""Keeps runs that were read once beside the trials, so that the next command does not read them again.

One folder per set of runs, named by a digest of their files, of how they are read and of the code that reads them.
Secrets are masked in it; everything else is as recorded. It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from contramem.collection.runs import Collection
from contramem.progress import Progress, no_progress
from contramem.scratch import ScratchFolder
from contramem.study.run_file import open_run_file, write_run_file
from contramem.study.run_set import RunSet
from contramem.study.tables import RunTables, open_tables
from contramem.traces.reader import ReadOptions

FOLDER = Path(".contramem/runs")
KEPT_BYTES = 8 << 20
"""Fewer runs are read again in a moment, so nothing is kept."""
MAX_KEPT = 3
"""Sets of runs; the least recently used one is removed."""

OpenCollection = Callable[[], AbstractContextManager[Collection]]


@dataclass(frozen=True)
class Study:
    """Runs to be looked at."""

    run_set: RunSet
    folder: Path

    def tables(self, on_progress: Progress = no_progress) -> AbstractContextManager[RunTables]:
        """The runs as tables for SQL."""
        return open_tables(self.run_set, on_progress, self.folder)


@contextmanager
def open_study(
    paths: Iterable[Path],
    options: ReadOptions,
    read: OpenCollection,
    *,
    cache: Path | None = FOLDER,
    on_progress: Progress = no_progress,
) -> Iterator[Study]:
    """The runs of `paths`: cached ones, or those that `read` reads now. Without `cache` nothing is kept."""
    kept = cache / digest_files(paths, options) if cache is not None else None
    if kept is not None and kept.is_dir():
        kept.touch()
        with _open(kept) as study:
            yield study
        return
    with ScratchFolder("runs") as working:
        folder = working / "runs"
        folder.mkdir()
        with read() as collection:
            written = write_run_file(collection, folder, on_progress)
        if kept is not None and written >= KEPT_BYTES:
            folder = _keep(folder, kept)
        with _open(folder) as study:
            yield study


def forget_kept_runs(cache: Path = FOLDER) -> int:
    """Remove all cached runs. Returns the number of sets."""
    kept = [path for path in cache.iterdir() if path.is_dir()] if cache.is_dir() else []
    for path in kept:
        shutil.rmtree(path)
    return len(kept)


def digest_files(paths: Iterable[Path], options: ReadOptions) -> str:
    """A digest of the files' contents, of how they are read, and of the code that reads them."""
    hasher = hashlib.blake2b(repr(options).encode(), digest_size=10)
    reader = Path(str(files("contramem") / "traces"))
    for path in sorted(reader.rglob("*.py")):
        hasher.update(f"{path.name} {path.stat().st_mtime_ns}".encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                hasher.update(str(file.resolve()).encode())
                with file.open("rb") as content:
                    hasher.update(hashlib.file_digest(content, "blake2b").digest())
    return hasher.hexdigest()


@contextmanager
def _open(folder: Path) -> Iterator[Study]:
    run_set, file = open_run_file(folder)
    with closing(file):
        yield Study(run_set, folder)


def _keep(folder: Path, kept: Path) -> Path:
    """Move the runs into the cache atomically, and remove the oldest."""
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    (kept.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    arriving = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.move(folder, arriving)
    try:
        arriving.rename(kept)
    except OSError:  # another process read the same runs at the same time
        shutil.rmtree(arriving)
    complete = [path for path in kept.parent.iterdir() if path.is_dir() and not path.suffix]
    for path in sorted(complete, key=lambda path: path.stat().st_mtime)[:-MAX_KEPT]:
        shutil.rmtree(path, ignore_errors=True)
    return kept
