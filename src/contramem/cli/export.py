"""`contramem bank export`: writes the served cards as files for clients that don't use contramem."""

from __future__ import annotations

from pathlib import Path

import click

from contramem.bank.locate import load_bank
from contramem.errors import BankFileError, UsageError

FORMS = ("skills", "agents-md", "json", "markdown")


@click.command()
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

    bank = load_bank(where)[0]
    cards, left_out = exports.exportable(bank.cards)
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
