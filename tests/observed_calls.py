"""Observed calls for tests of Function Cards, made one by one."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

from contramem.contrast.form import ResultForm
from contramem.contrast.observation import Observation, ObservedRun, observe
from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import Vocabulary
from contramem.mining.functions import Calls, build_function_card

RECORD = ResultForm("record", ("id", "status"))
DELETE = "Mail.delete_email"


class Made(NamedTuple):
    """A call, and the run that makes it."""

    task: str
    run: str
    position: int
    passed: bool | None
    step: Step


def call(arguments=None, *, task="t1", run="A", position=0, passed=None, **other) -> Made:
    """One observed call. Forms follow from the values unless they are given."""
    arguments = arguments or {}
    kinds = {str: "text", int: "integer", bool: "boolean", list: "list of texts", type(None): "null"}
    known = {
        "actor": "agent",
        "kind": "call",
        "function": DELETE,
        "effect": "write",
        "arguments": arguments,
        "forms": {name: kinds[type(value)] for name, value in arguments.items()},
        "form": RECORD,
    }
    return Made(task, run, position, passed, Step(position=position, **(known | other)))


def failed(error, arguments=None, **other):
    return call(arguments, error=error, form=None, **other)


def observed(*calls: Made) -> list[Observation]:
    """The calls as observations of the runs that make them."""
    found: list[Observation] = []
    ordered = sorted(calls, key=lambda made: (made.task, made.run, made.position))
    for (task, letter), of_run in groupby(ordered, lambda made: (made.task, made.run)):
        made = list(of_run)
        steps = tuple(each.step for each in made)
        found += observe(ObservedRun(task, PacketRun(letter, made[0].passed, steps, actions=steps)))
    return found


def calls_of(*made: Made, function: str = DELETE, **known: Any) -> Calls:
    return Calls(function, [each for each in observed(*made) if each.function == function], **known)


def card_of(*made: Made, tool=None, vocabulary=None, function=DELETE):
    calls = [each for each in observed(*made) if each.function == function]
    return build_function_card(function, calls, tool, vocabulary or Vocabulary())


def found(n=3, **other):
    """Calls that show where their `email_id` comes from: enough to be worth a card."""
    given = {"arguments": {"email_id": "<ID_1>"}, "origins": {"email_id": "Mail.search_emails"}} | other
    return [call(run=f"f{number}", **given) for number in range(n)]


def argument(card, name):
    return next(argument for argument in card.arguments if argument.name == name)
