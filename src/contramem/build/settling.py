"""Settling: after the deltas, every rule is held against all runs of its ability, not only those that taught it.

A rule that passing runs contradict is narrowed to where it holds, or taken out of service; it is never kept because it
came first. A rule that more tasks bear out knows so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contramem.bank.card import Skill, SkillDelta
from contramem.bank.footing import Footing, Support
from contramem.build.chance import chance
from contramem.build.curation import Known, rewritten
from contramem.build.enforcing import is_enforced
from contramem.build.mining import Replay, guarded, is_met, replay, tables
from contramem.build.phrases import AT_ONCE, bare, quoted
from contramem.build.sources import places, sources_in
from contramem.contrast.packet import Packet, PacketRun
from contramem.monitor.guard import Guard, Verdict, guards_of


class Standing(NamedTuple):
    """How a card fares over all packets of its ability."""

    footing: Footing
    """All it rests on now, what it rested on before included."""
    stated: SkillDelta
    """The card with the evidence over all its tasks in words."""
    narrowed: SkillDelta | None = None
    """The text that says where it holds, when passing runs contradict the wider one and such a place was found."""
    retired: str = ""
    """Why it should not stay in service. Empty: it should."""


MAX_CONTRADICTED = 1 / 3
"""Of the tasks that show a rule. With fewer against it and no narrower place, or when those that keep it pass clearly
more often all the same, it stays, and its counts say so."""


def stand(one: Known, packets: Sequence[Packet], accepted: float | None = None) -> Standing:
    """Replay a card's guards on every packet they speak about.

    `accepted` is how likely by chance a rule may be that rests on outcomes alone (mining.py); None: not all runs that
    it rests on are at hand, so that this cannot be asked.
    """
    replays = [(packet, found) for packet in packets for found in _replays(one, packet)]
    footing = one.footing + _footing(replays)
    shown, contradicted = set(footing.tasks) - set(footing.contradicted_by), set(footing.contradicted_by)
    record = _record(one, packets)
    standing = Standing(footing, _stated(one, record, packets))
    enforced = is_enforced(guards_of(one.card.guards), packets)
    if record.speaks_against_it:
        return standing._replace(retired="Runs that keep it pass no more often than runs that do not.")
    if record.broke_and_passed > record.kept_and_passed:
        return standing._replace(retired="More runs pass without it than with it.")
    if _has_no_one_source(one, packets):
        return standing._replace(retired="Over all runs, its values have no one form, or stand in the request.")
    if reason := _weak(one, packets, record, enforced, accepted):
        return standing._replace(retired=reason)
    if not contradicted:
        return standing
    condition = _condition(one, replays)
    if condition is not None and len(contradicted) <= len(shown):
        return standing._replace(narrowed=_narrowed(one, condition))
    if enforced and (after_refusal := _after_refusal(one)):
        return standing._replace(narrowed=after_refusal)
    if len(contradicted) > (1 if enforced else MAX_CONTRADICTED) * len(shown) and not record.makes_a_difference:
        return standing._replace(retired=f"Passing runs of {len(contradicted)} tasks do without it.")
    return standing


def _weak(one: Known, packets: Sequence[Packet], record: Record, enforced: bool, accepted: float | None) -> str:
    """Why what outcomes show is not enough. What the tools themselves enforce needs no outcomes."""
    if enforced:
        return ""
    if _asks_for_call(one) and not record.makes_a_difference:
        return "Over all runs, those that keep it do not pass clearly more often."
    if accepted is None:
        return ""
    likely = min(chance(tables(guard, packets)) for guard in guards_of(one.card.guards))
    if likely > accepted:
        enough = f"at most {accepted:.2g} would do" if accepted else "none is unlikely enough"
        return f"Chance alone may show this (probability {likely:.2g}): of so many rules tried, {enough}."
    return ""


def _has_no_one_source(one: Known, packets: Sequence[Packet]) -> bool:
    guards = [guard for guard in guards_of(one.card.guards) if guard.template == "known_value"]
    return any(not sources_in(packets, guard).are_mostly_looked_up for guard in guards)


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
    guards = guards_of(one.card.guards)
    verdicts = [
        (packet.task_key, _verdict(about, run), run.passed)
        for packet in packets
        # Whoever reads `after A, B` reads it after every A, so every A counts, whatever the task was about.
        if (about := [g for g in guards if is_met(g, packet) and (g.template == "response" or speaks_about(g, packet))])
        for run in (*packet.passing, *packet.failing)
    ]
    kept = [passed for _, verdict, passed in verdicts if verdict == "holds"]
    broke = [passed for _, verdict, passed in verdicts if verdict == "broken"]
    tasks = {task for task, verdict, _ in verdicts if verdict != "vacuous"}
    return Record(len(tasks), len(kept), sum(map(bool, kept)), len(broke), sum(map(bool, broke)))


def _verdict(guards: Sequence[Guard], run: PacketRun) -> Verdict:
    """How a run fared with all guards of a card together."""
    verdicts = {guard.check(run.actions) for guard in guards}
    return next(verdict for verdict in ("broken", "holds", "vacuous") if verdict in verdicts)


def _stated(one: Known, record: Record, packets: Sequence[Packet]) -> SkillDelta:
    """The contrast of the task that taught it, and how all runs fared that it speaks about, where there are more."""
    skill = _with_all_sources(one, packets)
    if record.tasks >= 2 and record.broke:
        first = skill.success_failure_contrast.partition(_OVERALL)[0].rstrip()
        overall = (
            f"{_OVERALL} {record.tasks} tasks it speaks about, {record.kept_and_passed} of {record.kept} runs that "
            f"kept this passed, and {record.broke_and_passed} of {record.broke} that did not."
        )
        skill = skill.model_copy(update={"success_failure_contrast": f"{first} {overall}"})
    return rewritten(one.card, skill=skill)


def _with_all_sources(one: Known, packets: Sequence[Packet]) -> Skill:
    """The rule with every place that passing runs took the values from: one task may have shown an odd one."""
    skill, guards = one.card.skill, guards_of(one.card.guards)
    said = [item.partition(_SEEN_IN)[2] for item in skill.completion if _SEEN_IN in item]
    if len(guards) != 1 or guards[0].template != "known_value" or len(said) != 1:
        return skill
    where = places(sources_in(packets, guards[0]))
    return skill.model_copy(
        update={
            "core_rule": skill.core_rule.replace(said[0], where),
            "completion": tuple(item.replace(said[0], where) for item in skill.completion),
        }
    )


_SEEN_IN = " had been seen in "
_OVERALL = "Over all"


def _asks_for_call(one: Known) -> bool:
    return any(guard.template == "response" for guard in guards_of(one.card.guards))


def _replays(one: Known, packet: Packet) -> Iterable[Replay]:
    return [
        replay(guard, packet)
        for guard in guards_of(one.card.guards)
        if is_met(guard, packet) and speaks_about(guard, packet)
    ]


def speaks_about(guard: Guard, packet: Packet) -> bool:
    """Is this a task for the guard? One that asks for a call says nothing about tasks that passing runs do without it,
    and one that forbids a call says nothing where the task asks for it."""
    if guard.template in ("precedence", "at_most_once", "known_value"):
        return True
    made = any(not step.error for run in packet.passing for step in guarded(run, guard))
    return made if guard.template in ("response", "existence") else not made


def _footing(replays: Sequence[tuple[Packet, Replay]]) -> Footing:
    footing = Footing()
    for packet, found in replays:
        sources = [packet.provenance[letter].source for letter in (*found.held, *found.broken)]
        counts = Support(held=len(found.held), broken=len(found.broken), contradicted=len(found.contradicted))
        footing += Footing(
            tasks=(packet.task_key,) if found.supports else (),
            sources=tuple(sources) if found.supports else (),
            contradicted_by=(packet.task_key,) if found.speaks_against else (),
            taught_by=packet.identity if found.supports else (),
            support={str(found.guard): counts},
        )
    return footing


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
    # Where the rule sends the agent is no place to tell it from: that would say "look it up where you look it up".
    common = set.intersection(*kept) - seen_without - set(guards[0].functions) - set(one.card.functions_used)
    shown_by = [packet for packet, found in replays if found.supports]
    for condition in sorted(common):
        narrower = guards[0]._replace(when=condition)
        if any(replay(narrower, packet).supports for packet in shown_by):
            return condition
    return None


def _after_refusal(one: Known) -> SkillDelta | None:
    """A precondition that some passing runs found fulfilled already (they were signed in, say) is asked for when the
    tool asks for it, not always beforehand."""
    guards, refusals = guards_of(one.card.guards), quoted(one.card.skill.core_rule)
    if len(refusals) != 1 or {guard.template for guard in guards} != {"precedence"}:
        return None
    refusal = refusals[0]
    needed, calls = bare(guards[0].function), " or ".join(bare(guard.then) for guard in guards)
    skill = one.card.skill.model_copy(
        update={
            "core_rule": f"When {calls} answers “{refusal}”, call {needed} and then the same call again. {AT_ONCE}, "
            f"{needed} is not needed.",
            "completion": (f"a refused {calls} was made again after {needed} had worked",),
        }
    )
    return rewritten(one.card, applies_when=f"{calls} has answered “{refusal}”.", skill=skill, guards=())


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
