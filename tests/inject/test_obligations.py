"""A run knows what the cards it was shown still ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem import Memory
from contramem.bank.bank import Bank
from contramem.bank.card import Skill, SkillDelta
from contramem.bank.frozen import write_frozen
from contramem.bank.patch import Add
from contramem.traces.trajectory import Event, Result

TASK = "Delete the newsletter mails from the inbox."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """One card: search before deleting, and delete after searching."""
    delta = SkillDelta(
        title="search before delete",
        applies_when="A task about deleting newsletter mails from the inbox.",
        solves="Mails deleted unseen.",
        skill=Skill(core_rule="Search the inbox before you delete mails.", completion=("searched before deleting",)),
        functions_used=("Mail.search", "Mail.delete"),
        guards=("precedence(Mail.search, Mail.delete)", "response(Mail.search, Mail.delete)"),
    )
    patch = Add(delta_index=0, new_or_updated_card=delta, reason="It is new.")
    write_frozen(tmp_path / "bank.jsonl", Bank().apply(patch, "general"))
    return Memory.load(tmp_path / "bank.jsonl")


def call(position: int, function: str, effect: str = "read") -> Event:
    return Event(position, "agent", "call", function=function, effect=effect, result=Result("ok"))  # type: ignore[arg-type]


def test_what_is_owed_is_named_with_its_card_until_it_is_done(memory: Memory) -> None:
    run = memory.start(TASK)
    assert run.pending() == ()
    run.observe(call(1, "Mail.search"))
    (owed,) = run.pending()
    assert (str(owed.guard), owed.title) == ("response(Mail.search, Mail.delete)", "search before delete")
    run.observe(call(2, "Mail.delete", "write"))
    assert run.pending() == ()


def test_a_call_that_would_break_a_rule_is_warned_of_and_not_forbidden(memory: Memory) -> None:
    run = memory.start(TASK)
    (broken,) = run.would_break("Mail.delete", {"id": "m-1"})
    assert str(broken.guard) == "precedence(Mail.search, Mail.delete)"
    assert run.observe(call(1, "Mail.delete", "write")) != ()
    assert memory.start(TASK).would_break("Mail.search") == ()


def test_a_run_without_guidance_owes_nothing(memory: Memory) -> None:
    run = memory.start("Plan a birthday party.")
    run.observe(call(1, "Mail.search"))
    assert run.pending() == ()
