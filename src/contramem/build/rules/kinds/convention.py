"""Convention: what no tool demands and no single task shows, found by comparing the runs of all tasks.

Its guard may have any template, and conditions on data: above an amount, for a kind of customer, in a certain form.
"""

from __future__ import annotations

from dataclasses import dataclass

from contramem.build.rules.convention_words import ConventionWords
from contramem.build.rules.rule import Rule, Words
from contramem.guards.guard import Guard, parse_guard


@dataclass(frozen=True, kw_only=True)
class Convention(Rule):
    """Follow `guard`."""

    KIND = "convention"

    guard: str
    instead: str = ""
    """If the guard forbids something: what passing runs do instead, in guard syntax."""
    form: str = ""
    """If the guard is about a written form: how passing runs write it, in words."""
    comes_first: bool = False
    """If the guard forbids one call after another: whether passing runs make it before."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        guard = parse_guard(self.guard)
        return (guard._replace(when=" and ".join(filter(None, [guard.when, self.when]))),)

    def words(self) -> Words:
        words = ConventionWords(parse_guard(self.guard), self.instead, self.form, self.comes_first)
        return Words(
            title=words.title,
            applies_when=words.occasion,
            solves="Failures of runs that did otherwise, where no tool complained.",
            core_rule=words.rule,
            completion=(words.completion,),
            success_failure_contrast=f"In the task that shows it best, {self.contrast.kept} passing runs did this; "
            f"{self.contrast.broke} failing runs didn't.",
        )
