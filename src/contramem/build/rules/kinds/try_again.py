"""Try again: a call that failed or found nothing is made again with another value before the run ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

from contramem.bank.card import SkillDelta
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import MAX_CALLS, Lesson, Rule, Words, restate
from contramem.contrast.packet import Packet
from contramem.guards.guard import Guard, parse_guard
from contramem.mining.fwords import join_list


@dataclass(frozen=True, kw_only=True)
class TryAgain(Rule):
    """Each of `functions` works in the end, if it is called at all."""

    KIND = "try again"
    STANDS_ALONE = True

    change: str
    """The argument that passing runs gave another value."""
    gave_up: tuple[int, ...]
    """Per function: the number of failing runs that did not get past a failure."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return tuple(parse_guard(f"existence({function}) when {function}") for function in self.functions)

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """A single card states it for all functions that take the argument."""
        rule = self.join(other.rule)
        return Lesson(rule, restate(mine, rule)) if rule is not None else None

    def join(self, other: Rule) -> TryAgain | None:
        """Both in one; None if there is nothing to join, or too much."""
        if not isinstance(other, TryAgain) or other.change != self.change or {*other.functions} & {*self.functions}:
            return None
        functions = (*self.functions, *other.functions)
        if len(functions) > MAX_CALLS:
            return None
        return replace(self, functions=functions, gave_up=(*self.gave_up, *other.gave_up))

    def words(self) -> Words:
        calls = " or ".join(map(code_name, self.functions))
        ends = [
            f"{count} at {code_name(function)}" for function, count in zip(self.functions, self.gave_up, strict=True)
        ]
        return Words(
            title=f"Change {self.change} when {' or '.join(map(short_name, self.functions))} fails or finds nothing",
            applies_when=f"{calls} has failed or found nothing.",
            solves="Runs that give up when a first call finds nothing.",
            core_rule=f"When {calls} fails or finds nothing, call it again with another `{self.change}` (other "
            "words, fewer words, another form) before you answer, ask or give up.",
            completion=tuple(f"{code_name(function)} has succeeded if it was called" for function in self.functions),
            success_failure_contrast=f"Passing runs went on with another `{self.change}`; failing runs gave up: "
            f"{join_list(ends)}.",
        )
