"""Carry out: a change that the request asks for is made, not just planned, announced or asked about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from contramem.bank.card import SkillDelta
from contramem.build.functions.words import join_list
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import MAX_CALLS, Lesson, Rule, Words, restate
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import TaskSays


@dataclass(frozen=True, kw_only=True)
class CarryOut(Rule):
    """Make the changes in `deeds`: guards that name a change, and the words of requests that ask for it. Without words,
    every request asks for a change."""

    KIND = "carry out"
    STANDS_ALONE = True

    deeds: tuple[str, ...]
    left_out: tuple[int, ...]
    """Per change: the number of failing runs that did not make it."""
    gets_replies: bool
    """Whether a user ever wrote again in these runs."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return tuple(map(parse_guard, self.deeds))

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """A single card states it for all changes of an ability."""
        rule = self.join(other.rule)
        return Lesson(rule, restate(mine, rule)) if rule is not None else None

    def join(self, other: Rule) -> CarryOut | None:
        """Both in one; None if there is nothing to join, or too much."""
        if not isinstance(other, CarryOut) or {*other.deeds} & {*self.deeds}:
            return None
        if len(self.deeds) + len(other.deeds) > MAX_CALLS:
            return None
        return replace(
            self,
            deeds=(*self.deeds, *other.deeds),
            left_out=(*self.left_out, *other.left_out),
            functions=tuple(dict.fromkeys([*self.functions, *other.functions])),
        )

    def name_only(self, functions: Collection[str]) -> Self:
        """The same rule naming only these functions: a card names what the task that taught it shows."""
        return replace(self, functions=tuple(name for name in self.functions if name in functions))

    def words(self) -> Words:
        said = [words for guard in self.guards if (words := _say_words(guard))]
        every = len(said) < len(self.deeds)
        when = "the request asks for a change" if every else f"the request says {' or '.join(said)}"
        named = join_list([short_name(name) for name in self.functions])
        example = f" ({join_list([code_name(name) for name in self.functions])})" if self.functions else ""
        change = "it" if every else "the change that it asks for"
        asking = "" if self.gets_replies else " Do not stop to ask: nobody replies in these runs."
        return Words(
            title=f"Make the change before you answer{f': {named}' if named else ''}",
            applies_when=f"You are about to answer, {when}, and no call has made the change yet.",
            solves="Runs that end with a plan, an offer or a question instead of the change.",
            core_rule=f"When {when}, make {change} with a call{example} before you answer.{asking} A plan, an "
            "announcement or a call written out in the answer changes nothing.",
            completion=tuple(map(_say_completion, self.guards)),
            success_failure_contrast="Passing runs made the change; failing runs ended without it: "
            f"{join_list([_say_count(*pair) for pair in zip(self.guards, self.left_out, strict=True)])}.",
        )


def _words_of(guard: Guard) -> list[str]:
    return [condition.value for condition in guard.conditions if isinstance(condition, TaskSays)]


def _say_words(guard: Guard) -> str:
    return " and ".join(f"“{word}”" for word in _words_of(guard))


def _say_completion(guard: Guard) -> str:
    words = _say_words(guard)
    condition = f" if the request says {words}" if words else ""
    return f"{parse_pattern(guard.function).in_words()} has succeeded{condition}"


def _say_count(guard: Guard, left_out: int) -> str:
    words = _say_words(guard)
    return f"{left_out} where the request says {words}" if words else f"{left_out} changed nothing"
