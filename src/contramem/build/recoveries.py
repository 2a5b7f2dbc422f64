"""Lessons from errors: the way past one that some runs found, and traps that nobody got past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.author import Candidate
from contramem.build.phrases import about, bare, listed, path, plain, quotation, tags_of
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.recovery import GAVE_UP, REPEATED, Reactions, reactions
from contramem.contrast.signal import Cite
from contramem.traces.effects import words


def recoveries(packet: Packet) -> Iterator[Candidate]:
    """An error that some runs got past, and passed, while others gave up or repeated the call, and failed."""
    for (function, error), by_reaction in reactions([*packet.passing, *packet.failing]).items():
        better = _passed_after(function, by_reaction)
        worse = [name for name in (GAVE_UP, REPEATED) if _all_failed(by_reaction.get(name, []))]
        if better is None or not worse or not (quoted := quotation(error)):
            continue
        # "Change something and try again" is what the error says already; another form, or another way, is news.
        if "turned to" in better or _reformed(function, by_reaction[better]):
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
    advice = _advice(better, _reformed(function, by_reaction[better]))
    helped = [(run, step) for run, step in by_reaction[better] if run.passed and _reached(function, better, run, step)]
    passed = helped[0][0]
    failed = by_reaction[worse][0][0]
    turned = [better.rpartition(" ")[2]] if "turned to call" in better else []
    functions = (function, *turned)
    delta = SkillDelta(
        title=f"From failed {plain(function)} to {plain(turned[0])}"
        if turned
        else f"Recover when {plain(function)} fails",
        applies_when=f"{bare(function)} has answered “{error}”.",
        solves=f"Runs that {'give up' if worse == GAVE_UP else 'repeat the same call'} after that error.",
        tags=tags_of(packet, functions),
        skill=Skill(
            core_rule=f"When {bare(function)} answers “{error}”, {advice}.",
            completion=(f"the last {bare(function)} error was followed by a call that worked",),
            success_failure_contrast=f"{_runs(helped)} got past it this way and passed; "
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


def _reformed(function: str, cases: Sequence[tuple[PacketRun, Step]]) -> dict[str, tuple[str, str]]:
    """Arguments whose form was another in the call that then worked: (before, after)."""
    for run, failed in cases:
        again = next((s for s in run.actions if s.position > failed.position and s.function == function), None)
        if run.passed and again is not None and not again.error:
            return {
                name: (form, again.forms[name])
                for name, form in failed.forms.items()
                if again.forms.get(name, form) != form
            }
    return {}


def _advice(reaction: str, reformed: dict[str, tuple[str, str]]) -> str:
    if reformed and reaction.startswith("changed"):
        changes = [f"`{name}` as {after} instead of {before}" for name, (before, after) in sorted(reformed.items())]
        return f"call it again with {listed(changes)}"
    if "turned to call" in reaction:
        return f"turn to {bare(reaction.rpartition(' ')[2])} instead of giving up"
    if reaction.startswith("turned to ask"):
        return "ask the user for what is missing"
    names = reaction.removeprefix("changed ").partition(", which")[0].split(", ")
    return f"change {listed([f'`{name}`' for name in names])} and call it again"


def diagnoses(packet: Packet) -> Iterator[Candidate]:
    """Every run failed: an error that all of them met is a trap worth naming, and nothing more can be said."""
    if len(packet.failing) < 2:
        return
    for (function, error), by_reaction in reactions(packet.failing).items():
        cases = [case for group in by_reaction.values() for case in group]
        quoted = quotation(error)
        everyone = {run.letter for run, _ in cases} == {run.letter for run in packet.failing}
        if not everyone or not quoted or any(_reached(function, GAVE_UP, run, step) for run, step in cases):
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
