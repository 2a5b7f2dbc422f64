"""What commands share: help in sections, JSON on standard output, progress bars on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from contramem.progress import Progress


def print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))  # bytes: UTF-8 whatever the locale


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress bar for each stage, if stderr is a terminal."""
    # Imported here, because most commands show no progress bar.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    with Bars(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bars:  # fmt: skip
        stages: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total)
            bars.update(stages[stage], completed=done)

        yield tell


READING = "How to read the files"
MODEL = "A model as author"
ENGINE = "Where to compute"
_OWN = "Options"


class SectionOption(click.Option):
    """An option that `--help` lists under a heading of its own."""

    def __init__(self, *declarations: Any, section: str, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose own options come first in `--help`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_OWN: []}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                sections.setdefault(getattr(parameter, "section", _OWN), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
