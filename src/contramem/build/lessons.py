"""From a packet to skill deltas, by rules: what mining, errors, repeated writes and detours have to teach.

Nothing is said that the packet's runs do not show, and nothing that the request says already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.mining import MIN_BROKEN, Replay, mine, names_call
from contramem.build.phrases import about, bare, calls_of, counted, listed, path, plain, tags_of
from contramem.build.recoveries import diagnoses, recoveries
from contramem.build.wordings import WORDINGS, is_looked_up, known_value
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import Cite
from contramem.traces.effects import words


def lessons(packet: Packet) -> list[Candidate]:
    """At most three, the sharpest first. All failed: diagnosis only. All passed: what wastes calls."""
    if packet.is_contrastive:
        found = [*_from_guards(packet), *_every_item(packet), *recoveries(packet)]
    elif packet.failing:
        found = list(diagnoses(packet))
    else:
        found = list(_detours(packet))
    return found[:MAX_DELTAS]


# Guards that separate the runs


def _from_guards(packet: Packet) -> Iterator[Candidate]:
    mined = mine(packet)
    for found in mined:
        if found.guard.template == "known_value" and not is_looked_up(packet, found):
            continue  # "take it from the request" is no advice
        if found.guard.template == "known_value":
            # Several arguments that the same runs made up for one call are one lesson about that call.
            alike = [one for one in mined if _same_slip(one, found)]
            if alike[0] is found:
                yield Candidate(known_value(packet, found, alike), _cites(packet, found))
        else:
            yield Candidate(WORDINGS[found.guard.template](packet, found), _cites(packet, found))


def _same_slip(one: Replay, other: Replay) -> bool:
    same = (one.guard.template, one.guard.function) == (other.guard.template, other.guard.function)
    return same and one.held == other.held and bool(set(one.broken) & set(other.broken))


def _cites(packet: Packet, found: Replay) -> tuple[Cite, ...]:
    shown = []
    for run in packet.runs:
        if run.letter in found.held or run.letter in found.broken:
            about = [step for step in run.actions if step.function in found.guard.functions] or list(run.actions[-1:])
            shown += [Cite(run.letter, step.position) for step in about[:2]]
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
        applies_when=f"A task about {about(packet, function)}, when {bare(listing)} has listed several `{unit}`.",
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
    return found.pop() if len(found) == 1 and "." in next(iter(found)) else None


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
    """Every run passed, and one took at least twice the calls of another: name the calls that were not needed."""
    if len(packet.passing) < 2:
        return
    runs = sorted(packet.passing, key=lambda run: (len(run.actions), run.letter))
    short, long = runs[0], runs[-1]
    needed = {step.function for step in short.actions}
    called = [{step.function for step in run.actions} for run in runs]
    extra = sorted(f for f in called[-1] - needed if f and sum(f in one for one in called) * 2 < len(runs))
    if len(long.actions) < 2 * len(short.actions) or not extra or not needed - {""}:
        return
    enough = [step.function for step in short.actions if step.function]
    if names_call(packet.task, enough[-1]):
        return  # the request names the short way itself
    functions = tuple(dict.fromkeys([*enough, *extra[:2]]))
    delta = SkillDelta(
        title=f"{plain(enough[-1])} without detours"[:120],
        applies_when=f"A task about {about(packet, *enough[-1:])}.",
        solves=f"Calls of {listed([bare(name) for name in extra[:2]])} that change nothing.",
        tags=tags_of(packet, functions),
        skill=Skill(
            core_rule=f"Make do with {listed([bare(name) for name in dict.fromkeys(enough)])}; "
            f"most passing runs never call {listed([bare(name) for name in extra[:2]])}.",
            completion=(f"{bare(enough[-1])} returned what the task asks for",),
            efficiency=f"The shortest run takes {len(short.actions)} actions, the longest {len(long.actions)}: "
            f"{path(long, functions)}.",
        ),
        evidence=Evidence(good_example=path(short, functions)),
        functions_used=functions,
    )
    yield Candidate(delta, tuple(Cite(long.letter, s.position) for s in long.actions if s.function in extra))
