"""Settling: after the deltas, every rule is held against all runs of its ability, not only those that taught it.

A rule that passing runs contradict is narrowed to where it holds, or taken out of service; it is never kept because it
came first. A rule that more tasks bear out knows so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contramem.bank.card import SkillDelta
from contramem.bank.footing import Footing, Support
from contramem.build.curation import Known, rewritten
from contramem.build.mining import Replay, replay
from contramem.build.phrases import bare
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of


class Standing(NamedTuple):
    """How a card fares over all packets of its ability."""

    footing: Footing
    """All it rests on now, what it rested on before included."""
    stated: SkillDelta
    """The card with the evidence over all its tasks in words."""
    narrowed: SkillDelta | None
    """The text that says where it holds, when passing runs contradict the wider one and such a place was found."""
    thin: bool
    """One task is all there is for it, and that does not show enough."""
    refuted: bool
    """Contradicted in too many tasks, beside those that show it, for a narrower rule to be more than a coincidence."""


MAX_CONTRADICTED = 1 / 3
"""Of the tasks that show a rule. With fewer against it and no narrower place, it stays, and its counts say so."""
MIN_CONTRADICTING = 0.25
"""The share of passing runs that must do otherwise before a task speaks against a rule: one odd run does not."""


def stand(one: Known, packets: Sequence[Packet]) -> Standing:
    """Replay a card's guards on every packet they speak about."""
    replays = [(packet, found) for packet in packets for found in _replays(one, packet)]
    footing = one.footing + _footing(replays)
    shown, contradicted = set(footing.tasks) - set(footing.contradicted_by), set(footing.contradicted_by)
    record = _record(one, packets)
    # Rules that ask for a call need more: with one task, or with runs that fare as well without it, the call may just
    # be what some task was about.
    if _asks_for_call(one):
        thin = len(footing.tasks) < 2 or not record.makes_a_difference
    else:
        thin = len(footing.tasks) < 2 and _one_against_one(footing)
    stated = _stated(one, record)
    if record.speaks_against_it:
        return Standing(footing, stated, None, thin, refuted=True)
    if not contradicted:
        return Standing(footing, stated, None, thin, refuted=False)
    condition = _condition(one, replays)
    if condition is not None and len(contradicted) <= len(shown):
        return Standing(footing, stated, _narrowed(one, condition), thin, refuted=False)
    return Standing(footing, stated, None, thin, refuted=len(contradicted) > MAX_CONTRADICTED * len(shown))


def uncounted(one: Known) -> Known:
    """The card without what was counted for and against it, to be counted anew."""
    return one._replace(footing=one.footing.model_copy(update={"support": {}, "contradicted_by": ()}))


class Record(NamedTuple):
    """How runs fared that kept a rule, and how those that did not, over all tasks it speaks about."""

    tasks: int
    kept: int
    kept_and_passed: int
    broke: int
    broke_and_passed: int

    @property
    def speaks_against_it(self) -> bool:
        """Enough runs of both sorts, and keeping the rule did not go with passing."""
        if min(self.kept, self.broke) < MIN_RUNS:
            return False
        return self.kept_and_passed / self.kept <= self.broke_and_passed / self.broke

    @property
    def makes_a_difference(self) -> bool:
        """Runs that kept it passed clearly more often than runs that did not."""
        if min(self.kept, self.broke) < 2:
            return False
        return self.kept_and_passed / self.kept - self.broke_and_passed / self.broke >= CLEAR_LIFT


MIN_RUNS = 5
CLEAR_LIFT = 0.3


def _record(one: Known, packets: Sequence[Packet]) -> Record:
    guard = guards_of(one.card.guards)[0]
    verdicts = [
        (packet.task_key, guard.check(run.actions), run.passed)
        for packet in packets
        # Whoever reads `after A, B` reads it after every A, so every A counts, whatever the task was about.
        if guard.template == "response" or speaks_about(guard, packet)
        for run in (*packet.passing, *packet.failing)
    ]
    kept = [passed for _, verdict, passed in verdicts if verdict == "holds"]
    broke = [passed for _, verdict, passed in verdicts if verdict == "broken"]
    tasks = {task for task, verdict, _ in verdicts if verdict != "vacuous"}
    return Record(len(tasks), len(kept), sum(map(bool, kept)), len(broke), sum(map(bool, broke)))


