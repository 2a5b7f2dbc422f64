"""Triggers: a card is judged on tasks that it would be shown for, and on those that taught it."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.bank.bank import Add, Bank, CardSupport
from contramem.bank.card import Skill, SkillDelta
from contramem.build.triggers import Triggers
from contramem.contrast.packet import Packet


def lesson(title: str, trigger: str) -> SkillDelta:
    return SkillDelta(
        title=title, applies_when=trigger, solves="A fault.", functions_used=("Shop.refund",),
        skill=Skill(core_rule=f"{title} first.", completion=("It is done.",)),
    )  # fmt: skip


def task(text: str, name: str) -> Packet:
    return packet(run("a", True, call("Shop.refund"), "done", task=text, task_id=name))


def test_a_task_that_the_card_is_not_for_does_not_judge_it() -> None:
    refund, search, taught = task("Refund the lamp.", "r"), task("Translate the poem.", "s"), task("Odd words.", "t")
    add = Add(delta_index=0, new_or_updated_card=lesson("Check the refund", "A refund is asked for."), reason="New.")
    bank = Bank().apply(add, "execution", CardSupport(tasks=(taught.task_key,)))
    (card,) = bank.skills
    packets = [refund, search, taught]
    assert Triggers(bank, "execution", packets).where(card.card_id, packets) == [refund, taught]
