"""Settles contradictions between the cards of a bank before they are served.

A Function Card describes calls: a tool accepts a form, so the card names it. A Skill Card was weighed by how runs end.
So where a guard of a Skill Card says how an argument has to be given whenever its function is called, and the calls
behind the Function Card give it in another form or from another source, the Function Card says what the guard says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from contramem.bank.bank import ArgumentFacts
from contramem.bank.card import Argument, FunctionCard, SkillCard
from contramem.guards.arguments import ArgumentCondition, Test
from contramem.guards.conditions import CallOccurs, parse_pattern
from contramem.guards.guard import Guard, guards_of
from contramem.guards.values import field_of_place, function_of_place, functions_of, satisfies

_FORM_TESTS: frozenset[Test] = frozenset(("is", "like"))
_SOURCE_TESTS: frozenset[Test] = frozenset(("from", "equals", "picks", "times", "sums", "counts", "falls"))
_DATE_LETTERS = str.maketrans("YMDHS", "11111")

FunctionT = TypeVar("FunctionT", bound=FunctionCard)


class Claim(NamedTuple):
    """What a guard says about an argument: that it has to be given in this way, or must not be."""

    condition: ArgumentCondition
    forbidden: bool

    def in_words(self) -> str:
        text = self.condition.relation_in_words()
        text = f"that {text}" if self.condition.test == "picks" else text
        for function in functions_of(self.condition):
            text = text.replace(f"`{function}`", f"`{function.rpartition('.')[2]}`")
        return f"not {text}" if self.forbidden else text


Claims: TypeAlias = Mapping[str, Sequence[Claim]]
"""By argument."""


Facts: TypeAlias = Mapping[str, ArgumentFacts]
"""By argument. A card without facts, from a frozen bank or an old store, stays as it is."""


def settle_functions(functions: Iterable[tuple[FunctionT, Facts]], skills: Iterable[SkillCard]) -> Iterator[FunctionT]:
    """The Function Cards, with what they say about arguments replaced where a Skill Card says how to give them."""
    claims = _collect_claims(skills)
    for card, facts in functions:
        yield _settle(card, facts, claims[card.tool]) if card.tool in claims else card


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
    is_general = guard.unless is None and all(applies) and (bool(applies) or guard.template == "absence")
    return pattern.conditions[0] if is_general else None


def _settle(card: FunctionT, facts: Facts, claims: Claims) -> FunctionT:
    contested = {name: facts[name] for name in claims if name in facts}
    arguments = tuple(
        _settle_argument(argument, contested[argument.name], claims[argument.name])
        if argument.name in contested
        else argument
        for argument in card.arguments
    )
    # What says how to write such an argument ("take it exactly as results show it") is about its form as well.
    wrong = {
        rule
        for name, of_argument in contested.items()
        if _has_other_form(of_argument, claims[name])
        for rule in of_argument.form_rules
    }
    rules = tuple(rule for rule in card.usage_rules if rule not in wrong)
    return card.model_copy(update={"arguments": arguments, "usage_rules": rules})


def _has_other_form(facts: ArgumentFacts, claims: Sequence[Claim]) -> bool:
    """Whether a claim demands a form, and the calls do not show that very form alone."""
    demands = [claim for claim in claims if claim.condition.test in _FORM_TESTS and not claim.forbidden]
    return any(not facts.forms or any(_agrees(form, claim) is not True for form in facts.forms) for claim in demands)


def _settle_argument(argument: Argument, facts: ArgumentFacts, claims: Sequence[Claim]) -> Argument:
    form, meaning, forms = argument.form, argument.meaning, facts.forms
    for claim in claims:
        if claim.condition.test in _FORM_TESTS:
            agreeing = {name: words for name, words in forms.items() if _agrees(name, claim) is not False}
            if len(agreeing) < len(forms):
                form, forms = " or ".join(agreeing.values()) or claim.in_words(), agreeing
        elif claim.condition.test in _SOURCE_TESTS and _has_other_source(facts.sources, claim):
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


def _has_other_source(sources: Sequence[str], claim: Claim) -> bool:
    """Whether the forbidden source is among the sources of the calls, or the demanded one is not."""
    condition = claim.condition
    if claim.forbidden:
        return condition.test == "from" and _is_among(condition.value, sources)
    places = (condition.value,) if condition.test == "from" else functions_of(condition)
    return bool(sources) and bool(places) and not any(_is_among(place, sources) for place in places)


def _is_among(place: str, sources: Sequence[str]) -> bool:
    """Whether a place of a guard is one of the sources. A function without a field stands for all its fields."""
    if field_of_place(place):
        return place in sources or function_of_place(place) in sources
    return any(place in (source, function_of_place(source)) for source in sources)
