"""Allowed value: a tool refuses a value and lists those that it takes.

The list stands in the refusal, so it needs no outcomes. It is a closed vocabulary in the tool's own words
(contrast/permitted.py), and agents that have not been refused yet do not know it. A tool that refuses what it lists, or
takes what it does not list, teaches nothing: its list is not what it takes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contramem.build.evidence import Provenance
from contramem.build.rules.phrases import code_name, quote_error, short_name
from contramem.build.rules.rule import Lesson, Rule, Words, illustrate
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.build.rules.steps import calls
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.permitted import find_allowed_values
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.contrast.values import is_list_form
from contramem.mining.fwords import join_list

MIN_REFUSED = 2
MIN_WORKED = 5
MAX_LISTED = 12
"""Longer lists are left to the Function Card."""


@dataclass(frozen=True, kw_only=True)
class AllowedValue(Rule):
    """`function` takes only `values` as `argument`."""

    KIND = "allowed value"
    COUNTS_ALL_TASKS = True

    function: str
    argument: str
    values: tuple[str, ...]
    error: str
    """What the tool answers otherwise, without the list; empty if it cannot be quoted."""
    refused: int
    """Number of calls that were refused with the list."""
    gave_lists: bool
    """Whether some of them gave several values at once."""

    @classmethod
    def find(cls, packets: Sequence[Packet]) -> Iterator[SharedLesson]:
        """Yield the rules about the functions of an ability."""
        refused = _find_refusals(packets)
        worked = _count_worked(packets, {function for function, _ in refused})
        for (function, argument), refusals in sorted(refused.items()):
            values = packets[0].placeholders.vocabulary.read_permitted(function, argument)
            taken = worked[function, argument]
            is_kept = taken.keys() <= set(values) and not any(
                refusal.step.arguments[argument] in values for refusal in refusals
            )
            if len(refusals) < MIN_REFUSED or taken.total() < MIN_WORKED or len(values) > MAX_LISTED or not is_kept:
                continue
            tasks = {refusal.packet.task_key: refusal for refusal in reversed(refusals)}
            rule = cls(
                function=function,
                functions=(function,),
                argument=argument,
                values=values,
                error=quote_error(refusals[0].step.error, packets, len(tasks)).replace("<VALUE>", "…"),
                refused=len(refusals),
                gave_lists=any(is_list_form(refusal.step.forms.get(argument, "")) for refusal in refusals),
            )
            first, *others = sorted(tasks.values(), key=lambda case: (not case.run.passed, case.packet.task_key))
            also = (Provenance(case.packet, case.cites) for case in others)
            yield SharedLesson.of_tasks(_illustrate(rule, first), first.packet, also)

    @property
    def arguments(self) -> set[str]:
        return {self.argument}

    def says(self, other: Rule) -> bool:
        return isinstance(other, AllowedValue) and (self.function, self.argument) == (other.function, other.argument)

    def words(self) -> Words:
        function, argument = code_name(self.function), f"`{self.argument}`"
        listed = join_list([f"“{value}”" for value in self.values], "or")
        answer = f"it answers “{self.error}”" if self.error else "it refuses the call"
        single = ", a single one in each call" if self.gave_lists else ""
        again = f"make the same call again with the {argument} of this list that fits"
        return Words(
            title=f"Choose {self.argument} for {short_name(self.function)} from its list",
            applies_when=f"You are about to call {function} with {argument}.",
            solves=f"Values of {argument} that the tool does not know.",
            core_rule=f"Give {function} as {argument} one of {listed}, spelled exactly so{single}. Otherwise {answer}; "
            f"then {again}.",
            completion=(f"{function} succeeded with {argument} from this list",),
            success_failure_contrast=f"The tool refused {self.refused} calls with other values, and listed these.",
            recovery=f"{again[0].upper()}{again[1:]}.",
        )


class _Refusal(NamedTuple):
    """A call whose refusal lists what an argument may be."""

    packet: Packet
    run: PacketRun
    step: Step

    @property
    def cites(self) -> tuple[Cite, ...]:
        return (Cite(self.run.letter, self.step.position),)


def _illustrate(rule: AllowedValue, refusal: _Refusal) -> Lesson:
    good, bad = (refusal.run, None) if refusal.run.passed else (None, refusal.run)
    transition = f"after “{rule.error}”" if rule.error else ""
    return Lesson(rule, illustrate(rule, refusal.packet, good, bad, transition=transition), refusal.cites)


def _count_worked(packets: Sequence[Packet], functions: Collection[str]) -> dict[tuple[str, str], Counter[str]]:
    """By function and argument, the texts that calls gave and that worked."""
    worked = defaultdict[tuple[str, str], Counter[str]](Counter)
    concerned = [packet for packet in packets if not packet.called.isdisjoint(functions)] if functions else ()
    made = (step for packet in concerned for run in packet.runs for step in calls(run))
    for step in (step for step in made if step.function in functions and not step.error):
        for name, value in step.arguments.items():
            if isinstance(value, str):
                worked[step.function, name][value] += 1
    return worked


def _find_refusals(packets: Sequence[Packet]) -> dict[tuple[str, str], list[_Refusal]]:
    """The calls whose refusal lists what their argument may be, by function and argument."""
    refusals = defaultdict[tuple[str, str], list[_Refusal]](list)
    for packet in packets:
        vocabulary = packet.placeholders.vocabulary
        for run in packet.runs:
            for step in calls(run):
                listed = find_allowed_values(step.error) if step.error else None
                for argument in step.arguments if listed is not None else ():
                    permitted = vocabulary.read_permitted(step.function, argument)
                    if permitted and listed is not None and listed.values == permitted:
                        refusals[step.function, argument].append(_Refusal(packet, run, step))
    return refusals
