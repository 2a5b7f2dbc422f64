"""Step: one event of a run as authors see it, with values as placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import msgspec

from contramem.contrast.flow import Flow
from contramem.contrast.form import ResultForm
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.shown_results import ShownResults, redact_text
from contramem.contrast.speech import asks, speech_of
from contramem.contrast.values import form_of_value
from contramem.privacy.instructions import without_instructions
from contramem.privacy.taint import find_tainted_calls
from contramem.traces.effects import words
from contramem.traces.trajectory import Actor, Effect, Event, Kind, Trajectory

MAX_SHAPE_CHARS = 24
MAX_KEPT_CHARS = 200
"""The shapes of longer texts are not cached."""
MAX_PROSE_CHARS = 160


class Step(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One event of a run, redacted."""

    position: int
    actor: Actor
    kind: Kind
    text: str = ""
    """What was said. For a call that talks to the user: what it says."""
    function: str = ""
    arguments: dict[str, Any] = {}
    effect: Effect = "unknown"
    forms: dict[str, str] = {}
    """The form of each argument's value: `integer`, `e-mail address`, `list of dates YYYY-MM-DD`."""
    form: ResultForm | None = None
    """The form of the result. None: the trace does not contain the result."""
    returned: str = ""
    """The result in words: its form, or its redacted text if that is short and plain."""
    contents: tuple[tuple[tuple[str, str], ...], ...] = ()
    """For a short result with fields: its items, each as (field, redacted value), a list with its field repeated."""
    shapes: dict[str, str] = {}
    """How each argument's value is written, without the value: `9999-A99`, `999.99`."""
    error: str = ""
    """The template of the error message: redacted, with placeholders unnumbered."""
    origins: dict[str, str] = {}
    """Where each argument's value was seen before the call: `task`, a function, or `nowhere`."""
    fields: dict[str, str] = {}
    """For arguments whose value came from a result: the field that contained it."""
    tainted: bool = False
    """The call follows from an instruction planted in a tool's result: it is shown but teaches nothing."""
    asks: bool = False
    """A message of the agent that the user then answers, or that ends the run with a question."""
    prose: dict[str, str] = {}
    """The beginning of each text that a write was given, and of each command, with values masked."""
    at_s: float | None = None
    """Seconds since the run began; only in tasks where some run waits."""

    @property
    def label(self) -> str:
        """What the agent did here, in a word: the function, `ask the user` or `final answer`. Empty: nothing."""
        if self.actor == "agent" and self.kind == "final" and (self.text or not self.function):
            return FINAL
        if self.asks:
            return ASK
        return self.function if self.actor == "agent" else ""

    @property
    def speaks(self) -> bool:
        """Is it a call that talks to the user?"""
        return bool(self.function and self.text)


ASK, FINAL = "ask the user", "final answer"