def _stated(one: Known, record: Record) -> SkillDelta:
    """The contrast of the task that taught it, and how all runs fared that it speaks about, where there are more."""
    skill = one.card.skill
    if record.tasks < 2 or not record.broke:
        return rewritten(one.card)
    first = skill.success_failure_contrast.partition(_OVERALL)[0].rstrip()
    overall = (
        f"{_OVERALL} {record.tasks} tasks it speaks about, {record.kept_and_passed} of {record.kept} runs that kept "
        f"this passed, and {record.broke_and_passed} of {record.broke} that did not."
    )
    return rewritten(one.card, skill=skill.model_copy(update={"success_failure_contrast": f"{first} {overall}"}))


_OVERALL = "Over all"


def _asks_for_call(one: Known) -> bool:
    return any(guard.template in ("response", "existence") for guard in guards_of(one.card.guards))


def _one_against_one(footing: Footing) -> bool:
    return any(min(counts.held, counts.broken) < 2 for counts in footing.support.values())


def _replays(one: Known, packet: Packet) -> Iterable[Replay]:
    return [replay(guard, packet) for guard in guards_of(one.card.guards) if speaks_about(guard, packet)]


def speaks_about(guard: Guard, packet: Packet) -> bool:
    """Is this a task for the guard? One that asks for a call says nothing about tasks that passing runs do without it,
    and one that forbids a call says nothing where the task asks for it."""
    if guard.template in ("precedence", "at_most_once", "known_value"):
        return True
    made = any(step.function == guard.target and not step.error for run in packet.passing for step in run.actions)
    return made if guard.template in ("response", "existence") else not made


def _footing(replays: Sequence[tuple[Packet, Replay]]) -> Footing:
    footing = Footing()
    for packet, found in replays:
        sources = [packet.provenance[letter].source for letter in (*found.held, *found.broken)]
        counts = Support(held=len(found.held), broken=len(found.broken), contradicted=len(found.contradicted))
        footing += Footing(
            tasks=(packet.task_key,) if found.supports else (),
            sources=tuple(sources) if found.supports else (),
            contradicted_by=(packet.task_key,) if _speaks_against(found) else (),
            taught_by=packet.identity if found.supports else (),
            support={str(found.guard): counts},
        )
    return footing


def _speaks_against(found: Replay) -> bool:
    met = len(found.held) + len(found.contradicted)
    return bool(found.contradicted) and len(found.contradicted) >= MIN_CONTRADICTING * met


def _condition(one: Known, replays: Sequence[tuple[Packet, Replay]]) -> str | None:
    """A function that is called wherever the rule was kept and nowhere that it was passed without.

    The narrower rule has to tell runs apart still: one that failing runs no longer break teaches nothing.
    """
    guards = guards_of(one.card.guards)
    if len(guards) != 1 or guards[0].when:
        return None
    kept = [_called(packet, letter) for packet, found in replays if found.supports for letter in found.held]
    against = [_called(packet, letter) for packet, found in replays for letter in found.contradicted]
    if not kept:
        return None
    seen_without = {function for functions in against for function in functions}
    common = set.intersection(*kept) - seen_without - set(guards[0].functions)
    shown_by = [packet for packet, found in replays if found.supports]
    for condition in sorted(common):
        narrower = guards[0]._replace(when=condition)
        if any(replay(narrower, packet).supports for packet in shown_by):
            return condition
    return None


def _called(packet: Packet, letter: str) -> set[str]:
    run = next(run for run in packet.runs if run.letter == letter)
    return {step.function for step in run.actions if step.function and not step.error}


def _narrowed(one: Known, condition: str) -> SkillDelta:
    card = one.card
    guard = guards_of(card.guards)[0]._replace(when=condition)
    trigger = f"{card.applies_when.rstrip('.')}, in a task that also needs {bare(condition)}."
    return rewritten(
        card,
        applies_when=trigger,
        guards=(str(guard),),
        functions_used=tuple(dict.fromkeys([*card.functions_used, condition])),
    )
