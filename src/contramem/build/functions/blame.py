"""Why a call was refused: the arguments that its complaint names, and values that already explain it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from contramem.build.functions.calls import MIN_CALLS, Calls, fail_more, failures, is_empty, is_guessed, of_name
from contramem.build.functions.words import verb_of
from contramem.contrast.observation import Observation
from contramem.contrast.values import CATEGORY_ROLES, is_date_form, is_list_form
from contramem.traces.effects import words

STEM_CHARS = 4
WRITTEN = 0.9
"""The share of values seen nowhere before, among those that worked, from which on an argument is written freely."""

_PLACEHOLDER = re.compile(r"<[^<>]*>")
_MISSING = re.compile(
    r"\b(?:missing|required?|(?:not|must be|please) (?:provided?|given|specif\w+)|no \w+ given)\b", re.I
)
_SAY_NOTHING = frozenset("id ids uuid name names value values number numbers argument to of by for in at on".split())
"""Words that complaints use about any argument, and that argument names contain besides their own."""


class GuessedArgument(NamedTuple):
    """An argument whose values failed when they had been seen nowhere before, with the calls of either kind."""

    argument: str
    made_up: Sequence[Observation]
    known: Sequence[Observation]


@lru_cache(maxsize=1 << 12)  # one error is compared with the names of many functions
def stems(text: str) -> frozenset[str]:
    """The beginnings of the longer words of a text or name: `locked` and `lockDoors` share one."""
    return frozenset(word for word in _stem_words(text) if len(word) >= STEM_CHARS)


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(word[:STEM_CHARS] for word in words(_PLACEHOLDER.sub(" ", text)))


@lru_cache(maxsize=1 << 12)
def asks_for(error: str, function: str) -> bool:
    """Does a complaint mention what another function does? `has not been verified` mentions `verify_insurance`."""
    return verb_of(function.partition(".")[2])[:STEM_CHARS] in stems(error)


@lru_cache(maxsize=1 << 12)
def find_named_arguments(error: str, arguments: tuple[str, ...]) -> frozenset[str]:
    """The arguments that a complaint mentions: `Assignee email not valid` mentions `assigned_to_email`. Empty: none."""
    spoken = _stem_words(error)
    return frozenset(
        name
        for name in arguments
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error) or (_own(name) and spoken.issuperset(_own(name)))
    )


def _own(name: str) -> frozenset[str]:
    """The words that distinguish an argument, without those common to names and complaints."""
    return frozenset(word[:STEM_CHARS] for word in words(name) if word not in _SAY_NOTHING and len(word) > 1)


def says_missing(error: str) -> bool:
    """Does a complaint say that something was not given?"""
    return _MISSING.search(error) is not None


def concerns(call: Observation, name: str, calls: Calls) -> bool:
    """Could this argument be why the call was refused? Not if the complaint names others."""
    blamed = find_named_arguments(call.error, calls.argument_names) if call.error else frozenset()
    return not blamed or name in blamed


def is_looked_up(name: str, calls: Sequence[Observation]) -> bool:
    """Must a value of this argument have been seen before it is passed? Words of a category (`status`, `mode`) are
    known from the documentation, which runs do not show, dates are computed, and what nearly always works although
    nobody had seen it is written for the call."""
    found = [call for call in of_name(calls, name) if not call.error and not is_empty(call)]
    if len(found) >= MIN_CALLS and sum(is_guessed(call, name) for call in found) >= len(found) * WRITTEN:
        return False
    forms = [call.forms.get(name, "") for call in calls]
    dated = sum(is_date_form(form) and not is_list_form(form) for form in forms)
    return CATEGORY_ROLES.isdisjoint(words(name)[-1:]) and dated * 2 < sum(name in call.forms for call in calls)


@lru_cache(maxsize=1)  # two fields of a card ask for it
def convictions(calls: Calls) -> Sequence[GuessedArgument]:
    """Arguments whose values failed much more often if they had been seen nowhere before, clearest first.

    A call that makes up two values fails once: what the clearer one explains does not count against the other.
    """
    open_names = {name for name in calls.argument_names if is_looked_up(name, calls.all)}
    convicted: list[GuessedArgument] = []
    remaining = calls.all
    while open_names:
        tried = [_judge_argument(name, remaining, calls) for name in sorted(open_names)]
        guilty = [
            argument
            for argument in tried
            if len(argument.known) >= MIN_CALLS and fail_more(argument.made_up, argument.known)
        ]
        if not guilty:
            break
        worst = min(guilty, key=lambda argument: (_share(argument.known) - _share(argument.made_up), argument.argument))
        convicted.append(worst)
        open_names.remove(worst.argument)
        remaining = [call for call in remaining if not is_guessed(call, worst.argument)]
    return convicted


def _judge_argument(name: str, remaining: Sequence[Observation], calls: Calls) -> GuessedArgument:
    given = [
        call
        for call in of_name(remaining, name)
        # What was not given is not a wrong value of what was.
        if name in call.origins and concerns(call, name, calls) and not says_missing(call.error)
    ]
    return GuessedArgument(
        name, [call for call in given if is_guessed(call, name)], [call for call in given if not is_guessed(call, name)]
    )


def _share(calls: Sequence[Observation]) -> float:
    return failures(calls) / len(calls)
