"""The wordings of mined guards: each template states its decision boundary one level above the task.

Functions, roles of values, conditions; the counts and examples are those of the packet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.mining import Replay
from contramem.build.phrases import about, bare, calls_of, counted, listed, path, plain, quotation, tags_of
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.packet import Packet


def _response(packet: Packet, found: Replay) -> SkillDelta:
    first, then = found.guard.function, found.guard.then
    return _delta(
        packet,
        found,
        title=f"Go on from {plain(first)} to {plain(then)}",
        applies_when=f"A task about {about(packet, then)}, when {bare(first)} has answered and {bare(then)} has not.",
        solves=f"Runs that take {bare(first)} for all there is to know.",
        core_rule=f"{bare(first)} alone does not settle it: call {bare(then)} and use what it returns.",
        completion=[f"{bare(then)} was called after the last {bare(first)} and returned no error"],
        contrast=_called_by(packet, then),
    )


def _precedence(packet: Packet, found: Replay) -> SkillDelta:
    first, then = found.guard.function, found.guard.then
    refused = _refusal(packet, found.broken, then)
    given = _given(packet, found.held, first, then)
    because = f" Without it {bare(then)} answers “{refused}”." if refused else ""
    if given:
        because = f" Its result gives {listed([f'`{name}`' for name in given])}.{because}"
    return _delta(
        packet,
        found,
        title=f"{plain(first)} before {plain(then)}",
        applies_when=f"A task about {about(packet, then)}, before the first call of {bare(then)}.",
        solves=f"Calls of {bare(then)} made before {bare(first)} has been called.",
        core_rule=f"Call {bare(first)} and see it work before {bare(then)}.{because}",
        completion=[f"{bare(first)} returned no error before the first {bare(then)}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs {bare(first)} has worked before {bare(then)} "
        f"works; {counted(found.broken, packet.failing)} failing runs call {bare(then)} without it.",
    )


def _given(packet: Packet, letters: Sequence[str], first: str, then: str) -> list[str]:
    """The arguments of `then` whose values passing runs take from `first`."""
    steps = [step for run in packet.passing if run.letter in letters for step in calls_of(run, then)]
    names = {name for step in steps for name, origin in step.origins.items() if origin == first}
    return sorted(names)[:3]


def known_value(packet: Packet, found: Replay, alike: Sequence[Replay]) -> SkillDelta:
    """Values that were made up; `alike` are the guards about other arguments that the same runs made up."""
    function = found.guard.function
    names = [one.guard.argument for one in alike][:3]
    shown = listed([f"`{name}`" for name in names])
    where = _origin_in_words(packet, found.held, function, names)
    if _had_looked(packet, found, names):
        rule = (
            f"Give {bare(function)} {shown} exactly as {where} shows it: no other spelling, no placeholder, no guess."
        )
        title = f"Copy {listed(names)} for {plain(function)} exactly"
    else:
        rule = f"Give {bare(function)} only {shown} as read in {where}. If not seen yet, look first."
        title = f"Look up {listed(names)} before {plain(function)}"
    delta = _delta(
        packet,
        found,
        title=title,
        applies_when=f"A task about {about(packet, function)}, when {shown} of {bare(function)} is not known.",
        solves=f"Values of {shown} that were made up instead of read.",
        core_rule=rule,
        completion=[f"every {shown} given to {bare(function)} had been seen in {where}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs {shown} comes from {where}; "
        f"{counted(found.broken, packet.failing)} failing runs give one that was seen nowhere before.",
    )
    return delta.model_copy(update={"guards": tuple(str(one.guard) for one in alike[:3])})


def _at_most_once(packet: Packet, found: Replay) -> SkillDelta:
    function = found.guard.function
    return _delta(
        packet,
        found,
        title=f"{plain(function)} once for each thing asked",
        applies_when=f"A task about {about(packet, function)}, when {bare(function)} has already worked.",
        solves=f"The same {bare(function)} made twice.",
        core_rule=f"Call {bare(function)} once for each thing asked, and never again with the same arguments: "
        "the second call acts again.",
        completion=[f"no two {bare(function)} calls have the same arguments"],
        contrast=f"{counted(found.held, packet.passing)} passing runs make each {bare(function)} once; "
        f"{counted(found.broken, packet.failing)} failing runs repeat one.",
    )


def _existence(packet: Packet, found: Replay) -> SkillDelta:
    function = found.guard.function
    rule = f"Start from {bare(function)}: what it returns decides the rest. Do not go on from the request alone."
    solves = f"Runs that act or answer without having looked with {bare(function)}."
    return _delta(
        packet,
        found,
        title=f"Do not skip {plain(function)}",
        applies_when=f"A task about {about(packet, function)}, and {bare(function)} has not been called yet.",
        solves=solves,
        core_rule=rule,
        completion=[f"{bare(function)} was called and returned no error"],
        contrast=_called_by(packet, function),
    )


def _called_by(packet: Packet, function: str) -> str:
    sides = [[run for run in side if calls_of(run, function)] for side in (packet.passing, packet.failing)]
    return (
        f"{bare(function)} is called by {counted(sides[0], packet.passing)} passing and "
        f"{counted(sides[1], packet.failing)} failing runs."
    )


WORDINGS: dict[str, Callable[[Packet, Replay], SkillDelta]] = {
    "response": _response,
    "precedence": _precedence,
    "at_most_once": _at_most_once,
    "existence": _existence,
}


def _delta(
    packet: Packet,
    found: Replay,
    *,
    title: str,
    applies_when: str,
    solves: str,
    core_rule: str,
    completion: list[str],
    contrast: str,
    more_functions: Sequence[str] = (),
) -> SkillDelta:
    functions = tuple(dict.fromkeys([*found.guard.functions, *more_functions]))
    good = next(run for run in packet.passing if run.letter in found.held)
    bad = next(run for run in packet.failing if run.letter in found.broken)
    return SkillDelta(
        title=title[:120],
        applies_when=applies_when,
        solves=solves,
        tags=tags_of(packet, functions),
        skill=Skill(core_rule=core_rule, completion=tuple(completion), success_failure_contrast=contrast),
        evidence=Evidence(good_example=path(good, functions), bad_example=path(bad, functions)),
        functions_used=functions,
        guards=(str(found.guard),),
    )


def _refusal(packet: Packet, letters: Sequence[str], function: str) -> str:
    """The error that `function` gave in those runs, where it is fit to be quoted."""
    steps = (s for run in packet.runs if run.letter in letters for s in run.actions if s.function == function)
    return next((quoted for step in steps if step.error and (quoted := quotation(step.error))), "")


def _had_looked(packet: Packet, found: Replay, names: Sequence[str]) -> bool:
    """Had most of the runs that made a value up called what passing runs read it from, before they did?"""
    sources = _origins(packet, found.held, found.guard.function, names)
    wrong = [run for run in packet.failing if run.letter in found.broken]
    looked = [run for run in wrong if any(step.function in sources and not step.error for step in run.actions)]
    return 2 * len(looked) > len(wrong)


def is_looked_up(packet: Packet, found: Replay) -> bool:
    """Do passing runs read the value in a result, rather than in the request?"""
    return "`" in _origin_in_words(packet, found.held, found.guard.function, [found.guard.argument])


def _origin_in_words(packet: Packet, letters: Sequence[str], function: str, arguments: Sequence[str]) -> str:
    found = _origins(packet, letters, function, arguments)
    places = [f"a result of {bare(name)}" for name in sorted(found) if "." in name][:3]
    if found & {TASK, USER} or not places:
        places.insert(0, "the request")
    return " or ".join(places)


def _origins(packet: Packet, letters: Sequence[str], function: str, arguments: Sequence[str]) -> set[str]:
    return {
        step.origins.get(argument, NOWHERE)
        for run in packet.passing
        if run.letter in letters
        for step in run.actions
        if step.function == function
        for argument in arguments
    } - {NOWHERE}
