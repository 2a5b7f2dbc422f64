"""Manifest: what a report was made from, so that somebody else can reproduce it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Input:
    """A file or folder that was read."""

    role: str
    """`base`, `memory`, `outcomes`, `bank` ..."""
    path: str
    files: int
    size: int
    """Bytes."""
    sha256: str
    """The digest of the file or, for a folder, of the sorted names and digests of its files."""


@dataclass(frozen=True)
class Manifest:
    """The footer of a report."""

    command: str
    inputs: tuple[Input, ...] = ()
    seed: int | None = None
    made: str = ""
    """When it was made, in UTC. Without it, reports of the same data have the same bytes."""
    more: tuple[tuple[str, str], ...] = ()
    """Other values that determine the result: a split, a model, a bank's content hash."""
    version: str = ""
    """The version of contramem; by default the running one."""

    @property
    def contramem(self) -> str:
        return self.version or version("contramem")


def inputs_of(role: str, paths: Iterable[Path]) -> tuple[Input, ...]:
    """Each path with its digest. Moving a folder does not change the digest; renaming a file in it does."""
    return tuple(_input(role, path) for path in paths)


def _input(role: str, path: Path) -> Input:
    if path.is_file():
        return Input(role, str(path), 1, path.stat().st_size, _digest(path))
    files = sorted(file for file in path.rglob("*") if file.is_file())
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(path).as_posix()}\0{_digest(file)}\n".encode("utf-8", "surrogateescape"))
    return Input(role, str(path), len(files), sum(file.stat().st_size for file in files), whole.hexdigest())


def _digest(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()
