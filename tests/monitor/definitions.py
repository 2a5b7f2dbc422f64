"""What each guard means, evaluated directly on a finished run: slow, and plain enough to be read against the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contramem.contrast.flow import NOWHERE
from contramem.monitor.action import Action
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.pattern import parse_pattern

Deeds = Sequence[Action]


def verdict(guard: Guard, deeds: Deeds) -> Verdict:
    """The definition."""
    if guard.when and not _places(guard.when, deeds):
        return "vacuous"
    return DEFINITIONS[guard.template](guard, deeds)


def can_be_met(guard: Guard, deeds: Deeds, alphabet: Deeds, depth: int) -> set[bool]:
    """The verdicts (does it hold?) that this run can still end with, trying every way on of at most `depth` deeds."""
    found = {verdict(guard, deeds) != "broken"}
    if depth:
        for deed in alphabet:
            found |= can_be_met(guard, [*deeds, deed], alphabet, depth - 1)
    return found


def _places(pattern: str, deeds: Deeds, worked: bool = False) -> list[int]:
    matches = parse_pattern(pattern).matches
    return [index for index, deed in enumerate(deeds) if matches(deed) and (deed.worked or not worked)]


def _existence(guard: Guard, deeds: Deeds) -> Verdict:
    return "holds" if _places(guard.function, deeds, worked=True) else "broken"


def _absence(guard: Guard, deeds: Deeds) -> Verdict:
    return "broken" if _places(guard.function, deeds) else "holds"


def _at_most_once(guard: Guard, deeds: Deeds) -> Verdict:
    made = [deeds[index] for index in _places(guard.function, deeds, worked=True)]
    same = [deed.arguments.get(guard.argument) if guard.argument else deed.key() for deed in made]
    keys = [(deed.function, str(value)) for deed, value in zip(made, same, strict=True)]
    return "vacuous" if not keys else "holds" if len(set(keys)) == len(keys) else "broken"


def _precedence(guard: Guard, deeds: Deeds) -> Verdict:
    tried, done = _places(guard.then, deeds), _places(guard.then, deeds, worked=True)
    if not tried:
        return "vacuous"
    counted = min(done) if done else max(tried)
    return "holds" if any(index < counted for index in _places(guard.function, deeds, worked=True)) else "broken"


def _response(guard: Guard, deeds: Deeds) -> Verdict:
    first, then = _places(guard.function, deeds, worked=True), _places(guard.then, deeds, worked=True)
    if not first:
        return "vacuous"
    return "holds" if any(index > max(first) for index in then) else "broken"


def _not_succession(guard: Guard, deeds: Deeds) -> Verdict:
    first, then = _places(guard.function, deeds, worked=True), _places(guard.then, deeds, worked=True)
    if not first:
        return "vacuous"
    return "broken" if any(one < other for one in first for other in then) else "holds"


def _last(guard: Guard, deeds: Deeds) -> Verdict:
    kinds = {"finalize": ("call", "ask", "final"), "ask": ("call", "ask")}
    counted = [deed for deed in deeds if deed.kind in kinds.get(parse_pattern(guard.function).kind, ("call",))]
    return "holds" if _places(guard.function, counted[-1:], worked=True) else "broken"


def _known_value(guard: Guard, deeds: Deeds) -> Verdict:
    given = [
        deeds[index] for index in _places(guard.function, deeds) if deeds[index].origin(guard.argument) is not None
    ]
    guessed = [deed.origin(guard.argument) == NOWHERE for deed in given]
    if not given:
        return "vacuous"
    acted = any(guess and deed.worked for guess, deed in zip(guessed, given, strict=True))
    return "broken" if acted or guessed[-1] else "holds"


def _covers(guard: Guard, deeds: Deeds) -> Verdict:
    found: set[str] = set()
    done: set[str] = set()
    for index in _places(guard.function, deeds, worked=True):
        found |= deeds[index].found(guard.field) or set()
    for index in _places(guard.then, deeds, worked=True):
        done |= deeds[index].values(guard.argument)
    return "vacuous" if not found else "holds" if found <= done else "broken"


DEFINITIONS: dict[str, Callable[[Guard, Deeds], Verdict]] = {
    "existence": _existence,
    "absence": _absence,
    "at_most_once": _at_most_once,
    "precedence": _precedence,
    "response": _response,
    "not_succession": _not_succession,
    "last": _last,
    "known_value": _known_value,
    "covers": _covers,
}
