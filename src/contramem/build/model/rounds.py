"""A build in rounds: proceed as far as the replies allow, collect all requests that are ready, and have them answered.

The first round has all Builder requests and each ability's first window of reflections. Abilities are independent of
each other. Within one, reflections see the bank as it was when their window began, and curation goes delta by delta.
Curator requests whose neighbourhoods do not overlap share a round. A provider, a script or a file can answer a round.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from contramem.bank.bank import Add, Bank
from contramem.bank.card import SkillDelta
from contramem.bank.store import Store
from contramem.build.author import Candidate, Only, UnusableReply
from contramem.build.decide import BankBuild, curriculum
from contramem.build.model.author import ModelAuthor, relate_to_delta
from contramem.build.recorder import BuildReport
from contramem.contrast.observation import Observation, by_function
from contramem.contrast.packet import Packet
from contramem.llm.client import Request
from contramem.llm.exchange import NotYet
from contramem.progress import Progress, no_progress
from contramem.traces.trajectory import Tool
from contramem.validate.validator import Validator

Answer = Callable[[Sequence[Request]], bool]
"""Answers the requests of one round as far as it can. Returns False if nothing was answered, which stops the build."""

DEFAULT_WINDOW = 1


@dataclass(frozen=True)
class BuildPlan:
    """What to build, and how."""

    packets: Sequence[Packet]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    only: Only | None = None
    append_only: bool = False
    reassesses: bool = True
    """Whether cards are checked against all runs of their ability at the end."""
    window: int = DEFAULT_WINDOW
    """How many packets of an ability are reflected on against the same bank. 1 is the paper's order."""


class Rounds:
    """One build with a model. Must be used inside `store.writing(...)`."""

    def __init__(self, plan: BuildPlan, store: Store, author: ModelAuthor, checks: Validator) -> None:
        self._plan = plan
        self._store = store
        self._author = author
        self._construction = BankBuild(store, author, checks, append_only=plan.append_only, reassesses=plan.reassesses)
        self._functions: dict[str, list[Observation]] = by_function(plan.packets) if plan.only != "skills" else {}
        self._abilities = {
            ability: _Ability(packets)
            for ability, packets in sorted(_by_ability(plan.packets).items())
            if plan.only != "functions"
        }
        self._function_count, self._packet_count = len(self._functions), sum(map(len, self._abilities.values()))

    @property
    def report(self) -> BuildReport:
        return self._construction.report

    @property
    def finished(self) -> bool:
        return not self._functions and all(ability.settled for ability in self._abilities.values())

    @property
    def opened(self) -> set[str]:
        """Keys of the tasks in the open windows."""
        return {packet.task_key for ability in self._abilities.values() for packet in ability.window}

    def run(self, answer: Answer, tell: Progress = no_progress) -> bool:
        """Run rounds until everything is done or a round is not answered. Returns whether everything is done."""
        while ready := self.ready():
            left = sum(len(ability) for ability in self._abilities.values())
            tell("function cards", self._function_count - len(self._functions), self._function_count)
            tell("skill cards", self._packet_count - left, self._packet_count)
            if not answer(ready):
                return False
        return True

    def ready(self) -> list[Request]:
        """Proceed as far as the replies allow. Returns the requests that are needed next, without duplicates."""
        requests = [
            *self._build_functions(),
            *(r for ability in self._abilities.values() for r in self._learn(ability)),
        ]
        return list({request.digest: request for request in requests}.values())

    def _build_functions(self) -> Iterator[Request]:
        for function, observations in list(self._functions.items()):
            tool = self._plan.tools.get(function)
            try:
                self._construction.function(function, observations, tool, self._plan.packets)
            except NotYet as wait:
                yield wait.request
            else:
                del self._functions[function]

    # Skills

    def _learn(self, ability: _Ability) -> Iterator[Request]:
        while not ability.done:
            ability.open_window(self._construction, self._store, self._plan.window)
            waiting = list(self._go_on(ability))
            if waiting or ability.window:
                yield from waiting
                return
        if not ability.settled:
            self._construction.reassess(ability.name, ability.packets)
            ability.settled = True

    def _go_on(self, ability: _Ability) -> Iterator[Request]:
        """Learn the packets of the window in order. After the first that must wait, only look ahead."""
        waits = bool(self._functions)  # Function Cards come first, because the Curator reads them
        ahead: _Ahead | None = None
        for packet in list(ability.window):
            if not waits:
                try:
                    self._construction.learn(packet, ability.seen)
                except NotYet as wait:
                    yield wait.request
                    waits = True
                    if wait.request.stage == "curator":
                        ahead = _Ahead(self._author, self._construction.bank, packet.ability)
                else:
                    ability.close(packet)
                    continue
            candidates = self._reflect(packet, ability.seen)
            if isinstance(candidates, Request):
                yield candidates
                ahead = None  # its reply is unknown, so nothing after it can be foreseen
            elif ahead is not None:
                yield from ahead.request(self._fit_candidates(candidates, packet), packet)
        self._author.forget()

    def _fit_candidates(self, candidates: Sequence[Candidate], packet: Packet) -> dict[int, Candidate]:
        """The candidates that are still undecided and that pass every check."""
        first = self._construction.count_decided(packet) or 0
        checked = {
            index: (candidate, self._construction.check(candidate, packet))
            for index, candidate in enumerate(candidates)
            if index >= first
        }
        return {
            index: replace(candidate, delta=proposal.text)
            for index, (candidate, proposal) in checked.items()
            if not proposal.refusals
        }

    def _reflect(self, packet: Packet, seen: Bank) -> Sequence[Candidate] | Request:
        try:
            return self._author.reflect(packet, seen)
        except NotYet as wait:
            return wait.request
        except UnusableReply:
            return []


