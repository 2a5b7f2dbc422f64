"""Builds of Skill Cards by rules from a few packets, for tests that look at guards, functions and decisions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.made_runs import Call, call, packet, run

from contramem.bank.bank import BankEntry
from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.packet import Packet
from contramem.pipeline import build_bank
from contramem.validate.validator import Validator

LOCKED, FROZEN = "The branch is not available.", "The registry is not available."
UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})


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


def refusing(function: str, number: int, error: str = LOCKED, passing: tuple[Call, ...] = (UNLOCK,)) -> Packet:
    """Two runs prepare the call and pass, one after a refusal; a third gives up after the refusal."""

    def release(source: str, passed: bool, *steps: Call) -> object:
        return run(source, passed, *steps, "Released.", task=f"Get fix {number} out.", task_id=f"{function} {number}")

    made = call(f"Pipeline.{function}", {"tag": f"v{number}-fix"})
    refused = call(f"Pipeline.{function}", {"tag": f"v{number}-fix"}, error=error)
    return packet(
        release("a", True, *passing, made),
        release("b", True, refused, *passing, made),
        release("c", False, refused),
    )


def without_need(function: str, number: int) -> Packet:
    """The branch was open already: who calls at once passes."""
    made, refused = (call(f"Pipeline.{function}", {"tag": "v9-x"}, error=error) for error in (None, LOCKED))
    task = {"task": f"Get fix {number} out.", "task_id": f"{function} {number}"}
    return packet(
        run("a", True, made, "Released.", **task),
        run("b", True, made, "Released.", **task),
        run("c", False, refused, "Released.", **task),
    )
