"""Look first, and finish: some call reads, or changes something, before the answer, whatever the request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, Self

from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import Rule, Words
from contramem.monitor.guard import Guard, parse_guard


@dataclass(frozen=True, kw_only=True)
class LookFirst(Rule):
    """Before the final answer comes some call of the app: one that reads, or one that makes a change."""

    KIND = "look first"
    IS_OMISSION = True

    app: str
    effect: Literal["reads", "writes"]
    answered: int
    """Number of failing runs that answered without such a call."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        if self.effect == "reads":
            return (parse_guard(f"precedence(reads({self.app}), finalize)"),)
        return (parse_guard(f"existence(writes({self.app}))"),)

    def says(self, other: Rule) -> bool:
        return isinstance(other, LookFirst) and (other.app, other.effect) == (self.app, self.effect)

    def name_only(self, functions: Collection[str]) -> Self:
        """The same rule naming only these functions: a card names what the task that taught it shows."""
        return replace(self, functions=tuple(name for name in self.functions if name in functions))

    def words(self) -> Words:
        calls = " or ".join(map(code_name, self.functions))
        if self.effect == "writes":
            return Words(
                title=f"Make a change in {self.app} before you answer",
                applies_when=f"You are about to answer, and nothing has been changed in {self.app} yet.",
                solves="Runs that end with a plan, an offer or a question instead of the change.",
                core_rule=f"If the request asks for a change, call {calls} or another function that makes it before "
                "you answer. A summary, an announcement or a call written out in the answer changes nothing.",
                completion=(f"a call has changed something in {self.app}",),
                success_failure_contrast=f"Passing runs changed something; {self.answered} changed nothing and failed.",
            )
        return Words(
            title=f"Look into {self.app} before you answer, ask or decline",
            applies_when="You are about to answer, to ask for details or to decline, and no call has looked yet.",
            solves="Answers, questions and refusals of runs that never looked.",
            core_rule=f"Look with {calls} or another function before you answer, ask or decline. Much of what a "
            f"request leaves open can be found in {self.app}; ask only for what you did not find there.",
            completion=(f"a call has looked into {self.app} before the answer",),
            success_failure_contrast=f"Passing runs looked first; {self.answered} answered without and failed.",
        )
