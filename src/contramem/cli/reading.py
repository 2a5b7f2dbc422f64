"""Options, progress and error reports shared by all commands that read traces."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from contramem.cli.kit import READING, SectionOption
from contramem.engine import SERIAL, Engine
from contramem.errors import UsageError
from contramem.traces.doctor import ReadingVerdict, judge_reading
from contramem.traces.effects import read_effects
from contramem.traces.map import check_location, is_location, read_map
from contramem.traces.outcomes import RULES, read_outcomes
from contramem.traces.read import TraceReading, read_traces, readers
from contramem.traces.reader import Problem, ReadOptions
from contramem.traces.trajectory import Tool, Trajectory

if TYPE_CHECKING:
    from contramem.collection.runs import Collection

SHOWN_PROBLEMS = 10

Command = TypeVar("Command", bound=Callable[..., Any])

_option = functools.partial(click.option, cls=SectionOption, section=READING)
_OPTIONS = (
    _option("--format", "format_", metavar="F", help="Read the files as this format instead of detecting it."),
    _option(
        "--map",
        "fields",
        metavar="FIELD=PATH|FILE",
        multiple=True,
        help="Where to find a field, such as outcome=scores.final, or a TOML file that says so of several.",
    ),
    _option(
        "--outcomes", type=click.Path(path_type=Path), metavar="FILE", help="CSV file with the outcomes: run, passed."
    ),
    _option(
        "--rule",
        type=click.Choice(sorted(RULES)),
        help="Judge sessions of coding agents by what they ran last, where no verdict is known.",
    ),
    _option("--app", metavar="A", help="App that every function belongs to, as in A.function."),
    _option("--ability", metavar="A", help="Ability (kind of task) of every task."),
    _option(
        "--effects",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="TOML file: which functions read, which write.",
    ),
    _option("--strict", is_flag=True, help="End with exit code 1 if a file or a run cannot be read."),
)


def reading_options(command: Command) -> Command:
    """Add PATH... and the reading options; the command gets `paths` and `options`."""
    argument = click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
    return argument(how_to_read(command))


def optional_paths(command: Command) -> Command:
    """Like `reading_options`, but PATH is optional."""
    argument = click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(path_type=Path))
    return argument(how_to_read(command))


def how_to_read(command: Command) -> Command:
    """Add the reading options; the command gets `options`."""

    @functools.wraps(command)
    def with_options(
        *,
        format_: str | None,
        fields: tuple[str, ...],
        outcomes: Path | None,
        rule: str | None,
        app: str | None,
        ability: str | None,
        effects: Path | None,
        strict: bool,
        **rest: Any,
    ) -> Any:
        maps = [read_map(Path(pair)) for pair in fields if _is_map_file(pair)]
        places = {name: place for each in maps for name, place in each.fields.items()}
        options = ReadOptions(
            format=format_ or next((each.format for each in maps if each.format), None),
            fields=places | dict(_field(pair) for pair in fields if not _is_map_file(pair)),
            outcome_words={word: means for each in maps for word, means in each.outcomes.items()},
            source_names={name: called for each in maps for name, called in each.sources.items()},
            outcomes=read_outcomes(outcomes) if outcomes else None,
            rule=rule,
            app=app,
            ability=ability,
            effects=read_effects(effects) if effects else {},
            strict=strict,
        )
        return command(options=options, **rest)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def collect_options(context: click.Context) -> tuple[str, ...]:
    """The reading options that the user gave, as written on a command line."""
    arguments: list[str] = []
    for option in ("format_", "fields", "outcomes", "rule", "app", "ability", "effects"):
        value = context.params.get(option)
        name = {"format_": "--format", "fields": "--map"}.get(option, f"--{option}")
        for item in value if isinstance(value, tuple) else (value,) if value is not None else ():
            arguments += [name, str(item)]
    return tuple(arguments)


def _is_map_file(pair: str) -> bool:
    return pair.endswith(".toml") and "=" not in pair


def _field(pair: str) -> tuple[str, str]:
    name, equals, path = pair.partition("=")
    if not (name and equals and path):
        raise UsageError(f"--map takes field=path, for example outcome=scores.final; got {pair!r}.")
    if is_location(path):
        check_location(name, path)
    return name, path


@contextmanager
def reading(paths: tuple[Path, ...], options: ReadOptions) -> Iterator[TraceReading]:
    """Read traces, with a progress bar on stderr if it is a terminal."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TextColumn("files"), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as progress:  # fmt: skip
        bar = progress.add_task("reading", total=None)
        yield read_traces(paths, options, lambda done, total: progress.update(bar, completed=done, total=total))


