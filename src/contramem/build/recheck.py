"""Recheck: the cards in service, checked once more against the decisions and the runs that made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard, SkillCard, SkillDelta
from contramem.bank.ledger import Decision, LedgerEntry, RunRef
from contramem.build.author import Candidate
from contramem.build.learning import is_mined
from contramem.chance import OutcomeTable
from contramem.contrast.observation import Observation, by_function
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.grading import contradicts, find_objection
from contramem.guards.guard import guards_of
from contramem.guards.packets import replay
from contramem.validate.case import Case, Text, functions_of
from contramem.validate.validator import Validator
from contramem.validate.verdict import Refusal


@dataclass(frozen=True)
class Finding:
    """The result for one card."""

    card_id: str
    refusals: tuple[Refusal, ...]
    tasks: int
    """The tasks that taught it, as far as the ledger knows; none: nothing in it can be held against runs."""
    missing: tuple[str, ...]
    """Those of them whose runs are missing or have changed: their evidence could not be checked."""

    @property
    def checked(self) -> bool:
        """Was it checked against everything that taught it?"""
        return bool(self.tasks) and not self.missing


def recheck(
    bank: Bank, ledger: Sequence[LedgerEntry], packets: Sequence[Packet], validator: Validator
) -> tuple[Finding, ...]:
    """Check every card in service: its text, and what the runs in `packets` that taught it show."""
    evidence = _Evidence(bank, ledger, packets)
    entries = (bank.entries[card.card_id] for card in bank.cards)
    return tuple(
        _function(entry.card, entry.support.tasks, evidence, validator)
        if isinstance(entry.card, FunctionCard)
        else _skill(entry.card, entry.support.tasks, evidence, validator)
        for entry in entries
    )


class _Evidence:
    """What the cards of a bank are based on."""

    def __init__(self, bank: Bank, ledger: Sequence[LedgerEntry], packets: Sequence[Packet]) -> None:
        self.bank = bank
        self.packets = packets
        self.by_task = {packet.task_key: packet for packet in packets}
        self._decisions = defaultdict[str, list[Decision]](list)
        for entry in ledger:
            for change in entry.decision.changes:
                self._decisions[change.card_id].append(entry.decision)

    @cached_property
    def by_digest(self) -> dict[str, Packet]:
        return {packet.content_digest: packet for packet in self.packets}

    @cached_property
    def observations(self) -> dict[str, list[Observation]]:
        return by_function(self.packets)

    def shaping(self, card_id: str) -> list[Decision]:
        """The decisions that changed a card, and those behind the cards merged into it."""
        decisions, waiting, seen = list[Decision](), [card_id], set[str]()
        while waiting:
            if (current := waiting.pop()) not in seen:
                seen.add(current)
                decisions += self._decisions[current]
                merges = (decision for decision in self._decisions[current] if decision.operation == "MERGE")
                waiting += [card_id for decision in merges for card_id in decision.card_ids]
        return list({id(decision): decision for decision in decisions}.values())


def _function(card: FunctionCard, tasks: Sequence[str], evidence: _Evidence, validator: Validator) -> Finding:
    missing = tuple(task for task in tasks if task not in evidence.by_task)
    packets = tuple(evidence.by_task[task] for task in tasks if task in evidence.by_task)
    if missing or not tasks:  # its counts cannot be verified
        refusals = validator.judge(Case(card, packets=packets))
    else:
        calls = [call for call in evidence.observations.get(card.tool, ()) if call.task_key in tasks]
        refusals = validator.card(card, calls, packets)
    return Finding(card.card_id, tuple(refusals), len(tasks), missing)


def _skill(card: SkillCard, shown_by: Sequence[str], evidence: _Evidence, validator: Validator) -> Finding:
    decisions = evidence.shaping(card.card_id)
    mined = is_mined(evidence.bank.entries[card.card_id])  # and held against all runs when it was
    taught = [d for d in decisions if d.packet and d.runs and not (d.rule is not None and "key" in d.rule.facts)]
    tasks = tuple(dict.fromkeys(run.task for decision in taught for run in decision.runs))
    packets = tuple(evidence.by_task[task] for task in tasks or shown_by if task in evidence.by_task)
    sources = tuple(_sources(card, decisions, evidence.bank))
    functions = frozenset(function for source in sources for function in functions_of(source))
    refusals = validator.judge(Case(card, packets=packets, functions=functions, sources=sources))
    for decision in taught:
        refusals += _recheck_decision(decision, evidence, validator)
    known = [evidence.by_task.get(task) for task in shown_by]
    refusals += _contradicted(card, known) if mined else _guards(card, known, evidence.packets)
    if taught:
        exact = {run.task for decision in taught if decision.packet in evidence.by_digest for run in decision.runs}
    else:  # an author proposed it, and its guards say all that runs have to show
        tasks, exact = tuple(shown_by) if card.guards or mined else (), set(evidence.by_task)
    missing = tuple(task for task in tasks if task not in exact)
    return Finding(card.card_id, tuple(dict.fromkeys(refusals)), len(tasks), missing)


def _sources(card: SkillCard, decisions: Sequence[Decision], bank: Bank) -> Iterator[Text]:
    """What the text may draw on: the deltas, the cards of the functions, and text added without a delta, by a person or
    by reassessment."""
    for decision in decisions:
        if isinstance(decision.candidate, SkillDelta):
            yield decision.candidate
        else:
            yield from (change.after.card for change in decision.changes)
    for function in card.functions_used:
        about = bank.entries.get(f"function::{function}")
        if about is not None:
            yield about.card


def _recheck_decision(decision: Decision, evidence: _Evidence, validator: Validator) -> list[Refusal]:
    """Does what a decision said about its runs still hold? Only the exact packet it was based on can tell."""
    packet = evidence.by_digest.get(decision.packet or "")
    if packet is None or not isinstance(decision.candidate, SkillDelta):
        return []
    candidate = Candidate(decision.candidate, tuple(_cites(decision.runs, packet)))
    return [refusal for refusal in validator.candidate(candidate, packet) if refusal.check == "evidence"]


def _cites(runs: Sequence[RunRef], packet: Packet) -> Iterator[Cite]:
    letters = {(origin.source, origin.run): letter for letter, origin in packet.provenance.items()}
    for run in runs:
        letter = letters.get((run.source, run.run))
        if letter is not None:
            yield from (Cite(letter, position) for position in run.events)


def _contradicted(card: SkillCard, shown_by: Sequence[Packet | None]) -> Iterator[Refusal]:
    """Passing runs must keep a guard that was mined from all runs, with few exceptions."""
    for guard in guards_of(card.guards):
        tables = [replay(guard, packet).table for packet in shown_by if packet is not None]
        if tables and contradicts(OutcomeTable(*map(sum, zip(*tables, strict=True)))):
            yield Refusal("guard", f"Too many passing runs break {guard}.", str(guard))


def _guards(card: SkillCard, shown_by: Sequence[Packet | None], packets: Sequence[Packet]) -> Iterator[Refusal]:
    """A guard must be borne out by a task that shows it, as in a build, or by all runs to which it applies, as in
    `propose`. None stands for a task whose runs are missing: it may be the one."""
    for guard in guards_of(card.guards):
        if not shown_by or any(packet is None or replay(guard, packet).supports for packet in shown_by):
            continue
        tables = [replay(guard, packet).table for packet in packets]
        if objection := find_objection(str(guard), OutcomeTable(*map(sum, zip(*tables, strict=True)))):
            yield Refusal("guard", f"No task that it rests on bears it out, nor do all runs. {objection}", str(guard))