class _Ability:
    """The packets of one ability that are still to be learned, and the open window."""

    def __init__(self, packets: Sequence[Packet]) -> None:
        self.name, self.packets = packets[0].ability, sorted(packets, key=lambda packet: packet.task_key)
        self.settled = False
        """Whether its cards were checked against all its packets at the end."""
        self._left = curriculum(packets)
        self.window: list[Packet] = []
        self.seen = Bank()
        """The bank that the reflections of this window see."""

    def __len__(self) -> int:
        return len(self._left)

    @property
    def done(self) -> bool:
        return not self._left

    def close(self, packet: Packet) -> None:
        self.window.remove(packet)
        self._left.remove(packet)

    def open_window(self, construction: BankBuild, store: Store, size: int) -> None:
        """Resume the window that an interrupted build left open, or open and record the next one."""
        if self.window:
            return
        for packet in [packet for packet in self._left if construction.count_decided(packet) is None]:
            construction.learn(packet)  # counts it as unchanged
            self._left.remove(packet)
        if not self._left:
            return
        step = f"window {self._left[0].ability}"
        states = {packet.task_key: construction.state(packet) for packet in self._left}
        progress = json.loads(store.progress().get(step, "{}"))
        members = [p for p in self._left if progress.get("packets", {}).get(p.task_key) == states[p.task_key]]
        if members:
            self.window, self.seen = members, store.bank_at(progress["after"])
            return
        self.window, self.seen = self._left[:size], construction.bank
        ledger = {"after": store.last_decision(), "packets": {p.task_key: states[p.task_key] for p in self.window}}
        store.record(progress={step: json.dumps(ledger)})


class _Ahead:
    """Curator requests that can be sent before earlier ones are decided, because neither changes what the other sees.

    A wrong guess does no harm: if the bank turns out differently, the request is different too and is made in its turn.
    """

    def __init__(self, author: ModelAuthor, bank: Bank, ability: str) -> None:
        self._author = author
        self._bank = bank
        self._grown = bank
        """The bank if all waiting deltas became cards."""
        self._near: set[str] = set()
        self._ability = ability

    def request(self, candidates: Mapping[int, Candidate], packet: Packet) -> Iterator[Request]:
        deltas = [candidate.delta for candidate in candidates.values()]
        near = [self._near_ids(delta, self._bank) for delta in deltas]
        nearby = {card_id for card_ids in near for card_id in card_ids}
        if deltas and near == [self._near_ids(delta, self._grown) for delta in deltas] and not self._near & nearby:
            try:
                with suppress(UnusableReply):
                    self._author.curate(candidates, packet, self._bank)
            except NotYet as wait:
                yield wait.request
        self._near |= nearby
        for delta in deltas:
            addition = Add(delta_index=0, new_or_updated_card=delta, reason="Perhaps.")
            self._grown = self._grown.apply(addition, self._ability)

    def _near_ids(self, delta: SkillDelta, bank: Bank) -> list[str]:
        return [card.card_id for card in relate_to_delta(delta, self._ability, bank)]


def _by_ability(packets: Sequence[Packet]) -> dict[str, list[Packet]]:
    groups = defaultdict[str, list[Packet]](list)
    for packet in packets:
        groups[packet.ability].append(packet)
    return dict(groups)
