"""Narrowing: a rule that passing runs contradict, said of the place where it holds."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.curation import rewritten
from contramem.build.phrases import AT_ONCE, bare, quoted
from contramem.build.record import Replays
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.packet_replay import replay

MAX_TRIGGER_CHARS = 500
"""Of `applies_when`. A longer one is left as it is, and only the guard says where it holds."""


def narrower(guard: Guard, found: Replays, named: Sequence[str]) -> Guard | None:
    """The guard with a function that is called wherever it was kept and nowhere that runs passed without it.

    It has to tell runs apart still: a guard that failing runs no longer break teaches nothing. `named` are functions
    that the rule sends the agent to: they would say "look it up where you look it up".
    """
    if guard.when:
        return None
    kept = [_called(packet, letter) for packet, one in found if one.supports for letter in one.held]
    against = [_called(packet, letter) for packet, one in found for letter in one.contradicted]
    if not kept:
        return None
    seen_without = {function for functions in against for function in functions}
    common = set.intersection(*kept) - seen_without - set(guard.functions) - set(named)
    shown_by = [packet for packet, one in found if one.supports]
    for condition in sorted(common):
        found_narrower = guard._replace(when=condition)
        if any(replay(found_narrower, packet).supports for packet in shown_by):
            return found_narrower
    return None


def _called(packet: Packet, letter: str) -> set[str]:
    run = next(run for run in packet.runs if run.letter == letter)
    return {step.function for step in run.actions if step.function and not step.error}


def narrowed(card: SkillCard, guards: Sequence[str], conditions: Sequence[str]) -> SkillDelta:
    """The card with these guards. Its trigger says the conditions when all that it claims is under them."""
    needed = " and ".join(bare(condition) for condition in conditions)
    trigger = f"{card.applies_when.rstrip('.')}, in a task that also needs {needed}."
    if len(guards) > len(conditions) or len(trigger) > MAX_TRIGGER_CHARS:
        trigger = card.applies_when
    functions = tuple(dict.fromkeys([*card.functions_used, *conditions]))
    return rewritten(card, applies_when=trigger, guards=tuple(guards), functions_used=functions)


def after_refusal(card: SkillCard) -> SkillDelta | None:
    """A precondition that some passing runs found fulfilled already (they were signed in, say) is asked for when the
    tool asks for it, not always beforehand."""
    guards, refusals = guards_of(card.guards), quoted(card.skill.core_rule)
    if len(refusals) != 1 or {guard.template for guard in guards} != {"precedence"}:
        return None
    refusal = refusals[0]
    needed, calls = bare(guards[0].function), " or ".join(bare(guard.then) for guard in guards)
    skill = card.skill.model_copy(
        update={
            "core_rule": f"When {calls} answers “{refusal}”, call {needed} and then the same call again. {AT_ONCE}, "
            f"{needed} is not needed.",
            "completion": (f"a refused {calls} was made again after {needed} had worked",),
        }
    )
    return rewritten(card, applies_when=f"{calls} has answered “{refusal}”.", skill=skill, guards=())
