"""Independent parts of a build: the cards of some functions, the Skill Cards of one ability.

In one process, a part is decided directly in the store. With several, a worker decides each part on a copy of what the
store says about it, and the result is recorded when it returns: the same decisions in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Decision
from contramem.bank.past import PastDecision
from contramem.bank.store import Store
from contramem.bank.support import Grade
from contramem.bank.written import DecisionWriter, WrittenDecision
from contramem.build.author import Author, Only
from contramem.build.decide import BankBuild, curriculum
from contramem.build.part_notes import hand_out, keep_notes, observe_and_note, read_notes
from contramem.build.reassess import DEFAULT_GRADE
from contramem.build.recorder import BuildReport, BuildStore
from contramem.build.single_runs import put_side_by_side
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import PacketFile, PacketGroup, decode_packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.kept_work import NO_WORK, Work
from contramem.progress import Progress, no_progress, track
from contramem.traces.trajectory import Tool
from contramem.validate.validator import Validator

MIN_TASKS_FOR_WORKERS = 40
"""With fewer packets, starting other processes takes longer than deciding."""


@dataclass(frozen=True)
class BuildSettings:
    """Settings for all parts of a build."""

    author: Author
    checks: Validator
    only: Only | None = None
    """Only the `functions` or only the `skills`."""
    append_only: bool = False
    grade: Grade = DEFAULT_GRADE
    """The lowest grade at which a rule stays in service."""
    reassesses: bool = True
    """False: cards stay as curation left them."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The documentation of functions, if the runs include it."""
    at_hand: frozenset[str] = frozenset()
    """Tasks behind cards of the store whose runs are at hand, though a part may leave them out."""

    def begin(self, store: BuildStore, functions: Iterable[str] = ()) -> BankBuild:
        return BankBuild(
            store,
            self.author,
            self.checks,
            append_only=self.append_only,
            grade=self.grade,
            reassesses=self.reassesses,
            functions=functions,
            at_hand=self.at_hand,
        )


def abilities_of(packets: Sequence[Packet]) -> list[str]:
    """The abilities of the packets, sorted."""
    if isinstance(packets, PacketFile):
        return [group.ability for group in packets.by_ability()]
    return sorted({packet.ability for packet in packets})


def tasks_of(packets: Sequence[Packet]) -> Collection[str]:
    """The keys of the packets' tasks."""
    return packets.task_keys if isinstance(packets, PacketFile) else {packet.task_key for packet in packets}


def build_parts(
    packets: Sequence[Packet],
    store: Store,
    settings: BuildSettings,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
    work: Work = NO_WORK,
) -> BuildReport:
    """Build Function Cards first: Skill Cards may use them."""
    if isinstance(packets, PacketFile) and engine.workers > 1 and len(packets) >= MIN_TASKS_FOR_WORKERS:
        return _SideBySide(packets, store, settings, engine, on_progress, work).build()
    return _build_here(packets, store, settings, on_progress, work)


# In one process


def _build_here(
    packets: Sequence[Packet], store: Store, settings: BuildSettings, on_progress: Progress, work: Work
) -> BuildReport:
    construction = settings.begin(store)
    if settings.only != "skills":
        for group in _leave_decided(construction, _function_groups(packets)):
            _decide_here(construction, group, _load(packets, group), settings, on_progress, work)
    if settings.only != "functions":
        groups = _leave_decided(construction, _ability_groups(packets))
        tell = _AcrossParts(sum(group.size for group in groups), on_progress)
        for group in groups:
            _decide_here(construction, group, _load(packets, group), settings, tell, work)
    return construction.report


def _decide_here(
    construction: BankBuild,
    group: PacketGroup,
    packets: Sequence[Packet],
    settings: BuildSettings,
    on_progress: Progress,
    work: Work,
) -> None:
    if work is NO_WORK:
        _decide_group(construction, group, packets, settings, on_progress)
        return
    notes = hand_out(read_notes(work, group), packets)
    _decide_group(construction, group, packets, settings, on_progress)
    keep_notes(work, group, notes.encode())


