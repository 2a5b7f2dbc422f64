"""`contramem bank`: a bank as a whole. Count, compare, import, copy, check, erase."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from contramem.bank.acts import find_base, import_edits
from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
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
from contramem.bank.frozen import is_url, load_frozen, store_only, without_password
from contramem.bank.ledger import Decision
from contramem.bank.show import BankSummary, bank_difference, difference_text, entry_json, summarize, visible
from contramem.cli import Group
from contramem.cli.cards import BankPath, By, StorePath, open_bank, read_ledger, say_doubts, sign
from contramem.cli.kit import Report, command, plural
from contramem.cli.reading import collect_runs, how_to_read
from contramem.errors import UsageError
from contramem.scratch import ScratchFolder
from contramem.traces.reader import ReadOptions
from contramem.traces.task_key import TaskKey

if TYPE_CHECKING:
    from contramem.bank.store import Store
    from contramem.build.recheck import Finding
    from contramem.traces.trajectory import Trajectory

LISTED = 10
"""How many names are listed; `--json` has all."""
LISTED_DROPPED = 20


@click.group(cls=Group)
def bank() -> None:
    """Count, compare, import, copy, check and erase: a bank as a whole. `contramem cards` has its cards.

    STORE is a SQLite path or a PostgreSQL URL; BANK is a STORE or a frozen file.
    """


@command(bank)
def show(where: BankPath) -> Report:
    """Summarize BANK: cards by ability, decisions by operation, refusals by reason."""
    summary = summarize(open_bank(where), read_ledger(where))
    return Report(summary, _summary_lines(where, summary))


def _summary_lines(where: str, summary: BankSummary) -> Iterator[str]:
    yield without_password(where)
    yield f"function cards: {summary.functions}"
    yield f"skill cards: {sum(summary.skills.values())} ({_tally(summary.skills)})"
    yield f"status: {_tally(summary.statuses)}"
    yield f"sha256: {summary.content_sha256}"
    if summary.operations or summary.refused:
        yield f"decisions: {_tally(summary.operations)}"
        yield f"refused: {_tally(summary.refused)}"
        yield f"not yet reviewed: {summary.unreviewed}"
    if summary.cost_usd:
        yield f"spent: ${summary.cost_usd:.2f}"


def _tally(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.items()) or "none"


@command(bank)
def diff(left: BankPath, right: BankPath) -> Report:
    """Show how the active cards of two banks differ."""
    difference = bank_difference(open_bank(left), open_bank(right))
    return Report(difference, [difference_text(difference) if difference else "The two banks serve the same cards."])


@command(bank, name="import")
def import_(
    where: StorePath,
    file: Annotated[Path, None, None, click.Path(path_type=Path, dir_okay=False)],
    *,
    by: By = "",
    yes: Annotated[bool, "Retire cards that FILE no longer has without asking."] = False,
) -> Report:
    """Bring the edits made to a frozen FILE (in a pull request, say) into STORE, one decision for each card.

    If FILE lacks cards that it had when it was frozen, they are listed, and you are asked before they are retired.
    """
    from contramem.bank.store import open_store

    frozen = load_frozen(file, allow_edited=True)
    with open_store(where, create=True) as store, store.writing("bank import"):
        before = store.bank()
        base = find_base(before, store.ledger(), frozen.header.content_sha256)
        decisions = import_edits(before, base, frozen, sign(by), file.name)
        if not yes:
            _confirm_dropping(decisions, before, file)
        entries = store.record(*decisions)
    for entry in entries:
        say_doubts(entry, before, where)
    lines = [f"decision {each.number}: {', '.join(each.decision.card_ids)} {each.decision.reason}" for each in entries]
    return Report(list(map(entry_json, entries)), lines or [f"{file}: no differences from the store."])


def _confirm_dropping(decisions: tuple[Decision, ...], before: Bank, file: Path) -> None:
    """List the cards that an import would retire, and continue only if the user agrees."""
    changes = [change for decision in decisions for change in decision.changes]
    dropped = [change.card_id for change in changes if change.after.status == "retired" and change.before is not None]
    if not dropped:
        return
    for card_id in dropped[:LISTED_DROPPED]:
        card = before.entries[card_id].card
        title = card.title if isinstance(card, SkillCard) else card.what_it_does
        click.echo(f"- {visible(card_id)}  {visible(title)}", err=True)
    if len(dropped) > LISTED_DROPPED:
        click.echo(f"  ... and {len(dropped) - LISTED_DROPPED} more", err=True)
    question = f"{file} lacks {len(dropped)} of {len(before.cards)} cards of the store. Retire them?"
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Say so with --yes. Nothing was imported.")
    if not click.confirm(question, err=True):
        raise UsageError("Nothing was imported.")


@command(bank)
def cost(
    where: StorePath, *, call: Annotated[str | None, "Show one exchange: the stored prompt and reply.", "ID"] = None
) -> Report:
    """Show what the model calls behind STORE cost, next to the paper's figures."""
    from contramem.bank.store import open_store
    from contramem.cli.build_cost import cost_json, cost_table, exchange_json, exchange_text

    with open_store(store_only(where)) as store:
        calls = store.calls()
    if call is not None:
        return Report(exchange_json(calls, call), [exchange_text(calls, call)])
    return Report(cost_json(calls), [cost_table(calls)])


