"""Settles contradictions between the cards of a bank before they are served.

A Function Card describes calls: a tool accepts a form, so the card names it. A Skill Card was weighed by how runs end.
So where a guard of a Skill Card says how an argument has to be given whenever its function is called, and the Function
Card names another form or another source for it, the Function Card says what the guard says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from contramem.bank.card import Argument, FunctionCard, SkillCard
from contramem.monitor.argument_condition import ArgumentCondition, Test
from contramem.monitor.comparison import satisfies
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import CallOccurs

_FORM_TESTS: frozenset[Test] = frozenset(("is", "like"))
_SOURCE_TESTS: frozenset[Test] = frozenset(("from", "picks", "times", "sums", "counts", "falls"))
_PEOPLE = {"task": "from the task", "user": "from the user"}
"""Sources that are no functions, as Function Cards name them."""
_CODE = re.compile(r"`([^`]+)`")
_DATE_LETTERS = str.maketrans("YMDHS", "11111")

FunctionT = TypeVar("FunctionT", bound=FunctionCard)


class Claim(NamedTuple):
    """What a guard says about an argument: that it has to be given in this way, or must not be."""

    condition: ArgumentCondition
    forbidden: bool

    def in_words(self) -> str:
        argument = f"`{self.condition.argument}`"
        text = self.condition.in_words().removeprefix(f"with {argument} ").removeprefix(f"with the {argument} ")
        text = f"that {text}" if self.condition.test == "picks" else text
        for function in self.condition.functions:
            text = text.replace(f"`{function}`", f"`{function.rpartition('.')[2]}`")
        return f"not {text}" if self.forbidden else text


Claims: TypeAlias = Mapping[str, Sequence[Claim]]
"""By argument."""


def settle_functions(functions: Iterable[FunctionT], skills: Iterable[SkillCard]) -> list[FunctionT]:
    """The Function Cards, with what they say about arguments replaced where a Skill Card says how to give them."""
    claims = _collect_claims(skills)
    return [_settle(card, claims[card.tool]) if card.tool in claims else card for card in functions]


def _collect_claims(skills: Iterable[SkillCard]) -> dict[str, dict[str, list[Claim]]]:
    """By function and argument."""
    claims: dict[str, dict[str, list[Claim]]] = defaultdict(lambda: defaultdict(list))
    for guard in (guard for card in skills for guard in guards_of(card.guards)):
        if (condition := _demand_on_every_call(guard)) is not None:
            claim = Claim(condition, guard.template == "absence")
            of_argument = claims[parse_pattern(guard.function).function][condition.argument]
            of_argument += [claim] if claim not in of_argument else []
    return claims


def _demand_on_every_call(guard: Guard) -> ArgumentCondition | None:
    """The condition on an argument that the guard demands or forbids whenever the function is called. None if it holds
    in some runs only: then what the Function Card says is right for the others."""
    pattern = parse_pattern(guard.function)
    if guard.template not in ("existence", "absence") or not pattern.function or len(pattern.conditions) != 1:
        return None
    applies = [
        isinstance(condition, CallOccurs)
        and condition.pattern.function == pattern.function
        and not condition.pattern.conditions
        for condition in guard.conditions
    ]
    is_general = all(applies) and (bool(applies) or guard.template == "absence")
    return pattern.conditions[0] if is_general else None


def _settle(card: FunctionT, claims: Claims) -> FunctionT:
    arguments = tuple(_settle_argument(argument, claims.get(argument.name, ())) for argument in card.arguments)
    # A rule about such an argument alone ("take it exactly as results show it") is about its form as well.
    formed = {argument.name for argument in card.arguments if _has_other_form(argument, claims.get(argument.name, ()))}
    rules = tuple(
        rule for rule in card.usage_rules if not {*_CODE.findall(rule)} or not formed >= {*_CODE.findall(rule)}
    )
    return card.model_copy(update={"arguments": arguments, "usage_rules": rules})


def _has_other_form(argument: Argument, claims: Sequence[Claim]) -> bool:
    """Whether a claim demands a form, and the card does not name that very form."""
    demands = [claim for claim in claims if claim.condition.test in _FORM_TESTS and not claim.forbidden]
    return any(_agrees(form, claim) is not True for claim in demands for form in argument.form.split(" or "))


def _settle_argument(argument: Argument, claims: Sequence[Claim]) -> Argument:
    form, meaning = argument.form, argument.meaning
    for claim in claims:
        if claim.condition.test in _FORM_TESTS:
            agreeing = [part for part in form.split(" or ") if _agrees(part, claim) is not False]
            form = " or ".join(agreeing) or claim.in_words()
        elif claim.condition.test in _SOURCE_TESTS and _names_other_source(meaning, claim):
            meaning = claim.in_words()
    return argument.model_copy(update={"form": form, "meaning": meaning})


def _agrees(form: str, claim: Claim) -> bool | None:
    """Whether values of this form are as the claim says. None if the form does not tell."""
    test, value = claim.condition.test, claim.condition.value
    if test == "is":
        return (form == value) != claim.forbidden
    if not form.startswith("date ") or any(letter.islower() for letter in form.removeprefix("date ")):
        return None
    example = form.removeprefix("date ").translate(_DATE_LETTERS)
    return satisfies(example, "like", value) != claim.forbidden


def _names_other_source(meaning: str, claim: Claim) -> bool:
    """Whether a card names sources, and among them the one that is forbidden, or not the one that is demanded."""
    condition = claim.condition
    if claim.forbidden:
        return condition.test == "from" and _names(meaning, condition.value)
    if not _CODE.search(meaning) and not any(words in meaning for words in _PEOPLE.values()):
        return False
    places = (condition.value,) if condition.test == "from" else condition.functions
    return bool(places) and not any(_names(meaning, place) for place in places)


def _names(meaning: str, place: str) -> bool:
    """Whether a meaning names a source: `task`, `user`, a function, or a field of its results."""
    if place in _PEOPLE:
        return _PEOPLE[place] in meaning
    _, function, field = (*place.split("."), "", "")[:3]
    named = re.search(rf"`{re.escape(function)}`(?: \(`([^`]+)`\))?", meaning) if function else None
    return named is not None and (not field or named[1] in (None, field))
