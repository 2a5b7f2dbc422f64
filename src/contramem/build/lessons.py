"""From a packet to skill deltas, by rules: what mining, errors, repeated writes and detours have to teach.

Nothing is said that the packet's runs do not show, and nothing that the request says already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.candidates import calls
from contramem.build.enforcing import is_enforced
from contramem.build.every_item import every_item, wrote
from contramem.build.mining import mine
from contramem.build.phrases import bare, calls_of, counted, listed, path, plain, tags_of
from contramem.build.recoveries import diagnoses, recoveries
from contramem.build.wordings import worded
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import Cite
from contramem.monitor.packet_replay import GuardReplay


def lessons(packet: Packet) -> list[Candidate]:
    """At most three, the sharpest first. All failed: diagnosis only. All passed: what wastes calls.

    What a tool says itself by refusing a call comes before what only outcomes tell.
    """
    if packet.is_contrastive:
        mined = mine(packet)
        enforced = [one for one in mined if is_enforced((one.guard,), (packet,))]
        found = [
            *_from_guards(packet, enforced),
            *recoveries(packet, [one.guard for one in mined]),
            *every_item(packet),
            *_from_guards(packet, [one for one in mined if one not in enforced]),
        ]
    elif packet.failing:
        found = list(diagnoses(packet))
    else:
        found = list(_detours(packet))
    return found[:MAX_DELTAS]


# Guards that separate the runs


def _from_guards(packet: Packet, mined: Sequence[GuardReplay]) -> Iterator[Candidate]:
    for found in mined:
        delta = worded(packet, found)
        if delta is not None:
            yield Candidate(delta, _cites(packet, found, delta.functions_used))


def _cites(packet: Packet, found: GuardReplay, functions: Sequence[str]) -> tuple[Cite, ...]:
    """Of each function that the lesson names, the first call in every run that shows it."""
    shown = []
    for run in packet.runs:
        if run.letter in found.held or run.letter in found.broken:
            steps = [made[0] for function in functions if (made := calls_of(run, function))]
            shown += [Cite(run.letter, step.position) for step in steps or list(run.actions[-1:])]
    return tuple(shown)


# Efficiency


def _detours(packet: Packet) -> Iterator[Candidate]:
    """Every run passed; most ended when their last write had worked, and some went on looking: at what?"""
    runs = packet.passing
    ends = {steps[-1].function for run in runs if (steps := calls(run)) and wrote(steps[-1])}
    if len(ends) != 1:
        return
    last = ends.pop()
    looking = [run for run in runs if calls_of(run, last) and _looks_after(run, last)]
    if not looking or 2 * len(looking) >= len(runs) or any(not calls_of(run, last) for run in runs):
        return
    extra = sorted({step.function for run in looking for step in _looks_after(run, last)})[:2]
    longest = max(looking, key=lambda run: (len(run.actions), run.letter))
    functions = (last, *extra)
    seen = listed([bare(name) for name in extra])
    delta = SkillDelta(
        title=f"End when {plain(last)} has worked"[:120],
        applies_when=f"{bare(last)} has worked, and nothing else is asked.",
        solves=f"Calls of {seen} that change nothing.",
        tags=tags_of(packet, functions),
        skill=Skill(
            core_rule=f"Answer as soon as {bare(last)} has worked: its own result says what was done. Looking again "
            f"with {seen} made no difference.",
            completion=(f"{bare(last)} returned no error",),
            efficiency=f"{counted([run for run in runs if run not in looking], runs)} passing runs end there; the "
            f"longest goes on to {len(longest.actions)} actions.",
        ),
        evidence=Evidence(good_example=path(min(runs, key=_length), functions)),
        functions_used=functions,
    )
    yield Candidate(delta, tuple(Cite(longest.letter, s.position) for s in longest.actions if s.function in functions))


def _length(run: PacketRun) -> tuple[int, str]:
    return len(run.actions), run.letter


def _looks_after(run: PacketRun, write: str) -> list[Step]:
    """What a run only looked at after its last call of `write`."""
    place = max(step.position for step in calls_of(run, write))
    return [step for step in calls(run) if step.position > place and step.effect == "read"]
