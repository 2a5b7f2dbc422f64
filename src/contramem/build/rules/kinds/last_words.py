"""Last words: runs that changed nothing and ended with a question that nobody answers, or with a call that they only
wrote into their answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, Self

from contramem.bank.card import SkillDelta
from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import MAX_CALLS, Lesson, Rule, Words, restate
from contramem.contrast.packet import Packet
from contramem.guards.conditions import TaskSays, parse_pattern
from contramem.guards.guard import Guard, parse_guard
from contramem.mining.fwords import join_list


@dataclass(frozen=True, kw_only=True)
class LastWords(Rule):
    """Do not end with `ending` before anything was changed."""

    KIND = "last words"
    STANDS_ALONE = True

    ending: Literal["question", "written call"]
    failed: int
    """Number of failing runs that ended so."""
    passed: int
    deeds: tuple[str, ...] = ()
    """Guards that these runs break and nearly all passing runs keep: a change is made, if every request asks for one,
    or if the request contains a word that orders it."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return tuple(map(parse_guard, self.deeds))

    def says(self, other: Rule) -> bool:
        return isinstance(other, LastWords) and other.ending == self.ending and {*other.deeds} <= {*self.deeds}

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """One card for each ending, whatever shows that the change was made."""
        more = other.rule
        if not isinstance(more, LastWords) or more.ending != self.ending or self.says(more):
            return None
        functions = tuple(dict.fromkeys([*self.functions, *more.functions]))[:MAX_CALLS]
        rule = replace(self, deeds=tuple(dict.fromkeys([*self.deeds, *more.deeds])), functions=functions)
        return Lesson(rule, self.name_ending(restate(mine, rule)))

    def name_only(self, functions: Collection[str]) -> Self:
        """The same rule naming only these functions: a card names what the task that taught it shows."""
        return replace(self, functions=tuple(name for name in self.functions if name in functions)[:MAX_CALLS])

    def name_ending(self, text: SkillDelta) -> SkillDelta:
        """The text whose failing example says how the run ended: a path shows that it did, not how."""
        how = {"question": " (a question)", "written call": " (the text of a call)"}[self.ending]
        shown = text.evidence.model_copy(update={"bad_example": f"{text.evidence.bad_example.removesuffix(how)}{how}"})
        return text.model_copy(update={"evidence": shown})

    def words(self) -> Words:
        done = list(map(_say_done, self.guards))
        return self._words_of_question(done) if self.ending == "question" else self._words_of_call(done)

    def _words_of_question(self, done: list[str]) -> Words:
        example = f", as with {join_list([code_name(name) for name in self.functions])}" if self.functions else ""
        fate = "hardly any such run passes" if self.passed else "it fails"
        return Words(
            title="Do not end with a question: nobody replies",
            applies_when="You are about to ask for details or for a confirmation, and have changed nothing yet.",
            solves="Runs that end with a question instead of the change.",
            core_rule=f"Nobody replies in these runs: a question ends the run, and {fate}. Look up what is missing, "
            f"choose what fits the request best, and make the change without asking{example}.",
            completion=("the answer does not ask for anything that has to be known before the change", *done),
            success_failure_contrast=self._count("ended with a question"),
        )

    def _words_of_call(self, done: list[str]) -> Words:
        return Words(
            title="Make calls instead of writing them into the answer",
            applies_when="You are about to send a text that contains a call, as JSON or as code.",
            solves="Runs that end with the text of a call that was never made.",
            core_rule="Make each call with the tools themselves. A call that stands in the text of an answer, as JSON "
            "or as code, is not carried out, and the answer ends the run. Make it, read its result, and only then "
            "answer.",
            completion=("the answer contains no call that is still to be made", *done),
            success_failure_contrast=self._count("ended with a call in the text of their answer"),
        )

    def _count(self, ended: str) -> str:
        return f"Of those that {ended} and changed nothing, {self.failed} failed and {self.passed or 'none'} passed."


def _say_done(guard: Guard) -> str:
    words = " and ".join(f"“{part.value}”" for part in guard.conditions if isinstance(part, TaskSays))
    condition = f" if the request says {words}" if words else ""
    return f"{parse_pattern(guard.function).in_words()} has succeeded{condition}"