def _leave_decided(construction: BankBuild, groups: Iterable[PacketGroup]) -> list[PacketGroup]:
    """The parts in which something has changed since the last build."""
    return [group for group in groups if not construction.skip_part(group)]


def _decide_group(
    construction: BankBuild,
    group: PacketGroup,
    packets: Sequence[Packet],
    settings: BuildSettings,
    on_progress: Progress = no_progress,
) -> None:
    if group.ability:
        _learn_ability(construction, packets, on_progress)
    else:
        _build_functions(construction, group.functions, packets, settings.tools, on_progress)
    construction.finish_part(group)


class _AcrossParts:
    """Reports progress over all parts together."""

    def __init__(self, total: int, on_progress: Progress) -> None:
        self._done, self._total, self._on_progress = 0, total, on_progress

    def __call__(self, stage: str, done: int, total: int) -> None:
        self._on_progress(stage, self._done + done, self._total)
        if done == total:
            self._done += total


def _load(packets: Sequence[Packet], group: PacketGroup) -> list[Packet]:
    """Load the packets of one group. Only the caller holds the list, so they are freed before the next group is
    loaded."""
    return [packets[number] for number in group.numbers]


def _function_groups(packets: Sequence[Packet]) -> list[PacketGroup]:
    return packets.by_function() if isinstance(packets, PacketFile) else [PacketGroup(tuple(range(len(packets))))]


def _ability_groups(packets: Sequence[Packet]) -> list[PacketGroup]:
    if isinstance(packets, PacketFile):
        return packets.by_ability()
    numbers = sorted(range(len(packets)), key=lambda number: (packets[number].ability, packets[number].task_key))
    groups = groupby(numbers, lambda number: packets[number].ability)
    return [PacketGroup(tuple(group), ability) for ability, group in groups]


def _build_functions(
    construction: BankBuild,
    functions: Sequence[str],
    packets: Sequence[Packet],
    tools: Mapping[str, Tool],
    on_progress: Progress = no_progress,
) -> None:
    """Build the cards of these functions; of all called functions if none is named."""
    observed = by_function(packets, observe_and_note)
    for function in track("function cards", functions or tuple(observed), on_progress):
        construction.function(function, observed.get(function, ()), tools.get(function), packets)


def _learn_ability(construction: BankBuild, packets: Sequence[Packet], on_progress: Progress = no_progress) -> None:
    """Learn task by task, then across tasks; then check all cards against all tasks."""
    packets = put_side_by_side(packets)
    for packet in track("skill cards", curriculum(packets), on_progress):
        construction.learn(packet)
    construction.learn_across(packets)
    construction.reassess(packets[0].ability, packets)


# In several processes


class _Step(NamedTuple):
    """What is recorded in one transaction."""

    decisions: tuple[Decision, ...]
    progress: dict[str, str]


@dataclass
class PartStore:
    """What the store says about one part, and what is decided about it."""

    held: Bank
    done: Mapping[str, str]
    earlier: Mapping[str, Sequence[PastDecision]]
    """Earlier decisions, by card."""
    steps: list[_Step] = field(default_factory=list)

    def bank(self) -> Bank:
        return self.held

    def progress(self) -> dict[str, str]:
        return dict(self.done)

    def past(self, card_id: str) -> Sequence[PastDecision]:
        made = [decision for step in self.steps for decision in step.decisions if card_id in decision.card_ids]
        return [*self.earlier.get(card_id, ()), *map(PastDecision.of, made)]

    def record(self, *decisions: Decision, progress: Mapping[str, str], charged: Iterable[str] = ()) -> None:
        self.steps.append(_Step(decisions, dict(progress)))

    def write_steps(self) -> tuple[list[WrittenDecision], dict[str, str]]:
        """All decisions in order, and the progress in the end."""
        writer = DecisionWriter()
        decisions = [writer.write(decision) for step in self.steps for decision in step.decisions]
        return decisions, {step: state for each in self.steps for step, state in each.progress.items()}


