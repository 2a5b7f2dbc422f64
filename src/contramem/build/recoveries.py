"""Lessons from errors: the way past one that some runs found, and traps that nobody got past."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import Candidate
from contramem.build.phrases import about, bare, listed, names_call, path, plain, quotation, tags_of
from contramem.contrast.enabling import Enabling, enablings
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.recovery import GAVE_UP, REPEATED, Reactions, reactions
from contramem.contrast.signal import Cite
from contramem.monitor.guard import Guard


def recoveries(packet: Packet, mined: Sequence[Guard] = ()) -> Iterator[Candidate]:
    """An error that some runs got past, and passed, while others gave up or repeated the call, and failed.

    `mined` are the guards that the packet teaches anyway: what they ask for beforehand needs no second card.
    """
    runs = (*packet.passing, *packet.failing)
    for (function, error), by_reaction in reactions(runs).items():
        stuck = _stuck(function, error, by_reaction)
        quoted = quotation(error)
        if not stuck or not quoted:
            continue
        way = _way_past(packet, function, error) or _another_form(function, by_reaction)
        if way is None or any(names_call(packet.task, name) for name in way.by):
            continue  # what the request says to do then is no lesson, and elsewhere nobody has asked for it
        if not any(_asks_for(guard, function, way) for guard in mined):
            yield _recovery(packet, function, quoted, way, stuck)


class ErrorFix(NamedTuple):
    """How runs got past an error, and passed."""

    by: tuple[str, ...]
    """Functions that were called in between."""
    arguments: tuple[str, ...]
    """Of the call that was refused, those whose new values came from there."""
    advice: str
    cases: list[tuple[PacketRun, Step]]


def _way_past(packet: Packet, function: str, error: str) -> ErrorFix | None:
    """What most of the passing runs that were refused had done when the call worked."""
    found: dict[tuple[str, ...], list[Enabling]] = defaultdict(list)
    for one in enablings((*packet.passing, *packet.failing)):
        if one.run.passed and (one.function, one.error) == (function, error):
            found[one.by].append(one)
    if not found:
        return None
    by, ones = max(found.items(), key=lambda item: (len(item[1]), item[0]))
    arguments = tuple(dict.fromkeys(name for one in ones for name in one.arguments))
    again = f" with {listed([f'`{name}`' for name in arguments])} from its result" if arguments else ""
    advice = f"call {listed([bare(name) for name in by])}, and then {bare(function)} again{again}"
    return ErrorFix(by, arguments, advice, [(one.run, one.refused) for one in ones])


def _another_form(function: str, by_reaction: Reactions) -> ErrorFix | None:
    """The same call with a value written in another way. "Change something" alone is what the error says already."""
    for reaction, cases in sorted(by_reaction.items()):
        if reaction.startswith("changed") and reaction.endswith("worked"):
            helped = [case for case in cases if case[0].passed and _reformed(function, *case)]
            if helped:
                forms = sorted(_reformed(function, *helped[0]).items())
                changes = [f"`{name}` as {after} instead of {before}" for name, (before, after) in forms]
                return ErrorFix((), tuple(name for name, _ in forms), f"call it again with {listed(changes)}", helped)
    return None


def _asks_for(guard: Guard, function: str, way: ErrorFix) -> bool:
    """Does the guard ask beforehand for what the way past the error does afterwards?"""
    if guard.template == "precedence":
        return guard.then == function and guard.function in way.by and not way.arguments
    applies = guard.target == function or guard.target.endswith(f"({function.partition('.')[0]})")
    return guard.template == "known_value" and applies and guard.argument in way.arguments


def _stuck(function: str, error: str, by_reaction: Reactions) -> list[tuple[PacketRun, Step]]:
    """Runs that met the error, never made the call work, and failed; empty when a run passed that gave up."""
    gave_up = [case for name in (GAVE_UP, REPEATED) for case in by_reaction.get(name, [])]
    if any(run.passed and not _reached(function, run, step) for run, step in gave_up):
        return []
    return [(run, step) for run, step in gave_up if not run.passed and not _reached(function, run, step)]


def _reached(function: str, run: PacketRun, failed: Step) -> bool:
    """Did the call work after all?"""
    return any(step.function == function and not step.error for step in run.actions if step.position > failed.position)


def _recovery(
    packet: Packet, function: str, error: str, way: ErrorFix, stuck: Sequence[tuple[PacketRun, Step]]
) -> Candidate:
    functions = (function, *way.by)
    delta = SkillDelta(
        title=f"When {plain(function)} is refused: {listed([plain(name) for name in way.by])}"[:120]
        if way.by
        else f"Recover when {plain(function)} fails",
        applies_when=f"{bare(function)} has answered “{error}”.",
        solves="Runs that give up or repeat the same call after that error.",
        tags=tags_of(packet, functions),
        skill=Skill(
            core_rule=f"When {bare(function)} answers “{error}”, {way.advice}.",
            completion=(f"the last {bare(function)} error was followed by a {bare(function)} that worked",),
            success_failure_contrast=f"{_runs(way.cases)} got past it this way and passed; "
            f"{_runs(stuck)} gave up or repeated the call, and failed.",
            recovery=f"{way.advice[0].upper()}{way.advice[1:]}.",
        ),
        evidence=Evidence(
            transition=f"after “{error}”",
            good_example=path(way.cases[0][0], functions),
            bad_example=path(stuck[0][0], functions),
        ),
        functions_used=functions,
    )
    cites = [Cite(run.letter, step.position) for run, step in [*way.cases[:3], *stuck[:3]]]
    return Candidate(delta, tuple(cites))


def _runs(cases: Sequence[tuple[PacketRun, Step]]) -> str:
    count = len({run.letter for run, _ in cases})
    return f"{count} run" if count == 1 else f"{count} runs"


def _reformed(function: str, run: PacketRun, failed: Step) -> dict[str, tuple[str, str]]:
    """Arguments whose form was another in the call that then worked: (before, after)."""
    again = next((s for s in run.actions if s.position > failed.position and s.function == function), None)
    if again is None or again.error:
        return {}
    forms = {name: (form, again.forms.get(name, form)) for name, form in failed.forms.items()}
    return {
        name: (before, after)
        for name, (before, after) in forms.items()
        if before != after and not {before, after} & _NOTHING  # leaving a value out is not another way to write it
    }


_NOTHING = frozenset({"null", "empty text", "empty list", ""})


def diagnoses(packet: Packet) -> Iterator[Candidate]:
    """Every run failed: an error that all of them met is a trap worth naming, and nothing more can be said."""
    if len(packet.failing) < 2:
        return
    for (function, error), by_reaction in reactions(packet.failing).items():
        cases = [case for group in by_reaction.values() for case in group]
        quoted = quotation(error)
        everyone = {run.letter for run, _ in cases} == {run.letter for run in packet.failing}
        if not everyone or not quoted or any(_reached(function, run, step) for run, step in cases):
            continue  # somebody got past it, so it is not what they all failed of
        delta = SkillDelta(
            title=f"Known trap in {plain(function)}"[:120],
            applies_when=f"A task about {about(packet, function)}, and {bare(function)} answers “{quoted}”.",
            solves="An error that every observed run met without getting past it.",
            tags=tags_of(packet, (function,)),
            skill=Skill(
                core_rule=f"Expect {bare(function)} to answer “{quoted}”; check its preconditions before the call.",
                completion=(f"{bare(function)} returned no error, or the user was told that it did",),
                recovery=f"What the observed runs tried after it did not help: {listed(sorted(by_reaction)[:3])}.",
            ),
            evidence=Evidence(bad_example=path(packet.failing[0], [function])),
            functions_used=(function,),
        )
        yield Candidate(delta, tuple(Cite(run.letter, step.position) for run, step in cases[:6]))
