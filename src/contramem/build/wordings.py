"""The wordings of mined guards: each template states its decision boundary one level above the task.

Functions, roles of values, conditions; the counts and examples are those of the packet. What a card applies to is what
an agent can see before it decides, never the request alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.mining import guarded, matches
from contramem.build.phrases import bare, calls_of, counted, listed, path, plain, quotation, tags_of
from contramem.build.sources import named, places, sources_in
from contramem.contrast.enabling import enablings
from contramem.contrast.packet import Packet, PacketRun
from contramem.monitor.guard import Guard
from contramem.monitor.packet_replay import GuardReplay
from contramem.monitor.pattern import parse_pattern


def worded(packet: Packet, found: GuardReplay) -> SkillDelta | None:
    """The lesson that a guard teaches; None when it teaches nothing that an agent could act on."""
    return _WORDINGS[found.guard.template](packet, found)


def _response(packet: Packet, found: GuardReplay) -> SkillDelta:
    first, then = found.guard.function, found.guard.then
    held = [run for run in packet.passing if run.letter in found.held]
    if _is_change(held, then):
        return _second_change(packet, found, held)
    if parse_pattern(then).function:
        given = _arguments(_given(held, first, then))
        looks: tuple[str, ...] = (then,)
        title, applies = f"Look closer with {plain(then)} after {plain(first)}", f"{bare(first)} has answered."
        rule = (
            f"{bare(first)} only names things. Before answering or acting on one, call {bare(then)} with {given} from "
            "its result, and use what that says."
        )
    else:
        looks = _looks_after(held, found.guard)
        title, applies = (
            f"Look again after {plain(first)}",
            f"{bare(first)} has worked, and nothing was looked at since.",
        )
        rule = (
            f"That {bare(first)} worked does not show that all is well. Look again before you end, for example with "
            f"{listed([bare(name) for name in looks])}, and deal with what that still shows."
        )
    return _delta(
        packet,
        found,
        title=title,
        applies_when=applies,
        solves=f"Runs that end when {bare(first)} has answered.",
        core_rule=rule,
        completion=[f"after the last {bare(first)}, {parse_pattern(then).in_words()} returned no error"],
        contrast=f"{counted(found.held, packet.passing)} passing runs look further after {bare(first)}; "
        f"{counted(found.broken, packet.failing)} failing runs do not.",
        more_functions=looks,
    )


def _is_change(runs: Sequence[PacketRun], function: str) -> bool:
    return any(step.effect != "read" for run in runs for step in calls_of(run, function))


def _second_change(packet: Packet, found: GuardReplay, held: Sequence[PacketRun]) -> SkillDelta:
    """One change that calls for another."""
    first, then = found.guard.function, found.guard.then
    given = _given(held, first, then)
    same = (
        f" with {_arguments(given)} from its result"
        if given
        else f" for the same {_arguments(_shared(held, first, then))}"
    )
    return _delta(
        packet,
        found,
        title=f"{plain(then)} after {plain(first)}",
        applies_when=f"{bare(first)} has worked, and {bare(then)} has not been called since.",
        solves=f"Runs that end after {bare(first)} and leave {bare(then)} out.",
        core_rule=f"{bare(first)} alone is not all: call {bare(then)} after it{same}, also where nobody asks for it.",
        completion=[f"after the last {bare(first)}, {bare(then)} returned no error"],
        contrast=f"{counted(found.held, packet.passing)} passing runs call {bare(then)} after {bare(first)}; "
        f"{counted(found.broken, packet.failing)} failing runs do not.",
    )


def _shared(runs: Sequence[PacketRun], first: str, then: str) -> list[str]:
    """The arguments of `then` that name what a call of `first` in the same run had named."""
    names = {
        name
        for run in runs
        for step in calls_of(run, then)
        for name, value in step.arguments.items()
        if any(value in before.arguments.values() for before in calls_of(run, first))
    }
    return sorted(names)[:3] or ["task"]


def _looks_after(runs: Sequence[PacketRun], guard: Guard) -> tuple[str, ...]:
    """The first looks that runs took after the last call of the guard's first function, the commonest first."""
    pattern, counts = parse_pattern(guard.then), Counter[str]()
    for run in runs:
        last = max(step.position for step in calls_of(run, guard.function) if not step.error)
        after = [step for step in run.actions if step.position > last and not step.error and matches(pattern, step)]
        counts.update({step.function for step in after[:2]})
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:2])