@command(bank)
def copy(store: StorePath, new: Annotated[str, None, "NEW"]) -> Report:
    """Copy STORE to NEW, from SQLite to PostgreSQL or back: cards, ledger with its seals, progress, calls of models.

    NEW is a path or a postgresql:// URL at which there is no store yet, or an empty one.
    """
    from contramem.bank.store import open_store
    from contramem.bank.tables import copy_store

    with open_store(store_only(store)) as source, open_store(new, create=True) as target:
        rows = copy_store(source, target)
    decisions, cards = rows["contramem_decisions"], rows["contramem_cards"]
    return Report({"rows": rows}, [f"{without_password(new)}: {decisions:,} decisions and {cards:,} cards."])


@click.command()
@click.argument("served", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--to", type=int, metavar="N", help="Number of the bank (default: the one before that was never taken back)."
)
@click.option("--list", "only_list", is_flag=True, help="Show the banks that are kept, and change nothing.")
def rollback(served: Path, to: int | None, only_list: bool) -> None:
    """Go back to an earlier bank that `contramem watch` kept beside FILE."""
    from contramem.bank.acts import kept_banks, roll_back

    if only_list:
        for kept in kept_banks(served):
            click.echo(f"{kept.number:>6}  sha256 {kept.content}")
        return
    again = roll_back(served, to)
    click.echo(f"{served} is bank {again.number} again, sha256 {again.content}.")


bank.add_command(rollback)


# Checks


@command(bank)
@how_to_read
def validate(
    where: StorePath,
    paths: Annotated[tuple[Path, ...], None, "[PATH]..."] = (),
    *,
    sources: Annotated[str | None, "Only the runs of these sources, as in the build.", "A,B"] = None,
    options: ReadOptions,
) -> Report:
    """Check every active card again: its text, and its claims about the runs under PATH... that taught it.

    Give the runs that the bank was built from. A card whose runs are not among them is checked as far as its text
    goes, and counted as unchecked. Ends with exit code 1 if a card is refused.
    """
    from contramem.bank.store import open_store
    from contramem.build.recheck import recheck
    from contramem.collection.runs import Collection
    from contramem.contrast.packets import contrast_all
    from contramem.contrast.vocabulary import Vocabulary
    from contramem.validate.validator import Validator

    with open_store(store_only(where)) as store:
        bank, ledger = store.bank(), store.ledger()
    with collect_runs(paths, options, sources) if paths else Collection() as collection:
        vocabulary = Vocabulary(collection)
        findings = recheck(bank, ledger, contrast_all(collection, vocabulary), Validator(vocabulary.public))
    return Report(_findings_json(findings), _summarize(findings), any(finding.refusals for finding in findings))


