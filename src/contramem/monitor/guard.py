"""Guards: instances of DECLARE templates (process mining, LTL on finite traces) over the calls of a run.

    existence(F)            F is called, and works
    absence(F)              F is not called
    at_most_once(F)         F is not called twice with the same arguments
    precedence(A, B)        B is called only after A has worked
    response(A, B)          after the last A that worked, B is called and works
    known_value(F.arg)      F gets for `arg` only values that had been seen before the call

Any of them may end in `when F`: it then speaks only about runs in which F is called. Functions are `App.function`.
A call that failed and was tried again later is a try, not a deed: `precedence` does not mind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Step
from contramem.contrast.signals import same_call
from contramem.errors import GuardError

Template: TypeAlias = Literal["existence", "absence", "at_most_once", "precedence", "response", "known_value"]
Verdict: TypeAlias = Literal["holds", "broken", "vacuous"]
"""Vacuous: nothing the guard speaks about happened, so that it holds without having been tried."""

_TWO = ("precedence", "response")
_TEXT = re.compile(r"(\w+)\(\s*([^(),\s]+)\s*(?:,\s*([^(),\s]+)\s*)?\)(?:\s+when\s+(\S+))?\s*")


class Guard(NamedTuple):
    """One checkable condition."""

    template: Template
    function: str
    """What it is about; the first of two."""
    then: str = ""
    """The second function of `precedence` and `response`."""
    argument: str = ""
    """Of `known_value`."""
    when: str = ""

    def __str__(self) -> str:
        inside = f"{self.function}.{self.argument}" if self.argument else self.function
        inside = f"{inside}, {self.then}" if self.then else inside
        return f"{self.template}({inside})" + (f" when {self.when}" if self.when else "")

    @property
    def target(self) -> str:
        """The call that it asks for, forbids or guards."""
        return self.then or self.function

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in (self.function, self.then, self.when) if name))

    def check(self, steps: Sequence[Step]) -> Verdict:
        """How a finished run fared: `steps` are all its steps, or its actions."""
        calls = [step for step in steps if step.function and step.actor == "agent"]
        if self.when and not any(step.function == self.when for step in calls):
            return "vacuous"
        return _CHECKS[self.template](self, calls)


def parse_guard(text: str) -> Guard:
    """The guard that `text` writes. Raises GuardError with what is wrong."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise GuardError(f"{text!r} is no guard. Write, for example, precedence(App.search, App.delete).")
    template, first, second, when = match.groups()
    if template not in get_args(Template):
        raise GuardError(f"{text!r}: there is no template {template!r}. Templates are {', '.join(get_args(Template))}.")
    if (second is not None) != (template in _TWO):
        raise GuardError(f"{text!r}: {template} takes {'two functions' if template in _TWO else 'one function'}.")
    argument = ""
    if template == "known_value":
        first, _, argument = first.rpartition(".")
    for function in (first, second, when):
        if function is not None and function.count(".") != 1:
            raise GuardError(f"{text!r}: functions are written App.function; {function!r} is not.")
    return Guard(cast(Template, template), first, second or "", argument, when or "")


def guards_of(texts: Iterable[str]) -> tuple[Guard, ...]:
    """The guards that a card writes."""
    return tuple(parse_guard(text) for text in texts)


def _existence(guard: Guard, calls: list[Step]) -> Verdict:
    return "holds" if any(_works(step, guard.function) for step in calls) else "broken"


def _absence(guard: Guard, calls: list[Step]) -> Verdict:
    return "broken" if any(step.function == guard.function for step in calls) else "holds"


def _at_most_once(guard: Guard, calls: list[Step]) -> Verdict:
    made = [same_call(step) for step in calls if _works(step, guard.function)]
    if not made:
        return "vacuous"
    return "holds" if len(made) == len(set(made)) else "broken"


def _precedence(guard: Guard, calls: list[Step]) -> Verdict:
    done = [index for index, step in enumerate(calls) if _works(step, guard.then)]
    tried = [index for index, step in enumerate(calls) if step.function == guard.then]
    if not tried:
        return "vacuous"
    first = min(done, default=tried[-1])
    return "holds" if any(_works(step, guard.function) for step in calls[:first]) else "broken"


def _response(guard: Guard, calls: list[Step]) -> Verdict:
    last = max((index for index, step in enumerate(calls) if _works(step, guard.function)), default=None)
    if last is None:
        return "vacuous"
    return "holds" if any(_works(step, guard.then) for step in calls[last + 1 :]) else "broken"


def _known_value(guard: Guard, calls: list[Step]) -> Verdict:
    origins = [step.origins[guard.argument] for step in calls if _gives(step, guard)]
    if not origins:
        return "vacuous"
    return "broken" if NOWHERE in origins else "holds"


def _gives(step: Step, guard: Guard) -> bool:
    return step.function == guard.function and guard.argument in step.origins


def _works(step: Step, function: str) -> bool:
    return step.function == function and not step.error


_CHECKS = {
    "existence": _existence,
    "absence": _absence,
    "at_most_once": _at_most_once,
    "precedence": _precedence,
    "response": _response,
    "known_value": _known_value,
}
