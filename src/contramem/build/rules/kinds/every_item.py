"""Every item: a write required for each thing that a result listed, but made only for some of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contramem.bank.card import SkillDelta
from contramem.build.evidence import Provenance
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import MIN_BROKEN, Contrast, Lesson, Rule, Words, illustrate, restate
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.build.rules.steps import calls_of, is_successful_write
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.signal import Cite
from contramem.guards.guard import parse_guard
from contramem.guards.packets import replay
from contramem.mining.fwords import join_list
from contramem.traces.effects import words

MIN_FEWER = 2
"""How many failing runs must have stopped before the last item, in all tasks together."""
MAX_EXAMPLES = 3
"""How many writes a card about several of them names."""


@dataclass(frozen=True, kw_only=True)
class EveryItem(Rule):
    """For every `unit` in the result of `listing`, the change is made."""

    KIND = "every item"

    listing: str
    unit: str
    writes: tuple[str, ...]

    @classmethod
    def find(cls, packets: Sequence[Packet]) -> Iterator[SharedLesson]:
        """Yield what tasks show, if more than one failing run does: a single one may have had other reasons."""
        fewer = Counter[tuple[str, str]]()
        shown = defaultdict[tuple[str, ...], list[tuple[Lesson, Packet]]](list)
        for packet in packets:
            for rule, lesson in cls._find_in(packet):
                fewer[rule.listing, rule.unit] += rule.contrast.broken
                shown[rule.listing, rule.unit, *rule.writes].append((lesson, packet))
        for (listing, unit, *_), ((first, packet), *others) in shown.items():
            if fewer[listing, unit] >= MIN_FEWER:
                also = (Provenance(other, lesson.cites) for lesson, other in others)
                yield SharedLesson.of_tasks(first, packet, also)

    @classmethod
    def _find_in(cls, packet: Packet) -> Iterator[tuple[EveryItem, Lesson]]:
        """A write that passing runs make for several listed things, and failing runs for fewer."""
        if not packet.is_contrastive:
            return
        writes = {step.function for run in packet.passing for step in run.actions if is_successful_write(step)}
        for function in sorted(writes):
            unit = _unit(packet.passing, function)
            listing = _listing(packet.passing, function, unit) if unit else None
            if unit is None or listing is None:
                continue
            least = min(len(_things(run, function, unit)) for run in packet.passing)
            due = {thing for run in packet.passing for thing in _things(run, function, unit)}
            # A run that changed something else, or ran out of steps, did not stop before the last item.
            ended = [run for run in packet.failing if run.ended == "complete" and _things(run, function, unit) <= due]
            fewer = [run for run in ended if 0 < len(_things(run, function, unit)) < least]
            is_shown = least >= 2 and fewer and len(fewer) >= MIN_BROKEN * len(packet.failing)
            if is_shown and _covers_listing(packet, function, unit, listing):
                yield cls._learn(packet, function, unit, listing, fewer)

    @classmethod
    def _learn(
        cls, packet: Packet, write: str, unit: str, listing: str, fewer: Sequence[PacketRun]
    ) -> tuple[EveryItem, Lesson]:
        good, passing = packet.passing[0], len(packet.passing)
        contrast = Contrast(passing, passing, len(fewer), len(packet.failing))
        rule = cls(listing=listing, unit=unit, writes=(write,), functions=(listing, write), contrast=contrast)
        cites = [
            Cite(run.letter, step.position)
            for run in (good, *fewer)
            for name in rule.functions
            for step in calls_of(run, name)
        ]
        return rule, Lesson(rule, illustrate(rule, packet, good, fewer[0]), tuple(cites))

    def _is_about_same_items(self, other: EveryItem) -> bool:
        return (self.listing, self.unit) == (other.listing, other.unit)

    def says(self, other: Rule) -> bool:
        return (
            isinstance(other, EveryItem) and self._is_about_same_items(other) and set(other.writes) <= set(self.writes)
        )

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """Both demand a write for each of the same things: one rule about all such writes."""
        more = other.rule
        if not isinstance(more, EveryItem) or not self._is_about_same_items(more) or self.says(more):
            return None
        writes = tuple(dict.fromkeys([*self.writes, *more.writes]))
        rule = replace(self, writes=writes, functions=(self.listing, *writes))
        return Lesson(rule, restate(mine, rule))

    def words(self) -> Words:
        return self._words_of_one() if len(self.writes) == 1 else self._words_of_several()

    def _contrast(self) -> str:
        return (
            f"{self.contrast.kept} passing runs do this; {self.contrast.broke} failing runs stop before the last one."
        )

    def _words_of_one(self) -> Words:
        listing, write, unit = code_name(self.listing), code_name(self.writes[0]), f"`{self.unit}`"
        return Words(
            title=f"{short_name(self.writes[0])} for every {self.unit} that {short_name(self.listing)} lists",
            applies_when=f"{listing} has listed several {unit}, and {write} has to be called for them.",
            solves=f"Runs that call {write} for the first one and report all of them done.",
            core_rule=f"Go through every {unit} that {listing} lists and the task is about, call {write} for each, "
            "and count them before answering.",
            completion=(f"{write} succeeded for each {unit} that {listing} lists and the task is about",),
            success_failure_contrast=self._contrast(),
        )

    def _words_of_several(self) -> Words:
        listing, unit = code_name(self.listing), f"`{self.unit}`"
        examples = join_list([code_name(name) for name in self.writes[:MAX_EXAMPLES]])
        return Words(
            title=f"The same change for every {self.unit} that {short_name(self.listing)} lists",
            applies_when=f"{listing} has listed several {unit}, and they have to be changed.",
            solves="Runs that change the first one and report all of them done.",
            core_rule=f"Go through every {unit} that {listing} lists and the task is about, make the change for each, "
            f"as with {examples}, and count them before answering.",
            completion=(f"the change succeeded for each {unit} that {listing} lists and the task is about",),
            success_failure_contrast=self._contrast(),
        )


def _covers_listing(packet: Packet, function: str, unit: str, listing: str) -> bool:
    """Do passing runs make the call for all that was listed? If only for some, the request says for which."""
    replayed = replay(parse_guard(f"covers({listing}.{unit}, {function}.{unit})"), packet)
    return len(replayed.held) == len(packet.passing)


def _listing(passing: Sequence[PacketRun], function: str, unit: str) -> str | None:
    """The function whose results listed the things in every passing run; None if the request named them."""
    origins = {step.origins.get(unit, "") for run in passing for step in calls_of(run, function) if not step.error}
    listing = origins.pop() if len(origins) == 1 else ""
    # One look-up per thing is not a listing.
    several = all(len(calls_of(run, listing)) < len(_things(run, function, unit)) for run in passing)
    return listing if "." in listing and several else None


def _unit(passing: Sequence[PacketRun], function: str) -> str | None:
    """The argument that differs from call to call in every passing run; None if there is none."""
    units: set[str] | None = None
    for run in passing:
        made = [step for step in calls_of(run, function) if not step.error]
        names = {name for step in made for name, value in step.arguments.items() if _identifies(value)}
        varying = {name for name in names if len({str(step.arguments.get(name)) for step in made}) == len(made)}
        units = varying if units is None else units & varying
    identifying = sorted(name for name in units or () if not set(words(name)) & _WORDY)
    return identifying[0] if identifying else None


_ITEM = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.names_item))})_")


def _identifies(value: object) -> bool:
    return isinstance(value, str) and _ITEM.match(value) is not None


_WORDY = frozenset(
    """zip city state country street address phone text body content message description subject title comment note
    summary date time day""".split()
)


def _things(run: PacketRun, function: str, unit: str) -> set[str]:
    return {str(step.arguments.get(unit)) for step in calls_of(run, function) if not step.error}
