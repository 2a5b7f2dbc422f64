"""Convention: what no tool asks for and no single task shows, found by putting the runs of all tasks side by side.

Its guard may have any template and conditions on data: above an amount, for a kind of customer, in a certain form.
"""

from __future__ import annotations

from dataclasses import dataclass

from contramem.build.rules.convention_words import ConventionWords
from contramem.build.rules.rule import Rule, Words
from contramem.monitor.guard import Guard, parse_guard


@dataclass(frozen=True, kw_only=True)
class Convention(Rule):
    """What `guard` asks for."""

    KIND = "convention"

    guard: str
    instead: str = ""
    """Of a guard that forbids something: what passing runs do in its place, as guards write calls."""
    form: str = ""
    """Of a guard about a written form: how passing runs write it, in words."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        guard = parse_guard(self.guard)
        return (guard._replace(when=" and ".join(filter(None, [guard.when, self.when]))),)

    def words(self) -> Words:
        said = ConventionWords(parse_guard(self.guard), self.instead, self.form)
        return Words(
            title=said.title,
            applies_when=said.occasion,
            solves="Failures of runs that did otherwise, where no tool complained.",
            core_rule=said.rule,
            completion=(said.completion,),
            success_failure_contrast=f"In the task that shows it best, {self.contrast.kept} passing runs did this; "
            f"{self.contrast.broke} failing runs didn't.",
        )
