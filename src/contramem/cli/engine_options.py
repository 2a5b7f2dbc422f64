"""Options that say where heavy work runs: on how many processors of this machine, or on a Ray cluster."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click

from contramem.cli.sections import ENGINE, SectionOption
from contramem.engine import Engine, open_engine

Command = TypeVar("Command", bound=Callable[..., Any])
_option = functools.partial(click.option, cls=SectionOption, section=ENGINE)


class EngineChoice(NamedTuple):
    """What the user chose."""

    name: str
    workers: int | None
    address: str | None

    @contextmanager
    def open(self) -> Iterator[Engine]:
        engine = open_engine(self.name, self.workers, self.address)
        try:
            yield engine
        finally:
            engine.close()


def workers_option(command: Command) -> Command:
    """Add --workers; the command gets `workers`."""
    return _option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Processes to work with; by default one for each processor. The result is the same with any number.",
    )(command)


def engine_options(command: Command) -> Command:
    """Add --workers, --engine and --address; the command gets `engine_choice`."""

    @functools.wraps(command)
    def with_engine(*, engine: str, workers: int | None, address: str | None, **rest: Any) -> Any:
        return command(engine_choice=EngineChoice(engine, workers, address), **rest)

    decorated: Any = _option("--address", metavar="A", help="Ray cluster to join, such as ray://head:10001.")(
        with_engine
    )
    decorated = _option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Where runs are contrasted: processes of this machine, or a Ray cluster.",
    )(decorated)
    return workers_option(decorated)  # type: ignore[no-any-return]
