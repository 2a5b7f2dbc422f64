"""Help in sections: what a command is about comes before the options it shares with others."""

from __future__ import annotations

from typing import Any

import click

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
