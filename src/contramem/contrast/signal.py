"""Signal: one difference between the runs of a task, in words, with the events that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step

Axis: TypeAlias = Literal["correctness", "efficiency", "recovery", "recurring failure"]

CLEAR_DIFFERENCE = 0.5
"""How much larger the share of one side must be for a difference to be reported."""


class Cite(NamedTuple):
    """An event that shows the signal: a run's letter and the position in that run."""

    run: str
    position: int


class Signal(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One difference between runs of a task."""

    axis: Axis
    kind: str
    statement: str
    passing: tuple[str, ...] = ()
    """Letters of the passing runs that show it."""
    failing: tuple[str, ...] = ()
    cites: tuple[Cite, ...] = ()
    functions: tuple[str, ...] = ()
    argument: str = ""
    strength: float = 0.0
    """0 to 1: how cleanly it separates the runs. Orders the signals of a packet."""


class RunsByOutcome(NamedTuple):
    """The runs that are evidence, by outcome."""

    passing: tuple[PacketRun, ...]
    failing: tuple[PacketRun, ...]

    @property
    def all(self) -> tuple[PacketRun, ...]:
        return self.passing + self.failing


def describe_step(step: Step | None) -> str:
    """What a step did, or that there was none."""
    return "stop" if step is None else in_words(step.label)


def in_words(label: str) -> str:
    """A label as a verb phrase."""
    return f"call {label}" if "." in label else {"final answer": "give the final answer"}.get(label, label)


def subject(cases: Sequence[object]) -> str:
    """`2 failing runs`."""
    return f"{len(cases)} failing run" + ("s" if len(cases) > 1 else "")


def conjugate(phrase: str, cases: Sequence[object]) -> str:
    """`calls X` for one run, `call X` for several."""
    verb, _, rest = phrase.partition(" ")
    return f"{verb}s {rest}".strip() if len(cases) == 1 else phrase


def first_call(run: PacketRun, function: str) -> Step | None:
    """The first call of `function` in a run."""
    return next((step for step in run.actions if step.function == function), None)


def cites_of(cases: Sequence[tuple[PacketRun, Step]]) -> tuple[Cite, ...]:
    """The events behind (run, step) pairs."""
    return tuple(Cite(run.letter, step.position) for run, step in cases)


def show_argument(step: Step, name: str) -> str:
    """An argument as shown to a reader."""
    return repr(step.arguments[name]) if name in step.arguments else "left out"


def is_prose(value: str) -> bool:
    """Is the value free text, so that different wording is not a difference?"""
    return value.startswith("'<TEXT")


def differing_arguments(left: Step, right: Step) -> bool:
    """Do two calls of one function differ in more than the wording of a text?"""
    if left.arguments == right.arguments or (left.speaks and right.speaks):
        return False
    return any(
        left.arguments.get(name) != right.arguments.get(name)
        for name in left.arguments.keys() | right.arguments.keys()
        if not (is_prose(repr(left.arguments.get(name))) and is_prose(repr(right.arguments.get(name))))
    )


def same_call(step: Step) -> tuple[str, str]:
    """What makes two calls the same call."""
    return step.function, repr(sorted(step.arguments.items(), key=lambda item: item[0]))


def functions_of(*steps: Step | None) -> tuple[str, ...]:
    """The distinct functions of some steps."""
    return tuple(dict.fromkeys(step.function for step in steps if step is not None and step.function))
