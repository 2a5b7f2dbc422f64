"""Stop when done: a write that has worked needs no check afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from contramem.bank.card import SkillDelta
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import MAX_CALLS, Contrast, Lesson, Rule, Words, illustrate, restate
from contramem.build.rules.steps import calls, calls_of, is_successful_write
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step


@dataclass(frozen=True, kw_only=True)
class StopWhenDone(Rule):
    """Once one of `ends` has worked, `looks` change nothing."""

    KIND = "stop when done"

    ends: tuple[str, ...]
    looks: tuple[str, ...]
    longest: int
    """Number of actions of the longest run."""

    @classmethod
    def find(cls, packet: Packet) -> Iterator[Lesson]:
        """If every run passed and most ended when their last write had worked: what did the others go on reading?"""
        runs = packet.passing
        last_writes = {steps[-1].function for run in runs if (steps := calls(run)) and is_successful_write(steps[-1])}
        if len(last_writes) != 1:
            return
        last = last_writes.pop()
        looking = [run for run in runs if calls_of(run, last) and _looks_after(run, last)]
        if not looking or 2 * len(looking) >= len(runs) or any(not calls_of(run, last) for run in runs):
            return
        looks = tuple(sorted({step.function for run in looking for step in _looks_after(run, last)})[:2])
        longest = max(looking, key=lambda run: (len(run.actions), run.letter))
        rule = cls(
            ends=(last,),
            looks=looks,
            longest=len(longest.actions),
            functions=(last, *looks),
            contrast=Contrast(len(runs) - len(looking), len(runs)),
        )
        shortest = min(runs, key=lambda run: (len(run.actions), run.letter))
        cites = tuple(
            Cite(longest.letter, step.position) for step in longest.actions if step.function in rule.functions
        )
        yield Lesson(rule, illustrate(rule, packet, shortest), cites)

    def says(self, other: Rule) -> bool:
        return isinstance(other, StopWhenDone) and (self.ends, self.looks) == (other.ends, other.looks)

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """Both say that a successful write of one app needs no check: one rule about all such writes."""
        more = other.rule
        if not isinstance(more, StopWhenDone):
            return None
        ends = tuple(dict.fromkeys([*self.ends, *more.ends]))
        if ends == self.ends or len(ends) > MAX_CALLS or len({name.partition(".")[0] for name in ends}) > 1:
            return None
        functions = tuple(dict.fromkeys([*self.functions, *more.functions]))
        looks = tuple(name for name in functions if name not in ends)
        rule = replace(self, ends=ends, looks=looks, functions=functions)
        return Lesson(rule, restate(mine, rule))

    def words(self) -> Words:
        several = len(self.ends) > 1
        writes = " or ".join(code_name(name) for name in self.ends)
        looks = (" or " if several else " and ").join(code_name(name) for name in self.looks)
        return Words(
            title=f"Stop when {' or '.join(short_name(name) for name in self.ends)} has succeeded",
            applies_when=f"{writes} has succeeded, and nothing else is asked.",
            solves=f"Calls of {looks} that change nothing.",
            core_rule=f"Answer as soon as {writes} has succeeded: its own result says what was done. Looking again "
            f"with {looks} made no difference.",
            completion=(f"{writes} succeeded",),
            efficiency=f"{self.contrast.kept} passing runs stop there; the longest goes on to {self.longest} actions.",
        )


def _looks_after(run: PacketRun, write: str) -> list[Step]:
    """The reads of a run after its last call of `write`, if they check this write and no other."""
    last = max(calls_of(run, write), key=lambda step: step.position)
    looks = [step for step in calls(run) if step.position > last.position and step.effect == "read"]
    if {step.function for step in calls(run) if is_successful_write(step)} == {write}:
        return looks
    changed = {str(value) for value in last.arguments.values()}
    return [step for step in looks if not changed.isdisjoint(map(str, step.arguments.values()))]
