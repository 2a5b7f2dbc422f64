"""`contramem bank`: look at a bank, review it, freeze it, import edits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console, RenderableType

from contramem.bank import acts, story
from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.bank.card_list import CardListing
from contramem.bank.difference import bank_difference
from contramem.bank.frozen import FrozenBank, load_frozen, write_frozen
from contramem.bank.imported import find_base, import_edits
from contramem.bank.ledger import Decision, LedgerEntry
from contramem.bank.locate import kind_of, load_bank, store_only, without_password
from contramem.bank.provenance import trace_sentences
from contramem.bank.render import card_markdown, visible
from contramem.bank.summary import BankSummary, summarize
from contramem.bank.support import GRADES, Grade
from contramem.cli import Group
from contramem.cli.author import propose_command
from contramem.cli.kit import print_json
from contramem.cli.review import by_option, check, copy, forget, review, say_doubts, validate
from contramem.cli.watch import rollback
from contramem.errors import BankFileError, UsageError, nearest
from contramem.retrieve.profiles import PROFILES

LISTED_DROPPED = 20
PIPED_WIDTH = 140
"""The width of tables that are written to a file or a pipe."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
bank_argument = click.argument("where", metavar="BANK")
store_argument = click.argument("where", metavar="STORE")


@click.group(cls=Group)
def bank() -> None:
    """Look at a bank, review it, freeze it.

    STORE is a SQLite path or a PostgreSQL URL; BANK is a STORE or a frozen file.
    """


@bank.command()
@bank_argument
@as_json
def show(where: str, as_json: bool) -> None:
    """Summarize BANK: cards by ability, decisions by operation, refusals by reason."""
    bank_now, _ = _load(where)
    summary = summarize(bank_now, _ledger(where))
    _print(summary.as_json() if as_json else _summary_text(where, summary))


@bank.command()
@bank_argument
@click.option("--ability", help="Only Skill Cards of this ability.")
@click.option("--all", "everything", is_flag=True, help="Include muted and retired cards.")
@as_json
def cards(where: str, ability: str | None, everything: bool, as_json: bool) -> None:
    """List the cards of BANK."""
    bank_now, _ = _load(where)
    listing = CardListing(
        entry
        for entry in bank_now.entries.values()
        if (everything or entry.served) and ability in (None, getattr(entry.card, "ability", None))
    )
    abilities = sorted({entry.card.ability for entry in bank_now.entries.values() if isinstance(entry.card, SkillCard)})
    if ability is not None and ability not in abilities:
        choices = f"Abilities of this bank: {', '.join(abilities) or 'none'}."
        raise UsageError(f"no card has the ability {ability!r}{nearest(ability, abilities)} {choices}")
    _print(listing.as_json() if as_json else listing)


@bank.command()
@bank_argument
@click.argument("card_id", metavar="ID")
@click.option("--markdown", is_flag=True, help="Print only the card, as Markdown.")
@as_json
def card(where: str, card_id: str, markdown: bool, as_json: bool) -> None:
    """Show card ID in full: its rule, the runs that taught it, and the decisions that shaped it."""
    entry = _load(where)[0].find(card_id)
    entries = _ledger(where, entry.card.card_id)
    if as_json:
        decisions = [story.entry_json(entry) for entry in entries]
        sentences = [sentence._asdict() for sentence in trace_sentences(entry, entries)]
        _print({**entry.model_dump(mode="json"), "sentences": sentences, "decisions": decisions})
    elif markdown:
        click.echo(card_markdown(entry.card), nl=False)
    else:
        _print(story.card_story(entry, entries))


@bank.command()
@store_argument
@click.argument("card_id", metavar="[ID]", required=False)
@as_json
def history(where: str, card_id: str | None, as_json: bool) -> None:
    """List every decision in STORE, or those about card ID."""
    if card_id is not None:
        card_id = _load(where)[0].find(card_id).card.card_id
    entries = _ledger(store_only(where), card_id)
    _print([story.entry_json(entry) for entry in entries] if as_json else story.decisions_table(entries, card_id))


