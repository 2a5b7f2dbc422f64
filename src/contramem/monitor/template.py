"""The table of guard templates: how each is written, what it demands, and how it is worded.

A new template is a row here, an automaton in automaton.py, and, if the rules are to learn it, a file in
build/rules/kinds/. No other code branches on the template of a guard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Template: TypeAlias = Literal[
    "existence",
    "absence",
    "at_most_once",
    "at_most",
    "at_least",
    "precedence",
    "response",
    "not_succession",
    "last",
    "known_value",
    "covers",
]
Demand: TypeAlias = Literal["a call", "no call"]
Parameters: TypeAlias = Literal["F", "F by argument", "F by argument, N", "F.argument", "A, B", "A.field, B.argument"]
"""The parameters in the parentheses. ` by argument` is optional."""


@dataclass(frozen=True)
class TemplateForm:
    """One template. Its wordings can use {first}, {then}, {argument}, {field}, {same} ("the same arguments"), {count},
    {per} ("with the same argument", if calls are counted by one), {late} (the deadline, if there is one), {made} and
    {then_made} (a function is "called", an answer "given")."""

    parameters: Parameters
    sentence: str
    """What must hold, for people and the completion ledger."""
    instruction: str
    """The same as an instruction to an agent; {when} is the condition on the run."""
    at_call: str = ""
    """The instruction in fewer words, for a text that has named the call that triggers it. Empty: no shorter."""
    demand: Demand | None = None
    """Whether it demands a call or forbids one. None if it only restricts how a call is made."""
    broken: str = ""
    """What went wrong for good. Empty if the guard can always still be met."""
    owed: str = ""
    """What is still to do while the guard is pending. Empty if it never is."""
    timed: bool = False
    """Whether it can have a deadline."""
    guards_second: bool = False
    """Whether the second function triggers it; otherwise the first does."""
    follows_first: bool = False
    """Whether it demands something after every call of its first function."""
    distinct: bool = False
    """Whether its two functions must differ, because no run could keep it otherwise."""

    @property
    def takes_two(self) -> bool:
        """Whether it takes two functions."""
        return self.parameters in ("A, B", "A.field, B.argument")

    @property
    def counts(self) -> bool:
        """Whether its last parameter is a number."""
        return self.parameters == "F by argument, N"


FORMS: dict[Template, TemplateForm] = {
    "existence": TemplateForm(
        "F",
        "{first} is {made} and succeeds",
        "Call {first}{when}.",
        demand="a call",
        broken="{first} was not {made}{late}",
        owed="{first} still has to be {made}",
        timed=True,
    ),
    "absence": TemplateForm(
        "F",
        "{first} is not {made}",
        "Do not call {first}{when}.",
        demand="no call",
        broken="{first} was {made}",
    ),
    "at_most_once": TemplateForm(
        "F by argument",
        "{first} does not succeed twice with {same}",
        "Call {first} only once with {same}{when}.",
        broken="{first} succeeded twice with {same}",
    ),
    "at_most": TemplateForm(
        "F by argument, N",
        "{first} succeeds at most {count}{per}",
        "Call {first} at most {count}{per}{when}.",
        broken="{first} succeeded more than {count}{per}",
    ),
    "at_least": TemplateForm(
        "F by argument, N",
        "{first} succeeds at least {count}{per}",
        "Call {first} at least {count}{per}{when}.",
        demand="a call",
        owed="{first} has to succeed at least {count}{per}",
    ),
    "precedence": TemplateForm(
        "A, B",
        "{then} is {then_made} only after {first} has succeeded",
        "Call {first} and confirm that it succeeded before calling {then}{when}.",
        at_call="First call {first} and confirm that it succeeded.",
        broken="{then} was {then_made} before {first} had succeeded{late}",
        owed="{then} was refused; first {first}, then {then} again",
        timed=True,
        guards_second=True,
        distinct=True,
    ),
    "response": TemplateForm(
        "A, B",
        "after {first} succeeds, {then} is {then_made} and succeeds",
        "After {first}, call {then}{when}.",
        at_call="Afterwards call {then}.",
        demand="a call",
        broken="{first} succeeded, and {then} was not {then_made}{late}",
        owed="{first} has succeeded; {then} still has to be {then_made}",
        timed=True,
        follows_first=True,
        distinct=True,
    ),
    "not_succession": TemplateForm(
        "A, B",
        "once {first} has succeeded, {then} is not {then_made} again",
        "Once {first} has succeeded, do not call {then} any more{when}.",
        demand="no call",
        broken="{then} was {then_made} after {first} had succeeded",
        timed=True,
    ),
    "last": TemplateForm(
        "F",
        "{first} comes last and succeeds",
        "Call {first} last{when}.",
        demand="a call",
        owed="{first} has to come last",
    ),
    "known_value": TemplateForm(
        "F.argument",
        "every {argument} given to {first} was seen before the call",
        "Give {first} only values of {argument} that you have seen before{when}.",
        broken="{first} got a value for {argument} that had not been seen before",
        owed="{first} was refused; give it a value of {argument} that the task or a result has shown",
    ),
    "covers": TemplateForm(
        "A.field, B.argument",
        "every {field} that {first} returns is given as {argument} to {then}, which succeeds",
        "Call {then} for every {field} that {first} returns{when}.",
        owed="not every {field} of {first} has been given to {then} yet",
    ),
}
