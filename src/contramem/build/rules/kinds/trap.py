"""Trap: an error that every run met and no run got past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contramem.build.rules.phrases import code_name, quote_error, short_name, subject_of
from contramem.build.rules.rule import Lesson, Rule, Words, illustrate
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.recovery import reactions
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.mining.fwords import join_list

MAX_TRIED = 3
MAX_CITES = 6


@dataclass(frozen=True, kw_only=True)
class Trap(Rule):
    """`function` returns `error`, whatever is tried."""

    KIND = "trap"

    function: str
    error: str
    subject: str
    """What the task was about, in words of the interface."""
    tried: tuple[str, ...]
    """What runs tried next, without success."""

    @classmethod
    def find(cls, packet: Packet) -> Iterator[Lesson]:
        """If every run failed: an error that all of them met is worth naming, and nothing more can be said."""
        if len(packet.failing) < 2:
            return
        for (function, error), by_reaction in reactions(packet.failing).items():
            cases = [case for group in by_reaction.values() for case in group]
            quoted = quote_error(error, (packet,))
            everyone = {run.letter for run, _ in cases} == {run.letter for run in packet.failing}
            if not everyone or not quoted or any(works_later(function, run, step) for run, step in cases):
                continue  # some run got past it, so it is not why they all failed
            rule = cls(
                function=function,
                error=quoted,
                subject=subject_of(packet, function),
                tried=tuple(reaction.text for reaction in sorted(by_reaction)[:MAX_TRIED]),
                functions=(function,),
            )
            cites = tuple(Cite(run.letter, step.position) for run, step in cases[:MAX_CITES])
            yield Lesson(rule, illustrate(rule, packet, None, packet.failing[0]), cites)

    def says(self, other: Rule) -> bool:
        return isinstance(other, Trap) and self.function == other.function

    def words(self) -> Words:
        function = code_name(self.function)
        return Words(
            title=f"Known trap in {short_name(self.function)}",
            applies_when=f"A task about {self.subject} in which {function} answers “{self.error}”.",
            solves="An error that every observed run met and none got past.",
            core_rule=f"Expect {function} to answer “{self.error}”; check its preconditions before calling it.",
            completion=(f"{function} succeeded, or the user was told that it failed",),
            recovery=f"What the observed runs tried next did not help: {join_list(self.tried)}.",
        )


def works_later(function: str, run: PacketRun, failed: Step) -> bool:
    """Did the call work later?"""
    return any(step.function == function and not step.error for step in run.actions if step.position > failed.position)
