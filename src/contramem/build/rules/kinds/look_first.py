"""Look first: some call reads before the answer, whatever the request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import MAX_CALLS, Rule, Words
from contramem.guards.guard import Guard, parse_guard


@dataclass(frozen=True, kw_only=True)
class LookFirst(Rule):
    """Before the final answer comes some call of the app that reads."""

    KIND = "look first"
    STANDS_ALONE = True

    app: str
    answered: int
    """Number of failing runs that answered or asked without such a call."""
    asked: int
    """How many of them asked."""
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
        act, acting = ("answer or ask", "answer or to ask for details") if self.asked else ("answer", "answer")
        reason = f"Much of what a request leaves open can be found in {self.app}"
        if self.asked:
            reason += (
                "; ask only for what you did not find there"
                if self.gets_replies
                else ", and nobody replies to a question in these runs"
            )
        counts = f"{self.answered} {'answered or asked' if self.asked else 'answered'} without and failed"
        return Words(
            title=f"Look into {self.app} before you {act}",
            applies_when=f"You are about to {acting}, and no call has looked yet.",
            solves="Answers and questions of runs that never looked." if self.asked else "Answers without a look.",
            core_rule=f"Look with {calls} or another function before you {act}. {reason}.",
            completion=(f"a call has looked into {self.app} before the answer",),
            success_failure_contrast=f"Passing runs looked first; {counts}.",
        )
