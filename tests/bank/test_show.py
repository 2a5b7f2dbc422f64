"""Cards look like those of the paper, and what is shown is what is there."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, example_bank
from rich.console import Console

from contramem.bank.card import Card, Skill, SkillCard
from contramem.bank.export import card_markdown
from contramem.bank.show import CardListing, card_panel, visible
from contramem.bank.store import open_store

GOLDEN = Path(__file__).parent / "golden"
CARDS: dict[str, Card] = {
    "function": DELETE_EMAIL,
    "skill": SkillCard.of(
        KEEP_EXCEPTION.model_copy(
            update={
                "skill": KEEP_EXCEPTION.skill.model_copy(
                    update={"recovery": "Restore a wrongly deleted email.", "efficiency": "Search once."}
                )
            }
        ),
        "skill::e6c2a2b23cb6",
        "email",
    ),
}


def drawn(card: Card, colour: bool) -> str:
    console = Console(file=io.StringIO(), width=88, force_terminal=colour, color_system="standard" if colour else None)
    console.print(card_panel(card))
    return console.file.getvalue()


def same_as_golden(name: str, text: str) -> None:
    """Compare with the golden file. CONTRAMEM_GOLDEN=write makes it anew: look at the difference before you commit."""
    path = GOLDEN / name
    if os.environ.get("CONTRAMEM_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_in_the_terminal(kind):
    same_as_golden(f"{kind}.txt", drawn(CARDS[kind], colour=False))


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_in_colour(kind):
    same_as_golden(f"{kind}.ansi", drawn(CARDS[kind], colour=True))


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_as_markdown(kind):
    same_as_golden(f"{kind}.md", card_markdown(CARDS[kind]))


def test_control_characters_are_spelled_out():
    assert visible("a\x1b[31mb\u202ec\r") == "a\\u001b[31mb\\u202ec\\u000d"
    assert visible("line\n\ttab é 漢") == "line\n\ttab é 漢"


def test_a_card_cannot_paint_the_terminal_or_the_page():
    rule = "Do \x1b[2Jthis [bold]now[/bold] <script>alert(1)</script> [link](http://x)"
    card = example_bank().skills[0].model_copy(update={"skill": Skill(core_rule=rule, completion=("[/] done",))})
    shown = drawn(card, colour=True)
    assert "\x1b[2J" not in shown
    assert "[bold]now[/bold]" in shown
    assert r"\<script\>" in card_markdown(card)
    assert r"\[link\](" in card_markdown(card)


def test_a_name_in_code_stays_code_in_markdown_and_a_lone_backtick_is_a_word():
    rule = "Call `lockDoors` first, not ` or `a <b>`."
    card = example_bank().skills[0].model_copy(update={"skill": Skill(core_rule=rule, completion=("done",))})
    assert r"Call `lockDoors` first, not \` or \`a \<b\>\`." in card_markdown(card)


def lines_of(bank: Path, width: int) -> list[str]:
    with open_store(bank) as store:
        entries = list(store.bank().entries.values())
    file = io.StringIO()
    Console(file=file, width=width).print(CardListing(entries))
    return [line.rstrip() for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_no_name_is_cut_and_no_line_is_too_long(shipped_bank: Path, width: int) -> None:
    lines = lines_of(shipped_bank, width)
    with open_store(shipped_bank) as store:
        names = [card.function for card in store.bank().functions]
    assert max(map(len, lines)) <= width
    assert all(any(line.startswith(f"  {name}") for line in lines) for name in names)


def test_cards_stand_under_their_app_or_ability_with_grade_and_tasks(shipped_bank: Path) -> None:
    lines = lines_of(shipped_bank, 140)
    headings = [line for line in lines if not line.startswith(" ")]
    assert any(line.startswith("TicketAPI  ") and line.endswith("Function Cards") for line in headings)
    assert any(line.endswith(("Skill Card", "Skill Cards")) for line in headings)
    assert any("enforced, " in line and line.endswith(" tasks") for line in lines)
