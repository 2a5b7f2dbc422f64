"""What cards claim, in a form that can be held against what is known to be true of a domain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from contramem.bank.card import FunctionCard, SkillCard
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard, guards_of
from worlds.world import Claim, World

_FIRST = re.compile(r"^Call `([\w.]+)` first")
_RESULTS = re.compile(r"results of ((?:`[\w.]+`(?: \(`\w+`\))?(?:, | or )?)+)")
_GIVER = re.compile(r"(?<!\()`([\w.]+)`")
_GIVE = re.compile(r"^Give `(\w+)` as ([^:]+):")
_WORDS = re.compile(r"^(?:list of )?one of (.+)$")
_WRITTEN = re.compile(r"`(\w+)` as an? ([^,]+), not as")
_LISTED = re.compile("“([^”]+)”")
_DATE = re.compile(r"^[YMDH\-./: ]+$")


def claims_of(card: FunctionCard | SkillCard) -> frozenset[Claim]:
    """Everything that a card says which could be wrong."""
    return frozenset(_function_claims(card) if isinstance(card, FunctionCard) else _skill_claims(card))


def _function_claims(card: FunctionCard) -> Iterator[Claim]:
    for rule in card.usage_rules:
        if found := _FIRST.match(rule):
            yield "first", card.function, _bare(found[1])
        if found := _GIVE.match(rule):
            form = f"date {found[2]}" if _DATE.match(found[2]) else found[2]
            yield "form", card.function, found[1], form
    for argument in card.arguments:
        if found := _WORDS.match(argument.form):
            yield "words", card.function, argument.name, *sorted(found[1].split(", "))
        for named in _RESULTS.findall(argument.meaning):
            yield from (("source", card.function, argument.name, _bare(name)) for name in _GIVER.findall(named))


def _skill_claims(card: SkillCard) -> Iterator[Claim]:
    functions = [_bare(name) for name in card.functions_used]
    yield from (_guard_claim(guard) for guard in guards_of(card.guards))
    if card.guards:
        return
    rule = card.skill.core_rule
    if rule.startswith("Go through every"):
        yield from (("each", functions[0], write) for write in functions[1:])
    elif rule.startswith("Answer as soon as"):
        yield "end", functions[0]
    elif card.title.startswith("Write "):
        for name, form in _WRITTEN.findall(rule):
            yield from (("form", function, name, form) for function in functions)
    elif card.title.startswith("Choose "):
        argument = card.title.split()[1]
        yield "words", functions[0], argument, *sorted(_LISTED.findall(rule.partition(", spelled")[0]))
    elif card.title.startswith("Recover when"):
        yield "reform", functions[0]
    elif card.title.startswith("When"):
        yield "recovery", functions[0], functions[-1]
    elif rule.startswith("When"):  # a precondition that is asked for when the tool asks for it
        yield "recovery", functions[-1], functions[0]
    else:
        yield "other", card.title


def _guard_claim(guard: Guard) -> Claim:
    first, then = _pattern(guard.function), _pattern(guard.then) if guard.then else ""
    if guard.template == "existence":
        if not parse_pattern(guard.function).conditions:
            return "existence", first
        condition = parse_pattern(guard.function).conditions[0]
        return "source", first, condition.argument, _bare(condition.value)
    if guard.template == "covers":
        return "each", first, then
    if guard.template == "known_value":
        return "known_value", first, guard.argument
    return (guard.template, first, then) if then else (guard.template, first)


def _pattern(text: str) -> str:
    pattern = parse_pattern(text)
    return _bare(pattern.function) if pattern.function else pattern.kind


def _bare(function: str) -> str:
    return function.rpartition(".")[2]


def is_true(claim: Claim, world: type[World]) -> bool:
    """Does the claim follow from how the domain was made?"""
    planted = {true for rule in world.planted for true in rule.claims}
    if claim[0] == "words":
        # Fewer words than there are is no lie, one that is not among them is.
        slots = [true for true in planted | world.implied if true[:3] == claim[:3]]
        return any(set(claim[3:]) <= set(true[3:]) for true in slots)
    if claim[0] == "known_value" and claim[1] == "writes":
        return any(true[0] == "known_value" and true[2] == claim[2] for true in planted)
    return claim in planted | world.implied


def is_found(rule_claims: Sequence[Claim], made: Iterable[Claim]) -> bool:
    """Did a card state the rule? All words of a vocabulary are asked for."""
    wanted = {_sorted(claim) for claim in rule_claims}
    wide = {("known_value", "writes", claim[2]) for claim in rule_claims if claim[0] == "known_value"}
    return not {_sorted(claim) for claim in made}.isdisjoint(wanted | wide)


def _sorted(claim: Claim) -> Claim:
    return (*claim[:3], *sorted(claim[3:])) if claim[0] == "words" else claim


def naive(records: Sequence[dict[str, Any]]) -> frozenset[Claim]:
    """What comparing call names gives: for each task, every order that all passing runs keep and a failing run breaks,
    and every call that passing runs alone make (after the call that the failing run ended with)."""
    by_task = defaultdict[str, list[tuple[bool, list[str]]]](list)
    for record in records:
        asked = [
            message["tool_calls"][0]["function"]["name"] for message in record["messages"] if "tool_calls" in message
        ]
        by_task[record["task_id"]].append((record["passed"], asked))
    found = set[Claim]()
    for runs in by_task.values():
        passing, failing = ([calls for passed, calls in runs if passed is side] for side in (True, False))
        if not passing:
            continue
        for bad in failing:
            always = set.intersection(*map(set, passing))
            found |= {
                ("precedence", first, then)
                for then in bad
                for first in always - {then}
                if all(_before(good, first, then) for good in passing) and not _before(bad, first, then)
            }
            found |= {("response", bad[-1], missing) for missing in always - set(bad) if bad}
    return frozenset(found)


def _before(calls: Sequence[str], first: str, then: str) -> bool:
    return then not in calls or first in calls[: calls.index(then)]
