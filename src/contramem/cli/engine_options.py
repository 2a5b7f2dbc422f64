"""Options for where heavy work runs: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from contramem.bank.frozen import is_url
from contramem.cli.kit import ENGINE, SectionOption
from contramem.collection.runs import collection_beside
from contramem.engine import Engine, open_engine

Command = TypeVar("Command", bound=Callable[..., Any])
MIN_KEPT_BYTES = 8 << 20
_option = functools.partial(click.option, cls=SectionOption, section=ENGINE)


class EngineChoice(NamedTuple):
    """The engine that the user chose."""

    name: str
    workers: int | None
    address: str | None
    cache: Path | None = None
    """The file in which what was read is kept. None: beside the store."""
    is_cached: bool = True

    def keep(self, paths: Iterable[Path], store: str) -> Path | None:
        """The file in which what is read is kept. None for few runs, which are read again in a moment."""
        if not self.is_cached or (self.cache is None and (is_url(store) or not are_many(paths))):
            return None
        return self.cache or collection_beside(Path(store))

    @contextmanager
    def open(self) -> Iterator[Engine]:
        engine = open_engine(self.name, self.workers, self.address)
        try:
            yield engine
        finally:
            engine.close()


def are_many(paths: Iterable[Path]) -> bool:
    """Do the files hold more than a few megabytes?"""
    size = 0
    for path in paths:
        for folder, _, names in os.walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
            for name in names:
                with suppress(OSError):
                    size += Path(folder, name).stat().st_size
                if size >= MIN_KEPT_BYTES:
                    return True
    return False


def workers_option(command: Command) -> Command:
    """Add --workers; the command gets `workers`."""
    return _option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Processes to work with; by default one for each processor. The result is the same with any number.",
    )(command)


def engine_options(command: Command) -> Command:
    """Add --workers, --engine, --address, --cache and --no-cache; the command gets `engine_choice`."""

    @functools.wraps(command)
    def with_engine(
        *, engine: str, workers: int | None, address: str | None, cache: Path | None, no_cache: bool, **rest: Any
    ) -> Any:
        return command(engine_choice=EngineChoice(engine, workers, address, cache, not no_cache), **rest)

    decorated: Any = _option("--no-cache", is_flag=True, help="Compute everything, and keep nothing of it.")(
        with_engine
    )
    decorated = _option(
        "--cache",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File that keeps what was read and contrasted, so that the next build computes only what is new. The "
        "result is the same without it. By default beside the store, for more than 8 MB of runs.",
    )(decorated)
    decorated = _option("--address", metavar="A", help="Ray cluster to join, such as ray://head:10001.")(decorated)
    decorated = _option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Where runs are contrasted: processes of this machine, or a Ray cluster.",
    )(decorated)
    return workers_option(decorated)  # type: ignore[no-any-return]
