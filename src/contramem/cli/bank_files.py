"""`contramem bank check` checks a store, `bank copy` copies it, and `bank forget` erases what some runs taught."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contramem.bank import acts
from contramem.bank.check import StoreCheck, check_store
from contramem.bank.forget import (
    Erasure,
    ForgetSelection,
    RebuiltBank,
    count_taught_cards,
    forget_calls,
    forget_runs,
    search_files,
)
from contramem.bank.locate import is_url, store_only, without_password
from contramem.cli.output import print_json
from contramem.cli.reading import how_to_read, plural, read_pool
from contramem.cli.review import by_option
from contramem.cli.sections import SectionedCommand
from contramem.errors import UsageError
from contramem.scratch import ScratchFolder
from contramem.traces.reader import ReadOptions
from contramem.traces.task_key import TaskKey

if TYPE_CHECKING:
    from contramem.bank.bank import Bank
    from contramem.traces.trajectory import Trajectory

LISTED = 10


@click.command(cls=SectionedCommand)
@click.argument("where", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(where: str, as_json: bool) -> None:
    """Check the file of STORE, the hash chain of its ledger, and its cards against the ledger.

    Nothing is changed. Ends with exit code 1 if something is wrong.
    """
    if is_url(where):
        raise UsageError("this checks SQLite files; a PostgreSQL server checks its own (pg_amcheck).")
    checked = check_store(Path(where))
    if as_json:
        print_json({**asdict(checked), "is_whole": checked.is_whole})
    else:
        click.echo("\n".join(_describe(where, checked)))
    if not checked.is_whole:
        raise SystemExit(1)


def _describe(where: str, checked: StoreCheck) -> Iterator[str]:
    if checked.is_whole:
        yield f"{where}: whole. {checked.decisions} decisions in one chain, {checked.cards} cards as the ledger says."
        return
    yield f"{where}: damaged. {checked.decisions} decisions and {checked.cards} cards can be read."
    yield from (f"- {complaint}" for complaint in checked.damage[:LISTED])
    if checked.unreadable_decisions:
        yield f"- decisions that cannot be read: {_list(checked.unreadable_decisions)}"
    if checked.missing_decisions:
        yield f"- decisions that are missing: {_list(checked.missing_decisions)}"
    if checked.chain_broken_at is not None:
        yield f"- the hash chain breaks at decision {checked.chain_broken_at}: it or the one before was changed or lost"
    if checked.unreadable_cards:
        yield f"- cards that cannot be read: {checked.unreadable_cards}"
    if checked.differing_cards:
        yield f"- cards that are not what the ledger says: {_list(checked.differing_cards)}"
    if checked.unreadable_calls:
        yield f"- kept calls of models that cannot be read: {checked.unreadable_calls}"
    yield "Restore it from a copy; without one, build it again from its runs, or import a frozen bank into a new store."


def _list(items: tuple[int, ...] | tuple[str, ...]) -> str:
    listed = ", ".join(map(str, items[:LISTED]))
    return f"{listed} and {len(items) - LISTED} more" if len(items) > LISTED else listed


@click.command(cls=SectionedCommand)
@click.argument("source", metavar="STORE")
@click.argument("target", metavar="NEW")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy STORE to NEW, from SQLite to PostgreSQL or back: cards, ledger with its seals, progress, calls of models.

    NEW is a path or a postgresql:// URL at which there is no store yet, or an empty one.
    """
    from contramem.bank.copy_store import copy_store
    from contramem.bank.store import open_store

    with open_store(store_only(source)) as old, open_store(target, create=True) as new:
        rows = copy_store(old, new)
    if as_json:
        print_json({"rows": rows})
    else:
        decisions, cards = rows["contramem_decisions"], rows["contramem_cards"]
        click.echo(f"{without_password(target)}: {decisions:,} decisions and {cards:,} cards.")


@click.command(cls=SectionedCommand)
@click.argument("where", metavar="STORE")
@click.option("--source", metavar="S", help="Forget the runs of this model or agent.")
@click.option("--task", metavar="ID", help="Forget the runs of this task: its id or its key.")
@click.option("--run", metavar="N", help="Forget this trial only.")
@click.option("--calls", is_flag=True, help="Only erase all kept prompts and replies of models; their costs stay.")
@click.option("--runs", "paths", multiple=True, metavar="PATH", type=click.Path(path_type=Path),
              help="Runs that the bank was built from: cards are built again from those that are left.")  # fmt: skip
