"""Convention: what no tool asks for and no single task shows, found by putting the runs of all tasks side by side.

Its guard may have any template and conditions on data: above an amount, for a kind of customer, in a certain form.
"""

from __future__ import annotations

from dataclasses import dataclass

from contramem.build.rules.phrases import code_name, join_words
from contramem.build.rules.rule import Rule, Words
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import CallOccurs, FieldReturned, FieldSum, ItemsReturned

_ONCE = "Call {first} only once{when}."


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
        conditions = _say_conditions(guard)
        instruction = _ONCE if guard.function == guard.then else guard.form.instruction
        rule = guard.fill(instruction, when=conditions)
        call = parse_pattern(guard.trigger)
        about = code_name(call.function) if call.function else call.in_words()
        looks = _say_looks(guard)
        return Words(
            title=_shorten_names(guard, rule).replace("`", "").rstrip("."),
            applies_when=_shorten_names(guard, f"The task needs {about}{conditions}."),
            solves="Failures of runs that did otherwise, where no tool complained.",
            core_rule=_shorten_names(guard, f"{rule}{looks}{_explain_form(guard)}"),
            completion=(_shorten_names(guard, _begin_small(guard.sentence)),),
            success_failure_contrast=f"In the task that shows it best, {self.contrast.kept} passing runs did this; "
            f"{self.contrast.broke} failing runs didn't.",
        )


def _begin_small(sentence: str) -> str:
    """As an item of a list: without a capital and a full stop."""
    return f"{sentence[0].lower()}{sentence[1:-1]}"


def _shorten_names(guard: Guard, text: str) -> str:
    """`find_customer` instead of `northline.find_customer`: as all other words of cards name functions."""
    for function in guard.functions:
        text = text.replace(f"`{function}`", code_name(function))
    return text


def _say_conditions(guard: Guard) -> str:
    """The conditions on the run, but for the call that the rule is about anyway."""
    about = parse_pattern(guard.function).function
    parts = []
    for condition in guard.conditions:
        if not isinstance(condition, CallOccurs) or condition.pattern.function != about:
            parts.append(condition.in_words())
        elif condition.pattern.conditions:
            parts.append(f"where it is called {' and '.join(test.in_words() for test in condition.pattern.conditions)}")
    return "".join(f", {words}" for words in parts)


def _say_looks(guard: Guard) -> str:
    """Runs that fail seldom know: what decides stands in a result that they never asked for."""
    looks = [
        code_name(part.function)
        for part in guard.conditions
        if isinstance(part, (FieldReturned, FieldSum, ItemsReturned))
    ]
    return f" Look with {join_words(list(dict.fromkeys(looks)))} before you decide." if looks else ""


def _explain_form(guard: Guard) -> str:
    """How to read a form that nobody has seen before."""
    tests = [test for pattern in guard.patterns for test in pattern.conditions]
    is_form = any(test.test == "like" for test in tests)
    return " (9 stands for digits, A for capital and a for small letters.)" if is_form else ""