@bank.command()
@click.argument("left", metavar="BANK")
@click.argument("right", metavar="BANK")
@as_json
def diff(left: str, right: str, as_json: bool) -> None:
    """Show how the active cards of two banks differ."""
    difference = bank_difference(_load(left)[0], _load(right)[0])
    if as_json:
        _print(difference.as_json())
    else:
        _print(story.difference_text(difference) if difference else "The two banks serve the same cards.")


@bank.command()
@store_argument
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="File to write.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="default",
    show_default=True,
    help="Retrieval profile to store in the file.",
)
@click.option(
    "--grade", type=click.Choice(GRADES), help="Leave out Skill Cards below this grade. Cards without one stay."
)
@click.option(
    "--ability-profile",
    "ability_profiles",
    multiple=True,
    type=(str, click.Choice(list(PROFILES))),
    metavar="ABILITY PROFILE",
    help="Another profile for the tasks of an ability, such as: time time. Repeatable.",
)
@click.option("--min-sources", type=click.IntRange(1), default=1, metavar="N",
              help="Only cards that runs of at least N sources show, or that a person has reviewed.")  # fmt: skip
@as_json
def freeze(
    where: str,
    out: Path,
    profile: str,
    grade: Grade | None,
    min_sources: int,
    ability_profiles: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Write the active cards to one file that agents load and pull requests can show."""
    chosen = _load(store_only(where))[0].of_grade(grade)
    if min_sources > 1:
        chosen = chosen.of_sources(min_sources)
    header = write_frozen(out, chosen, profile, dict(ability_profiles))
    skills = sum(header.skills.values())
    line = f"{out}: {header.functions} function cards and {skills} skill cards, sha256 {header.content_sha256[:12]}"
    _print({"out": str(out), **header.model_dump()} if as_json else line)


@bank.command()
@store_argument
@click.argument("decision", type=int)
@click.option("--reason", default="", help="Reason, for the ledger.")
@by_option
@as_json
def revert(where: str, decision: int, reason: str, name: str, as_json: bool) -> None:
    """Undo DECISION (its number in `history`) by recording a new decision."""
    from contramem.bank.store import open_store

    with open_store(store_only(where)) as store, store.writing("bank revert"):
        undoing = acts.revert(store.ledger(), store.bank(), decision, acts.person(name), reason)
        (entry,) = store.record(undoing)
    line = f"decision {entry.number} reverts {decision}: {', '.join(undoing.card_ids)}"
    _print(story.entry_json(entry) if as_json else line)


@bank.command(name="import")
@store_argument
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@by_option
@click.option("--yes", is_flag=True, help="Retire cards that FILE no longer has without asking.")
@as_json
def import_(where: str, file: Path, name: str, yes: bool, as_json: bool) -> None:
    """Bring the edits made to a frozen FILE (in a pull request, say) into STORE, one decision for each card.

    If FILE lacks cards that it had when it was frozen, they are listed, and you are asked before they are retired.
    """
    from contramem.bank.store import open_store

    frozen = load_frozen(file, allow_edited=True)
    with open_store(where, create=True) as store, store.writing("bank import"):
        before = store.bank()
        base = find_base(before, store.ledger(), frozen.header.content_sha256)
        decisions = import_edits(before, base, frozen, acts.person(name), file.name)
        if not yes:
            _confirm_dropping(decisions, before, file)
        entries = store.record(*decisions)
    for entry in entries:
        say_doubts(entry, before, where)
    lines = [
        f"decision {entry.number}: {', '.join(entry.decision.card_ids)} {entry.decision.reason}" for entry in entries
    ]
    if as_json:
        _print([story.entry_json(entry) for entry in entries])
    else:
        _print("\n".join(lines) or f"{file}: no differences from the store.")


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


@bank.command()
@store_argument
@click.option("--call", "call_id", metavar="ID", help="Show one exchange: the stored prompt and reply.")
@as_json
def cost(where: str, call_id: str | None, as_json: bool) -> None:
    """Show what the model calls behind STORE cost, next to the paper's figures."""
    from contramem.bank.store import open_store
    from contramem.cli.build_cost import cost_json, cost_table, exchange_json, exchange_text

    with open_store(store_only(where)) as store:
        calls = store.calls()
    if call_id is not None:
        _print(exchange_json(calls, call_id) if as_json else exchange_text(calls, call_id))
    else:
        _print(cost_json(calls) if as_json else cost_table(calls))


FORMS = ("skills", "agents-md", "json", "markdown")


@bank.command()
@click.argument("where", metavar="BANK")
@click.argument("form", type=click.Choice(FORMS))
@click.argument("dest", type=click.Path(path_type=Path, allow_dash=True))
def export(where: str, form: str, dest: Path) -> None:
    """Write the active cards to DEST, without the fields that only retrieval uses.

    skills: a folder of Agent Skills; agents-md: a section of an AGENTS.md, which keeps what else is in it; json and
    markdown: one file (`-`: standard output). A card that seems to hold something personal is left out, with a line on
    standard error.
    """
    from contramem.inject import export as exports

    cards, left_out = exports.exportable(load_bank(where)[0].cards)
    for card in left_out:
        click.echo(f"contramem: {card.card_id} left out: {card.reason}", err=True)
    if form == "skills":
        if dest.is_file() or str(dest) == "-":
            raise UsageError(f"{dest}: skills are written to a folder.")
        folders = exports.skill_folders(cards)
        exports.write_skills(folders, dest)
        click.echo(f"{dest}: {len(folders)} skills from {len(cards)} cards")
        return
    if form == "agents-md" and str(dest) != "-":
        exports.write_agents_md(cards, dest)
        _report_size(dest, len(cards), dest.read_text(encoding="utf-8"))
        return
    write = {"agents-md": exports.as_agents_md, "json": exports.as_json, "markdown": exports.as_markdown}[form]
    text = write(cards)
    if str(dest) == "-":
        click.echo(text, nl=False)
        return
    try:
        dest.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BankFileError(f"{dest}: cannot be written ({error.strerror}).") from error
    click.echo(f"{dest}: {len(cards)} cards")


def _report_size(dest: Path, cards: int, text: str) -> None:
    from contramem.counting import ENCODING, count_tokens

    click.echo(f"{dest}: {cards} cards, {count_tokens(text)} tokens ({ENCODING}) in every session")


bank.add_command(check)
bank.add_command(copy)
bank.add_command(forget)
bank.add_command(rollback)
for command in (review, validate, propose_command):
    bank.add_command(command)


def _load(where: str) -> tuple[Bank, FrozenBank | None]:
    bank_now, frozen = load_bank(where)
    if frozen and frozen.edited:
        click.echo(
            f"contramem: {where} was edited after it was frozen; the hash in line 1 no longer matches.", err=True
        )
    return bank_now, frozen


def _ledger(where: str, card_id: str | None = None) -> tuple[LedgerEntry, ...]:
    """The decisions behind a bank. A frozen file has none."""
    if kind_of(where) == "frozen":
        return ()
    from contramem.bank.store import open_store

    with open_store(where) as store:
        return store.ledger(card_id)


def _summary_text(where: str, summary: BankSummary) -> str:
    lines = [
        without_password(where),
        f"function cards: {summary.functions}",
        f"skill cards: {sum(summary.skills.values())} ({_tally(summary.skills)})",
        f"status: {_tally(summary.statuses)}",
        f"sha256: {summary.content_sha256}",
    ]
    if summary.operations or summary.refused:
        lines += [f"decisions: {_tally(summary.operations)}", f"refused: {_tally(summary.refused)}"]
        lines += [f"not yet reviewed: {summary.unreviewed}"]
    if summary.cost_usd:
        lines += [f"spent: ${summary.cost_usd:.2f}"]
    return "\n".join(lines)


def _tally(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.items()) or "none"


def _print(result: RenderableType | dict[str, Any] | list[Any]) -> None:
    """Print to standard output: dicts and lists as JSON, strings as text, anything else with rich."""
    if isinstance(result, dict | list):
        print_json(result)
    elif isinstance(result, str):
        click.echo(visible(result))
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH).print(result)
