"""Reassessment: how a card fares over all packets of its ability, and what that means for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from contramem.bank.card import SkillCard, SkillDelta
from contramem.bank.support import CardSupport
from contramem.build.learning import LearningCard, rewrite
from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import MAX_TRIGGER_CHARS, Rule
from contramem.build.rules.support import FollowRecord, Replays, replays, support_from
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.packet_replay import replay

MAX_CONTRADICTED = 1 / 3
"""Of the tasks that show a rule. With fewer against it and no narrower place, or when those that keep it pass clearly
more often all the same, it stays, and its counts say so."""


class Reassessment(NamedTuple):
    """What becomes of a card."""

    operation: Literal["PATCH", "NARROW", "RETIRE"]
    """PATCH: it stays, perhaps with fewer guards, and its counts are new."""
    reason: str
    support: CardSupport
    """All it rests on now, what it rested on before included."""
    text: SkillDelta
    """What it says from now on."""
    rule: Rule | None = None
    """What the text was made from."""
    cause: str = ""
    """Of a retirement, as one of a few."""

    def changes(self, card: LearningCard) -> bool:
        """Is there anything to record? Words alone do not change: they follow the counts."""
        return self.operation != "PATCH" or self.support != card.support or self.text.guards != card.card.guards


def count_again(card: LearningCard, packets: Sequence[Packet]) -> Reassessment:
    """Only count: the card stays as it is."""
    support = card.support + support_from(replays(guards_of(card.card.guards), packets))
    return Reassessment("PATCH", f"Checked against all runs: {support}.", support, rewrite(card.card), card.rule)


# Where a guard holds


def narrow_guard(guard: Guard, replayed: Replays, named: Sequence[str]) -> Guard | None:
    """The guard with a function that is called wherever it was kept and nowhere that runs passed without it.

    It has to tell runs apart still: a guard that failing runs no longer break teaches nothing. `named` are functions
    that the rule sends the agent to: they would say "look it up where you look it up".
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
    """Words that somebody wrote, with these guards. The trigger says the conditions when all that it claims is under
    them."""
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
