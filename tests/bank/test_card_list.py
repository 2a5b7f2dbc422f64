"""The list of cards in terminals of different widths."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from contramem.bank.show import CardListing
from contramem.bank.store import open_store


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
