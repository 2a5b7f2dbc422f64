"""The result folder of one experiment: used by one process at a time, and every file in it is complete or absent.

experiment.toml    what was run        split.json       which tasks teach, which are held out
manifest.json      with what           results.json     what came out; report.html, report.md, tables/
memory/            what each condition showed: banks, texts, their hashes
reference/         runs made to be learned from
runs/              runs by condition and target, one trace per file
superseded/        runs that a changed experiment no longer needs
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError
from contramem.file_lock import sole_holder
from contramem.traces.trajectory import digest
from contramem.whole_file import replacing

MARK = "experiment.json"
FORMAT = 1


@dataclass(frozen=True)
class ResultFolder:
    """Where one experiment keeps everything."""

    path: Path

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def reference(self) -> Path:
        return self.path / "reference"

    @property
    def memory(self) -> Path:
        return self.path / "memory"

    def write(self, name: str, content: str | bytes) -> Path:
        """Write the whole file; on failure, the previous content stays."""
        path = self.path / name
        with writable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(content.encode() if isinstance(content, str) else content)
        return path

    def write_json(self, name: str, value: Any) -> Path:
        return self.write(
            name, msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"
        )

    def read_json(self, name: str) -> Any:
        """None: the file does not exist yet."""
        path = self.path / name
        try:
            return msgspec.json.decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{path}: cannot be read ({error}). Move it away and run again.") from None

    def set_aside(self, wanted: Iterable[Path]) -> int:
        """Move runs that are no longer needed to `superseded/` and return their number. Paid runs are never deleted."""
        keep = set(wanted)
        stale = [
            path for root in (self.runs, self.reference) for path in sorted(root.rglob("*.jsonl")) if path not in keep
        ]
        with writable(self.path):
            for path in stale:
                aside = self.path / "superseded" / path.relative_to(self.path)
                aside.parent.mkdir(parents=True, exist_ok=True)
                path.replace(aside)
        return len(stale)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Report disk errors in one line."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror or error}). Choose another place with --out."
        ) from None


@contextmanager
def hold_folder(path: Path, name: str) -> Iterator[ResultFolder]:
    """The folder at `path` for experiment `name`: created if absent, refused if it belongs to another or is in use."""
    folder = claim_folder(path, name)
    with sole_holder(path / ".lock") as free:
        if not free:
            raise UsageError(f"{path}: another process is running this experiment. Wait for it, or choose --out.")
        yield folder


def claim_folder(path: Path, name: str) -> ResultFolder:
    folder = ResultFolder(path)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: is a file. Results need a folder; choose another with --out.")
    mark = folder.read_json(MARK) if path.is_dir() else None
    if mark is None:
        if path.is_dir() and any(path.iterdir()):
            raise UsageError(
                f"{path}: is not empty, and is not the folder of an experiment. Choose another folder with --out."
            )
        folder.write_json(MARK, {"format": FORMAT, "name": name})
    else:
        _check_mark(path, mark, name)
    return folder


def open_folder(path: Path) -> ResultFolder:
    """The folder of an experiment that was run, for reading."""
    folder = ResultFolder(path)
    mark = folder.read_json(MARK) if path.is_dir() else None
    if mark is None:
        raise UsageError(f"{path}: there is no experiment here. `contramem lab experiment run FILE.toml` creates one.")
    _check_mark(path, mark, None)
    return folder


def _check_mark(path: Path, mark: Any, name: str | None) -> None:
    existing, format_ = (mark.get("name"), mark.get("format")) if isinstance(mark, dict) else (None, None)
    if type(format_) is not int or format_ > FORMAT:
        raise UsageError(f"{path}: was made by another contramem (results format {format_}, this one knows {FORMAT}).")
    if name is not None and existing != name:
        raise UsageError(
            f"{path}: holds the experiment {existing!r}, this is {name!r}. Choose another folder with --out."
        )


def file_name(text: str) -> str:
    """`text` as part of a file name: readable, and unique per text."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._")[:60]
    return plain if plain == text else f"{plain or 'x'}-{digest(text)[:6]}"
