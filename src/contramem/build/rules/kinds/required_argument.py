"""Required argument: a tool refuses a call until an argument is given that its documentation does not demand.

The tool shows it within one run, whatever the outcome: a call is refused, and a later one that gives the argument and
differs in nothing else works. No call without it may ever have worked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from contramem.build.evidence import Provenance
from contramem.build.rules.phrases import code_name, quote_error, short_name, stem
from contramem.build.rules.rule import Lesson, Rule, Words, illustrate
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.build.rules.steps import CallForm, count_alike, find_second_tries
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.traces.effects import words

MIN_WORKED = 5
"""How many calls must have worked with the argument."""
MIN_REFUSED = 2
"""How many calls must have been refused without it."""
UNSAID = frozenset({"null", "empty text", "empty list"})
"""Forms of a value that says nothing."""


@dataclass(frozen=True, kw_only=True)
class RequiredArgument(Rule):
    """`function` is always given `argument`."""

    KIND = "required argument"
    COUNTS_ALL_TASKS = True
    HIDES_OTHER_ARGUMENTS = True

    function: str
    argument: str
    form: str
    """How it is written in most calls that worked."""
    error: str
    """What the tool answers without it."""
    refused: int
    worked: int

    @classmethod
    def find(cls, packets: Sequence[Packet]) -> Iterator[SharedLesson]:
        """Yield the rules about the functions of an ability."""
        counts = _Counts.of(packets)
        documented = _find_documented(packets)
        cases: dict[_Slot, dict[str, _Case]] = defaultdict(dict)
        for case in _find_cases(packets):
            slot = case.refused.function, case.argument
            if slot not in documented and not _is_named_by(*slot) and counts.bear_out(case):
                cases[slot].setdefault(case.packet.task_key, case)
        for slot, by_task in sorted(cases.items()):
            error = quote_error(next(iter(by_task.values())).refused.error, packets, len(by_task))
            if not error:
                continue
            form = counts.forms[slot].most_common(1)[0][0]
            refused, worked = counts.refused[slot], counts.forms[slot].total()
            rule = cls(
                function=slot[0],
                functions=(slot[0],),
                argument=slot[1],
                form=form,
                error=error,
                refused=refused,
                worked=worked,
            )
            first, *others = sorted(by_task.values(), key=lambda case: (not case.run.passed, case.packet.task_key))
            also = (Provenance(case.packet, case.cites) for case in others)
            yield SharedLesson.of_tasks(_illustrate(rule, first), first.packet, also)

    @property
    def arguments(self) -> set[str]:
        return {self.argument}

    def says(self, other: Rule) -> bool:
        return isinstance(other, RequiredArgument) and (self.function, self.argument) == (
            other.function,
            other.argument,
        )

    def words(self) -> Words:
        function, argument = code_name(self.function), f"`{self.argument}`"
        return Words(
            title=f"Always give {self.argument} to {short_name(self.function)}",
            applies_when=f"You are about to call {function} without {argument}.",
            solves="Calls that are refused because an argument is missing.",
            core_rule=f"Always give {function} {argument} ({self.form}), even if the request does not name it. Without "
            f"it, the answer is “{self.error}”; then make the same call again with it.",
            completion=(f"{function} succeeded with {argument}",),
            success_failure_contrast=f"All {self.refused} calls without it were refused; {self.worked} calls with it "
            "worked.",
            recovery=f"Make the same call again with {argument}.",
        )


_Slot: TypeAlias = tuple[str, str]
"""A function and one of its arguments."""


class _Case(NamedTuple):
    """A refused call, and the next one, which only adds an argument and works."""

    packet: Packet
    run: PacketRun
    refused: Step
    worked: Step
    argument: str

    @property
    def cites(self) -> tuple[Cite, ...]:
        return tuple(Cite(self.run.letter, step.position) for step in (self.refused, self.worked))


class _Counts(NamedTuple):
    """Calls by function and argument."""

    refused: Counter[_Slot]
    """Calls without the argument that were refused."""
    worked_without: Counter[_Slot]
    forms: dict[_Slot, Counter[str]]
    """The forms of the argument in calls that worked."""
    errors: dict[_Slot, set[str]]
    """What calls with the argument were refused with."""

    @classmethod
    def of(cls, packets: Sequence[Packet]) -> _Counts:
        counts = cls(Counter(), Counter(), defaultdict(Counter), defaultdict(set))
        made = count_alike(packets)
        names = defaultdict[str, set[str]](set)
        for call in made:
            names[call.function].update(name for name, _ in call.forms)
        for call, times in made.items():
            for name in names[call.function]:
                counts.add(call, name, times)
        return counts

    def add(self, call: CallForm, argument: str, times: int) -> None:
        slot, form = (call.function, argument), dict(call.forms).get(argument, "null")
        if form not in UNSAID and call.error:
            self.errors[slot].add(call.error)
        elif form not in UNSAID:
            self.forms[slot][form] += times
        else:
            (self.refused if call.error else self.worked_without)[slot] += times

    def bear_out(self, case: _Case) -> bool:
        """Does no call work without it, and many with it, which are never refused in the same way?"""
        slot = case.refused.function, case.argument
        if self.worked_without[slot] or case.refused.error in self.errors[slot]:
            return False
        return self.refused[slot] >= MIN_REFUSED and self.forms[slot].total() >= MIN_WORKED


def _find_cases(packets: Sequence[Packet]) -> Iterator[_Case]:
    for packet, run, refused, worked in find_second_tries(packets):
        if added := _find_added(refused, worked):
            yield _Case(packet, run, refused, worked, added)


def _find_added(refused: Step, worked: Step) -> str:
    """The argument that was added; empty if anything else differs between the calls."""
    before, after = ({name for name, form in step.forms.items() if form not in UNSAID} for step in (refused, worked))
    added = after - before
    if len(added) != 1 or before - after:
        return ""
    same = all(refused.arguments.get(name) == worked.arguments.get(name) for name in before)
    return next(iter(added)) if same else ""


def _find_documented(packets: Sequence[Packet]) -> set[_Slot]:
    """The arguments that the documentation of their functions demands."""
    tools = {tool.function: tool for packet in packets for run in packet.recorded.values() for tool in run.tools}
    return {(function, name) for function, tool in tools.items() for name in tool.parameters.get("required") or ()}


def _is_named_by(function: str, argument: str) -> bool:
    """Does the name of the function say that it needs this? `get_users_in_channel` needs a `channel`."""
    named, asked = ({stem(word) for word in words(name)} for name in (short_name(function), argument))
    return not named.isdisjoint(asked)


def _illustrate(rule: RequiredArgument, case: _Case) -> Lesson:
    good, bad = (case.run, None) if case.run.passed else (None, case.run)
    text = illustrate(rule, case.packet, good, bad, transition=f"after “{rule.error}”")
    return Lesson(rule, text, case.cites)