def _precedence(packet: Packet, found: GuardReplay) -> SkillDelta:
    first, then = found.guard.function, found.guard.then
    names, refused = _preparation(packet, found.guard)
    given = _given([run for run in packet.passing if run.letter in found.held], first, then)
    because = f" Its result gives {_arguments(given)}." if given else ""
    because += f" Without it {bare(then)} answers “{refused}”." if refused else ""
    steps = listed([bare(name) for name in names])
    return _delta(
        packet,
        found,
        title=f"{listed([plain(name) for name in names])} before {plain(then)}",
        applies_when=f"{bare(then)} is to be called, and {bare(first)} has not worked yet.",
        solves=f"Calls of {bare(then)} made before {bare(first)} has been called.",
        core_rule=f"Call {steps} and see {'it' if len(names) == 1 else 'them'} work before {bare(then)}.{because}",
        completion=[f"{bare(first)} returned no error before the first {bare(then)}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs {bare(first)} has worked before {bare(then)} "
        f"works; {counted(found.broken, packet.failing)} failing runs call {bare(then)} without it.",
        more_functions=names,
    )


def _preparation(packet: Packet, guard: Guard) -> tuple[tuple[str, ...], str]:
    """All that made the refused call work, in order, and the refusal where it is fit to be quoted."""
    for one in enablings((*packet.passing, *packet.failing)):
        if one.function == guard.then and one.by[-1] == guard.function and not one.arguments:
            return one.by, quotation(one.error)
    return (guard.function,), ""


def _given(runs: Sequence[PacketRun], first: str, then: str) -> list[str]:
    """The arguments of `then` whose values these runs take from `first`."""
    steps = [step for run in runs for step in calls_of(run, then)]
    names = {name for step in steps for name, origin in step.origins.items() if origin == first}
    return sorted(names)[:3]


def _known_value(packet: Packet, found: GuardReplay) -> SkillDelta | None:
    guard = found.guard
    sources = sources_in([packet], guard)
    if not sources.are_looked_up:
        return None  # "take it from the request" is no advice
    who, where = named(guard, _guarded(packet, guard)), places(sources)
    argument = f"`{guard.argument}`"
    if _had_looked(packet, found, sources.functions):
        title = f"Copy {guard.argument} for {_short(guard)} exactly"
        rule = f"Give {who} {argument} exactly as {where} shows it: no other spelling, no placeholder, no guess."
    else:
        title = f"Look up {guard.argument} before {_short(guard)}"
        rule = f"Give {who} only {argument} that was read in {where}. Not seen there yet: look first, never guess."
    return _delta(
        packet,
        found,
        title=title,
        applies_when=f"{who[0].upper()}{who[1:]} is to be called with {argument}.",
        solves=f"Values of {argument} that were made up instead of read.",
        core_rule=rule,
        completion=[f"every {argument} given to {who} had been seen in {where}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs {argument} comes from {where}; "
        f"{counted(found.broken, packet.failing)} failing runs give one that was seen nowhere before.",
        more_functions=(*_guarded(packet, guard), *sources.functions),
    )


def _short(guard: Guard) -> str:
    """What is guarded, for a title."""
    pattern = parse_pattern(guard.function)
    verb = "changes" if pattern.kind == "writes" else "looks into"
    return plain(pattern.function) if pattern.function else f"whatever {verb} {pattern.name}"


def _guarded(packet: Packet, guard: Guard) -> tuple[str, ...]:
    """The functions of the packet that give the argument a value."""
    steps = (step for run in packet.runs for step in guarded(run, guard) if guard.argument in step.arguments)
    return tuple(sorted({step.function for step in steps}))


def _had_looked(packet: Packet, found: GuardReplay, sources: Sequence[str]) -> bool:
    """Had most of the runs that made a value up called what passing runs read it from, before they did?"""
    wrong = [run for run in packet.failing if run.letter in found.broken]
    looked = [run for run in wrong if any(step.function in sources and not step.error for step in run.actions)]
    return 2 * len(looked) > len(wrong)


def _at_most_once(packet: Packet, found: GuardReplay) -> SkillDelta:
    function = found.guard.function
    return _delta(
        packet,
        found,
        title=f"{plain(function)} once for each thing asked",
        applies_when=f"{bare(function)} has already worked.",
        solves=f"The same {bare(function)} made twice.",
        core_rule=f"Call {bare(function)} once for each thing asked, and never again with the same arguments: "
        "the second call acts again.",
        completion=[f"no two {bare(function)} calls have the same arguments"],
        contrast=f"{counted(found.held, packet.passing)} passing runs make each {bare(function)} once; "
        f"{counted(found.broken, packet.failing)} failing runs repeat one.",
    )


def _existence(packet: Packet, found: GuardReplay) -> SkillDelta | None:
    """A value that passing runs take from one place, and failing runs from another."""
    pattern = parse_pattern(found.guard.function)
    argument, source = pattern.conditions[0].argument, pattern.conditions[0].value
    failing = [run for run in packet.failing if run.letter in found.broken]
    others = {
        origin
        for run in failing
        for step in calls_of(run, pattern.function)
        if (origin := step.origins.get(argument)) and "." in origin and origin != source
    }
    told = f", not as {listed([f'a result of {bare(name)}' for name in sorted(others)])} does" if others else ""
    who = bare(pattern.function)
    return _delta(
        packet,
        found,
        title=f"Take {argument} for {plain(pattern.function)} from {plain(source)}",
        applies_when=f"{who} is to be called with `{argument}`.",
        solves=f"Values of `{argument}` that were taken from elsewhere.",
        core_rule=f"Give {who} `{argument}` as a result of {bare(source)} shows it{told}.",
        completion=[f"{who} worked with `{argument}` from a result of {bare(source)}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs `{argument}` comes from a result of "
        f"{bare(source)}; in {counted(found.broken, packet.failing)} failing runs from elsewhere.",
        more_functions=(source, *sorted(others)),
    )


_WORDINGS: dict[str, Callable[[Packet, GuardReplay], SkillDelta | None]] = {
    "response": _response,
    "precedence": _precedence,
    "known_value": _known_value,
    "at_most_once": _at_most_once,
    "existence": _existence,
}


def _arguments(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names])


def _delta(
    packet: Packet,
    found: GuardReplay,
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