@click.option("--serve", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Frozen bank to rewrite; the earlier banks kept beside it are removed.")  # fmt: skip
@click.option("--search", "searched", multiple=True, metavar="PATH", type=click.Path(path_type=Path, exists=True),
              help="Search these files and folders too (exports, logs, recordings).")  # fmt: skip
@how_to_read
@by_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def forget(
    where: str,
    source: str | None,
    task: str | None,
    run: str | None,
    calls: bool,
    paths: tuple[Path, ...],
    serve: Path | None,
    searched: tuple[Path, ...],
    options: ReadOptions,
    name: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase from STORE what the given runs taught, and prove it by a search.

    Cards that rest on such a run, what the ledger says about them, all kept prompts and replies, and the runs that
    commands keep in .contramem/ are removed for good; there is no undo. Several options select the runs to which all of
    them apply. Other files are searched and not changed. Ends with exit code 1 if something is left.
    """
    from contramem.bank.store import open_store

    if calls:
        _forget_calls(where, yes)
        return
    selection = ForgetSelection(*_as_stored(source, task, run))
    if not yes:
        _confirm_forgetting(where, selection, bool(paths))
    rebuild = (lambda: _rebuild(selection, paths, options)) if paths else None
    with open_store(store_only(where)) as store, store.writing("bank forget"):
        erased = forget_runs(store, selection, acts.person(name), rebuild)
        erased = _forget_files(erased, store.bank(), serve, searched)
    print_json(_erasure_json(erased)) if as_json else click.echo(_describe_erasure(erased, bool(paths)))
    if erased.left:
        raise SystemExit(1)


def _as_stored(source: str | None, task: str | None, run: str | None) -> tuple[str | None, str | None, str | None]:
    """The names as a store keeps them: one that identifies somebody was replaced by a digest when its run was read."""
    from contramem.traces.plain_names import plain_key, plain_source

    return (
        plain_source(source) if source else source,
        plain_key(task) if task else task,
        plain_source(run) if run else run,
    )


def _confirm_forgetting(where: str, selection: ForgetSelection, will_rebuild: bool) -> None:
    from contramem.bank.store import open_store

    with open_store(store_only(where)) as store:
        taught, cards = count_taught_cards(store, selection)
    rest = "those that other runs teach are built again" if will_rebuild else "none is built again without --runs"
    question = f"{taught} of {cards} cards in {where} rest on these runs; {rest}. Erase them? This cannot be undone."
    click.confirm(question, abort=True, err=True)


def _forget_calls(where: str, yes: bool) -> None:
    from contramem.bank.store import open_store

    if not yes:
        click.confirm(
            f"Erase all kept prompts and replies from {where}? A resumed build pays again.", abort=True, err=True
        )
    with open_store(store_only(where)) as store, store.writing("bank forget"):
        erased = forget_calls(store)
    click.echo(f"The prompts and replies of {erased} calls are gone; their costs are kept.")


def _rebuild(selection: ForgetSelection, paths: tuple[Path, ...], options: ReadOptions) -> RebuiltBank:
    """Build cards from the remaining runs, by rules."""
    from contramem.bank.store import open_store
    from contramem.pipeline import learn

    with read_pool(paths, options) as pool, ScratchFolder("forget") as folder:
        runs = (run for task in pool for run in task if not _is_selected(run, selection))
        with open_store(folder / "rest.db", create=True) as rest:
            learn(runs, rest)
            return RebuiltBank(rest.bank(), rest.ledger())


def _is_selected(run: Trajectory, selection: ForgetSelection) -> bool:
    return (
        (selection.source is None or run.source == selection.source)
        and (selection.task is None or TaskKey.parse(run.task_key).is_named(selection.task))
        and (selection.run is None or run.run == selection.run)
    )


def _forget_files(erased: Erasure, bank: Bank, serve: Path | None, searched: tuple[Path, ...]) -> Erasure:
    """Remove runs kept by other commands, serve the new bank, and search the files outside the store."""
    from contramem.bank.frozen import freeze, load_frozen
    from contramem.bank.kept_banks import forget_banks
    from contramem.kept_work import forget_work
    from contramem.study.run_cache import FOLDER, forget_kept_runs

    files = [*searched, *([FOLDER.parent] if FOLDER.parent.is_dir() else [])]
    kept_runs, kept_banks = forget_kept_runs() + forget_work(), 0
    if serve is not None:
        header = load_frozen(serve, allow_edited=True).header if serve.exists() else None
        profiles = (header.profile, header.ability_profiles) if header else ("default", {})
        kept_banks = forget_banks(serve, freeze(bank, *profiles))
        files.append(serve)
    size, left = search_files(files, erased.searched_for)
    return replace(
        erased,
        searched_bytes=erased.searched_bytes + size,
        left=(*erased.left, *left),
        kept_runs=kept_runs,
        kept_banks=kept_banks,
    )


def _erasure_json(erased: Erasure) -> dict[str, object]:
    return {**asdict(erased), "searched_for": len(erased.searched_for)}


def _describe_erasure(erased: Erasure, was_rebuilt: bool) -> str:
    lines = [
        f"Erased {plural(len(erased.cards), 'card')} and the text of {plural(erased.decisions, 'decision')} that these "
        f"runs taught, and the prompts and replies of {plural(erased.calls, 'call')}."
    ]
    if erased.kept_runs or erased.kept_banks:
        lines.append(
            f"Removed {plural(erased.kept_runs, 'set')} of kept runs and {plural(erased.kept_banks, 'earlier bank')}."
        )
    lines.append(
        f"Searched {erased.searched_bytes:,} bytes for {len(erased.searched_for)} names and sentences: "
        + ("none is left." if not erased.left else f"{len(erased.left)} are left: {'; '.join(erased.left[:LISTED])}")
    )
    if was_rebuilt:
        lines.append(f"Built {plural(len(erased.rebuilt), 'card')} again from the other runs.")
    elif erased.cards:
        lines.append("Give --runs PATH to build cards again that other runs teach too.")
    return "\n".join(lines)
