"""`contramem cards`: what people do with the cards of a bank. List, look, review, undo, freeze, export."""

from __future__ import annotations

import getpass
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

import click
from pydantic import ValidationError
from rich.console import Console
from rich.console import Group as Parts

from contramem.bank import acts
from contramem.bank.bank import Bank, BankEntry, Grade
from contramem.bank.card import Card, FunctionCard, SkillCard, SkillDelta
from contramem.bank.export import card_markdown
from contramem.bank.frozen import complaint, kind_of, load_bank, store_only, without_password, write_frozen
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.bank.show import CardListing, card_panel, card_story, decisions_table, entry_json, trace_sentences
from contramem.cli import Group
from contramem.cli.kit import Report, command
from contramem.cli.reading import complain, reading
from contramem.errors import BankFileError, GuardError, PatchError, UsageError, nearest
from contramem.retrieve.profiles import PROFILES
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.bank.store import Store

BankPath = Annotated[str, None, "BANK"]
StorePath = Annotated[str, None, "STORE"]
By = Annotated[str, "Who makes the change; by default, the name of your account.", "NAME"]
ProfileName = Annotated[str, "Retrieval profile to store in the file.", None, click.Choice(list(PROFILES))]


@click.group(cls=Group)
def cards() -> None:
    """Look at the cards of a bank, review, undo, freeze and export them.

    STORE is a SQLite path or a PostgreSQL URL; BANK is a STORE or a frozen file.
    """


def open_bank(where: str) -> Bank:
    """The bank at `where`, with a warning if it is a frozen file that was edited."""
    bank, frozen = load_bank(where)
    if frozen and frozen.edited:
        message = f"contramem: {where} was edited after it was frozen; the hash in line 1 no longer matches."
        click.echo(message, err=True)
    return bank


def sign(by: str) -> Attribution:
    """The person called `by`; without a name, the user of this account."""
    return acts.person(by or getpass.getuser())


def read_ledger(where: str, card_id: str | None = None) -> tuple[LedgerEntry, ...]:
    """The decisions behind a bank. A frozen file has none."""
    if kind_of(where) == "frozen":
        return ()
    from contramem.bank.store import open_store

    with open_store(where) as store:
        return store.ledger(card_id)


@command(cards, name="list")
def list_(
    where: BankPath,
    *,
    ability: Annotated[str | None, "Only Skill Cards of this ability."] = None,
    all_: Annotated[bool, "Include muted and retired cards."] = False,
) -> Report:
    """List the cards of BANK."""
    bank = open_bank(where)
    abilities = sorted({entry.card.ability for entry in bank.entries.values() if isinstance(entry.card, SkillCard)})
    if ability is not None and ability not in abilities:
        choices = f"Abilities of this bank: {', '.join(abilities) or 'none'}."
        raise UsageError(f"no card has the ability {ability!r}{nearest(ability, abilities)} {choices}")
    listing = CardListing(
        entry
        for entry in bank.entries.values()
        if (all_ or entry.served) and ability in (None, getattr(entry.card, "ability", None))
    )
    return Report(listing, [listing])


@command(cards)
def show(
    where: BankPath,
    card_id: Annotated[str, None, "ID"],
    *,
    markdown: Annotated[bool, "Print only the card, as Markdown."] = False,
) -> Report:
    """Show card ID in full: its rule, the runs that taught it, and the decisions that shaped it."""
    entry = open_bank(where).find(card_id)
    entries = read_ledger(where, entry.card.card_id)
    data = {
        **entry.model_dump(mode="json"),
        "sentences": [sentence._asdict() for sentence in trace_sentences(entry, entries)],
        "decisions": [entry_json(entry) for entry in entries],
    }
    return Report(data, [card_markdown(entry.card).rstrip("\n") if markdown else card_story(entry, entries)])


@command(cards)
def history(where: StorePath, card_id: Annotated[str | None, None, "[ID]"] = None) -> Report:
    """List every decision in STORE, or those about card ID."""
    if card_id is not None:
        card_id = open_bank(where).find(card_id).card.card_id
    entries = read_ledger(store_only(where), card_id)
    return Report([entry_json(entry) for entry in entries], [decisions_table(entries, card_id)])


@command(cards)
def revert(
    where: StorePath,
    decision: int,
    *,
    reason: Annotated[str, "Reason, for the ledger."] = "",
    by: By = "",
) -> Report:
    """Undo DECISION (its number in `history`) by recording a new decision."""
    from contramem.bank.store import open_store

    with open_store(store_only(where)) as store, store.writing("cards revert"):
        undoing = acts.revert(store.ledger(), store.bank(), decision, sign(by), reason)
        (entry,) = store.record(undoing)
    line = f"decision {entry.number} reverts {decision}: {', '.join(undoing.card_ids)}"
    return Report(entry_json(entry), [line])


