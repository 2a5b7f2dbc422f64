"""One build on one store: every decision validated, recorded together with how far the build has come, and repeatable.

A build that was killed goes on where it stopped, and ends with the same bank. A build of the same runs changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import msgspec

from contramem.bank.bank import Bank, Change, Holding
from contramem.bank.card import FunctionCard, SkillCard, SkillDelta
from contramem.bank.footing import Footing
from contramem.bank.ledger import Attribution, Decision, Operation, RunRef
from contramem.bank.patch import Add, Patch
from contramem.bank.store import Store
from contramem.build.author import Author, Candidate, Unusable
from contramem.build.curation import Known, known, same_rule
from contramem.build.fitting import Fitted, fitted
from contramem.build.generalizing import asks_for
from contramem.build.mining import accepted_chance
from contramem.build.rules import RuleAuthor
from contramem.build.settling import Evidence, Standing
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.errors import PatchError
from contramem.traces.trajectory import Tool, digest
from contramem.validate.verdict import Refusal


class Checks(Protocol):
    """What every card, delta and patch must pass; `contramem.validate` has them."""

    def card(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet] = ()
    ) -> list[Refusal]: ...

    def candidate(
        self, candidate: Candidate, packet: Packet, known_functions: Collection[str] = ()
    ) -> list[Refusal]: ...

    def patch(
        self,
        patch: Patch,
        candidate: Candidate,
        targets: Sequence[SkillCard],
        function_cards: Sequence[FunctionCard] = (),
        packet: Packet | None = None,
    ) -> list[Refusal]: ...


@dataclass
class Report:
    """What a build did."""

    decisions: Counter[str] = field(default_factory=Counter)
    """Accepted decisions on skills, by operation."""
    functions: Counter[str] = field(default_factory=Counter)
    """Accepted decisions on Function Cards, by operation."""
    refused: Counter[str] = field(default_factory=Counter)
    """By the check that refused."""
    packets: int = 0
    deltas: int = 0
    unchanged: int = 0
    """Packets and functions that an earlier build had done already."""

    @property
    def changed(self) -> bool:
        return bool(self.decisions or self.functions or self.refused)


class Construction:
    """Takes what the runs teach into a store, one decision at a time. Made inside `store.writing(...)`."""

    def __init__(self, store: Store, author: Author, checks: Checks, *, append_only: bool = False) -> None:
        self._store = store
        self._author = author
        self._checks = checks
        self._append_only = append_only
        self._bank = store.bank()
        self._functions: set[str] = set()
        self._progress = store.progress()
        self.report = Report()

    @property
    def bank(self) -> Bank:
        return self._bank

    def function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None, packets: Sequence[Packet]
    ) -> None:
        """Build the card of one function from all its observed calls, which stand in `packets`."""
        self._functions.add(function)
        step = f"function {function}"
        state = f"{self._who} {_digest(observations)}"
        if self._progress.get(step) == state:
            self.report.unchanged += 1
            return
        try:
            card = self._author.build_function(function, observations, tool)
        except Unusable as unusable:
            self._record(self._unusable(None, f"{function}: {unusable}", unusable), progress={step: state})
            return
        if card is None:
            self._record(progress={step: state})
            return
        self._record(self._function_decision(card, observations, packets), progress={step: state})

    def _function_decision(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet]
    ) -> Decision:
        tasks = {observation.task_key for observation in observations}
        refusals = self._checks.card(card, observations, [packet for packet in packets if packet.task_key in tasks])
        if refusals:
            return self._refused(None, card, refusals)
        held = self._bank.holdings.get(card.card_id)
        if held is not None and not set(held.footing.tasks) <= tasks:
            return self._decision("NOOP", card, f"The card rests on {len(held.footing.tasks)} tasks, not all seen now.")
        try:
            changes = self._bank.plan_function(card, Footing(tasks=tuple(tasks)))
        except PatchError as error:  # a person has pinned or rejected the card
            return self._refused(None, card, [Refusal("bank", str(error))])
        calls = f"{len(observations)} calls in {len(tasks)} tasks"
        if not changes:
            return self._decision("NOOP", card, f"{calls} show nothing that the card does not say.")
        operation: Operation = "ADD" if held is None else "PATCH"
        return self._decision(operation, card, f"Built from {calls}.", changes=changes)

    def learn(self, packet: Packet, seen: Bank | None = None) -> None:
        """Reflect on one packet, and curate each delta. Goes on at the delta where an earlier build was stopped.

        `seen` is the bank that reflection sees, by default the present one.
        """
        step = f"packet {packet.task_key}"
        first = self.decided(packet)
        if first is None:
            self.report.unchanged += 1
            return
        state = self.state(packet)
        try:
            candidates = list(self._author.reflect(packet, seen or self._bank))
        except Unusable as unusable:
            self.report.packets += 1
            self._record(self._unusable(packet, str(unusable), unusable), progress={step: f"{state} done"})
            return
        for index, candidate in enumerate(candidates):
            if index >= first:
                last = index + 1 == len(candidates)
                decisions = self._skill_decisions(index, candidate, packet)
                self.report.deltas += 1
                self._record(*decisions, progress={step: f"{state} {'done' if last else index + 1}"})
        self.report.packets += 1
        if not candidates:
            self._record(progress={step: f"{state} done"})

    def decided(self, packet: Packet) -> int | None:
        """How many deltas of the packet this author has decided on; None when all are."""
        begun, _, done = self._progress.get(f"packet {packet.task_key}", "").rpartition(" ")
        if begun != self.state(packet):
            return 0
        return None if done == "done" else int(done)

    def state(self, packet: Packet) -> str:
        """Who decides, on what: another author, or other runs, make it another packet."""
        return f"{self._who} {packet_digest(packet)}"

    def fitted(self, candidate: Candidate, packet: Packet) -> Fitted:
        """The lesson without guards that cannot be read or that the packet does not bear out."""
        return fitted(candidate.delta, self._checks.candidate(candidate, packet, self._functions))

    def _skill_decisions(self, index: int, proposed: Candidate, packet: Packet) -> list[Decision]:
        """What becomes of a delta, after a refusal for each guard that it or its patch has to go without."""
        delta, refusals, unfit = self.fitted(proposed, packet)
        candidate, cites = replace(proposed, delta=delta), proposed.cites
        if refusals:
            return [self._refused(packet, proposed.delta, [*refusals, *unfit], cites=cites)]
        try:
            patch = self._patch(index, candidate, packet)
        except Unusable as unusable:
            refusals = [Refusal(unusable.check, unusable.reason)]
            return [self._refused(packet, delta, refusals, cites=cites)]
        if patch.new_or_updated_card is not None:
            text, refusals, more = fitted(patch.new_or_updated_card, self._refusals(patch, candidate, packet))
            patch, unfit = patch.model_copy(update={"new_or_updated_card": text}), [*unfit, *more]
        else:
            refusals = self._refusals(patch, candidate, packet)
        if refusals:
            return [self._refused(packet, delta, refusals, patch=patch, cites=cites)]
        try:
            changes = self._changes(patch, packet, cites)
        except PatchError as error:  # a person has pinned or rejected the card
            refusals = [Refusal("bank", str(error))]
            return [self._refused(packet, delta, refusals, patch=patch, cites=cites)]
        decision = self._decision(
            patch.operation, delta, patch.reason, packet=packet, patch=patch, changes=changes, cites=cites
        )
        return [decision, *(self._without(refusal, candidate, packet) for refusal in unfit)]

    def _without(self, refusal: Refusal, candidate: Candidate, packet: Packet) -> Decision:
        """One guard is refused, and its lesson goes on without it."""
        said = Refusal(refusal.check, f"{refusal.reason} “{candidate.delta.title}” goes on without it.")
        return self._refused(packet, None, [said], cites=candidate.cites)

    def _patch(self, index: int, candidate: Candidate, packet: Packet) -> Patch:
        if self._append_only:
            return Add(
                delta_index=index, new_or_updated_card=candidate.delta, reason="Append-only: every delta is kept."
            )
        return self._author.curate(index, candidate, packet, self._bank)

    def _changes(self, patch: Patch, packet: Packet, cites: Sequence[Cite]) -> tuple[Change, ...]:
        footing = self._bank.footing(patch.target_card_ids) + taught_by(packet, cites)
        if isinstance(patch, Add) and not self._append_only:
            retired = self._retired(packet.ability, patch.new_or_updated_card)
            self._respect_people(retired)
            if retired:
                return (_taken_up_again(retired[0], patch.new_or_updated_card, footing),)
        return self._bank.plan(patch, packet.ability, footing)

    def _retired(self, ability: str, text: SkillDelta) -> list[Holding]:
        """Cards out of service that say what `text` says; the one that began with its very words comes first."""
        first = self._bank.first_made_from(ability, text)
        found = [
            held
            for held in self._bank.holdings.values()
            if held.status == "retired" and isinstance(held.card, SkillCard) and held.card.ability == ability
            if held is first or same_rule(held.card, text)
        ]
        return sorted(found, key=lambda held: (held is not first, held.card.card_id))

    def _respect_people(self, retired: Sequence[Holding]) -> None:
        for card_id in (held.card.card_id for held in retired):
            changed = [e for e in self._store.ledger(card_id) if any(c.card_id == card_id for c in e.decision.changes)]
            last = changed[-1].decision
            if last.by.kind == "person":
                raise PatchError(f"{last.by} took {card_id}, which says this, out of service ({last.reason}).")

    def _refusals(self, patch: Patch, candidate: Candidate, packet: Packet) -> list[Refusal]:
        held = [
            self._bank.holdings[card_id].card for card_id in patch.target_card_ids if card_id in self._bank.holdings
        ]
        targets = [card for card in held if isinstance(card, SkillCard)]
        used = {function for text in (candidate.delta, *targets) for function in text.functions_used}
        functions = [card for function in sorted(used) if (card := self._bank.function(function)) is not None]
        return self._checks.patch(patch, candidate, targets, functions, packet)

    def settle(self, ability: str, packets: Sequence[Packet]) -> None:
        """Hold every card of an ability against all its packets. No packet counts twice, however often it is built."""
        if self._append_only:
            return
        state = _digest([packet_digest(packet) for packet in packets])
        settled = {f"settled {packet.task_key}": packet_digest(packet) for packet in packets}
        fresh = [p for p in packets if self._progress.get(f"settled {p.task_key}") != packet_digest(p)]
        waiting = [
            one
            for one in known(self._bank, ability)
            if self._progress.get(f"card {one.card.card_id}") != state and one.card.guards
        ]
        ruled = {one.card.card_id for one in waiting if self._is_ruled(one)}
        accepted = accepted_chance(packets) if ruled else 0.0
        for one in waiting:
            evidence = Evidence(packets, fresh, accepted if one.card.card_id in ruled else None)
            standing = evidence.standing(one)
            decisions = [self._about(one, standing)] if standing.changes(one) else []
            self._record(*decisions, progress={f"card {one.card.card_id}": state})
        self._retire_said_twice(ability)
        if fresh:
            self._record(progress=settled)

    def _is_ruled(self, one: Known) -> bool:
        """Did the rules write what the card says, or somebody in words of their own?"""
        decisions = [entry.decision for entry in self._store.ledger(one.card.card_id)]
        writing = [decision.by.kind for decision in decisions if decision.writes]
        return not writing or writing[-1] == "rules"

    def _retire_said_twice(self, ability: str) -> None:
        """A way past an error that a card asks for before the call has become superfluous."""
        cards = known(self._bank, ability)
        for one in cards:
            if one.status == "pinned" or not any(asks_for(other.card, one.card) for other in cards):
                continue
            if self._is_ruled(one):  # what is said in other words is not known to say the same
                reason = "Another card asks beforehand for what this does after the error."
                standing = Standing("RETIRE", reason, one.footing, one.card)
                self._record(self._about(one, standing), progress={})

    def _about(self, one: Known, standing: Standing) -> Decision:
        """What evidence says about a card, whoever wrote it, is said by the rules."""
        held = self._bank.holdings[one.card.card_id]
        if standing.operation == "RETIRE":
            after = held.model_copy(update={"footing": standing.footing, "status": "retired"})
        else:
            after = held.rewritten(standing.text, standing.footing)
        return Decision(
            operation=standing.operation,
            reason=standing.reason,
            by=RuleAuthor.attribution,
            ability=one.card.ability,
            changes=(Change(before=held, after=after),),
        )

    # Recording

    @property
    def _by(self) -> Attribution:
        return self._author.attribution

    @property
    def _who(self) -> str:
        return f"{self._by.name}-{self._by.version}"

    def _decision(
        self,
        operation: Operation,
        candidate: SkillDelta | FunctionCard,
        reason: str,
        *,
        packet: Packet | None = None,
        patch: Patch | None = None,
        changes: tuple[Change, ...] = (),
        cites: Sequence[Cite] = (),
    ) -> Decision:
        return Decision(
            operation=operation,
            reason=reason,
            by=self._by,
            ability=packet.ability if packet else None,
            candidate=candidate,
            patch=patch,
            changes=changes,
            packet=packet_digest(packet) if packet else None,
            runs=run_refs(packet, cites) if packet else (),
        )

    def _refused(
        self,
        packet: Packet | None,
        candidate: SkillDelta | FunctionCard | None,
        refusals: Sequence[Refusal],
        *,
        patch: Patch | None = None,
        cites: Sequence[Cite] = (),
    ) -> Decision:
        self.report.refused.update({refusal.check for refusal in refusals})
        return Decision(
            operation=patch.operation if patch else None,
            accepted=False,
            reason=" ".join(str(refusal) for refusal in refusals),
            by=self._by,
            ability=packet.ability if packet else None,
            candidate=candidate,
            patch=patch,
            packet=packet_digest(packet) if packet else None,
            runs=run_refs(packet, cites) if packet else (),
        )

    def _unusable(self, packet: Packet | None, reason: str, unusable: Unusable) -> Decision:
        self.report.refused[unusable.check] += 1
        return Decision(
            operation=None,
            accepted=False,
            reason=f"{unusable.check}: {reason}",
            by=self._by,
            ability=packet.ability if packet else None,
            packet=packet_digest(packet) if packet else None,
        )

    def _record(self, *decisions: Decision, progress: Mapping[str, str]) -> None:
        spent = self._author.spent()
        if decisions and spent.usage.model_calls:
            decisions = (decisions[0].model_copy(update={"usage": spent.usage}), *decisions[1:])
        self._store.record(*decisions, progress=progress, charged=spent.calls if decisions else ())
        self._progress.update(progress)
        for decision in decisions:
            self._bank = self._bank.changed(decision.changes)
            if decision.accepted and decision.operation:
                counts = self.report.decisions if decision.ability else self.report.functions
                counts[decision.operation] += 1


def _taken_up_again(held: Holding, text: SkillDelta, footing: Footing) -> Change:
    """A lesson that runs had turned against comes back as the card it was, with all that speaks for and against it, to
    be settled anew."""
    after = held.rewritten(text, held.footing + footing)
    return Change(before=held, after=after.model_copy(update={"status": "active", "reviewed": False}))


def taught_by(packet: Packet, cites: Sequence[Cite]) -> Footing:
    """What one packet adds to a card's footing."""
    sources = {packet.provenance[cite.run].source for cite in cites}
    return Footing(tasks=(packet.task_key,), sources=tuple(sources), taught_by=packet.identity)


def run_refs(packet: Packet, cites: Sequence[Cite]) -> tuple[RunRef, ...]:
    """The runs behind `cites`, with the events that show it."""
    events: dict[str, list[int]] = {}
    for cite in cites:
        events.setdefault(cite.run, []).append(cite.position)
    outcomes = {run.letter: run.passed for run in packet.runs}
    return tuple(
        RunRef(
            task=packet.task_key,
            source=packet.provenance[letter].source,
            run=packet.provenance[letter].run,
            passed=outcomes[letter],
            origin=str(packet.provenance[letter].origin),
            events=tuple(sorted(set(positions))),
        )
        for letter, positions in events.items()
    )


def packet_digest(packet: Packet) -> str:
    """A short name for all that a packet holds, sources included."""
    return packet.content_digest


def _digest(value: object) -> str:
    return digest(msgspec.json.encode(value, order="deterministic").decode())


def curriculum(packets: Sequence[Packet]) -> list[Packet]:
    """Sharpest contrast first; the same order whatever order the runs were read in."""
    return sorted(packets, key=lambda packet: (-_sharpness(packet), packet.task_key))


def _sharpness(packet: Packet) -> float:
    clearest = packet.signals[0].strength if packet.signals else 0.0
    return clearest + packet.is_contrastive
