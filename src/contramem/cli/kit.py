"""What commands share: a command from a function's signature, one way to print what it returns, help in two lengths,
progress bars on standard error.

    @command(cards)
    def show(where: Annotated[str, "", "BANK"], *, brief: Annotated[bool, "Only the card."] = False) -> Report:
        \"\"\"Show a card.\"\"\"

Parameters are arguments, those after `*` are options; `Annotated[type, help, METAVAR, click type]` says the rest. A
function that returns a Report gets `--json`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import click
import msgspec

from contramem.progress import Progress

# rich is imported on use: help and JSON do without it.
if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

PIPED_WIDTH = 140
"""The width of tables that are written to a file or a pipe."""

READING = "How to read the files"
MODEL = "A model as author"
ENGINE = "Where to compute"
_OWN = "Options"


class Report(NamedTuple):
    """What a command found."""

    data: Any
    """For programs: what `--json` prints, or something with `as_json`."""
    parts: Iterable[RenderableType]
    """For people, one below the other."""
    failed: bool = False
    """Does the command end with exit code 1?"""


# Help


class SectionOption(click.Option):
    """An option that help lists under a heading of its own."""

    def __init__(self, *declarations: Any, section: str, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose own options come first in its help. With `common`, `--help` lists only these, `--help-all` the
    rest too."""

    def __init__(self, *arguments: Any, common: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._common = common
        if common:
            self.params.append(help_all_option())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_OWN: []}
        is_short = bool(self._common) and not ctx.meta.get(_HELP_ALL)
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                title = getattr(parameter, "section", _OWN)
                if not is_short:
                    sections.setdefault(title, []).append(record)
                elif parameter.opts[0].removeprefix("--") in (*self._common, "help", "-h", "help-all"):
                    sections[_OWN].append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


_HELP_ALL = "contramem.help_all"


def help_all_option() -> click.Option:
    """`--help-all`: help with everything that `--help` leaves out."""

    def show(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given:
            ctx.meta[_HELP_ALL] = True
            click.echo(ctx.get_help())
            ctx.exit()

    settings: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": show}
    return click.Option(["--help-all"], help="Show everything there is, and exit.", **settings)


def shows_all(ctx: click.Context) -> bool:
    """Was everything asked for?"""
    return bool(ctx.meta.get(_HELP_ALL))


# A command from a signature


def command(
    group: click.Group | None = None, name: str | None = None, *, common: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function, and add it to the group. Options of decorators below it come after its own."""

    def make(do: Callable[..., Any]) -> click.Command:
        signature = inspect.signature(do, eval_str=True)
        shared: list[click.Parameter] = list(reversed(getattr(do, "__click_params__", [])))
        parameters = [_parameter(each) for each in _own_parameters(do, signature)]
        if signature.return_annotation is not None:
            parameters.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
        arguments = [each for each in (*parameters, *shared) if isinstance(each, click.Argument)]
        options = [each for each in (*parameters, *shared) if not isinstance(each, click.Argument)]

        def run(*, as_json: bool = False, **given: Any) -> None:
            report = do(**given)
            if report is None:
                return
            print_json(report.data) if as_json else print_parts(report.parts)
            if report.failed:
                sys.exit(1)

        made = SectionedCommand(
            name or do.__name__.rstrip("_").replace("_", "-"), callback=run, params=[*arguments, *options],
            help=inspect.getdoc(do), common=common,
        )  # fmt: skip
        if group is not None:
            group.add_command(made)
        return made

    return make


_SHARED = frozenset({"options", "engine_choice", "by_model"})
"""Parameters that stand for several options: the decorators of reading.py, engine_options.py and models.py add them."""


def _own_parameters(do: Callable[..., Any], signature: inspect.Signature) -> list[inspect.Parameter]:
    """Those that no decorator gives."""
    given = {parameter.name for parameter in getattr(do, "__click_params__", [])} | _SHARED
    return [each for each in signature.parameters.values() if each.name not in given]


def _parameter(parameter: inspect.Parameter) -> click.Parameter:
    hint, *about = get_args(parameter.annotation) if get_origin(parameter.annotation) is Annotated else (
        parameter.annotation,
    )  # fmt: skip
    text, metavar, own = [*about, None, None, None][:3]
    has_default = parameter.default is not inspect.Parameter.empty
    many = get_origin(hint) is tuple
    kind = own or _click_type(hint)
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        count = -1 if many else 1
        return click.Argument([parameter.name], type=kind, nargs=count, metavar=metavar, required=not has_default)
    flag = f"--{parameter.name.rstrip('_').replace('_', '-')}"
    if hint is bool:
        return click.Option([flag, parameter.name], is_flag=True, help=text)
    default = {"default": parameter.default} if has_default else {"required": True}
    shown = has_default and not callable(parameter.default) and parameter.default not in (None, (), "")
    return click.Option([flag, parameter.name], type=kind, multiple=many, metavar=metavar, help=text,
                        show_default=shown, **default)  # fmt: skip


def _click_type(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        hint = get_args(hint)[0]
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    return click.Path(path_type=Path) if hint is Path else hint


# Printing


def print_json(value: Any) -> None:
    encoded = msgspec.json.encode(_as_data(value), enc_hook=_as_data)
    click.echo(msgspec.json.format(encoded, indent=2))  # bytes: UTF-8 whatever the locale


def _as_data(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def print_parts(parts: Iterable[RenderableType]) -> None:
    from rich.console import Console

    from contramem.bank.show import visible

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
    for part in parts:
        click.echo(visible(part)) if isinstance(part, str) else console.print(part)


def make_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows as a table: numbers to the right, the last column may wrap."""
    from rich.table import Table
    from rich.text import Text

    from contramem.bank.show import visible

    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, name in enumerate(rows[0] if rows else ()):
        is_number = isinstance(rows[0][name], int | float)
        is_last = place == len(rows[0]) - 1
        table.add_column(name, justify="right" if is_number else "left", no_wrap=not is_last, overflow="fold")
    for row in rows:
        table.add_row(
            *(f"{value:,}" if isinstance(value, int) else Text(visible(str(value))) for value in row.values())
        )
    return table


def plural(number: int, noun: str) -> str:
    """`1 run`, `1,408 runs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress bar for each stage, if stderr is a terminal."""
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
