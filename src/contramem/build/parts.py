"""Independent parts of a build: the cards of some functions, the Skill Cards of one ability."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from contramem.bank.bank import Grade
from contramem.bank.store import Store
from contramem.build.author import Author, Only
from contramem.build.decide import BankBuild, curriculum
from contramem.build.reassess import DEFAULT_GRADE
from contramem.build.recorder import BuildReport
from contramem.build.single_runs import put_side_by_side
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet
from contramem.contrast.packets import PacketGroup, Packets
from contramem.progress import Progress, no_progress, track
from contramem.traces.trajectory import Tool
from contramem.validate.validator import Validator


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

    def begin(self, store: Store) -> BankBuild:
        return BankBuild(
            store,
            self.author,
            self.checks,
            append_only=self.append_only,
            grade=self.grade,
            reassesses=self.reassesses,
            at_hand=self.at_hand,
        )


def tasks_of(packets: Sequence[Packet]) -> Collection[str]:
    """The keys of the packets' tasks."""
    return packets.task_keys if isinstance(packets, Packets) else {packet.task_key for packet in packets}


def build_parts(
    packets: Sequence[Packet], store: Store, settings: BuildSettings, on_progress: Progress = no_progress
) -> BuildReport:
    """Build Function Cards first: Skill Cards may use them."""
    build = settings.begin(store)
    if settings.only != "skills":
        for group in _leave_decided(build, _function_groups(packets)):
            _build_functions(build, group, _load(packets, group), settings.tools, on_progress)
    if settings.only != "functions":
        groups = _leave_decided(build, _ability_groups(packets))
        tell = _AcrossParts(sum(group.size for group in groups), on_progress)
        for group in groups:
            _learn_ability(build, group, _load(packets, group), tell)
    return build.report


def _leave_decided(build: BankBuild, groups: Iterable[PacketGroup]) -> list[PacketGroup]:
    """The parts in which something has changed since the last build."""
    return [group for group in groups if not build.skip_part(group)]


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
    return packets.by_function() if isinstance(packets, Packets) else [PacketGroup(tuple(range(len(packets))))]


def _ability_groups(packets: Sequence[Packet]) -> list[PacketGroup]:
    if isinstance(packets, Packets):
        return packets.by_ability()
    numbers = sorted(range(len(packets)), key=lambda number: (packets[number].ability, packets[number].task_key))
    groups = groupby(numbers, lambda number: packets[number].ability)
    return [PacketGroup(tuple(group), ability) for ability, group in groups]


def _build_functions(
    build: BankBuild,
    group: PacketGroup,
    packets: Sequence[Packet],
    tools: Mapping[str, Tool],
    on_progress: Progress,
) -> None:
    """Build the cards of the group's functions; of all called functions if it names none."""
    observed = by_function(packets)
    for function in track("function cards", group.functions or tuple(observed), on_progress):
        build.function(function, observed.get(function, ()), tools.get(function), packets)
    build.finish_part(group)


def _learn_ability(build: BankBuild, group: PacketGroup, packets: Sequence[Packet], on_progress: Progress) -> None:
    """Learn task by task, then across tasks; then check all cards against all tasks."""
    if build.mines:
        build.mine(group.ability, packets)
        on_progress("skill cards", len(packets), len(packets))
    else:
        packets = put_side_by_side(packets)
        for packet in track("skill cards", curriculum(packets), on_progress):
            build.learn(packet)
        build.learn_across(packets)
    build.reassess(group.ability, packets)
    build.finish_part(group)