def find_actions(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps in which the agent acted by itself."""
    return tuple(step for step in steps if step.label and not step.tainted)


def make_steps(run: Trajectory, results: ShownResults, times: Mapping[int, float]) -> Iterator[Step]:
    """The steps of a run. `times`: when events happened, in seconds since the run began, by position."""
    placeholders = results.placeholders
    flow = Flow(run.task)
    tainted = find_tainted_calls(run)
    for event, following in zip_longest(run.events, run.events[1:]):
        answered = following is not None and following.actor == "user"
        if event.function:
            step = _call_step(event, results, flow, event.position in tainted, answered)
        else:
            is_question = event.kind == "message" and event.actor == "agent" and answered
            redact = placeholders.received if event.actor == "environment" else placeholders.text
            text = redact_text(event.text, redact)
            step = Step(event.position, event.actor, event.kind, text, asks=is_question)
        at_s = times.get(event.position)
        yield step if at_s is None else msgspec.structs.replace(step, at_s=at_s)
        flow.observe(event)


def _call_step(event: Event, results: ShownResults, flow: Flow, tainted: bool, answered: bool) -> Step:
    result, origins, speech = event.result, flow.origins(event), speech_of(event)
    placeholders = results.placeholders
    arguments = placeholders.arguments(event)
    shown = None if result is None else results.show(event.function, result.content)
    return Step(
        position=event.position,
        actor=event.actor,
        kind=event.kind,
        text=placeholders.prose(without_instructions(speech)) if speech else "",
        function=event.function,
        arguments=arguments,
        effect=event.effect,
        forms={name: form_of_value(value, name) for name, value in event.arguments.items()},
        form=shown.form if shown is not None else None,
        returned=shown.returned if shown is not None else "",
        contents=shown.contents if shown is not None and not tainted else (),
        shapes={
            name: shape_of(value) for name, value in event.arguments.items() if not isinstance(value, (dict, list))
        },
        error=error_template(redact_text(result.error, placeholders.text))
        if result is not None and result.error
        else "",
        origins=origins,
        fields=flow.fields(event, origins),
        prose=_prose(event, arguments, placeholders) if not (speech or tainted) else {},
        tainted=tainted,
        asks=bool(speech) and (answered or (event.kind == "final" and asks(speech))),
    )


def _prose(event: Event, arguments: Mapping[str, Any], placeholders: Placeholders) -> dict[str, str]:
    """The texts that a write was given and the commands of any call, as far as an author may read them."""
    texts = {name: value for name, value in event.arguments.items() if str(arguments[name]).startswith("<TEXT")}
    return {
        name: " ".join(
            (placeholders.received if is_command(name) else placeholders.prose)(without_instructions(value)).split()
        )[:MAX_PROSE_CHARS]
        for name, value in texts.items()
        if isinstance(value, str) and (event.effect == "write" or is_command(name))
    }


def is_command(argument: str) -> bool:
    """Does this argument contain what a shell, an interpreter or a database is to do?"""
    named = words(argument)
    return bool(named) and named[-1] in _COMMANDS


_COMMANDS = frozenset("command cmd code script sql expression".split())


def shape_of(value: object) -> str:
    """How a value is written: digits as 9, letters as A and a, with runs of lower-case letters collapsed."""
    text = str(value)
    return _shape_once(text) if len(text) <= MAX_KEPT_CHARS else _shape_of_text(text)


def _shape_of_text(text: str) -> str:
    latin = text if text.isascii() else _OTHER_LETTERS.sub(lambda letters: _in_latin(letters[0]), text)
    shape = _DIGIT.sub("9", _LOWER.sub("a", _UPPER.sub("A", latin)))
    return shape if len(shape) <= MAX_SHAPE_CHARS else ""


_shape_once = lru_cache(maxsize=1 << 12)(_shape_of_text)  # runs of one task pass mostly the same values


def _in_latin(letters: str) -> str:
    """Letters of any script as A and a, so that no name can be read from its shape."""
    return "".join("A" if letter.isupper() else "a" for letter in letters)


_UPPER, _LOWER, _DIGIT = re.compile(r"[A-Z]"), re.compile(r"[a-z]+"), re.compile(r"\d")
_OTHER_LETTERS = re.compile(r"[^\W\d_A-Za-z]+")
_NUMBERED = re.compile(r"<([A-Z]+)_\d+>")
_LONG_QUOTE = re.compile(r"(?<![\w>)])(['\"`])(?! )[^'\"`]{40,}(?<! )\1(?!\w)")
"""Not what stands between two quotations: `'1.5' must be written with two decimals, such as '1.50'`."""


def error_template(redacted: str) -> str:
    """The error without what is specific to the call, so that the same complaint has the same text everywhere."""
    lines = [" ".join(line.split()) for line in redacted.splitlines() if line.strip()]
    # Validators put the field and the complaint below their title; only the beginning of a long traceback is used.
    return _LONG_QUOTE.sub("<TEXT>", _NUMBERED.sub(r"<\1>", " / ".join(lines[:3])))[:200]
