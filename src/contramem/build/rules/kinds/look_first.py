"""Look first: some call reads before the answer, whatever the request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import MAX_CALLS, Rule, Words
from contramem.monitor.guard import Guard, parse_guard


@dataclass(frozen=True, kw_only=True)
class LookFirst(Rule):
    """Before the final answer comes some call of the app that reads."""

    KIND = "look first"
    STANDS_ALONE = True

    app: str
    answered: int
    """Number of failing runs that answered without such a call."""
    gets_replies: bool
    """Whether a user ever wrote again in these runs."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return (parse_guard(f"precedence(reads({self.app}), finalize)"),)

    def says(self, other: Rule) -> bool:
        return isinstance(other, LookFirst) and other.app == self.app

    def name_only(self, functions: Collection[str]) -> Self:
        """The same rule naming only these functions: a card names what the task that taught it shows."""
        return replace(self, functions=tuple(name for name in self.functions if name in functions)[:MAX_CALLS])

    def words(self) -> Words:
        calls = ", ".join(map(code_name, self.functions))
        if self.gets_replies:
            asking = f"can be found in {self.app}; ask only for what you did not find there"
        else:
            asking = f"can be found in {self.app}, and nobody replies to a question in these runs"
        return Words(
            title=f"Look into {self.app} before you answer, ask or decline",
            applies_when="You are about to answer, to ask for details or to decline, and no call has looked yet.",
            solves="Answers, questions and refusals of runs that never looked.",
            core_rule=f"Look with {calls} or another function before you answer, ask or decline. Much of what a "
            f"request leaves open {asking}.",
            completion=(f"a call has looked into {self.app} before the answer",),
            success_failure_contrast=f"Passing runs looked first; {self.answered} answered without and failed.",
        )
