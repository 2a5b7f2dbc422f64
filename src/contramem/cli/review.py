"""`contramem bank review`: a person goes through what builds proposed, and each answer is a decision in the ledger."""

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
from contramem.bank.bank import Bank, Holding
from contramem.bank.card import Card, FunctionCard, SkillDelta
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Attribution, Decision
from contramem.bank.render import card_panel
from contramem.errors import PatchError

Answer: TypeAlias = Literal["accept", "edit", "mute", "pin", "reject", "skip", "quit"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
VERDICTS: dict[Answer, acts.Verdict] = {"accept": "ACCEPT", "mute": "MUTE", "pin": "PIN", "reject": "REJECT"}

by_option = click.option(
    "--by", "name", metavar="NAME", default=getpass.getuser, help="Who does it; by default the name of your account."
)


@click.command()
@click.argument("where", metavar="STORE")
@by_option
@click.option("--json", "as_json", is_flag=True, help="Count the answers for machines.")
def review(where: str, name: str, as_json: bool) -> None:
    """Go through the cards that no person has seen: accept, edit ($EDITOR), mute, pin or reject each.

    Answer with a word or its first letter, and a reason after it if you like: `reject too vague`.
    """
    from contramem.bank.store import open_store

    answers: Counter[Answer] = Counter()
    with open_store(where) as store:
        waiting = acts.to_review(store.bank())
        for place, held in enumerate(waiting, start=1):
            entries = store.ledger(held.card.card_id)
            click.echo(f"\n{place} of {len(waiting)}", err=True)
            Console(stderr=True, highlight=False).print(Group(card_panel(held.card), story.decisions_table(entries)))
            answer, decision = _ask(store.bank(), held, acts.person(name))
            if decision:
                with store.writing("bank review"):
                    store.record(decision)
            answers[answer] += 1
            if answer == "quit":
                break
        left = len(acts.to_review(store.bank()))
    _report(answers, left, as_json)


def _ask(bank: Bank, held: Holding, by: Attribution) -> tuple[Answer, Decision | None]:
    """Ask until there is an answer. The end of the input means quit."""
    while True:
        click.echo("[a]ccept [e]dit [m]ute [p]in [r]eject [s]kip [q]uit: ", nl=False, err=True)
        said = sys.stdin.readline()
        if not said:
            return "quit", None
        word, _, reason = said.strip().partition(" ")
        answer = next((answer for answer in ANSWERS if word and answer.startswith(word.lower())), None)
        if answer in VERDICTS:
            return answer, acts.judge(bank, held.card.card_id, VERDICTS[answer], by, reason)
        if answer in ("skip", "quit"):
            return answer, None
        if answer == "edit" and (decision := _edit(bank, held.card, by, reason)):
            return answer, decision


def _edit(bank: Bank, card: Card, by: Attribution, reason: str) -> Decision | None:
    """The card as the person leaves it in $EDITOR. None: unchanged, or not this card any more (then it says why)."""
    form = FunctionCard if isinstance(card, FunctionCard) else SkillDelta
    fields = {name for name in form.model_fields if name != "version"}
    before = json.dumps(card.model_dump(mode="json", include=fields), ensure_ascii=False, indent=2)
    after = click.edit(before + "\n", extension=".json") or before
    try:
        if after.strip() != before:
            return acts.edit(bank, card.card_id, form.model_validate_json(after), by, reason)
        click.echo("Nothing was changed.", err=True)
    except ValidationError as error:
        click.echo(f"Nothing was changed: {complaint(error)}.", err=True)
    except PatchError as error:
        click.echo(f"Nothing was changed: {error}", err=True)
    return None


def _report(answers: Counter[Answer], left: int, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({**{answer: answers[answer] for answer in ANSWERS}, "left": left}))
    else:
        said = ", ".join(f"{count} {answer}" for answer, count in answers.items() if answer != "quit") or "nothing done"
        click.echo(f"{said}; {left} left to review")
