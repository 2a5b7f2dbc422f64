"""Convention: what no tool asks for and no single task shows, found by putting the runs of all tasks side by side.

Its guard may have any template and conditions on data: above an amount, for a kind of customer, in a certain form.
"""

from __future__ import annotations

from dataclasses import dataclass

from contramem.build.rules.phrases import code_name
from contramem.build.rules.rule import Rule, Words
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import CallOccurs


@dataclass(frozen=True, kw_only=True)
class Convention(Rule):
    """What `guard` asks for."""

    KIND = "convention"

    guard: str

    @property
    def guards(self) -> tuple[Guard, ...]:
        guard = parse_guard(self.guard)
        return (guard._replace(when=" and ".join(filter(None, [guard.when, self.when]))),)

    def words(self) -> Words:
        guard = parse_guard(self.guard)
        rule = guard.fill(guard.form.instruction, when=_say_conditions(guard))
        call = parse_pattern(guard.trigger)
        about = code_name(call.function) if call.function else call.in_words()
        return Words(
            title=rule.replace("`", "").rstrip("."),
            applies_when=f"The task needs {about}{_say_conditions(guard)}.",
            solves="Failures of runs that did otherwise, where no tool complained.",
            core_rule=rule,
            completion=(f"{guard.sentence[0].lower() if guard.sentence[0] != '`' else '`'}{guard.sentence[1:-1]}",),
            success_failure_contrast=f"In the task that shows it best, {self.contrast.kept} passing runs did this; "
            f"{self.contrast.broke} failing runs didn't.",
        )


def _say_conditions(guard: Guard) -> str:
    """The conditions on the run, but for the call that the rule is about anyway."""
    about = parse_pattern(guard.function).function
    conditions = [
        condition.in_words()
        for condition in guard.conditions
        if not (isinstance(condition, CallOccurs) and condition.pattern.function == about)
    ]
    return "".join(f", {words}" for words in conditions)
