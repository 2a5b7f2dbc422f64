"""Recovery: what some runs did after an error, got past it and passed, while others gave up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from contramem.build.rules.kinds.trap import works_later
from contramem.build.rules.phrases import code_name, names_call, quote_error, short_name
from contramem.build.rules.rule import Lesson, Rule, Words, illustrate, kind_of
from contramem.contrast.enabling import Enabling, find_enablings
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.recovery import GAVE_UP, REPEATED, Reactions, reactions
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.guards.guard import Guard
from contramem.mining.fwords import join_list

MAX_CITES = 3
"""How many runs each side needs."""


@dataclass(frozen=True, kw_only=True)
class Recovery(Rule):
    """When `function` returns `error`: call `by` and then the same again."""

    KIND = "recovery"

    function: str
    error: str
    by: tuple[str, ...]
    supplied: tuple[str, ...] = ()
    """Arguments of the refused call with other values when it worked: the new values came from `by`."""
    recovered: int
    """Number of runs that got past it and passed."""
    stuck: int
    """Number of runs that gave up or repeated the call, and failed."""

    @classmethod
    def find(cls, packet: Packet, mined: Sequence[Guard] = ()) -> Iterator[Lesson]:
        """An error that some runs got past and passed, while others gave up or repeated the call and failed.

        `mined`: guards that the packet teaches anyway. What they demand beforehand needs no second card.
        """
        runs = (*packet.passing, *packet.failing)
        for (function, error), by_reaction in reactions(runs).items():
            stuck = _stuck(function, error, by_reaction)
            quoted = quote_error(error, (packet,))
            if not stuck or not quoted:
                continue
            fix = _way_past(packet, function, error)
            if fix is None or any(names_call(packet.task, name) for name in fix.by):
                continue  # what the request says to do is not a lesson, and elsewhere nobody asked for it
            rule = cls(
                function=function,
                error=quoted,
                by=fix.by,
                supplied=fix.arguments,
                recovered=_count_runs(fix.cases),
                stuck=_count_runs(stuck),
                functions=(function, *fix.by),
            )
            if not rule.is_needless(mined):
                text = illustrate(rule, packet, fix.cases[0][0], stuck[0][0], transition=f"after “{quoted}”")
                cited = [*fix.cases[:MAX_CITES], *stuck[:MAX_CITES]]
                yield Lesson(rule, text, tuple(Cite(run.letter, step.position) for run, step in cited))

    def is_needless(self, guards: Sequence[Guard]) -> bool:
        """Does a guard demand beforehand what this rule does after the error?"""
        return any(
            kind.asks_beforehand(guard, self.function, self.by, self.supplied)
            for guard in guards
            if (kind := kind_of(guard)) is not None
        )

    def says(self, other: Rule) -> bool:
        return isinstance(other, Recovery) and (self.function, self.by) == (other.function, other.by)

    def words(self) -> Words:
        function, advice = code_name(self.function), self._advice()
        return Words(
            title=f"When {short_name(self.function)} is refused: {join_list([short_name(name) for name in self.by])}",
            applies_when=f"{function} has answered “{self.error}”.",
            solves="Runs that give up or repeat the same call after that error.",
            core_rule=f"When {function} answers “{self.error}”, {advice}.",
            completion=(f"the last error of {function} was followed by a call of {function} that succeeded",),
            success_failure_contrast=f"{_in_words(self.recovered)} got past it this way and passed; "
            f"{_in_words(self.stuck)} gave up or repeated the call, and failed.",
            recovery=f"{advice[0].upper()}{advice[1:]}.",
        )

    def _advice(self) -> str:
        values = join_list([f"`{name}`" for name in self.supplied])
        again = f" with {values} from its result" if values else ""
        steps = join_list([code_name(name) for name in self.by])
        return f"call {steps}, then call {code_name(self.function)} again{again}"


_Case: TypeAlias = tuple[PacketRun, Step]
"""A run, and the step at which it met an error."""


class _Fix(NamedTuple):
    """How runs got past an error and passed."""

    by: tuple[str, ...]
    arguments: tuple[str, ...]
    cases: list[_Case]


def _way_past(packet: Packet, function: str, error: str) -> _Fix | None:
    """What most of the refused runs that passed had done when the call worked."""
    ways: dict[tuple[str, ...], list[Enabling]] = defaultdict(list)
    for enabling in find_enablings((*packet.passing, *packet.failing)):
        if enabling.run.passed and (enabling.function, enabling.error) == (function, error):
            ways[enabling.by].append(enabling)
    if not ways:
        return None
    by, cases = max(ways.items(), key=lambda item: (len(item[1]), item[0]))
    arguments = tuple(dict.fromkeys(name for enabling in cases for name in enabling.arguments))
    return _Fix(by, arguments, [(enabling.run, enabling.refused) for enabling in cases])


def _stuck(function: str, error: str, by_reaction: Reactions) -> list[_Case]:
    """Runs that met the error, never made the call work, and failed; empty if a run that gave up passed."""
    gave_up = [case for name in (GAVE_UP, REPEATED) for case in by_reaction.get(name, [])]
    if any(run.passed and not works_later(function, run, step) for run, step in gave_up):
        return []
    return [(run, step) for run, step in gave_up if not run.passed and not works_later(function, run, step)]


def _count_runs(cases: Sequence[_Case]) -> int:
    return len({run.letter for run, _ in cases})


def _in_words(runs: int) -> str:
    return f"{runs} run" if runs == 1 else f"{runs} runs"
