"""Deviance mining: which guards do the passing runs of a task keep and failing ones break?

Candidates come from what the runs did; each is replayed on every run of the packet. Evidence is paired within the task,
so that a hard task does not speak against an easy one's habit. One odd passing run does not decide alone: how much a
guard separates over all tasks, and whether chance would do as well, is asked when the ability is settled (settling.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.build.candidates import calls, candidates, worked
from contramem.build.significance import OutcomeTable, bar, chance
from contramem.contrast.enabling import Enabling, enablings
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.signal import same_call
from contramem.monitor.action import actions_of_steps
from contramem.monitor.guard import Guard, Template
from contramem.monitor.packet_replay import GuardReplay, replay
from contramem.monitor.pattern import Pattern, parse_pattern

# What says more is preferred where the evidence is the same: where a value comes from over what comes first, that over
# what must follow.
SHARPNESS: dict[Template, float] = {
    "known_value": 1.2,
    "precedence": 1.15,
    "response": 1.1,
    "at_most_once": 1.1,
    "existence": 0.9,
}
MIN_HELD = 0.3
"""The share of passing runs that must have kept a guard, not just never have met it."""

MIN_BROKEN = 0.2
"""The share of failing runs that must have broken it: what one of many did wrong is an anecdote."""


def mine(packet: Packet) -> list[GuardReplay]:
    """The guards that separate the runs of a contrastive packet, the sharpest first, one for each thing to do."""
    enabled = enablings((*packet.passing, *packet.failing))
    replays = [replay(guard, packet) for guard in sorted(candidates(packet))]
    kept = [r for r in replays if r.supports and _is_common(r, packet) and _is_to_blame(r, packet, enabled)]
    kept.sort(key=lambda r: (-_score(r, packet), str(r.guard)))
    chosen: dict[tuple[str, str], GuardReplay] = {}
    for found in kept:
        # One lesson about doing a thing is enough; where its values come from is another lesson.
        chosen.setdefault(_thing(found.guard, enabled), found)
    mined = list(chosen.values())
    return [found for found in mined if not _said_better(found, mined)]


def _thing(guard: Guard, enabled: Sequence[Enabling]) -> tuple[str, str]:
    """What a guard is a lesson about. Each precondition that the tool itself asks for is one of its own."""
    needed = {(one.by[-1], one.function) for one in enabled}
    if guard.template == "precedence" and (guard.function, guard.then) in needed:
        return guard.function, guard.then
    return guard.target, guard.argument


def _is_common(found: GuardReplay, packet: Packet) -> bool:
    """Enough runs on both sides show it; for a step that was left out, enough that never tried it."""
    broken = [run for run in packet.failing if run.letter in found.broken]
    if found.guard.template == "response":
        broken = [run for run in broken if all(step.function != found.guard.target for step in calls(run))]
    enough = max(1, MIN_BROKEN * len(packet.failing))
    return len(found.held) >= MIN_HELD * len(packet.passing) and len(broken) >= enough


def _score(found: GuardReplay, packet: Packet) -> float:
    shares = len(found.broken) / len(packet.failing) * len(found.held) / len(packet.passing)
    return SHARPNESS[found.guard.template] * shares


# Causes


def _is_to_blame(found: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
    """Did runs that broke it fail of that, as far as the tools' own answers tell?

    A value that was made up is not what a call was refused for when calls with a value that had been read are refused
    alike, or when something that was done next made the very same call work.
    """
    if found.guard.template == "existence":
        return _takes_from_elsewhere(found, packet)
    if found.guard.template == "at_most_once":
        return _fails_of_repeating(found, packet)
    if found.guard.template != "known_value":
        return True
    known = _refusals(packet, found.guard, guessed=False)
    explained = {(one.function, one.error) for one in enabled if found.guard.argument not in one.arguments}
    broken = [run for run in packet.failing if run.letter in found.broken]
    guilty = [run for run in broken if any(_is_guilty(s, known, explained) for s in _guessing(run, found.guard))]
    return 2 * len(guilty) > len(broken)


def _fails_of_repeating(found: GuardReplay, packet: Packet) -> bool:
    """Has a run failed that changed the same things as a passing one, only more often?"""
    good = [_changes(run) for run in packet.passing]
    return any(_changes(run) in good for run in packet.failing if run.letter in found.broken)


def _changes(run: PacketRun) -> set[tuple[str, str]]:
    return {same_call(step) for step in worked(run) if step.effect == "write"}


def _takes_from_elsewhere(found: GuardReplay, packet: Packet) -> bool:
    """Had most runs that broke it read the value in another place? Those that made it up are another lesson."""
    condition = parse_pattern(found.guard.function).conditions[0]
    broken = [run for run in packet.failing if run.letter in found.broken]
    elsewhere = [
        run
        for run in broken
        if {step.origins.get(condition.argument) for step in guarded(run, found.guard)} - {None, NOWHERE}
        and all(step.origins.get(condition.argument) != NOWHERE for step in guarded(run, found.guard))
    ]
    return 2 * len(elsewhere) > len(broken)


def _is_guilty(step: Step, known: set[tuple[str, str]], explained: set[tuple[str, str]]) -> bool:
    return not step.error or (step.function, step.error) not in known | explained


def _guessing(run: PacketRun, guard: Guard) -> list[Step]:
    return [step for step in guarded(run, guard) if step.origins.get(guard.argument) == NOWHERE]


def _refusals(packet: Packet, guard: Guard, *, guessed: bool) -> set[tuple[str, str]]:
    return {
        (step.function, step.error)
        for run in (*packet.passing, *packet.failing)
        for step in guarded(run, guard)
        if step.error and (step.origins.get(guard.argument, NOWHERE) == NOWHERE) == guessed
    }


def guarded(run: PacketRun, guard: Guard) -> list[Step]:
    """The calls that a guard guards."""
    pattern = parse_pattern(guard.then or guard.function)._replace(conditions=())
    return [step for step in calls(run) if matches(pattern, step)]


def matches(pattern: Pattern, step: Step) -> bool:
    """Is this step one of the pattern's actions?"""
    return any(pattern.matches(action) for action in actions_of_steps((step,)))


