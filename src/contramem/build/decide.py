"""One build on one store: every decision is validated, recorded together with the build's progress, and reproducible.

A build that was killed continues where it stopped and ends with the same bank. Building the same runs again changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contramem.bank.bank import GRADES, Add, Bank, CardSupport, Change, Grade, Patch
from contramem.bank.card import Card, FunctionCard, SkillCard, SkillDelta
from contramem.bank.ledger import Decision, Operation
from contramem.bank.store import Store
from contramem.build.author import Author, Candidate, Curation, UnusableReply
from contramem.build.evidence import Provenance
from contramem.build.reassess import DEFAULT_GRADE, reassess
from contramem.build.recorder import BuildRecorder, BuildReport, digest_of
from contramem.build.reinstate import reinstate
from contramem.build.requests import RequestsByFunction
from contramem.build.rules.author import RuleAuthor
from contramem.build.scopes import mark_scopes
from contramem.contrast.observation import Observation, content_of
from contramem.contrast.packet import Packet
from contramem.contrast.packets import PacketGroup
from contramem.errors import PatchError
from contramem.guards.guard import guards_of
from contramem.mining.cards import counted, mine_rules
from contramem.mining.curate import Curator
from contramem.mining.customs import find_customs
from contramem.mining.fixes import find_fixes
from contramem.mining.functions import gather_argument_facts
from contramem.mining.habits import find_habits
from contramem.mining.lesson import Lesson
from contramem.privacy.public import public_of
from contramem.traces.trajectory import Tool
from contramem.validate.case import Case
from contramem.validate.dates import write_dates_as_forms
from contramem.validate.validator import Validator
from contramem.validate.verdict import Refusal


class BankBuild:
    """Adds what the runs teach to a store, one decision at a time. Create it inside `store.writing(...)`."""

    def __init__(
        self,
        store: Store,
        author: Author,
        validator: Validator,
        *,
        append_only: bool = False,
        grade: Grade = DEFAULT_GRADE,
        reassesses: bool = True,
        at_hand: frozenset[str] = frozenset(),
    ) -> None:
        """`at_hand`: tasks whose runs are at hand, though a card may now be made from others. What rests on them is
        built anew."""
        self._recorder = BuildRecorder(store, author)
        self._author = author
        self._validator = validator
        self._append_only = append_only
        self._grade = grade
        self._reassesses = reassesses and not append_only
        self._functions = set[str]()
        self._at_hand = at_hand
        self._gathered: tuple[Sequence[Packet], RequestsByFunction] | None = None

    @property
    def bank(self) -> Bank:
        return self._recorder.bank

    @property
    def functions(self) -> frozenset[str]:
        """The functions known to exist."""
        return frozenset(self._functions)

    @property
    def report(self) -> BuildReport:
        return self._recorder.report

    # Parts

    def skip_part(self, group: PacketGroup) -> bool:
        """Skip a part whose packets and cards are as the last build left them: every step of it would say so."""
        is_done = bool(group.content) and self._recorder.look_up(_part_step(group)) == self._part_state(group)
        if is_done:
            self._functions.update(group.functions)
            self.report.unchanged += group.size
        return is_done

    def finish_part(self, group: PacketGroup) -> None:
        """Note that the part is decided on."""
        if group.content:
            self._recorder.record(progress={_part_step(group): self._part_state(group)})

    def _part_state(self, group: PacketGroup) -> str:
        """Changes with the packets of a part, with its cards, and with how it is decided on."""
        entries = (entry for entry in self.bank.entries.values() if _is_of_part(entry.card, group))
        cards = sorted(entry.model_dump_json() for entry in entries)
        how = [self._grade, self._reassesses, self._append_only]
        return f"{self._recorder.kept_by} {digest_of([how, group.content, cards])}"

    # Function Cards

    def function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None, packets: Sequence[Packet]
    ) -> None:
        """Build the card of one function from all its observed calls, which come from `packets`."""
        self._functions.add(function)
        step = f"function {function}"
        state = f"{self._recorder.kept_by} {digest_of(content_of(observations))}"
        if self._recorder.look_up(step) == state:
            self.report.unchanged += 1
            return
        try:
            card = self._author.build_function(function, observations, tool)
        except UnusableReply as unusable:
            refusal = Refusal(unusable.check, f"{function}: {unusable.reason}")
            self._recorder.record(self._recorder.refuse([refusal]), progress={step: state})
            return
        decisions = [self._function_decision(card, observations, packets)] if card else []
        self._recorder.record(*decisions, progress={step: state})

    def _function_decision(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet]
    ) -> Decision:
        tasks = {observation.task_key for observation in observations}
        refusals = self._validator.card(card, observations, [packet for packet in packets if packet.task_key in tasks])
        if refusals:
            return self._recorder.refuse(refusals, card)
        entry = self.bank.entries.get(card.card_id)
        if entry is not None and not set(entry.support.tasks) <= tasks | self._at_hand:
            reason = f"The card rests on {len(entry.support.tasks)} tasks, not all seen now."
            return self._recorder.accept("NOOP", card, reason)
        try:
            changes = self.bank.plan_function(card, self._function_support(observations, packets))
        except PatchError as error:  # a person has pinned or rejected the card
            return self._recorder.refuse([Refusal("bank", str(error))], card)
        calls = f"{len(observations)} calls in {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}"
        if not changes:
            return self._recorder.accept("NOOP", card, f"{calls} show nothing that the card does not say.")
        operation: Operation = "ADD" if entry is None else "PATCH"
        return self._recorder.accept(operation, card, f"Built from {calls}.", changes=changes)

    def _function_support(self, observations: Sequence[Observation], packets: Sequence[Packet]) -> CardSupport:
        """The tasks and sources behind a Function Card, and words from their requests."""
        by_key = {packet.task_key: packet for packet in packets}
        called = {(call.task_key, call.cite.run) for call in observations}
        sources = {by_key[key].provenance[letter].source for key, letter in called if key in by_key}
        function = observations[0].function
        words = self._requests_by_function(packets).words_for(function)
        return CardSupport(
            tasks=tuple({key for key, _ in called}),
            sources=tuple(sources),
            request_words=(words,) if words else (),
            arguments=gather_argument_facts(function, observations),
        )

    def _requests_by_function(self, packets: Sequence[Packet]) -> RequestsByFunction:
        """The requests of these packets, gathered once for all functions of a build."""
        if self._gathered is None or self._gathered[0] is not packets:
            self._gathered = packets, RequestsByFunction(packets)
        return self._gathered[1]

    # Skill Cards

    def learn(self, packet: Packet, seen: Bank | None = None) -> None:
        """Reflect on one packet and curate each delta. Continues at the delta where an earlier build stopped.

        `seen` is the bank that the author sees when reflecting; by default the current one.
        """
        step = f"packet {packet.task_key}"
        first = self.count_decided(packet)
        if first is None:
            self.report.unchanged += 1
            return
        state = self.state(packet)
        try:
            candidates = list(self._author.reflect(packet, seen or self.bank))
        except UnusableReply as unusable:
            self.report.packets += 1
            refused = self._recorder.refuse([Refusal(unusable.check, unusable.reason)], ground=Provenance(packet))
            self._recorder.record(refused, progress={step: f"{state} done"})
            return
        left = {index: self._propose(candidate, packet) for index, candidate in enumerate(candidates) if index >= first}
        while left:
            for index, decisions in self._decide(left, packet):
                del left[index]
                self.report.deltas += 1
                self._recorder.record(*decisions, progress={step: f"{state} {index + 1 if left else 'done'}"})
        self.report.packets += 1
        if not candidates:
            self._recorder.record(progress={step: f"{state} done"})

    def count_decided(self, packet: Packet) -> int | None:
        """How many deltas of the packet this author has decided; None if all are decided."""
        begun, _, done = self._recorder.look_up(f"packet {packet.task_key}").rpartition(" ")
        if begun != self.state(packet):
            return 0
        return None if done == "done" else int(done)

    def state(self, packet: Packet) -> str:
        """Identifies who decides on what: with another author or other runs, the packet is decided again."""
        return f"{self._recorder.kept_by} {packet.content_digest}"

    def check(self, candidate: Candidate, packet: Packet) -> CheckedProposal:
        """The lesson without guards that do not parse or that the packet does not support."""
        candidate = replace(candidate, delta=write_dates_as_forms(candidate.delta))
        if candidate.rule is not None and "key" in candidate.rule.facts:  # mined from all runs, which a packet is not
            case = Case(candidate.delta, packets=(packet,), functions=frozenset(self._functions))
            refusals = self._validator.judge(case)
        else:
            refusals = self._validator.candidate(candidate, packet, self._functions)
        return drop_refused_guards(candidate.delta, refusals)

    def _propose(self, candidate: Candidate, packet: Packet) -> _Proposal:
        delta, refusals, dropped = self.check(candidate, packet)
        fit = replace(candidate, delta=delta, rule=None if dropped else candidate.rule)
        return _Proposal(candidate if refusals else fit, refusals, dropped)

    def _decide(self, proposals: Mapping[int, _Proposal], packet: Packet) -> Iterator[tuple[int, list[Decision]]]:
        """Decide these candidates of a packet in order. Each decision is recorded before the next one is taken.

        Stops early, but not before the first, at a decision about a card that a previous one just changed: the author
        decided without seeing that change.
        """
        proposals = dict(proposals)
        curations = self._curate({i: each.candidate for i, each in proposals.items() if not each.refusals}, packet)
        changed: set[str] = set()
        for index, proposal in proposals.items():
            curation = curations.get(index)
            if proposal.refusals:
                decisions = [self._refuse(proposal, packet)]
            elif curation is None or not changed.isdisjoint(_targets(curation)):
                return
            else:
                decisions = self._take_in(curation, proposal, packet)
            changed.update(change.card_id for decision in decisions for change in decision.changes)
            yield index, decisions

    def _refuse(self, proposal: _Proposal, packet: Packet) -> Decision:
        ground = Provenance(packet, proposal.candidate.cites, proposal.candidate.also)
        return self._recorder.refuse([*proposal.refusals, *proposal.dropped], proposal.candidate, ground=ground)

    def _curate(self, fit: Mapping[int, Candidate], packet: Packet) -> Mapping[int, Curation | UnusableReply]:
        """What the author decides, by candidate. An unreadable reply counts as a failure on the first."""
        if not fit:
            return {}
        if self._append_only:
            return {index: _append(index, candidate) for index, candidate in fit.items()}
        try:
            return self._author.curate(fit, packet, self.bank)
        except UnusableReply as unusable:
            return {next(iter(fit)): unusable}

    def _take_in(self, curation: Curation | UnusableReply, proposal: _Proposal, packet: Packet) -> list[Decision]:
        """The decision on a delta, and a refusal for each guard that was dropped from it or from its patch."""
        candidate = proposal.candidate
        ground = Provenance(packet, candidate.cites, candidate.also)
        if isinstance(curation, UnusableReply):
            refusal = Refusal(curation.check, curation.reason)
            return [self._recorder.refuse([refusal], candidate, ground=ground)]
        curation, refusals, more = self._check_curation(curation, candidate, packet)
        patch = curation.patch
        if refusals:
            return [self._recorder.refuse(refusals, candidate, ground=ground, patch=patch)]
        try:
            changes = self._changes(curation, ground)
        except PatchError as error:  # a person has pinned or rejected the card
            return [self._recorder.refuse([Refusal("bank", str(error))], candidate, ground=ground, patch=patch)]
        decision = self._recorder.accept(
            patch.operation, candidate, patch.reason, ground=ground, patch=patch, changes=changes
        )
        title = candidate.delta.title
        reasons = [
            (guard.check, f"{guard.reason} “{title}” goes on without it.") for guard in [*proposal.dropped, *more]
        ]
        return [decision, *(self._recorder.refuse([Refusal(*reason)], ground=ground) for reason in reasons)]

    def _check_curation(
        self, curation: Curation, candidate: Candidate, packet: Packet
    ) -> tuple[Curation, list[Refusal], list[Refusal]]:
        """The patch without refused guards, what is wrong with it, and what was wrong with those guards."""
        patch = curation.patch
        if patch.new_or_updated_card is not None:
            text = write_dates_as_forms(patch.new_or_updated_card)
            patch = patch.model_copy(update={"new_or_updated_card": text})
            curation = replace(curation, patch=patch)
        refusals = self._refusals(patch, candidate, packet)
        if patch.new_or_updated_card is None:
            return curation, refusals, []
        text, refusals, dropped = drop_refused_guards(patch.new_or_updated_card, refusals)
        patch = patch.model_copy(update={"new_or_updated_card": text})
        return Curation(patch, None if dropped else curation.rule), refusals, dropped

    def _refusals(self, patch: Patch, candidate: Candidate, packet: Packet) -> list[Refusal]:
        cards = [self.bank.entries[card_id].card for card_id in patch.target_card_ids if card_id in self.bank.entries]
        targets = [card for card in cards if isinstance(card, SkillCard)]
        used = {function for text in (candidate.delta, *targets) for function in text.functions_used}
        functions = [card for function in sorted(used) if (card := self.bank.function(function)) is not None]
        return self._validator.patch(patch, candidate, targets, functions, packet)

    def _changes(self, curation: Curation, ground: Provenance) -> tuple[Change, ...]:
        patch, rule = curation.patch, curation.rule
        ability, known = ground.packet.ability, self.bank.combine_support(patch.target_card_ids)
        support = known + ground.leave_out(known.tasks).support
        if isinstance(patch, Add) and not self._append_only:
            again = reinstate(self._recorder, ability, Candidate(patch.new_or_updated_card, (), rule), support)
            if again:
                return again
        return self.bank.plan(patch, ability, support, rule)

    def learn_across(self, packets: Sequence[Packet]) -> None:
        """Add what the tasks of an ability teach together, in the order of their keys. Continues where an earlier build
        stopped."""
        step, state = f"across {packets[0].ability}", self._state_across(packets)
        begun, _, done = self._recorder.look_up(step).rpartition(" ")
        if begun == state and done == "done":
            return
        first = int(done) if begun == state else 0
        for index, (candidate, packet) in enumerate(self._author.reflect_across(packets)):
            if index >= first:
                for _, decisions in self._decide({index: self._propose(candidate, packet)}, packet):
                    self._recorder.record(*decisions, progress={step: f"{state} {index + 1}"})
                self.report.deltas += 1
        self._recorder.record(progress={step: f"{state} done"})

    # By rules

    @property
    def mines(self) -> bool:
        """Are rules mined from all runs at once? Append-only learns from each task alone."""
        return isinstance(self._author, RuleAuthor) and not self._append_only

    def mine(self, ability: str, packets: Sequence[Packet]) -> None:
        """Make the bank say what all runs of an ability teach together."""
        step, state = f"mined {ability}", self._state_across(packets)
        if self._recorder.look_up(step) == state:
            return
        tasks = [[packet.recorded[run.letter] for run in packet.runs] for packet in packets]
        runs = [run for runs in tasks for run in runs]
        rules, replays = mine_rules(runs, ability, public_of(tasks))
        lessons = [
            *find_fixes(runs, ability),
            *rules,
            *find_habits(runs, ability),
            *find_customs(runs, ability),
        ]
        at_hand = self._at_hand.union(key for packet in packets for key in packet.task_keys)
        curator = Curator(self._author.attribution, ability, at_hand, replays, self._recorder.decisions_on)
        lowest = GRADES.index(self._grade)
        fit = [
            counted(lesson, replays)
            for lesson in lessons
            if GRADES.index(lesson.grade) <= lowest and self._may_say(lesson, packets)
        ]
        shown = {key: packet.content_digest for packet in packets for key in packet.task_keys}
        for decision in curator.decide(lambda: self.bank, fit):
            digest = next((shown[run.task] for run in decision.runs if run.task in shown), None)
            self._recorder.record(decision.model_copy(update={"packet": digest}), progress={})
        self._recorder.record(progress={step: state})
        self.report.deltas += len(lessons)

    def _may_say(self, lesson: Lesson, packets: Sequence[Packet]) -> bool:
        """Does the text pass the checks? Otherwise the refusal is recorded."""
        tasks = {run.task for run in lesson.runs}
        packet = next((packet for packet in packets if tasks.intersection(packet.task_keys)), packets[0])
        case = Case(lesson.text, packets=(packet,), functions=frozenset(self._functions))
        if refusals := self._validator.judge(case):
            candidate = Candidate(lesson.text, (), lesson.stored)
            self._recorder.record(self._recorder.refuse(refusals, candidate, ground=Provenance(packet)), progress={})
        return not refusals

    def _state_across(self, packets: Sequence[Packet]) -> str:
        return f"{self._recorder.kept_by} {digest_of([packet.content_digest for packet in packets])}"

    def reassess(self, ability: str, packets: Sequence[Packet]) -> None:
        """Check every card of an ability against all its packets, and mark those for every task or for the end of one.

        Append-only banks are for comparison, so their cards do not change.
        """
        if self._reassesses:
            reassess(self._recorder, ability, packets, self._grade, self._at_hand)
        mark_scopes(self._recorder, ability, packets)


def _is_of_part(card: Card, group: PacketGroup) -> bool:
    return card.ability == group.ability if isinstance(card, SkillCard) else card.tool in group.functions


def _part_step(group: PacketGroup) -> str:
    return f"part {group.ability}" if group.ability else f"part {digest_of(group.functions)}"


class _Proposal(NamedTuple):
    """A candidate after the checks: what passed, or the original if it was refused."""

    candidate: Candidate
    refusals: list[Refusal]
    dropped: list[Refusal]
    """What was wrong with the guards that were dropped."""


def _targets(curation: Curation | UnusableReply) -> Sequence[str]:
    return curation.patch.target_card_ids if isinstance(curation, Curation) else ()


def _append(index: int, candidate: Candidate) -> Curation:
    reason = "Append-only: every delta is kept."
    return Curation(Add(delta_index=index, new_or_updated_card=candidate.delta, reason=reason), candidate.rule)


class CheckedProposal(NamedTuple):
    """A proposal after the checks."""

    text: SkillDelta
    refusals: list[Refusal]
    """What is wrong with the text itself."""
    dropped: list[Refusal]
    """What was wrong with the guards that were dropped."""


def drop_refused_guards(text: SkillDelta, refusals: Sequence[Refusal]) -> CheckedProposal:
    """Drop the guards that `refusals` are about; the text stays. Remaining guards are written in their canonical form,
    by which they are counted."""
    dropped = [refusal for refusal in refusals if refusal.guard]
    refused = {refusal.guard for refusal in dropped}
    guards = dict.fromkeys(map(str, guards_of(guard for guard in text.guards if guard not in refused)))
    return CheckedProposal(
        text.model_copy(update={"guards": tuple(guards)}),
        [refusal for refusal in refusals if not refusal.guard],
        dropped,
    )


def curriculum(packets: Sequence[Packet]) -> list[Packet]:
    """The order in which packets are learned from: clearest contrast first, independent of the order in which runs were
    read."""
    return sorted(packets, key=lambda packet: (-_sharpness(packet), packet.task_key))


def _sharpness(packet: Packet) -> float:
    clearest = packet.signals[0].strength if packet.signals else 0.0
    return clearest + packet.is_contrastive
