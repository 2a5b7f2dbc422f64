"""At most once: a write that takes effect again if it is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import Contrast, GuardRule, Words
from contramem.build.rules.steps import working_calls
from contramem.contrast.enabling import Enabling
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import same_call
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay


@dataclass(frozen=True, kw_only=True)
class AtMostOnce(GuardRule):
    """`function` is not called twice with the same arguments."""

    KIND = "at most once"
    TEMPLATE = "at_most_once"
    SHARPNESS = 1.1
    STANDS_ALONE = True

    function: str

    @property
    def guards(self) -> tuple[Guard, ...]:
        return (Guard("at_most_once", self.function, when=self.when),)

    @classmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        for run in (*packet.passing, *packet.failing):
            yield from (Guard("at_most_once", function) for function in _find_repeated_writes(run))

    @classmethod
    def is_cause(cls, replayed: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
        """Did a run fail that changed the same things as a passing one, only more often?"""
        good = [_changes(run) for run in packet.passing]
        return any(_changes(run) in good for run in packet.failing if run.letter in replayed.broken)

    @classmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> AtMostOnce:
        return cls(
            function=replayed.guard.function,
            functions=replayed.guard.functions,
            contrast=Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)),
        )

    def words(self) -> Words:
        function = code_name(self.function)
        return Words(
            title=f"{short_name(self.function)} once for each thing asked",
            applies_when=f"{function} has already succeeded.",
            solves=f"The same call of {function} made twice.",
            core_rule=f"Call {function} once for each thing asked, and never again with the same arguments: a second "
            "call takes effect again.",
            completion=(f"no two calls of {function} have the same arguments",),
            success_failure_contrast=f"{self.contrast.kept} passing runs make each call of {function} once; "
            f"{self.contrast.broke} failing runs repeat one.",
        )


def _find_repeated_writes(run: PacketRun) -> set[str]:
    """Writes that worked twice with the same arguments."""
    made, twice = set[tuple[str, str]](), set[str]()
    for step in working_calls(run):
        if step.effect == "write" and step.arguments:
            if same_call(step) in made:
                twice.add(step.function)
            made.add(same_call(step))
    return twice


def _changes(run: PacketRun) -> set[tuple[str, str]]:
    return {same_call(step) for step in working_calls(run) if step.effect == "write"}
