"""`contramem bank review`: a person reviews the cards of a build, and each answer is a decision in the ledger."""

from __future__ import annotations

import getpass
import json
import sys
from collections import Counter
from typing import Literal, TypeAlias, get_args

import click
from pydantic import ValidationError
from rich.console import Console, Group

from contramem.bank import acts, story
from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Card, FunctionCard, SkillDelta
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.bank.locate import store_only, without_password
from contramem.bank.render import card_panel
from contramem.errors import GuardError, PatchError

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
