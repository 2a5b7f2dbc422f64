"""`contramem bank review`, `validate`, `check`, `copy` and `forget`: decisions of people, checks of cards and store,
and erasing what some runs taught."""

from __future__ import annotations

import getpass
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import click
from pydantic import ValidationError
from rich.console import Console, Group

from contramem.bank import acts, story
from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Card, FunctionCard, SkillDelta
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
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.bank.locate import is_url, store_only, without_password
from contramem.bank.render import card_panel
from contramem.cli.kit import SectionedCommand, print_json
from contramem.cli.reading import collect_runs, how_to_read, plural
from contramem.errors import GuardError, PatchError, UsageError
from contramem.scratch import ScratchFolder
from contramem.traces.reader import ReadOptions
from contramem.traces.task_key import TaskKey

if TYPE_CHECKING:
    from contramem.bank.store import Store
    from contramem.build.recheck import Finding
    from contramem.traces.trajectory import Trajectory


Answer: TypeAlias = Literal["accept", "edit", "mute", "pin", "reject", "skip", "quit"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
VERDICTS: dict[Answer, acts.Verdict] = {"accept": "ACCEPT", "mute": "MUTE", "pin": "PIN", "reject": "REJECT"}
MEANINGS = """\
accept   agents see it; builds may still reword or retire it
edit     rewrite it in $EDITOR
mute     agents don't see it; builds keep updating it
pin      agents see it, and no build may change it
reject   retire it; builds won't bring it back
skip     decide later
quit     stop here; your answers so far are saved
You can add a reason: reject too vague. `contramem bank revert` undoes an answer."""

by_option = click.option(
    "--by",
    "name",
    metavar="NAME",
    default=getpass.getuser,
    help="Who makes the change; your account's name by default.",
)


@click.command()
@click.argument("where", metavar="STORE")
@by_option
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def review(where: str, name: str, as_json: bool) -> None:
    """Review the cards that nobody has reviewed yet: accept, edit ($EDITOR), mute, pin or reject each.

    Answer with a word or its first letter, plus a reason if you like: `reject too vague`. `?` explains the choices.
    """
    from contramem.bank.store import open_store

    answers: Counter[Answer] = Counter()
    with open_store(store_only(where)) as store:
        waiting = acts.to_review(store.bank())
        for place, entry in enumerate(waiting, start=1):
            entries = store.ledger(entry.card.card_id)
            click.echo(f"\n{place} of {len(waiting)}   {entry.card.card_id}", err=True)
            view = Group(card_panel(entry.card), story.decisions_table(entries, entry.card.card_id))
            Console(stderr=True, highlight=False).print(view)
            before = store.bank()
            answer, decision = _ask(before, entry, acts.person(name))
            if decision:
                with store.writing("bank review"):
                    (recorded,) = store.record(decision)
                say_doubts(recorded, before, where)
            answers[answer] += 1
            if answer == "quit":
                break
        left = len(acts.to_review(store.bank()))
    _report(answers, left, as_json)


def _ask(bank: Bank, entry: BankEntry, by: Attribution) -> tuple[Answer, Decision | None]:
    """Ask until there is a valid answer. The end of the input and Ctrl-C mean quit."""
    draft = _in_json(entry.card)
    while True:
        click.echo("[a]ccept [e]dit [m]ute [p]in [r]eject [s]kip [q]uit [?]: ", nl=False, err=True)
        reply = _line()
        if not reply:
            return "quit", None
        word, _, reason = reply.strip().partition(" ")
        answer = next((answer for answer in ANSWERS if word and answer.startswith(word.lower())), None)
        if answer in VERDICTS:
            return answer, acts.judge(bank, entry.card.card_id, VERDICTS[answer], by, reason)
        if answer in ("skip", "quit"):
            return answer, None
        if answer == "edit":
            draft = _open_editor(draft)
            if decision := _edit(bank, entry.card, draft, by, reason):
                return answer, decision
        elif answer is None:
            click.echo(MEANINGS, err=True)


def _line() -> str:
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        click.echo(err=True)
        return ""


def _in_json(card: Card) -> str:
    """The fields of a card that a person can edit, as JSON."""
    fields = {name for name in _form(card).model_fields if name != "version"}
    return json.dumps(card.model_dump(mode="json", include=fields), ensure_ascii=False, indent=2)


def _form(card: Card) -> type[FunctionCard] | type[SkillDelta]:
    return FunctionCard if isinstance(card, FunctionCard) else SkillDelta


def _open_editor(text: str) -> str:
    """`text` after editing in $EDITOR; unchanged, with a message, if the editor fails."""
    try:
        return (click.edit(text + "\n", extension=".json") or text).strip()
    except click.ClickException as error:
        click.echo(f"{error.message}. Set $EDITOR to an editor that waits until you close the file.", err=True)
        return text


def _edit(bank: Bank, card: Card, text: str, by: Attribution, reason: str) -> Decision | None:
    """The decision for an edited card. None if it is unchanged or invalid, with a message."""
    try:
        if text != _in_json(card):
            return acts.edit(bank, card.card_id, _form(card).model_validate_json(text), by, reason)
        click.echo("Nothing was changed.", err=True)
    except ValidationError as error:
        click.echo(f"Not saved: {complaint(error)}. `edit` reopens your text.", err=True)
    except (GuardError, PatchError) as error:
        click.echo(f"Not saved: {error} `edit` reopens your text.", err=True)
    return None


def say_doubts(entry: LedgerEntry, before: Bank, where: str) -> None:
    """Print what the checks object to in a person's edit. The edit is kept all the same."""
    from contramem.validate.by_hand import doubts

    if entry.decision.operation not in ("EDIT", "IMPORT"):
        return
    for change in entry.decision.changes:
        for doubt in doubts(change.after.card, before) if change.after.served else ():
            undo = f"`contramem bank revert {without_password(where)} {entry.number}` undoes it"
            click.secho(f"{change.card_id}: {doubt} Saved as you wrote it; {undo}.", err=True, fg="yellow")


def _report(answers: Counter[Answer], left: int, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({**{answer: answers[answer] for answer in ANSWERS}, "left": left}))
    else:
        counts = (
            ", ".join(f"{count} {answer}" for answer, count in answers.items() if answer != "quit") or "nothing done"
        )
        click.echo(f"{counts}; {left} left to review")


# Checks, copies, erasure

LISTED = 10
"""How many names are listed; `--json` has all."""


@click.command(cls=SectionedCommand)
@click.argument("where", metavar="STORE")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@how_to_read
@click.option("--sources", metavar="A,B", help="Only the runs of these sources, as in the build.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate(where: str, paths: tuple[Path, ...], options: ReadOptions, sources: str | None, as_json: bool) -> None:
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
        findings = recheck(bank, ledger, contrast_all(collection, vocabulary), Validator(vocabulary.closed))
    if as_json:
        print_json(_findings_json(findings))
    else:
        click.echo(_summarize(findings))
    if any(finding.refusals for finding in findings):
        raise SystemExit(1)


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


def _summarize(findings: Sequence[Finding]) -> str:
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
    return "\n".join(lines)


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
        erased = _forget_files(erased, store, serve, searched)
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
    from contramem.bank.frozen import freeze, load_frozen
    from contramem.bank.kept_banks import forget_banks
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
