"""From a packet to skill deltas, by rules: what mining, errors, repeated writes and detours have to teach.

Nothing is said that the packet's runs do not show, and nothing that the request says already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.candidates import calls
from contramem.build.enforcing import is_enforced
from contramem.build.mining import MIN_BROKEN, Replay, mine
from contramem.build.phrases import bare, calls_of, counted, listed, path, plain, tags_of
from contramem.build.recoveries import diagnoses, recoveries
from contramem.build.wordings import worded
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import Cite
from contramem.traces.effects import words


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
            *_every_item(packet),
            *_from_guards(packet, [one for one in mined if one not in enforced]),
        ]
    elif packet.failing:
        found = list(diagnoses(packet))
    else:
        found = list(_detours(packet))
    return found[:MAX_DELTAS]


# Guards that separate the runs


def _from_guards(packet: Packet, mined: Sequence[Replay]) -> Iterator[Candidate]:
    for found in mined:
        delta = worded(packet, found)
        if delta is not None:
            yield Candidate(delta, _cites(packet, found, delta.functions_used))


def _cites(packet: Packet, found: Replay, functions: Sequence[str]) -> tuple[Cite, ...]:
    """Of each function that the lesson names, the first call in every run that shows it."""
    shown = []
    for run in packet.runs:
        if run.letter in found.held or run.letter in found.broken:
            steps = [made[0] for function in functions if (made := calls_of(run, function))]
            shown += [Cite(run.letter, step.position) for step in steps or list(run.actions[-1:])]
    return tuple(shown)


# Every item


def _every_item(packet: Packet) -> Iterator[Candidate]:
    """A write that passing runs make for several things that a result had listed, and failing runs for fewer."""
    for function in sorted({s.function for run in packet.passing for s in run.actions if _wrote(s)}):
        unit = _unit(packet.passing, function)
        listing = _listing(packet.passing, function, unit) if unit else None
        if unit is None or listing is None:
            continue
        least = min(len(_things(run, function, unit)) for run in packet.passing)
        fewer = [run for run in packet.failing if 0 < len(_things(run, function, unit)) < least]
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


def _wrote(step: Step) -> bool:
    return step.effect == "write" and not step.error


# Efficiency


def _detours(packet: Packet) -> Iterator[Candidate]:
    """Every run passed; most ended when their last write had worked, and some went on looking: at what?"""
    runs = packet.passing
    ends = {steps[-1].function for run in runs if (steps := calls(run)) and _wrote(steps[-1])}
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
