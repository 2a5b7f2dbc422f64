"""Precedence: what must have worked before a call. Either a tool demands it, or outcomes show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contramem.bank.card import SkillDelta
from contramem.build.rules.companions import companions_before
from contramem.build.rules.kinds.value_source import ValueSource
from contramem.build.rules.phrases import code_name, quote_error, short_name
from contramem.build.rules.rule import MAX_CALLS, Contrast, GuardRule, Lesson, Rule, Words, restate
from contramem.build.rules.steps import calls, calls_of
from contramem.build.rules.value_origins import find_slots
from contramem.contrast.enabling import Enabling, find_enablings
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.repeatable import PLACEHOLDER
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay
from contramem.mining.fwords import generalize, join_list
from contramem.traces.shell import is_program


@dataclass(frozen=True, kw_only=True)
class Precedence(GuardRule):
    """Each of `calls` requires `steps` to have worked before."""

    KIND = "precedence"
    TEMPLATE = "precedence"
    SHARPNESS = 1.15

    steps: tuple[str, ...]
    """In order. The last one is what the guards demand."""
    calls: tuple[str, ...]
    given: tuple[str, ...] = ()
    """Arguments of the call whose values the last step supplies."""
    refusal: str = ""
    """The call's error without it. Empty: no tool demands it."""
    names_thing: bool = False
    """Whether a longer form of the refusal names what is missing."""
    only_after_refusal: bool = False
    """In some passing runs it is already fulfilled, so it is demanded only after the tool refuses."""

    @property
    def needed(self) -> str:
        return self.steps[-1]

    @property
    def complaint(self) -> str:
        """The refusal without what programs put before it: their own name, or what they were asked to do."""
        return self.refusal.rpartition(": ")[2]

    @property
    def may_be_at_hand(self) -> bool:
        """Does the refusal name a thing? Then it only comes where that thing is not there yet."""
        return self.names_thing or PLACEHOLDER.search(self.refusal) is not None

    @property
    def guards(self) -> tuple[Guard, ...]:
        if self.only_after_refusal:
            return ()
        return tuple(Guard("precedence", self.needed, call, when=self.when) for call in self.calls)

    # Mining

    @classmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        """Yield a guard if the tool refused until it had worked, if it supplies a value that no other guard is about,
        or if it was called for the same thing before."""
        runs = (*packet.passing, *packet.failing)
        yield from (
            Guard("precedence", enabling.by[-1], enabling.function)
            for enabling in find_enablings(runs)
            if not enabling.arguments
        )
        guessed = {slot for slot, seen in find_slots(runs).items() if seen.is_worth_a_guard}
        for run in runs:
            for step in calls(run):
                if is_program(step.function):
                    continue  # a command line is written, whatever earlier output contained
                for argument, origin in step.origins.items():
                    if "." in origin and origin != step.function and (step.function, argument) not in guessed:
                        yield Guard("precedence", origin, step.function)
        yield from (Guard(cls.TEMPLATE, *pair) for pair in companions_before(runs, packet.task))

    @classmethod
    def topic(cls, guard: Guard, enabled: Sequence[Enabling]) -> tuple[str, str]:
        """Each precondition that the tool itself demands is a lesson of its own."""
        asked_for = {(enabling.by[-1], enabling.function) for enabling in enabled}
        if (guard.function, guard.then) in asked_for:
            return guard.function, guard.then
        return super().topic(guard, enabled)

    @classmethod
    def yields_to(cls, guard: Guard, other: Guard) -> bool:
        """Which value to read says more than what to call first."""
        return ValueSource.is_about(other, guard.target)

    @classmethod
    def is_shown_by(cls, guard: Guard, enabling: Enabling) -> bool:
        return (guard.function, guard.then) == (enabling.by[-1], enabling.function) and not enabling.arguments

    @classmethod
    def find_typical(
        cls, guard: Guard, broken: Sequence[PacketRun], enabled: Sequence[Enabling]
    ) -> Sequence[PacketRun]:
        """Runs that got the refusal itself: a call may lack several things, and the tool names one of them."""
        refusals = {enabling.error for enabling in enabled if cls.is_shown_by(guard, enabling)}
        return [run for run in broken if any(step.error in refusals for step in calls_of(run, guard.then))]

    @classmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> Precedence:
        guard = replayed.guard
        steps, refusal = _preparation(packet, guard)
        keeping = [run for run in packet.passing if run.letter in replayed.held]
        return cls(
            steps=steps,
            calls=(guard.then,),
            given=find_given_arguments(keeping, guard.function, guard.then),
            refusal=refusal,
            functions=tuple(dict.fromkeys([*guard.functions, *steps])),
            contrast=Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)),
        )

    @classmethod
    def asks_beforehand(cls, guard: Guard, function: str, by: Sequence[str], arguments: Sequence[str]) -> bool:
        return guard.then == function and guard.function in by and not arguments

    # One rule or two

    def says(self, other: Rule) -> bool:
        """Was this rule limited to the refusal while the other demands the same thing always?"""
        return (
            isinstance(other, Precedence)
            and self.only_after_refusal
            and bool(self.refusal)
            and self.refusal == other.refusal
            and set(other.functions) <= set(self.functions)
        )

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """Both demand the same before a call, and without it both calls are refused with the same complaint."""
        more = other.rule
        if not isinstance(more, Precedence) or self.only_after_refusal or more.only_after_refusal:
            return None
        calls = tuple(dict.fromkeys([*self.calls, *more.calls]))
        alike = self.refusal and (self.needed, self.complaint) == (more.needed, more.complaint)
        if not alike or self.when or more.when or len(calls) > MAX_CALLS or len(calls) == len(self.calls):
            return None
        functions = tuple(dict.fromkeys([*self.functions, *more.functions]))
        steps = self.steps if self.steps == more.steps else (self.needed,)
        refusal = self.refusal if self.refusal == more.refusal else self.complaint
        names_thing = self.may_be_at_hand or more.may_be_at_hand
        rule = replace(
            self, steps=steps, calls=calls, given=(), refusal=refusal, functions=functions, names_thing=names_thing
        )
        return Lesson(rule, restate(mine, rule))

    def after_refusal(self) -> Precedence | None:
        """A precondition that was already fulfilled in some passing runs (they were signed in, for example) is demanded
        only after the tool refuses, not always beforehand."""
        return replace(self, only_after_refusal=True) if self.refusal and not self.only_after_refusal else None

    def look_at(self, packets: Sequence[Packet]) -> Precedence:
        """The rule with the refusal that several tasks show: a single one may be anybody's text."""
        if self.refusal or len(self.calls) > 1:
            return self
        guard = Guard("precedence", self.needed, self.calls[0])
        refusal = next(filter(None, (_find_refusal(packet, guard) for packet in packets)), "")
        tasks = sum(_is_refused_with(refusal, packet, self.calls[0]) for packet in packets) if refusal else 0
        return replace(self, refusal=quote_error(refusal, packets, tasks)) if refusal else self

    # Words

    def words(self) -> Words:
        if self.only_after_refusal:
            return self._words_after_refusal()
        return self._words_of_several() if len(self.calls) > 1 else self._words_of_one()

    def _words_of_one(self) -> Words:
        needed, call = code_name(self.needed), code_name(self.calls[0])
        steps = join_list([code_name(name) for name in self.steps])
        because = f" Its result provides {join_list([f'`{name}`' for name in self.given])}." if self.given else ""
        because += f" {self._without}, {call} answers “{self.refusal}”." if self.refusal else ""
        return Words(
            title=f"{join_list([short_name(name) for name in self.steps])} before {short_name(self.calls[0])}",
            applies_when=f"You are about to call {call}, and {needed} has not succeeded yet.",
            solves=f"Calling {call} before {needed} has succeeded.",
            core_rule=f"Call {steps} and confirm that {self._steps} succeeded before calling {call}{self._unless}."
            f"{because}",
            completion=self._completion(),
            success_failure_contrast=self._contrast(),
        )

    @property
    def _steps(self) -> str:
        return "it" if len(self.steps) == 1 else "they"

    @property
    def _unless(self) -> str:
        return ", unless what it names is at hand already" if self.may_be_at_hand else ""

    @property
    def _without(self) -> str:
        return "Otherwise" if self.may_be_at_hand else f"Without {'it' if len(self.steps) == 1 else 'them'}"

    def _words_of_several(self) -> Words:
        needed, calls = code_name(self.needed), " or ".join(code_name(name) for name in self.calls)
        steps, titles = (join_list([spell(name) for name in self.steps]) for spell in (code_name, short_name))
        return Words(
            title=f"{titles} before {join_list([short_name(name) for name in self.calls])}",
            applies_when=f"You are about to call {calls}, and {needed} has not succeeded yet.",
            solves=f"Calling {calls} before {needed} has succeeded.",
            core_rule=f"Call {steps} and confirm that {self._steps} succeeded before calling {calls}{self._unless}. "
            f"{self._without}, each of them answers “{self.refusal}”.",
            completion=self._completion(),
            success_failure_contrast=self._contrast(),
        )

    def _words_after_refusal(self) -> Words:
        needed, calls = code_name(self.needed), " or ".join(code_name(name) for name in self.calls)
        usual = self._words_of_several() if len(self.calls) > 1 else self._words_of_one()
        return Words(
            title=usual.title,
            applies_when=f"{calls} has answered “{self.refusal}”.",
            solves=usual.solves,
            core_rule=f"When {calls} answers “{self.refusal}”, call {needed} and then make the same call again. If "
            f"it succeeds at once, {needed} is not needed.",
            completion=(f"a refused call of {calls} was repeated after {needed} had succeeded",),
            success_failure_contrast=self._contrast(),
        )

    def _completion(self) -> tuple[str, ...]:
        needed = code_name(self.needed)
        return tuple(f"{needed} succeeded before the first call of {code_name(call)}" for call in self.calls)

    def _contrast(self) -> str:
        needed, call = code_name(self.needed), code_name(self.calls[0])
        return (
            f"In {self.contrast.kept} passing runs, {needed} succeeded before {call}; {self.contrast.broke} failing "
            f"runs called {call} without it."
        )


def _find_refusal(packet: Packet, guard: Guard) -> str:
    """What the call of the guard was refused with until it was enabled; empty: it was not."""
    errors = (each.error for each in packet.enablings if Precedence.is_shown_by(guard, each))
    return next(errors, "")


def _is_refused_with(error: str, packet: Packet, function: str) -> bool:
    """Does some run of the task get this error from the function?"""
    wanted = generalize(error)
    return any(
        step.error and generalize(step.error) == wanted for run in packet.runs for step in calls_of(run, function)
    )


def _preparation(packet: Packet, guard: Guard) -> tuple[tuple[str, ...], str]:
    """Everything that made the refused call work, in order, and the refusal if it may be quoted."""
    for enabling in find_enablings((*packet.passing, *packet.failing)):
        if Precedence.is_shown_by(guard, enabling):
            return enabling.by, quote_error(enabling.error, (packet,))
    return (guard.function,), ""


def find_given_arguments(runs: Sequence[PacketRun], first: str, then: str) -> tuple[str, ...]:
    """The arguments of `then` whose values these runs take from `first`."""
    steps = [step for run in runs for step in calls_of(run, then)]
    names = {name for step in steps for name, origin in step.origins.items() if origin == first}
    return tuple(sorted(names)[:3])
