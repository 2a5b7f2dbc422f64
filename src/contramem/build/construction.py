"""One build on one store: every decision validated, recorded together with how far the build has come, and repeatable.

A build that was killed goes on where it stopped, and ends with the same bank. A build of the same runs changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contramem.bank.bank import Bank, Change
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.ledger import Decision, Operation
from contramem.bank.patch import Add, Patch
from contramem.bank.store import Store
from contramem.bank.support import CardSupport
from contramem.build.author import Author, Candidate, UnusableReply
from contramem.build.checks import Checks
from contramem.build.drop_refused_guards import CheckedProposal, fitted
from contramem.build.recorder import BuildRecorder, BuildReport, Provenance, digest_of
from contramem.build.reinstate import taken_up_again
from contramem.build.upkeep import settle
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.errors import PatchError
from contramem.traces.trajectory import Tool
from contramem.validate.verdict import Refusal


class BankBuild:
    """Takes what the runs teach into a store, one decision at a time. Made inside `store.writing(...)`."""

    def __init__(self, store: Store, author: Author, checks: Checks, *, append_only: bool = False) -> None:
        self._books = BuildRecorder(store, author)
        self._author = author
        self._checks = checks
        self._append_only = append_only
        self._functions: set[str] = set()

    @property
    def bank(self) -> Bank:
        return self._books.bank

    @property
    def report(self) -> BuildReport:
        return self._books.report

    # Function Cards

    def function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None, packets: Sequence[Packet]
    ) -> None:
        """Build the card of one function from all its observed calls, which stand in `packets`."""
        self._functions.add(function)
        step = f"function {function}"
        state = f"{self._books.kept_by} {digest_of(observations)}"
        if self._books.reached(step) == state:
            self.report.unchanged += 1
            return
        try:
            card = self._author.build_function(function, observations, tool)
        except UnusableReply as unusable:
            refusal = Refusal(unusable.check, f"{function}: {unusable.reason}")
            self._books.record(self._books.refused([refusal]), progress={step: state})
            return
        decisions = [self._function_decision(card, observations, packets)] if card else []
        self._books.record(*decisions, progress={step: state})

    def _function_decision(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet]
    ) -> Decision:
        tasks = {observation.task_key for observation in observations}
        refusals = self._checks.card(card, observations, [packet for packet in packets if packet.task_key in tasks])
        if refusals:
            return self._books.refused(refusals, card)
        held = self.bank.entries.get(card.card_id)
        if held is not None and not set(held.footing.tasks) <= tasks:
            seen = f"The card rests on {len(held.footing.tasks)} tasks, not all seen now."
            return self._books.accepted("NOOP", card, seen)
        try:
            changes = self.bank.plan_function(card, CardSupport(tasks=tuple(tasks)))
        except PatchError as error:  # a person has pinned or rejected the card
            return self._books.refused([Refusal("bank", str(error))], card)
        calls = f"{len(observations)} calls in {len(tasks)} tasks"
        if not changes:
            return self._books.accepted("NOOP", card, f"{calls} show nothing that the card does not say.")
        operation: Operation = "ADD" if held is None else "PATCH"
        return self._books.accepted(operation, card, f"Built from {calls}.", changes=changes)

    # Skill Cards

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
            candidates = list(self._author.reflect(packet, seen or self.bank))
        except UnusableReply as unusable:
            self.report.packets += 1
            refused = self._books.refused([Refusal(unusable.check, unusable.reason)], ground=Provenance(packet))
            self._books.record(refused, progress={step: f"{state} done"})
            return
        for index, candidate in enumerate(candidates):
            if index >= first:
                last = index + 1 == len(candidates)
                decisions = self._skill_decisions(index, candidate, packet)
                self.report.deltas += 1
                self._books.record(*decisions, progress={step: f"{state} {'done' if last else index + 1}"})
        self.report.packets += 1
        if not candidates:
            self._books.record(progress={step: f"{state} done"})

    def decided(self, packet: Packet) -> int | None:
        """How many deltas of the packet this author has decided on; None when all are."""
        begun, _, done = self._books.reached(f"packet {packet.task_key}").rpartition(" ")
        if begun != self.state(packet):
            return 0
        return None if done == "done" else int(done)

    def state(self, packet: Packet) -> str:
        """Who decides, on what: another author, or other runs, make it another packet."""
        return f"{self._books.kept_by} {packet.content_digest}"

    def fitted(self, candidate: Candidate, packet: Packet) -> CheckedProposal:
        """The lesson without guards that cannot be read or that the packet does not bear out."""
        return fitted(candidate.delta, self._checks.candidate(candidate, packet, self._functions))

    def _skill_decisions(self, index: int, proposed: Candidate, packet: Packet) -> list[Decision]:
        """What becomes of a delta, and a refusal for each guard that it or its patch has to go without."""
        ground = Provenance(packet, proposed.cites)
        delta, refusals, unfit = self.fitted(proposed, packet)
        candidate = replace(proposed, delta=delta)
        if refusals:
            return [self._books.refused([*refusals, *unfit], proposed.delta, ground=ground)]
        try:
            patch = self._patch(index, candidate, packet)
        except UnusableReply as unusable:
            return [self._books.refused([Refusal(unusable.check, unusable.reason)], delta, ground=ground)]
        refusals = self._refusals(patch, candidate, packet)
        if patch.new_or_updated_card is not None:
            text, refusals, more = fitted(patch.new_or_updated_card, refusals)
            patch, unfit = patch.model_copy(update={"new_or_updated_card": text}), [*unfit, *more]
        if refusals:
            return [self._books.refused(refusals, delta, ground=ground, patch=patch)]
        try:
            changes = self._changes(patch, ground)
        except PatchError as error:  # a person has pinned or rejected the card
            return [self._books.refused([Refusal("bank", str(error))], delta, ground=ground, patch=patch)]
        decision = self._books.accepted(
            patch.operation, delta, patch.reason, ground=ground, patch=patch, changes=changes
        )
        goes_on = f"“{delta.title}” goes on without it."
        without = (Refusal(one.check, f"{one.reason} {goes_on}") for one in unfit)
        return [decision, *(self._books.refused([refusal], ground=ground) for refusal in without)]

    def _patch(self, index: int, candidate: Candidate, packet: Packet) -> Patch:
        if self._append_only:
            return Add(
                delta_index=index, new_or_updated_card=candidate.delta, reason="Append-only: every delta is kept."
            )
        return self._author.curate(index, candidate, packet, self.bank)

    def _refusals(self, patch: Patch, candidate: Candidate, packet: Packet) -> list[Refusal]:
        held = [self.bank.entries[card_id].card for card_id in patch.target_card_ids if card_id in self.bank.entries]
        targets = [card for card in held if isinstance(card, SkillCard)]
        used = {function for text in (candidate.delta, *targets) for function in text.functions_used}
        functions = [card for function in sorted(used) if (card := self.bank.function(function)) is not None]
        return self._checks.patch(patch, candidate, targets, functions, packet)

    def _changes(self, patch: Patch, ground: Provenance) -> tuple[Change, ...]:
        ability, footing = ground.packet.ability, self.bank.footing(patch.target_card_ids) + ground.footing
        if isinstance(patch, Add) and not self._append_only:
            again = taken_up_again(self._books, ability, patch.new_or_updated_card, footing)
            if again:
                return again
        return self.bank.plan(patch, ability, footing)

    def settle(self, ability: str, packets: Sequence[Packet]) -> None:
        """Hold every card of an ability against all its packets. Append-only banks are for comparison, and stay."""
        if not self._append_only:
            settle(self._books, ability, packets)
