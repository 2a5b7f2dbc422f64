"""Mining: which rules do passing runs of a task follow and failing runs break (deviance mining)?

Each kind of rule proposes guards from what the runs did, and each guard is replayed on every run of the packet.
Evidence is paired within the task, so that a hard task does not count against the habits of an easy one. A single odd
passing run does not decide alone: how well a guard separates the runs of all tasks, and whether chance would do as
well, is checked once all deltas are decided (reassess.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.build.author import MAX_DELTAS
from contramem.build.rules.kinds.recovery import Recovery
from contramem.build.rules.kinds.stop_when_done import StopWhenDone
from contramem.build.rules.kinds.trap import Trap
from contramem.build.rules.rule import MIN_BROKEN, GuardRule, Lesson, Rule, guard_kinds, illustrate, kind_of
from contramem.build.rules.significance import bar
from contramem.build.rules.steps import calls_of
from contramem.build.rules.support import can_be_broken
from contramem.chance import OutcomeTable, chance
from contramem.contrast.enabling import Enabling, find_enablings
from contramem.contrast.packet import Packet
from contramem.contrast.packets import keep_finding
from contramem.contrast.signal import Cite
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay, replay

MIN_HELD = 0.3
"""The share of passing runs that must have followed a guard, rather than never having met its condition."""


def find_lessons(packet: Packet) -> list[Lesson]:
    """At most three lessons, clearest first. If all runs failed: diagnosis only. If all passed: wasted calls.

    What a tool enforces by refusing a call comes before what only outcomes show. Nothing is claimed that the packet's
    runs do not show, or that the request already says.
    """
    if packet.is_contrastive:
        mined = mine(packet)
        enforced = [replayed for replayed in mined if is_enforced((replayed.guard,), (packet,))]
        lessons = [
            *_learn(packet, enforced),
            *Recovery.find(packet, [replayed.guard for replayed in mined]),
            *_learn(packet, [replayed for replayed in mined if replayed not in enforced]),
        ]
    elif packet.failing:
        lessons = list(Trap.find(packet))
    else:
        lessons = list(StopWhenDone.find(packet))
    return lessons[:MAX_DELTAS]


def _learn(packet: Packet, mined: Sequence[GuardReplay]) -> Iterator[Lesson]:
    enabled = find_enablings((*packet.passing, *packet.failing))
    for replayed in mined:
        kind = _kind(replayed.guard)
        rule = kind.learn(replayed, packet)
        if rule is not None:
            good = next(run for run in packet.passing if run.letter in replayed.held)
            broken = [run for run in packet.failing if run.letter in replayed.broken]
            bad = next(iter(kind.find_typical(replayed.guard, broken, enabled)), broken[0])
            yield Lesson(rule, illustrate(rule, packet, good, bad), _cite(packet, replayed, rule))


def _cite(packet: Packet, replayed: GuardReplay, rule: Rule) -> tuple[Cite, ...]:
    """For each function that the lesson names: its first call in every run that shows it."""
    cites = []
    for run in packet.runs:
        if run.letter in replayed.held or run.letter in replayed.broken:
            steps = [made[0] for function in rule.functions if (made := calls_of(run, function))]
            cites += [Cite(run.letter, step.position) for step in steps or list(run.actions[-1:])]
    return tuple(cites)


# One task


def propose_guards(packet: Packet) -> frozenset[Guard]:
    """Every guard that is worth replaying on the packet. Kept with it, as are the mined guards."""
    return keep_finding(packet, "proposed", _propose_guards)


def _propose_guards(packet: Packet) -> frozenset[Guard]:
    return frozenset(guard for kind in guard_kinds() for guard in kind.propose(packet))


def mine(packet: Packet) -> Sequence[GuardReplay]:
    """The guards that separate the runs of a contrastive packet, clearest first, one for each thing to do. Kept with
    the packet: needed when the task is learned from, and again when all tasks are weighed."""
    return keep_finding(packet, "mined", _mine)


def _mine(packet: Packet) -> list[GuardReplay]:
    enabled = find_enablings((*packet.passing, *packet.failing))
    replays = [replay(guard, packet) for guard in sorted(propose_guards(packet))]
    separating = [
        replayed
        for replayed in replays
        if replayed.supports
        and _is_common(replayed, packet)
        and _kind(replayed.guard).is_cause(replayed, packet, enabled)
    ]
    separating.sort(key=lambda replayed: (-_score(replayed, packet), str(replayed.guard)))
    return _without_repetitions(separating, enabled)


def _without_repetitions(separating: Sequence[GuardReplay], enabled: Sequence[Enabling]) -> list[GuardReplay]:
    """The clearest guard about each topic: of several ways to say the same thing, one is enough."""
    chosen: dict[tuple[str, str], GuardReplay] = {}
    for replayed in separating:
        chosen.setdefault(_kind(replayed.guard).topic(replayed.guard, enabled), replayed)
    mined = list(chosen.values())
    return [replayed for replayed in mined if not any(_says_better(other, replayed) for other in mined)]


def _says_better(other: GuardReplay, replayed: GuardReplay) -> bool:
    if other is replayed or not set(replayed.broken) <= set(other.broken):
        return False
    return _kind(replayed.guard).yields_to(replayed.guard, other.guard)


def _is_common(replayed: GuardReplay, packet: Packet) -> bool:
    """Do enough runs on both sides show it?"""
    kind = _kind(replayed.guard)
    broken = [
        run for run in packet.failing if run.letter in replayed.broken and kind.counts_as_broken(replayed.guard, run)
    ]
    enough = max(1, MIN_BROKEN * len(packet.failing))
    return len(replayed.held) >= MIN_HELD * len(packet.passing) and len(broken) >= enough


def _score(replayed: GuardReplay, packet: Packet) -> float:
    shares = len(replayed.broken) / len(packet.failing) * len(replayed.held) / len(packet.passing)
    return _kind(replayed.guard).SHARPNESS * shares


def _kind(guard: Guard) -> type[GuardRule]:
    kind = kind_of(guard)
    assert kind is not None, f"{guard} was proposed by no kind of rule"
    return kind


# What tools themselves ask for


def is_enforced(guards: Sequence[Guard], packets: Sequence[Packet]) -> bool:
    """Has a tool refused a call until what a guard demands was done, or refused exactly the calls that break it?

    The calls themselves show this, whatever the outcomes: a rule that a tool enforces needs no further evidence.
    """
    known = [(guard, kind) for guard in guards if (kind := kind_of(guard)) is not None]
    kinds = [(guard, kind) for guard, kind in known if not kind.is_accepted_otherwise(guard, packets)]
    for packet in packets:
        for enabling in packet.enablings:
            if any(kind.is_shown_by(guard, enabling) for guard, kind in kinds):
                return True
    return any(kind.is_refused_otherwise(guard, packets) for guard, kind in kinds)


# Over all tasks of an ability


def count_outcomes(guard: Guard, packets: Sequence[Packet]) -> list[OutcomeTable]:
    """How the runs in which the guard applies ended, for every contrastive task in which some run broke it."""
    tables = []
    for packet in packets:
        if packet.is_contrastive and can_be_broken(guard, packet):
            replayed = replay(guard, packet)
            if replayed.contradicted or replayed.broken:
                tables.append(replayed.table)
    return tables


def highest_chance(packets: Sequence[Packet]) -> float:
    """The highest probability by chance at which a guard is still accepted, given everything these packets
    suggested."""
    contrastive = [packet for packet in packets if packet.is_contrastive]
    tried = {guard for packet in contrastive for guard in propose_guards(packet)}
    mined = {replayed.guard for packet in contrastive for replayed in mine(packet)}
    return bar([chance(count_outcomes(guard, contrastive)) for guard in mined], len(tried))
