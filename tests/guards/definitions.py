"""What each guard means, evaluated directly on a finished run: slow, and plain enough to be read against the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contramem.contrast.flow import NOWHERE
from contramem.guards.actions import Action
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.templates import Verdict

Actions = Sequence[Action]


def verdict(guard: Guard, actions: Actions) -> Verdict:
    """The definition."""
    if guard.when and not _places(guard.when, actions):
        return "vacuous"
    return DEFINITIONS[guard.template](guard, actions)


def can_be_met(guard: Guard, actions: Actions, alphabet: Actions, depth: int) -> set[bool]:
    """The verdicts (does it hold?) that this run can still end with, trying every way on of at most `depth` actions."""
    found = {verdict(guard, actions) != "broken"}
    if depth:
        for action in alphabet:
            found |= can_be_met(guard, [*actions, action], alphabet, depth - 1)
    return found


def _places(pattern: str, actions: Actions, worked: bool = False) -> list[int]:
    matches = parse_pattern(pattern).matches
    return [index for index, action in enumerate(actions) if matches(action) and (action.worked or not worked)]


def _existence(guard: Guard, actions: Actions) -> Verdict:
    return "holds" if _places(guard.function, actions, worked=True) else "broken"


def _absence(guard: Guard, actions: Actions) -> Verdict:
    return "broken" if _places(guard.function, actions) else "holds"


def _at_most_once(guard: Guard, actions: Actions) -> Verdict:
    made = [actions[index] for index in _places(guard.function, actions, worked=True)]
    same = [action.arguments.get(guard.argument) if guard.argument else action.key() for action in made]
    keys = [(action.function, str(value)) for action, value in zip(made, same, strict=True)]
    return "vacuous" if not keys else "holds" if len(set(keys)) == len(keys) else "broken"


def _times(guard: Guard, actions: Actions) -> list[int]:
    """How often it worked: in all, or for each value of the argument."""
    made = [actions[index] for index in _places(guard.function, actions, worked=True)]
    if not guard.argument:
        return [len(made)]
    given = [str(action.arguments.get(guard.argument)) for action in made]
    return [given.count(value) for value in set(given)]


def _at_most(guard: Guard, actions: Actions) -> Verdict:
    times = _times(guard, actions)
    return "vacuous" if not sum(times) else "holds" if max(times) <= guard.times else "broken"


def _at_least(guard: Guard, actions: Actions) -> Verdict:
    times = _times(guard, actions)
    return "vacuous" if not times else "holds" if min(times) >= guard.times else "broken"


def _precedence(guard: Guard, actions: Actions) -> Verdict:
    tried, done = _places(guard.then, actions), _places(guard.then, actions, worked=True)
    if not tried:
        return "vacuous"
    counted = min(done) if done else max(tried)
    return "holds" if any(index < counted for index in _places(guard.function, actions, worked=True)) else "broken"


def _response(guard: Guard, actions: Actions) -> Verdict:
    first, then = _places(guard.function, actions, worked=True), _places(guard.then, actions, worked=True)
    if not first:
        return "vacuous"
    return "holds" if any(index > max(first) for index in then) else "broken"


def _not_succession(guard: Guard, actions: Actions) -> Verdict:
    first, then = _places(guard.function, actions, worked=True), _places(guard.then, actions, worked=True)
    if not first:
        return "vacuous"
    return "broken" if any(one < other for one in first for other in then) else "holds"


def _last(guard: Guard, actions: Actions) -> Verdict:
    kinds = {"finalize": ("call", "ask", "final"), "ask": ("call", "ask")}
    counted = [action for action in actions if action.kind in kinds.get(parse_pattern(guard.function).kind, ("call",))]
    return "holds" if _places(guard.function, counted[-1:], worked=True) else "broken"


def _known_value(guard: Guard, actions: Actions) -> Verdict:
    given = [
        actions[index]
        for index in _places(guard.function, actions)
        if actions[index].origin(guard.argument) is not None
    ]
    guessed = [action.origin(guard.argument) == NOWHERE for action in given]
    if not given:
        return "vacuous"
    acted = any(guess and action.worked for guess, action in zip(guessed, given, strict=True))
    return "broken" if acted or guessed[-1] else "holds"


def _covers(guard: Guard, actions: Actions) -> Verdict:
    found: set[str] = set()
    done: set[str] = set()
    for index in _places(guard.function, actions, worked=True):
        found |= actions[index].returned_values(guard.field) or set()
    for index in _places(guard.then, actions, worked=True):
        done |= actions[index].values(guard.argument)
    return "vacuous" if not found else "holds" if found <= done else "broken"


DEFINITIONS: dict[str, Callable[[Guard, Actions], Verdict]] = {
    "existence": _existence,
    "absence": _absence,
    "at_most_once": _at_most_once,
    "at_most": _at_most,
    "at_least": _at_least,
    "precedence": _precedence,
    "response": _response,
    "not_succession": _not_succession,
    "last": _last,
    "known_value": _known_value,
    "covers": _covers,
}