def _findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    refused = [finding for finding in findings if finding.refusals]
    return {
        "cards": len(findings),
        "refused": len(refused),
        "unchecked": sum(not finding.checked for finding in findings),
        "refusals": dict(sorted(Counter(r.check for finding in refused for r in finding.refusals).items())),
        "findings": [
            {
                "card_id": finding.card_id,
                "refusals": [refusal._asdict() for refusal in finding.refusals],
                "checked": finding.checked,
                "tasks": finding.tasks,
                "missing": list(finding.missing),
            }
            for finding in findings
            if finding.refusals or not finding.checked
        ],
    }


def _summarize(findings: Sequence[Finding]) -> list[str]:
    """One line for each refused card, and a last one with the counts."""
    refused = [finding for finding in findings if finding.refusals]
    lines = [f"{finding.card_id}: {' '.join(map(str, finding.refusals))}" for finding in refused]
    unchecked = [finding for finding in findings if not finding.checked]
    lines.append(f"{len(findings)} cards: {len(refused) or 'none'} refused, {len(unchecked) or 'none'} unchecked.")
    if any(finding.missing for finding in unchecked):
        lines.append("Unchecked: the runs that taught a card are not all among those given, or have changed since.")
    if without_guard := [finding.card_id for finding in unchecked if not finding.tasks]:
        more = f" and {len(without_guard) - LISTED} more" if len(without_guard) > LISTED else ""
        listed = ", ".join(without_guard[:LISTED]) + more
        lines.append(f"Unchecked, because they have no guard, or no runs taught them: {listed}.")
    return lines


@command(bank)
def check(store: StorePath) -> Report:
    """Check the file of STORE, the hash chain of its ledger, and its cards against the ledger.

    Nothing is changed. Ends with exit code 1 if something is wrong.
    """
    if is_url(store):
        raise UsageError("this checks SQLite files; a PostgreSQL server checks its own (pg_amcheck).")
    checked = check_store(Path(store))
    return Report({**asdict(checked), "is_whole": checked.is_whole}, _describe(store, checked), not checked.is_whole)


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


# Erasure


@command(bank)
@how_to_read
def forget(
    where: StorePath,
    *,
    source: Annotated[str | None, "Forget the runs of this model or agent.", "S"] = None,
    task: Annotated[str | None, "Forget the runs of this task: its id or its key.", "ID"] = None,
    run: Annotated[str | None, "Forget this trial only.", "N"] = None,
    calls: Annotated[bool, "Only erase all kept prompts and replies of models; their costs stay."] = False,
    runs: Annotated[
        tuple[Path, ...], "Runs that the bank was built from: cards are built again from those that are left.", "PATH"
    ] = (),
    serve: Annotated[
        Path | None,
        "Frozen bank to rewrite; the earlier banks kept beside it are removed.",
        "FILE",
        click.Path(path_type=Path, dir_okay=False),
    ] = None,
    search: Annotated[
        tuple[Path, ...],
        "Search these files and folders too (exports, logs, recordings).",
        "PATH",
        click.Path(path_type=Path, exists=True),
    ] = (),
    by: By = "",
    yes: Annotated[bool, "Do not ask."] = False,
    options: ReadOptions,
) -> Report:
    """Erase from STORE what the given runs taught, and prove it by a search.

    Cards that rest on such a run, what the ledger says about them, all kept prompts and replies, and the runs that
    commands keep in .contramem/ are removed for good; there is no undo. Several options select the runs to which all of
    them apply. Other files are searched and not changed. Ends with exit code 1 if something is left.
    """
    from contramem.bank.store import open_store

    if calls:
        erased_calls = _forget_calls(where, yes)
        line = f"The prompts and replies of {erased_calls} calls are gone; their costs are kept."
        return Report({"calls": erased_calls}, [line])
    selection = ForgetSelection(*_as_stored(source, task, run))
    if not yes:
        _confirm_forgetting(where, selection, bool(runs))
    rebuild = (lambda: _rebuild(selection, runs, options)) if runs else None
    with open_store(store_only(where)) as store, store.writing("bank forget"):
        erased = forget_runs(store, selection, sign(by), rebuild)
        erased = _forget_files(erased, store, serve, search)
    data = {**asdict(erased), "searched_for": len(erased.searched_for)}
    return Report(data, _describe_erasure(erased, bool(runs)), bool(erased.left))