class _Part(NamedTuple):
    """A part of the build on its way to a worker."""

    store: PartStore
    group: PacketGroup
    encoded: list[bytes]
    """The packets."""
    known_functions: frozenset[str] = frozenset()
    notes: bytes | None = None
    """What earlier builds noted about the tasks. None: notes are not kept."""


class _PartResult(NamedTuple):
    decisions: list[WrittenDecision]
    """As the store keeps them: small on their way, and nothing to work out when they arrive."""
    progress: dict[str, str]
    report: BuildReport
    notes: bytes | None = None


def _decide_part(shared: tuple[BuildSettings, Vocabulary], part: _Part) -> _PartResult:
    """A job for an engine."""
    settings, vocabulary = shared
    construction = settings.begin(part.store, part.known_functions)
    packets = [decode_packet(encoded, vocabulary) for encoded in part.encoded]
    notes = hand_out(part.notes or b"", packets)
    _decide_group(construction, part.group, packets, settings)
    kept = None if part.notes is None else notes.encode()
    return _PartResult(*part.store.write_steps(), construction.report, kept)


def _put_in_order(order: Sequence[int], results: Iterable[_PartResult]) -> Iterator[_PartResult]:
    """Yield each result when its turn comes; `order` says the numbers of those that arrive."""
    early: dict[int, _PartResult] = {}
    turn = 0
    for number, result in zip(order, results, strict=True):
        early[number] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


class _SideBySide:
    """A build whose parts are decided by an engine's workers."""

    def __init__(
        self,
        packets: PacketFile,
        store: Store,
        settings: BuildSettings,
        engine: Engine,
        on_progress: Progress,
        work: Work,
    ) -> None:
        self._packets, self._store, self._settings = packets, store, settings
        self._engine, self._on_progress, self._work = engine, on_progress, work
        self._construction = settings.begin(store)
        """Says what is decided; nothing is decided with it."""
        self._report = self._construction.report
        self._done = store.progress()

    def build(self) -> BuildReport:
        functions: frozenset[str] = frozenset()
        if self._settings.only != "skills":
            groups = self._packets.by_function()
            functions = frozenset(function for group in groups for function in group.functions)
            self._decide("function cards", groups, frozenset())
        if self._settings.only != "functions":
            self._decide("skill cards", self._packets.by_ability(), functions)
        return self._report

    def _decide(self, stage: str, groups: Sequence[PacketGroup], functions: frozenset[str]) -> None:
        """Decide on the largest groups first, so that no worker begins a long one when the others are done. Record in
        the order of the groups."""
        bank = self._store.bank()
        groups = _leave_decided(self._construction, groups)
        order = sorted(range(len(groups)), key=lambda number: -len(groups[number].numbers))
        parts = (self._send(groups[number], bank, functions) for number in order)
        results = self._engine.map(_decide_part, parts, (self._settings, self._packets.vocabulary))
        sizes = [group.size for group in groups]
        for number, result in enumerate(_put_in_order(order, results)):
            self._store.record_written(result.decisions, result.progress)
            if result.notes is not None:
                keep_notes(self._work, groups[number], result.notes)
            self._report.add(result.report)
            self._on_progress(stage, sum(sizes[: number + 1]), sum(sizes))

    def _send(self, group: PacketGroup, bank: Bank, functions: frozenset[str]) -> _Part:
        """Include the cards that the part may change or use, and earlier decisions about them."""
        encoded = [self._packets.read_encoded(number) for number in group.numbers]
        entries = {
            card_id: entry
            for card_id, entry in bank.entries.items()
            if not isinstance(entry.card, SkillCard) or (entry.card.ability == group.ability)
        }
        skills = [card_id for card_id, entry in entries.items() if isinstance(entry.card, SkillCard)]
        past = {card_id: self._store.past(card_id) for card_id in skills}
        notes = read_notes(self._work, group) if self._work is not NO_WORK else None
        return _Part(PartStore(Bank(entries), self._done, past), group, encoded, functions, notes)
