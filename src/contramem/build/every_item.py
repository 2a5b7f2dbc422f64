"""Every item: a write that is due for each thing that a result has listed, and was made for the first of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import Candidate
from contramem.build.mining import MIN_BROKEN
from contramem.build.phrases import bare, calls_of, counted, listed, path, plain, tags_of
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import Cite
from contramem.traces.effects import words

NAMED = 3
"""Writes that a card about several of them names as examples."""

_RULE = re.compile(r"Go through every `([^`]+)` that `([^`]+)` lists")


def every_item(packet: Packet) -> Iterator[Candidate]:
    """A write that passing runs make for several things that a result had listed, and failing runs for fewer."""
    for function in sorted({s.function for run in packet.passing for s in run.actions if wrote(s)}):
        unit = _unit(packet.passing, function)
        listing = _listing(packet.passing, function, unit) if unit else None
        if unit is None or listing is None:
            continue
        least = min(len(_things(run, function, unit)) for run in packet.passing)
        due = {thing for run in packet.passing for thing in _things(run, function, unit)}
        # A run that changed something else, or ran out of steps, did not stop before the last.
        ended = [run for run in packet.failing if run.ended == "complete" and _things(run, function, unit) <= due]
        fewer = [run for run in ended if 0 < len(_things(run, function, unit)) < least]
        if least >= 2 and fewer and len(fewer) >= MIN_BROKEN * len(packet.failing):
            yield _for_each(packet, function, unit, listing, fewer)


def _for_each(packet: Packet, function: str, unit: str, listing: str, fewer: Sequence[PacketRun]) -> Candidate:
    good, functions = packet.passing[0], (listing, function)
    delta = SkillDelta(
        title=f"{plain(function)} for every {unit} that {plain(listing)} lists"[:120],
        applies_when=f"{bare(listing)} has listed several `{unit}`, and {bare(function)} is to be called for them.",
        solves=f"Runs that call {bare(function)} for the first of them and report all of them done.",
        tags=tags_of(packet, functions),
        skill=Skill(
            core_rule=f"Go through every `{unit}` that {bare(listing)} lists and the task concerns, call "
            f"{bare(function)} for each, and count before answering.",
            completion=(
                f"{bare(function)} worked for each `{unit}` that {bare(listing)} listed and the task concerns",
            ),
            success_failure_contrast=f"{counted(packet.passing, packet.passing)} passing runs do so; "
            f"{counted(fewer, packet.failing)} failing runs stop before the last.",
        ),
        evidence=Evidence(good_example=path(good, functions), bad_example=path(fewer[0], functions)),
        functions_used=functions,
    )
    cites = [Cite(run.letter, s.position) for run in (good, *fewer) for name in functions for s in calls_of(run, name)]
    return Candidate(delta, tuple(cites))


def completed(card: SkillDelta, delta: SkillDelta, packet: Packet) -> SkillDelta | None:
    """Both ask for a write for each of the same things: one rule about all such writes."""
    if not is_of_same_items(card, delta) or says_for_each(card, delta):
        return None
    listing, *before = card.functions_used
    writes = tuple(dict.fromkeys([*before, *delta.functions_used[1:]]))
    unit = _RULE.findall(card.skill.core_rule)[0][0]
    examples = listed([bare(name) for name in writes[:NAMED]])
    skill = card.skill.model_copy(
        update={
            "core_rule": f"Go through every `{unit}` that {bare(listing)} lists and the task concerns, make the change "
            f"for each, as with {examples}, and count before answering.",
            "completion": (f"the change worked for each `{unit}` that {bare(listing)} listed and the task concerns",),
        }
    )
    return SkillDelta(
        title=f"The same change for every {unit} that {plain(listing)} lists"[:120],
        applies_when=f"{bare(listing)} has listed several `{unit}`, and a change is to be made to them.",
        solves="Runs that change the first of them and report all of them done.",
        tags=card.tags,
        skill=skill,
        evidence=card.evidence,
        functions_used=(listing, *writes),
    )


def says_for_each(card: SkillDelta, delta: SkillDelta) -> bool:
    """Does the card ask for the delta's write, for each of the same things?"""
    return is_of_same_items(card, delta) and set(delta.functions_used) <= set(card.functions_used)


def is_of_same_items(card: SkillDelta, delta: SkillDelta) -> bool:
    """Do both go through the same things, listed by the same function?"""
    one, other = _RULE.findall(card.skill.core_rule), _RULE.findall(delta.skill.core_rule)
    return bool(one) and one == other and card.functions_used[:1] == delta.functions_used[:1]


def _listing(passing: Sequence[PacketRun], function: str, unit: str) -> str | None:
    """The function in whose results every passing run found the things; None when the request named them."""
    found = {step.origins.get(unit, "") for run in passing for step in calls_of(run, function) if not step.error}
    listing = found.pop() if len(found) == 1 else ""
    # One look-up for each of them is no listing.
    several = all(len(calls_of(run, listing)) < len(_things(run, function, unit)) for run in passing)
    return listing if "." in listing and several else None


def _unit(passing: Sequence[PacketRun], function: str) -> str | None:
    """The argument of which each call takes another value, in every passing run; None when there is no such one."""
    units: set[str] | None = None
    for run in passing:
        made = [step for step in calls_of(run, function) if not step.error]
        names = {name for step in made for name, value in step.arguments.items() if _identifies(value)}
        varying = {name for name in names if len({str(step.arguments.get(name)) for step in made}) == len(made)}
        units = varying if units is None else units & varying
    identifying = sorted(name for name in units or () if not set(words(name)) & _WORDY)
    return identifying[0] if identifying else None


def _identifies(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("<ID_", "<EMAIL_", "<PERSON_", "<NAME_", "<FILE_", "<ACCOUNT_"))


_WORDY = frozenset(
    """zip city state country street address phone text body content message description subject title comment note
    summary date time day""".split()
)


def _things(run: PacketRun, function: str, unit: str) -> set[str]:
    return {str(step.arguments.get(unit)) for step in calls_of(run, function) if not step.error}


def wrote(step: Step) -> bool:
    """Did this step change something?"""
    return step.effect == "write" and not step.error
