"""Builds of Skill Cards by rules from a few packets, for tests that look at guards, functions and decisions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from contramem.bank.bank import BankEntry
from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.packet import Packet
from contramem.pipeline import build_bank
from contramem.validate.validator import Validator


class SkillBuild(NamedTuple):
    """What a build left behind."""

    entries: tuple[BankEntry, ...]
    """Every Skill Card of the store, retired ones included."""
    decisions: dict[str, int]
    """How often each operation occurred in this build."""

    @property
    def cards(self) -> list[SkillCard]:
        """Those in service."""
        return [entry.card for entry in self.entries if entry.served and isinstance(entry.card, SkillCard)]

    @property
    def guards(self) -> set[tuple[str, ...]]:
        return {card.guards for card in self.cards}


def build_skills(folder: Path, *packets: Packet) -> SkillBuild:
    """Build, or build on, the bank in `folder`."""
    with open_store(folder / "bank.db", create=True) as store:
        report = build_bank(list(packets), store, RuleAuthor(), Validator(), only="skills")
        entries = store.bank().entries
    return SkillBuild(tuple(entries[card_id] for card_id in sorted(entries)), dict(report.decisions))
