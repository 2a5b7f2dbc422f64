"""Response: what must follow a call: a closer look at what it named, a check of what it did, or another change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contramem.build.rules.companions import companions_after
from contramem.build.rules.kinds.precedence import find_given_arguments
from contramem.build.rules.phrases import code_name, names_call, short_name
from contramem.build.rules.rule import Contrast, GuardRule, Words
from contramem.build.rules.steps import calls, calls_of, matches, working_calls
from contramem.contrast.packet import Packet, PacketRun
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay
from contramem.mining.fwords import join_list


@dataclass(frozen=True, kw_only=True)
class Response(GuardRule):
    """After `first`, call `then`."""

    KIND = "response"
    TEMPLATE = "response"
    SHARPNESS = 1.1
    NEEDS_CLEAR_DIFFERENCE = True

    first: str
    then: str
    """A function, or a class of reads in guard syntax."""
    is_change: bool
    """Does `then` change something?"""
    looks: tuple[str, ...] = ()
    """What passing runs read, if `then` is a class."""
    given: tuple[str, ...] = ()
    """Arguments of `then` whose values `first` supplies."""
    shared: tuple[str, ...] = ()
    """Arguments of a second change that name what the first was about."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return (Guard("response", self.first, self.then, when=self.when),)

    @classmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        """Yield a guard where one run stopped and another went on to read what a listing only named or what a change
        had done; and for changes that some runs make together.

        Which read followed a change depends on the task; that the agent checked at all carries over to other tasks. A
        closer look that the request asks for explicitly is not a lesson.
        """
        runs = (*packet.passing, *packet.failing)
        done = [working_calls(run) for run in runs]
        stops = {steps[-1].function for steps in done if steps}
        for steps in done:
            last = {step.function: index for index, step in enumerate(steps)}
            for first in stops & last.keys():
                for step in steps[last[first] + 1 :]:
                    if step.effect != "read" or step.function == first:
                        continue
                    if steps[last[first]].effect == "write":
                        yield Guard("response", first, f"reads({step.function.partition('.')[0]})")
                    elif first in step.origins.values() and not names_call(packet.task, step.function):
                        yield Guard("response", first, step.function)
        yield from (Guard(cls.TEMPLATE, *pair) for pair in companions_after(runs, packet.task))

    @classmethod
    def counts_as_broken(cls, guard: Guard, run: PacketRun) -> bool:
        """Only runs that never tried the step left it out."""
        return all(step.function != guard.target for step in calls(run))

    @classmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> Response:
        first, then = replayed.guard.function, replayed.guard.then
        keeping = [run for run in packet.passing if run.letter in replayed.held]
        is_change = any(step.effect != "read" for run in keeping for step in calls_of(run, then))
        looks = (
            () if is_change else ((then,) if parse_pattern(then).function else _looks_after(keeping, replayed.guard))
        )
        return cls(
            first=first,
            then=then,
            is_change=is_change,
            looks=looks,
            given=find_given_arguments(keeping, first, then),
            shared=_find_shared_arguments(keeping, first, then) if is_change else (),
            functions=tuple(dict.fromkeys([*replayed.guard.functions, *looks])),
            contrast=Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)),
        )

    def words(self) -> Words:
        if self.is_change:
            return self._second_change()
        return self._closer_look() if parse_pattern(self.then).function else self._another_look()

    def _second_change(self) -> Words:
        first, then = code_name(self.first), code_name(self.then)
        same = f" for the same {_arguments(self.shared)}"
        if self.given:
            same = f" with {_arguments(self.given)} from its result"
        return Words(
            title=f"{short_name(self.then)} after {short_name(self.first)}",
            applies_when=f"{first} has succeeded, and {then} has not been called since.",
            solves=f"Runs that end after {first} without calling {then}.",
            core_rule=f"{first} alone is not enough: call {then} after it{same}, even if nobody asks for it.",
            completion=(f"{then} succeeded after the last call of {first}",),
            success_failure_contrast=f"{self.contrast.kept} passing runs call {then} after {first}; "
            f"{self.contrast.broke} failing runs don't.",
        )

    def _closer_look(self) -> Words:
        first, then = code_name(self.first), code_name(self.then)
        return self._look(
            title=f"Look closer with {short_name(self.then)} after {short_name(self.first)}",
            applies_when=f"A result of {first} gives a value for {_arguments(self.given)} of {then}.",
            core_rule=f"{first} only names things. If its result gives a value for {_arguments(self.given)}, call "
            f"{then} with it before you answer or act on it, and use what that returns.",
        )

    def _another_look(self) -> Words:
        first = code_name(self.first)
        return self._look(
            title=f"Check again after {short_name(self.first)}",
            applies_when=f"{first} has succeeded, and nothing has been checked since.",
            core_rule=f"That {first} succeeded does not mean that everything is in order. Check again before you "
            f"finish, for example with {join_list([code_name(name) for name in self.looks])}, and deal with what it "
            "still shows.",
        )

    def _look(self, *, title: str, applies_when: str, core_rule: str) -> Words:
        first = code_name(self.first)
        return Words(
            title=title,
            applies_when=applies_when,
            solves=f"Runs that stop at the result of {first}.",
            core_rule=core_rule,
            completion=(f"{parse_pattern(self.then).in_words()} succeeded after the last call of {first}",),
            success_failure_contrast=f"{self.contrast.kept} passing runs look further after {first}; "
            f"{self.contrast.broke} failing runs don't.",
        )


def _arguments(names: Sequence[str]) -> str:
    return join_list([f"`{name}`" for name in names])


def _find_shared_arguments(runs: Sequence[PacketRun], first: str, then: str) -> tuple[str, ...]:
    """The arguments of `then` that name what a call of `first` in the same run had named."""
    names = {
        name
        for run in runs
        for step in calls_of(run, then)
        for name, value in step.arguments.items()
        if any(value in before.arguments.values() for before in calls_of(run, first))
    }
    return tuple(sorted(names)[:3]) or ("task",)


def _looks_after(runs: Sequence[PacketRun], guard: Guard) -> tuple[str, ...]:
    """The first reads after the last call of the guard's first function, most common first."""
    pattern, counts = parse_pattern(guard.then), Counter[str]()
    for run in runs:
        last = max(step.position for step in calls_of(run, guard.function) if not step.error)
        after = [step for step in run.actions if step.position > last and not step.error and matches(pattern, step)]
        counts.update({step.function for step in after[:2]})
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:2])