def _as_stored(source: str | None, task: str | None, run: str | None) -> tuple[str | None, str | None, str | None]:
    """The names as a store keeps them: one that identifies somebody was replaced by a digest when its run was read."""
    from contramem.traces.sanitize import plain_key, plain_label

    return (
        plain_label(source) if source else source,
        plain_key(task) if task else task,
        plain_label(run) if run else run,
    )


def _confirm_forgetting(where: str, selection: ForgetSelection, will_rebuild: bool) -> None:
    from contramem.bank.store import open_store

    with open_store(store_only(where)) as store:
        taught, cards = count_taught_cards(store, selection)
    rest = "those that other runs teach are built again" if will_rebuild else "none is built again without --runs"
    question = f"{taught} of {cards} cards in {where} rest on these runs; {rest}. Erase them? This cannot be undone."
    click.confirm(question, abort=True, err=True)


def _forget_calls(where: str, yes: bool) -> int:
    from contramem.bank.store import open_store

    if not yes:
        question = f"Erase all kept prompts and replies from {where}? A resumed build pays again."
        click.confirm(question, abort=True, err=True)
    with open_store(store_only(where)) as store, store.writing("bank forget"):
        return forget_calls(store)


def _rebuild(selection: ForgetSelection, paths: tuple[Path, ...], options: ReadOptions) -> RebuiltBank:
    """Build cards from the remaining runs, by rules."""
    from contramem.bank.store import open_store
    from contramem.pipeline import learn

    with collect_runs(paths, options) as collection, ScratchFolder("forget") as folder:
        runs = (run for task in collection for run in task if not _is_selected(run, selection))
        with open_store(folder / "rest.db", create=True) as rest:
            learn(runs, rest)
            return RebuiltBank(rest.bank(), rest.ledger())


def _is_selected(run: Trajectory, selection: ForgetSelection) -> bool:
    return (
        (selection.source is None or run.source == selection.source)
        and (selection.task is None or TaskKey.parse(run.task_key).is_named(selection.task))
        and (selection.run is None or run.run == selection.run)
    )


def _forget_files(erased: Erasure, store: Store, serve: Path | None, searched: tuple[Path, ...]) -> Erasure:
    """Remove runs kept by other commands, serve the new bank, and search the files outside the store."""
    from contramem.bank.acts import forget_banks
    from contramem.bank.frozen import freeze, load_frozen
    from contramem.collection.cache import cache_folder
    from contramem.collection.runs import collection_beside, forget_collection
    from contramem.study.run_cache import FOLDER, forget_kept_runs

    files = [*searched, *([FOLDER.parent] if FOLDER.parent.is_dir() else [])]
    beside = [] if is_url(store.where) else [collection_beside(Path(store.where))]
    # Version 0.1.0 kept runs in the user's cache folder.
    kept_runs = forget_kept_runs() + sum(map(forget_collection, [*beside, cache_folder() / "work.db"]))
    kept_banks = 0
    if serve is not None:
        header = load_frozen(serve, allow_edited=True).header if serve.exists() else None
        profiles = (header.profile, header.ability_profiles) if header else ("default", {})
        kept_banks = forget_banks(serve, freeze(store.bank(), *profiles))
        files.append(serve)
    size, left = search_files(files, erased.searched_for)
    return replace(
        erased,
        searched_bytes=erased.searched_bytes + size,
        left=(*erased.left, *left),
        kept_runs=kept_runs,
        kept_banks=kept_banks,
    )


def _describe_erasure(erased: Erasure, was_rebuilt: bool) -> list[str]:
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
    return lines