@command(cards)
def freeze(
    where: StorePath,
    *,
    out: Annotated[Path, "File to write.", None, click.Path(path_type=Path, dir_okay=False)],
    profile: ProfileName = "default",
    grade: Annotated[Grade | None, "Leave out Skill Cards below this grade. Cards without one stay."] = None,
    ability_profile: Annotated[
        tuple[str, ...],
        "Another profile for the tasks of an ability, such as: time time. Repeatable.",
        "ABILITY PROFILE",
        click.Tuple([str, click.Choice(list(PROFILES))]),
    ] = (),
    min_sources: Annotated[
        int,
        "Only cards that runs of at least N sources show, or that a person has reviewed.",
        "N",
        click.IntRange(1),
    ] = 1,
) -> Report:
    """Write the active cards to one file that agents load and pull requests can show."""
    chosen = open_bank(store_only(where)).of_grade(grade)
    if min_sources > 1:
        chosen = chosen.of_sources(min_sources)
    header = write_frozen(out, chosen, profile, dict(ability_profile))  # type: ignore[arg-type]
    counted = f"{header.functions} function cards and {sum(header.skills.values())} skill cards"
    return Report({"out": str(out), **header.model_dump()}, [f"{out}: {counted}, sha256 {header.content_sha256[:12]}"])


FORMS = ("skills", "agents-md", "json", "markdown")


@command(cards)
def export(
    where: BankPath,
    form: Annotated[str, None, None, click.Choice(FORMS)],
    dest: Annotated[Path, None, None, click.Path(path_type=Path, allow_dash=True)],
) -> None:
    """Write the active cards to DEST, without the fields that only retrieval uses.

    skills: a folder of Agent Skills; agents-md: a section of an AGENTS.md, which keeps what else is in it; json and
    markdown: one file (`-`: standard output). A card that seems to hold something personal is left out, with a line on
    standard error.
    """
    from contramem.counting import ENCODING, count_tokens
    from contramem.inject import export as exports

    shown, left_out = exports.exportable(load_bank(where)[0].cards)
    for card in left_out:
        click.echo(f"contramem: {card.card_id} left out: {card.reason}", err=True)
    if form == "skills":
        if dest.is_file() or str(dest) == "-":
            raise UsageError(f"{dest}: skills are written to a folder.")
        folders = exports.skill_folders(shown)
        exports.write_skills(folders, dest)
        click.echo(f"{dest}: {len(folders)} skills from {len(shown)} cards")
        return
    if form == "agents-md" and str(dest) != "-":
        exports.write_agents_md(shown, dest)
        tokens = count_tokens(dest.read_text(encoding="utf-8"))
        click.echo(f"{dest}: {len(shown)} cards, {tokens} tokens ({ENCODING}) in every session")
        return
    text = {"agents-md": exports.as_agents_md, "json": exports.as_json, "markdown": exports.as_markdown}[form](shown)
    if str(dest) == "-":
        click.echo(text, nl=False)
        return
    try:
        dest.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BankFileError(f"{dest}: cannot be written ({error.strerror}).") from error
    click.echo(f"{dest}: {len(shown)} cards")


# Review

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
You can add a reason: reject too vague. `contramem cards revert` undoes an answer."""


@command(cards)
def review(
    where: StorePath,
    *,
    runs: Annotated[tuple[Path, ...], "Recorded runs with and without memory. May be repeated.", "PATH"] = (),
    by: By = "",
) -> Report:
    """Review the cards that nobody has reviewed yet: accept, edit ($EDITOR), mute, pin or reject each.

    With --runs, a card that lost at least two tasks more than it gained, in runs that followed it, is muted first.

    Answer with a word or its first letter, plus a reason if you like: `reject too vague`. `?` explains the choices.
    """
    from contramem.bank.store import open_store

    answers: Counter[Answer] = Counter()
    with open_store(store_only(where)) as store:
        if runs:
            _mute_harmful(store, runs)
        waiting = acts.to_review(store.bank())
        for place, entry in enumerate(waiting, start=1):
            entries = store.ledger(entry.card.card_id)
            click.echo(f"\n{place} of {len(waiting)}   {entry.card.card_id}", err=True)
            view = Parts(card_panel(entry.card), decisions_table(entries, entry.card.card_id))
            Console(stderr=True, highlight=False).print(view)
            before = store.bank()
            answer, decision = _ask(before, entry, sign(by))
            if decision:
                with store.writing("cards review"):
                    (recorded,) = store.record(decision)
                say_doubts(recorded, before, where)
            answers[answer] += 1
            if answer == "quit":
                break
        left = len(acts.to_review(store.bank()))
    counts = ", ".join(f"{count} {answer}" for answer, count in answers.items() if answer != "quit") or "nothing done"
    return Report(
        {**{answer: answers[answer] for answer in ANSWERS}, "left": left}, [f"{counts}; {left} left to review"]
    )


def _mute_harmful(store: Store, paths: tuple[Path, ...]) -> None:
    """Mute the cards that did more harm than good in these runs, and say so."""
    from contramem.evaluate.gate import mute_harmful, weigh_cards

    bank = store.bank()
    with reading(paths, ReadOptions()) as read:
        decisions = mute_harmful(bank, weigh_cards(bank, read))
    complain(read.problems, read.problem_count)
    with store.writing("cards review"):
        store.record(*decisions)
    for decision in decisions:
        click.echo(f"Muted {', '.join(decision.card_ids)}: {decision.reason}", err=True)


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
            undo = f"`contramem cards revert {without_password(where)} {entry.number}` undoes it"
            click.secho(f"{change.card_id}: {doubt} Saved as you wrote it; {undo}.", err=True, fg="yellow")