@contextmanager
def collect_runs(
    paths: tuple[Path, ...],
    options: ReadOptions,
    sources: str | None = None,
    tools: dict[str, Tool] | None = None,
    engine: Engine = SERIAL,
    kept: Path | None = None,
    trusts: bool | None = None,
) -> Iterator[Collection]:
    """The runs under `paths`, limited to `sources` (comma-separated). Raises an error if there are none.

    Descriptions of tools in the runs are added to `tools`. What is read is `kept` in this file for the next time. Where
    it matters whether the user `trusts` the reading, the verdict on it is shown, and a grave doubt refused.
    """
    # Imported on use: commands that only look at runs don't wait for what collects them.
    from contramem.collection.collect import collect
    from contramem.collection.runs import open_collection

    with open_collection(kept) as collection:
        with reading(paths, options) as files:
            runs = collect(files, collection, engine, None if sources is None else frozenset(_split_names(sources)))
        if sources is not None:
            _check_sources(_split_names(sources), runs.sources, "--sources")
        complain(files.problems, files.problem_count, nothing_read=not len(collection), strict=options.strict)
        if tools is not None:
            tools.update(runs.tools.by_function())
            report_disputed(runs.tools.find_disputed())
        if not len(collection):
            raise nothing_read_error(files.problems, files.ignored)
        if trusts is not None:
            verdict = judge_reading(files)
            show_reading(verdict, Console(stderr=True))
            if verdict.grave and not trusts:
                raise untrusted_error(verdict)
        yield collection


def show_reading(verdict: ReadingVerdict, console: Console) -> None:
    """What a run, a call, an outcome and a source are, and what is suspicious about it."""
    for name in ("run", "call", "outcome", "source"):
        console.print(
            f"[bold]{name.capitalize():<9}[/] {escape(getattr(verdict, name))}", highlight=False, soft_wrap=True
        )
    for doubt in verdict.doubts:
        label = "[bold red]Grave[/]    " if doubt.severity == "grave" else "[bold yellow]Doubt[/]    "
        place = f" (for example {doubt.place})" if doubt.place else ""
        told = f"{label} [yellow]{escape(doubt.what + place)}.[/] {escape(doubt.hint)}"
        console.print(told, highlight=False, soft_wrap=True)


def reading_as_json(verdict: ReadingVerdict) -> dict[str, Any]:
    told = {name: getattr(verdict, name) for name in ("run", "call", "outcome", "source")}
    return {**told, "doubts": [doubt._asdict() for doubt in verdict.doubts]}


def untrusted_error(verdict: ReadingVerdict) -> UsageError:
    """The error for a reading that nothing should be learned from."""
    told = "; ".join(doubt.what for doubt in verdict.grave)
    return UsageError(
        f"the files may be misread: {told}. Check it with contramem doctor, or pass --trust-reading if it is right."
    )


def select_sources(runs: TraceReading, sources: str | None, option: str = "--sources") -> Iterator[Trajectory]:
    """The runs of `sources` (comma-separated); all runs if None."""
    if sources is None:
        yield from runs
        return
    wanted, present = _split_names(sources), set()
    for run in runs:
        present.add(run.source)
        if run.source in wanted:
            yield run
    _check_sources(wanted, present, option)


def _split_names(sources: str) -> set[str]:
    return {name.strip() for name in sources.split(",")}


def _check_sources(wanted: set[str], present: set[str], option: str) -> None:
    if present and (unknown := sorted(wanted - present)):
        named, names = ", ".join(map(repr, unknown)), ", ".join(sorted(present))
        raise UsageError(f"{option}: there are no runs by {named}. The sources here are {names}.")


def complain(problems: list[Problem], count: int, *, nothing_read: bool = False, strict: bool = False) -> None:
    """Report on stderr what could not be read, the first problems in full. A single problem that left nothing to read
    is not reported here, because the final error has it. With `strict`, any problem ends the command."""
    if nothing_read and count == 1:
        return
    for problem in problems[:SHOWN_PROBLEMS]:
        click.secho(str(problem), err=True, fg="yellow")
    if count > SHOWN_PROBLEMS:
        click.secho(f"... and {count - SHOWN_PROBLEMS} more; --json lists them.", err=True, fg="yellow")
    if strict:
        refuse_problems(count)


def refuse_problems(count: int) -> None:
    """End the command if something could not be read."""
    if count:
        raise UsageError(f"{plural(count, 'problem')} in what was read, and --strict allows none.")


def report_disputed(functions: tuple[str, ...]) -> None:
    """Warn about functions that runs describe differently: one of the descriptions may have been tampered with."""
    if functions:
        listed = ", ".join(functions[:3]) + (", ..." if len(functions) > 3 else "")
        message = f"Runs describe {plural(len(functions), 'function')} in different ways ({listed}); the description"
        click.secho(f"{message} that most sources give counts.", err=True, fg="yellow")


def plural(number: int, noun: str) -> str:
    """`1 run`, `1,408 runs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def nothing_read_error(problems: list[Problem], ignored: int) -> UsageError:
    """The error for input without any runs."""
    if problems:
        return UsageError(f"no run could be read. First problem: {problems[0]}")
    if ignored:
        return UsageError(
            f"no traces among {plural(ignored, 'file')}. If they are of a known format, name it with --format "
            f"({', '.join(readers())}); docs/formats.md says how to read others."
        )
    return UsageError("the folder is empty.")
