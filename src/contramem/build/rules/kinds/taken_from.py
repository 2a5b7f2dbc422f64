"""Taken from: a value appears in several places, and passing runs take it from one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contramem.build.rules.kinds.value_source import ValueSource
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import Contrast, GuardRule, Words
from contramem.build.rules.steps import calls_of, find_guarded_calls
from contramem.build.rules.value_origins import find_slots
from contramem.contrast.enabling import Enabling
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay


@dataclass(frozen=True, kw_only=True)
class TakenFrom(GuardRule):
    """`function` gets `argument` from a result of `source`."""

    KIND = "taken from"
    TEMPLATE = "existence"
    SHARPNESS = 0.9

    function: str
    argument: str
    source: str
    others: tuple[str, ...] = ()
    """Functions in whose results failing runs found it."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        made = f"{self.function}[{self.argument} from {self.source}]"
        return (Guard("existence", made, when=self.when or self.function),)

    @classmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        """Yield a guard for a value that some runs take from one place and some from another: one may be the right
        one."""
        for (function, argument), slot in find_slots((*packet.passing, *packet.failing)).items():
            if len(slot.functions) + slot.told > 1:
                for source in slot.functions:
                    yield Guard("existence", f"{function}[{argument} from {source}]", when=function)

    @classmethod
    def is_cause(cls, replayed: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
        """Did most runs that broke it read the value elsewhere? Runs that made it up are another lesson."""
        argument = parse_pattern(replayed.guard.function).conditions[0].argument
        broken = [run for run in packet.failing if run.letter in replayed.broken]
        origins = [{step.origins.get(argument) for step in find_guarded_calls(run, replayed.guard)} for run in broken]
        elsewhere = [places for places in origins if places - {None} and NOWHERE not in places]
        return 2 * len(elsewhere) > len(broken)

    @classmethod
    def yields_to(cls, guard: Guard, other: Guard) -> bool:
        """Any other rule about the same runs says more, except one about where other values are read."""
        return other.template != ValueSource.TEMPLATE or ValueSource.is_about(other, guard.target)

    @classmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> TakenFrom:
        pattern = parse_pattern(replayed.guard.function)
        argument, source = pattern.conditions[0].argument, pattern.conditions[0].value
        others = {
            origin
            for run in packet.failing
            if run.letter in replayed.broken
            for step in calls_of(run, pattern.function)
            if (origin := step.origins.get(argument)) and "." in origin and origin != source
        }
        return cls(
            function=pattern.function,
            argument=argument,
            source=source,
            others=tuple(sorted(others)),
            functions=tuple(dict.fromkeys([*replayed.guard.functions, source, *sorted(others)])),
            contrast=Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)),
        )

    def words(self) -> Words:
        who, source, argument = code_name(self.function), code_name(self.source), f"`{self.argument}`"
        results = " or ".join(f"a result of {code_name(name)}" for name in self.others)
        elsewhere = f", not the one in {results}" if self.others else ""
        return Words(
            title=f"Take {self.argument} for {short_name(self.function)} from {short_name(self.source)}",
            applies_when=f"You are about to call {who} with {argument}.",
            solves=f"Values of {argument} taken from the wrong place.",
            core_rule=f"Give {who} the {argument} that a result of {source} shows{elsewhere}.",
            completion=(f"{who} succeeded with {argument} from a result of {source}",),
            success_failure_contrast=f"In {self.contrast.kept} passing runs, {argument} came from a result of "
            f"{source}; in {self.contrast.broke} failing runs, from elsewhere.",
        )
