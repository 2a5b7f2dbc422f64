"""Reassessment: how a card holds up over all packets of its ability, and what follows from that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from contramem.bank.bank import CardSupport
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.learning import LearningCard, rewrite
from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import MAX_TRIGGER_CHARS, Rule
from contramem.build.rules.support import FollowRecord, Replays, replays, support_from
from contramem.contrast.packet import Packet
from contramem.guards.guard import Guard, guards_of
from contramem.guards.packets import replay

MAX_CONTRADICTED = 1 / 3
"""The share of tasks that must contradict a rule. With fewer, and no narrower place, or if runs that follow it pass
clearly more often anyway, it stays and its counts say so."""


class Reassessment(NamedTuple):
    """What happens to a card."""

    operation: Literal["PATCH", "NARROW", "RETIRE"]
    """PATCH: it stays, perhaps with fewer guards, and with new counts."""
    reason: str
    support: CardSupport
    """All its evidence now, earlier evidence included."""
    text: SkillDelta
    """Its text from now on."""
    rule: Rule | None = None
    """What the text was generated from."""
    cause: str = ""
    """Why it was retired, as one of a few causes."""

    def changes(self, card: LearningCard) -> bool:
        """Is there anything to record? Text that merely follows the counts is not a change."""
        return self.operation != "PATCH" or self.support != card.support or self.text.guards != card.card.guards


def count_again(card: LearningCard, packets: Sequence[Packet]) -> Reassessment:
    """Only update the counts: the card itself stays as it is."""
    support = card.support + support_from(replays(guards_of(card.card.guards), packets))
    return Reassessment("PATCH", f"Checked against all runs: {support}.", support, rewrite(card.card), card.rule)


# Where a guard holds


def narrow_guard(guard: Guard, replayed: Replays, named: Sequence[str]) -> Guard | None:
    """The guard limited to a function that is called wherever it was followed, and nowhere that runs passed without it.

    It must still separate runs: a guard that failing runs no longer break teaches nothing. `named`: functions that the
    rule itself sends the agent to; limiting it to them would say "look it up where you look it up".
    """
    if guard.when:
        return None
    keeping = [_functions_called(packet, letter) for packet, each in replayed if each.supports for letter in each.held]
    against = [_functions_called(packet, letter) for packet, each in replayed for letter in each.contradicted]
    if not keeping:
        return None
    called_without = {function for functions in against for function in functions}
    common = set.intersection(*keeping) - called_without - set(guard.functions) - set(named)
    shown_by = [packet for packet, each in replayed if each.supports]
    for condition in sorted(common):
        narrower = guard._replace(when=condition)
        if any(replay(narrower, packet).supports for packet in shown_by):
            return narrower
    return None


def _functions_called(packet: Packet, letter: str) -> set[str]:
    run = next(run for run in packet.runs if run.letter == letter)
    return {step.function for step in run.actions if step.function and not step.error}


def narrow_text(card: SkillCard, guards: Sequence[str], conditions: Sequence[str]) -> SkillDelta:
    """Free text with these guards. The trigger states the conditions if every guard is under them."""
    needed = " and ".join(code_name(condition) for condition in conditions)
    trigger = f"{card.applies_when.rstrip('.')}, in a task that also needs {needed}."
    if len(guards) > len(conditions) or len(trigger) > MAX_TRIGGER_CHARS:
        trigger = card.applies_when
    functions = tuple(dict.fromkeys([*card.functions_used, *conditions]))
    return rewrite(card, applies_when=trigger, guards=tuple(guards), functions_used=functions)


# Reasons


def no_better(record: FollowRecord) -> str:
    return f"Runs that follow it pass no more often than runs that don't: {record}."


def do_without(tasks: int) -> str:
    return f"Passing runs of {say_tasks(tasks)} do without it."


def say_tasks(tasks: int) -> str:
    return "1 task" if tasks == 1 else f"{tasks} tasks"
