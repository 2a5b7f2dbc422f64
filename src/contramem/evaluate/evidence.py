"""What recorded runs say about cards: which runs stand behind a guard, which cards a run went against, which a signal
taught, and which task shows a card best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from contramem.bank.bank import COUNTED, GRADES, Bank, BankEntry
from contramem.bank.card import SkillCard
from contramem.build.rules.support import replays
from contramem.contrast.align import Parting, RankedSignal, nearest, partings
from contramem.contrast.packet import Packet, PacketRun
from contramem.guards.guard import Guard, relevant_functions
from contramem.guards.packets import replay
from contramem.guards.watch import guards_of_card, replay_run

MAX_CARDS = 20


class GuardedRun(NamedTuple):
    """What a recorded run did with a guard."""

    task: str
    source: str
    trial: str
    verdict: str
    """A name of COUNTED."""
    outcome: str


def find_guarded_runs(guard: Guard, packets: Iterable[Packet]) -> Iterator[GuardedRun]:
    """The runs of every task that a guard applies to, by what they did with it."""
    for packet, found in (pair for each in packets for pair in replays([guard], [each])):
        sides = (found.held, found.kept_in_vain, found.broken, found.contradicted)
        for name, letters in zip(COUNTED, sides, strict=True):
            outcome = "passed" if name in ("kept", "contradicted") else "failed"
            for run in (packet.provenance[letter] for letter in letters):
                yield GuardedRun(packet.task_key, run.source, run.run, name, outcome)


class UnkeptCard(NamedTuple):
    """A card that a run went against."""

    card_id: str
    text: str
    """What was not kept."""
    at: int
    """The position of the event since which it was not."""


def find_unkept_cards(bank: Bank, packet: Packet, run: PacketRun) -> list[UnkeptCard]:
    """The cards whose guards a run broke, judged as for the counts of a guard."""
    called = {step.function for each in packet.runs for step in each.actions}
    skills = [card for card in bank.skills if not card.functions_used or not called.isdisjoint(card.functions_used)]
    guards = [guard for card in skills for guard in guards_of_card(card)]
    monitored = replay_run(packet.recorded[run.letter], guards)
    unkept = {owed.guard: monitored.since(owed) for owed in monitored.unkept}
    last = run.steps[-1].position if run.steps else 0
    found = []
    for guard, card_id, _ in guards:
        ways = replays([guard], [packet])
        if any(run.letter in (*each.broken, *each.contradicted) for _, each in ways):
            moment = unkept.get(guard)
            found.append(UnkeptCard(card_id, guard.sentence, moment.event.position if moment else last))
    return found


def cards_taught(bank: Bank, packet: Packet) -> list[SkillCard]:
    """The cards that a task is evidence for."""
    keys = {packet.task_key, packet.task_id, *packet.identity}
    taught = (card for card in bank.skills if not keys.isdisjoint(bank.entries[card.card_id].support.tasks))
    return list(islice(taught, MAX_CARDS))


def cards_of_signal(taught: Iterable[SkillCard], packet: Packet, ranked: RankedSignal) -> Iterator[SkillCard]:
    """The cards that a signal taught: they are about its functions, and a failing run that shows it broke their guard;
    for a signal of passing runs alone, a run that shows it kept the guard."""
    for card in taught:
        if not {*ranked.signal.functions}.isdisjoint(card.functions_used):
            guards = [replay(guard, packet) for guard, *_ in guards_of_card(card)]
            showing = ranked.failing or ranked.passing
            if any(not {*showing}.isdisjoint(each.broken if ranked.failing else each.held) for each in guards):
                yield card


class Example(NamedTuple):
    """A card, a task that shows it, and where its runs part."""

    card: SkillCard
    packet: Packet
    kept: PacketRun
    """A passing run that kept the card's guard."""
    broke: PacketRun
    """A failing run that broke it."""
    parting: Parting


def surest_cards(bank: Bank) -> list[BankEntry]:
    """The Skill Cards with a grade and counts, the surest first."""
    skills = [entry for entry in bank.entries.values() if entry.served and entry.support.guard_counts]
    graded = [entry for entry in skills if entry.support.grade]
    return sorted(
        graded, key=lambda entry: (GRADES.index(entry.support.grade or GRADES[-1]), -len(entry.support.tasks))
    )


def show_by_example(card: SkillCard, packet: Packet) -> Example | None:
    """A passing run that keeps the card's guard, a failing one that breaks it, and the call where that shows; None if
    there is none."""
    by_letter = {run.letter: run for run in packet.runs}
    for guard, *_ in guards_of_card(card):
        replayed = replay(guard, packet)
        for broke in (by_letter[letter] for letter in replayed.broken if replayed.held):
            kept = nearest(broke, [by_letter[letter] for letter in replayed.held])
            at = _find_break(guard, packet, broke)
            for parting in partings(broke, kept):
                if parting.at and _is_about(parting, guard, at):
                    return Example(card, packet, kept, broke, parting)
    return None


def _find_break(guard: Guard, packet: Packet, run: PacketRun) -> int | None:
    """The position of the call that broke a guard for good; None if what it demands was left out."""
    (watched,) = (monitored := replay_run(packet.recorded[run.letter], [(guard, "", "")])).guards
    moment = monitored.since(watched) if watched.state == "broken" else None
    return moment.event.position if moment else None


def _is_about(parting: Parting, guard: Guard, broken_at: int | None) -> bool:
    """Does a run part there with the call that broke the guard, or by leaving out a call that the guard is about?"""
    if broken_at is not None and broken_at in {step.position for step in parting.here[:1]}:
        return True
    return not {step.function for step in parting.there}.isdisjoint(relevant_functions(guard) or ())
