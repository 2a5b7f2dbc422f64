"""From a packet to skill deltas, by rules: each pattern that mining or a signal finds has its own wording.

A wording states the decision boundary one level above the task: functions, roles of values, conditions. The counts and
the examples are those of the packet; nothing is said that its runs do not show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.build.function_errors import generalized, is_quotable
from contramem.build.mining import MIN_BROKEN, Replay, mine
from contramem.build.phrases import bare, counted, deed, listed, path, plain, trigger_words
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.instructions import instructs
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signals import GAVE_UP, REPEATED, Cite, Reactions, reactions
from contramem.traces.effects import words

MAX_TAGS = 12


def lessons(packet: Packet) -> list[Candidate]:
    """At most three, the sharpest first. All failed: diagnosis only. All passed: what wastes calls."""
    if packet.is_contrastive:
        found = [*_from_guards(packet), *_every_item(packet), *_recoveries(packet)]
    elif packet.failing:
        found = list(_diagnoses(packet))
    else:
        found = list(_detours(packet))
    return found[:MAX_DELTAS]


# Guards that separate the runs


def _from_guards(packet: Packet) -> Iterator[Candidate]:
    mined = mine(packet)
    for found in mined:
        if found.guard.template == "known_value":
            # Several arguments that the same runs made up for one call are one lesson about that call.
            alike = [one for one in mined if _same_slip(one, found)]
            if alike[0] is found:
                yield Candidate(_known_value(packet, found, alike), _cites(packet, found))
        else:
            yield Candidate(_WORDINGS[found.guard.template](packet, found), _cites(packet, found))


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


def _response(packet: Packet, found: Replay) -> SkillDelta:
    first, then = found.guard.function, found.guard.then
    return _delta(
        packet,
        found,
        title=f"Go on from {plain(first)} to {plain(then)}",
        applies_when=f"A task about {_about(packet, then)}, when {bare(first)} has answered and {bare(then)} has not.",
        solves=f"Runs that take {bare(first)} for all there is to know.",
        core_rule=f"{bare(first)} alone does not settle it: go on to {bare(then)}, though the request does not say so.",
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
        applies_when=f"A task about {_about(packet, then)}, before the first call of {bare(then)}.",
        solves=f"Calls of {bare(then)} made before {bare(first)} has been called.",
        core_rule=f"Call {bare(first)} and see it work before {bare(then)}.{because}",
        completion=[f"{bare(first)} returned no error before the first {bare(then)}"],
        contrast=f"In {counted(found.held, packet.passing)} passing runs {bare(first)} has worked before {bare(then)} "
        f"works; {counted(found.broken, packet.failing)} failing runs call {bare(then)} without it.",
    )


def _given(packet: Packet, letters: Sequence[str], first: str, then: str) -> list[str]:
    """The arguments of `then` whose values passing runs take from `first`."""
    steps = [step for run in packet.passing if run.letter in letters for step in _calls(run, then)]
    names = {name for step in steps for name, origin in step.origins.items() if origin == first}
    return sorted(names)[:3]


def _known_value(packet: Packet, found: Replay, alike: Sequence[Replay]) -> SkillDelta:
    function = found.guard.function
    names = [one.guard.argument for one in alike][:3]
    shown = listed([f"`{name}`" for name in names])
    where = _origin_in_words(packet, found.held, function, names)
    delta = _delta(
        packet,
        found,
        title=f"Look up {listed(names)} before {plain(function)}",
        applies_when=f"A task about {_about(packet, function)}, when {shown} of {bare(function)} is not known.",
        solves=f"Values of {shown} that were made up instead of read.",
        core_rule=f"Give {bare(function)} only {shown} as read in {where}. If not seen yet, look first.",
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
        applies_when=f"A task about {_about(packet, function)}, when {bare(function)} has already worked.",
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
        applies_when=f"A task about {_about(packet, function)}, and {bare(function)} has not been called yet.",
        solves=solves,
        core_rule=rule,
        completion=[f"{bare(function)} was called and returned no error"],
        contrast=_called_by(packet, function),
    )


def _called_by(packet: Packet, function: str) -> str:
    sides = [[run for run in side if _calls(run, function)] for side in (packet.passing, packet.failing)]
    return (
        f"{bare(function)} is called by {counted(sides[0], packet.passing)} passing and "
        f"{counted(sides[1], packet.failing)} failing runs."
    )


def _calls(run: PacketRun, function: str) -> list[Step]:
    return [step for step in run.actions if step.function == function]


_WORDINGS: dict[str, Callable[[Packet, Replay], SkillDelta]] = {
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
        tags=_tags(packet, functions),
        skill=Skill(core_rule=core_rule, completion=tuple(completion), success_failure_contrast=contrast),
        evidence=Evidence(good_example=path(good, functions), bad_example=path(bad, functions)),
        functions_used=functions,
        guards=(str(found.guard),),
    )


def _about(packet: Packet, *functions: str) -> str:
    asked = trigger_words(packet)
    return listed(asked) if asked else listed([deed(function) for function in functions]) or packet.ability


def _tags(packet: Packet, functions: Sequence[str]) -> tuple[str, ...]:
    named = [word for function in functions for word in words(function.replace(".", "_"))]
    return tuple(dict.fromkeys([*trigger_words(packet), *named]))[:MAX_TAGS]


def _refusal(packet: Packet, letters: Sequence[str], function: str) -> str:
    """The error that `function` gave in those runs, where it is fit to be quoted."""
    steps = (s for run in packet.runs if run.letter in letters for s in run.actions if s.function == function)
    return next((quoted for step in steps if step.error and (quoted := quotation(step.error))), "")


def quotation(error: str) -> str:
    """What a card may repeat of an error: its first sentence, when that describes and tells nobody what to do."""
    general = generalized(error)
    return general if is_quotable(general, seen_in_tasks=1) and not instructs(error) else ""


def _origin_in_words(packet: Packet, letters: Sequence[str], function: str, arguments: Sequence[str]) -> str:
    found = {
        step.origins.get(argument, NOWHERE)
        for run in packet.passing
        if run.letter in letters
        for step in run.actions
        if step.function == function
        for argument in arguments
    } - {NOWHERE}
    places = [f"a result of {bare(name)}" for name in sorted(found) if "." in name][:3]
    if found & {TASK, USER} or not places:
        places.insert(0, "the request")
    return " or ".join(places)


# Every item


def _every_item(packet: Packet) -> Iterator[Candidate]:
    """A write that passing runs make for several things, and failing runs for fewer of them."""
    for function in sorted({s.function for run in packet.passing for s in run.actions if _wrote(s)}):
        unit = _unit(packet.passing, function)
        if unit is None:
            continue
        least = min(len(_things(run, function, unit)) for run in packet.passing)
        fewer = [run for run in packet.failing if 0 < len(_things(run, function, unit)) < least]
        if least < 2 or not fewer or len(fewer) < MIN_BROKEN * len(packet.failing):
            continue
        good = packet.passing[0]
        delta = SkillDelta(
            title=f"{plain(function)} for every {unit}, not just the first"[:120],
            applies_when=f"A task about {_about(packet, function)} that concerns several `{unit}`.",
            solves=f"Runs that call {bare(function)} for some `{unit}` and report all of them done.",
            tags=_tags(packet, (function,)),
            skill=Skill(
                core_rule=f"List every `{unit}` concerned, call {bare(function)} for each, and count before answering.",
                completion=(f"{bare(function)} worked once for each `{unit}` concerned",),
                success_failure_contrast=f"{counted(packet.passing, packet.passing)} passing runs call it for each; "
                f"{counted(fewer, packet.failing)} failing runs stop before the last.",
            ),
            evidence=Evidence(good_example=path(good, [function]), bad_example=path(fewer[0], [function])),
            functions_used=(function,),
        )
        yield Candidate(delta, tuple(_wrote_cites([good, *fewer], function)))


def _unit(passing: Sequence[PacketRun], function: str) -> str | None:
    """The argument of which each call takes another value, in every passing run; None when there is no such one."""
    units: set[str] | None = None
    for run in passing:
        made = [step for step in _calls(run, function) if not step.error]
        names = {name for step in made for name, value in step.arguments.items() if isinstance(value, str)}
        varying = {name for name in names if len({str(step.arguments.get(name)) for step in made}) == len(made)}
        units = varying if units is None else units & varying
    identifying = sorted(name for name in units or () if not set(words(name)) & _WORDY)
    return identifying[0] if identifying else None


_WORDY = frozenset("text body content message description subject title comment note summary date time day".split())


def _things(run: PacketRun, function: str, unit: str) -> set[str]:
    return {str(step.arguments.get(unit)) for step in _calls(run, function) if not step.error}


def _wrote(step: Step) -> bool:
    return step.effect == "write" and not step.error


def _wrote_cites(runs: Sequence[PacketRun], function: str) -> Iterator[Cite]:
    for run in runs:
        yield from (Cite(run.letter, step.position) for step in run.actions if step.function == function)


# Errors


def _recoveries(packet: Packet) -> Iterator[Candidate]:
    """An error that some runs got past, and passed, while others gave up or repeated the call, and failed."""
    for (function, error), by_reaction in reactions([*packet.passing, *packet.failing]).items():
        better = _passed_after(function, by_reaction)
        worse = [name for name in (GAVE_UP, REPEATED) if _all_failed(by_reaction.get(name, []))]
        if better is not None and worse and (quoted := quotation(error)):
            yield _recovery(packet, function, quoted, better, worse[0], by_reaction)


def _passed_after(function: str, by_reaction: Reactions) -> str | None:
    """The way past an error that most runs took which then reached what they had tried, and passed."""
    tried = [name for name in by_reaction if name not in (GAVE_UP, REPEATED) and not name.endswith("failed again")]
    helped = {name: [c for c in by_reaction[name] if c[0].passed and _reached(function, name, *c)] for name in tried}
    return max((name for name in tried if helped[name]), key=lambda name: (len(helped[name]), name), default=None)


def _reached(function: str, reaction: str, run: PacketRun, failed: Step) -> bool:
    """Did the run get what it had tried: by the same function, or by one that is a way to the same thing?"""
    later = [step for step in run.actions if step.position > failed.position and not step.error]
    if any(step.function == function for step in later):
        return True
    turned = reaction.rpartition(" ")[2]
    shared = set(words(plain(turned))) & set(words(plain(function)))
    return "turned to call" in reaction and len(shared) >= 2 and any(step.function == turned for step in later)


def _all_failed(cases: Sequence[tuple[PacketRun, Step]]) -> bool:
    return bool(cases) and not any(run.passed for run, _ in cases)


def _recovery(packet: Packet, function: str, error: str, better: str, worse: str, by_reaction: Reactions) -> Candidate:
    advice = _advice(better)
    passed = next(run for run, _ in by_reaction[better] if run.passed)
    failed = by_reaction[worse][0][0]
    turned = [better.rpartition(" ")[2]] if "turned to call" in better else []
    functions = (function, *turned)
    delta = SkillDelta(
        title=f"From failed {plain(function)} to {plain(turned[0])}"
        if turned
        else f"Recover when {plain(function)} fails",
        applies_when=f"{bare(function)} has answered “{error}”.",
        solves=f"Runs that {'give up' if worse == GAVE_UP else 'repeat the same call'} after that error.",
        tags=_tags(packet, functions),
        skill=Skill(
            core_rule=f"When {bare(function)} answers “{error}”, {advice}.",
            completion=(f"the last {bare(function)} error was followed by a call that worked",),
            success_failure_contrast=f"{_runs(by_reaction[better])} got past it this way; "
            f"{_runs(by_reaction[worse])} {worse} and failed.",
            recovery=f"{advice[0].upper()}{advice[1:]}.",
        ),
        evidence=Evidence(
            transition=f"after “{error}”", good_example=path(passed, functions), bad_example=path(failed, functions)
        ),
        functions_used=functions,
    )
    cites = [Cite(run.letter, step.position) for run, step in [*by_reaction[better][:3], *by_reaction[worse][:3]]]
    return Candidate(delta, tuple(cites))


def _runs(cases: Sequence[tuple[PacketRun, Step]]) -> str:
    count = len({run.letter for run, _ in cases})
    return f"{count} run" if count == 1 else f"{count} runs"


def _advice(reaction: str) -> str:
    if "turned to call" in reaction:
        return f"turn to {bare(reaction.rpartition(' ')[2])} instead of giving up"
    if reaction.startswith("turned to ask"):
        return "ask the user for what is missing"
    names = reaction.removeprefix("changed ").partition(", which")[0].split(", ")
    return f"change {listed([f'`{name}`' for name in names])} and call it again"


def _diagnoses(packet: Packet) -> Iterator[Candidate]:
    """Every run failed: an error that all of them met is a trap worth naming, and nothing more can be said."""
    if len(packet.failing) < 2:
        return
    for (function, error), by_reaction in reactions(packet.failing).items():
        cases = [case for group in by_reaction.values() for case in group]
        quoted = quotation(error)
        if {run.letter for run, _ in cases} != {run.letter for run in packet.failing} or not quoted:
            continue
        delta = SkillDelta(
            title=f"Known trap in {plain(function)}"[:120],
            applies_when=f"A task about {_about(packet, function)}, and {bare(function)} answers “{quoted}”.",
            solves="An error that every observed run met without getting past it.",
            tags=_tags(packet, (function,)),
            skill=Skill(
                core_rule=f"Expect {bare(function)} to answer “{quoted}”; check its preconditions before the call.",
                completion=(f"{bare(function)} returned no error, or the user was told that it did",),
                recovery=f"What the observed runs tried after it did not help: {listed(sorted(by_reaction)[:3])}.",
            ),
            evidence=Evidence(bad_example=path(packet.failing[0], [function])),
            functions_used=(function,),
        )
        yield Candidate(delta, tuple(Cite(run.letter, step.position) for run, step in cases[:6]))


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
    functions = tuple(dict.fromkeys([*enough, *extra[:2]]))
    delta = SkillDelta(
        title=f"{plain(enough[-1])} without detours"[:120],
        applies_when=f"A task about {_about(packet, *enough[-1:])}.",
        solves=f"Calls of {listed([bare(name) for name in extra[:2]])} that change nothing.",
        tags=_tags(packet, functions),
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