def _said_better(found: GuardReplay, mined: Sequence[GuardReplay]) -> bool:
    """Of several ways to say one thing the sharpest is enough: a rule of the app, else of the call; which value to
    read, else what to call first."""
    guard, broken = found.guard, set(found.broken)
    for other in (one for one in mined if one is not found):
        covers = broken <= set(other.broken)
        if guard.template == "known_value" and other.guard.template == "known_value":
            wider = parse_pattern(other.guard.function).kind != "function"
            if covers and wider and guard.argument == other.guard.argument and parse_pattern(guard.function).function:
                return True
        elif guard.template in ("precedence", "existence") and other.guard.template == "known_value":
            if covers and _targets(other.guard, guard.target):
                return True
        elif guard.template == "existence" and covers:
            return True
    return False


def _targets(guard: Guard, function: str) -> bool:
    return guard.target == function or guard.target.endswith(f"({function.partition('.')[0]})")


# Over all tasks of an ability


def tables(guard: Guard, packets: Sequence[Packet]) -> list[OutcomeTable]:
    """How runs fared in every contrastive task in which some run broke the guard."""
    found = []
    for packet in packets:
        if packet.is_contrastive and is_met(guard, packet):
            replayed = replay(guard, packet)
            failing = len(replayed.broken)
            if broken := failing + len(replayed.contradicted):
                found.append(OutcomeTable(len(packet.passing), len(packet.failing), broken, failing))
    return found


def is_met(guard: Guard, packet: Packet) -> bool:
    """Can any run of the packet have broken it? Most speak about functions that a task never comes near."""
    needed = parse_pattern(guard.then if guard.template == "precedence" else guard.function).function
    return not needed or any(step.function == needed for run in packet.runs for step in run.actions)


def accepted_chance(packets: Sequence[Packet]) -> float:
    """How likely by chance a guard may be and still be accepted, given all that these packets suggested."""
    contrastive = [packet for packet in packets if packet.is_contrastive]
    tried = {guard for packet in contrastive for guard in candidates(packet)}
    mined = {found.guard for packet in contrastive for found in mine(packet)}
    return bar([chance(tables(guard, contrastive)) for guard in mined], len(tried))
