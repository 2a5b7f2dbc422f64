"""ArgumentCondition: what a guard asks of one argument of a call. Patterns carry them: `Mail.send[to given]`.

folder = INBOX                    the value, a closed word or a number; also != < <= > >=
due like 9-A9                     how it is written: 9 for digits, A for capitals, a for small letters
text contains "thank you"         a piece of text; `lacks` is its opposite
to is e-mail address              its form, as Function Cards name forms
to from Contacts.find             where it had first been seen: `task`, `user`, `nowhere` or a function
to from Contacts.find.mail        it stood under this field in what the function had returned
id picks lowest due of Shop.list  of the records that the function had returned, it is that with the lowest `due`;
                                  also `highest`, `first of F`, `last of F`, and `status = open of F`
amount times 100 of task          it is so many times a number of the task, or of `App.function.field`
cc given   cc missing             whether the argument is given at all
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import msgspec

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.choice import parse_choice
from contramem.monitor.comparison import (
    NUMERIC,
    Operator,
    read_number,
    satisfies,
    write_number,
    write_value,
)

Test: TypeAlias = Literal[
    "=", "!=", "<", "<=", ">", ">=", "like", "contains", "lacks", "is", "from", "picks", "times", "given", "missing"
]


class ArgumentCondition(NamedTuple):
    """What one argument of a call must be."""

    argument: str
    test: Test
    value: str = ""

    def __str__(self) -> str:
        if self.test in ("given", "missing"):
            return f"{self.argument} {self.test}"
        return f"{self.argument} {self.test} {self._written_value}"

    @property
    def _written_value(self) -> str:
        if self.test in get_args(Operator) and self.test not in NUMERIC:
            return write_value(self.value)
        return self.value

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that it names as the place a value comes from."""
        place = self.value.rpartition(" ")[2] if self.test in ("from", "picks", "times") else ""
        return (function_of_place(place),) if "." in place else ()

    def holds(self, action: Action) -> bool:
        value = action.arguments.get(self.argument)
        if self.test in ("given", "missing"):
            return (value is not None) == (self.test == "given")
        if self.argument not in action.arguments:
            return False
        if self.test == "is":
            return action.form(self.argument) == self.value
        if self.test == "from":
            return _is_from(action, self.argument, self.value)
        if self.test == "picks":
            return parse_choice(self.value).is_made(action, value)
        if self.test == "times":
            return _is_multiple(action, value, self.value)
        return satisfies(value, cast(Operator, self.test), self.value)

    def in_words(self) -> str:
        """As it stands in a sentence, after the name of the function."""
        argument = f"`{self.argument}`"
        if self.test in ("given", "missing"):
            return f"{'with' if self.test == 'given' else 'without'} {argument}"
        if self.test == "from":
            return f"with {argument} {_place_in_words(self.value)}"
        if self.test == "picks":
            return f"with the {argument} of {parse_choice(self.value).in_words()}"
        if self.test == "times":
            factor, _, place = self.value.partition(" of ")
            return f"with {argument} as {factor} times a number {_place_in_words(place)}"
        return f"with {argument} {_COMPARED[self.test].format(self.value)}"


_COMPARED = {
    "=": "{}",
    "is": "as {}",
    "!=": "other than {}",
    "<": "below {}",
    "<=": "of at most {}",
    ">": "above {}",
    ">=": "of at least {}",
    "like": "written like {}",
    "contains": "that contains “{}”",
    "lacks": "that does not contain “{}”",
}
_PLACES = {"task": "from the task", "user": "from the user", "nowhere": "that was seen nowhere before"}


def function_of_place(place: str) -> str:
    """`App.function` of `App.function` and of `App.function.field`."""
    return ".".join(place.split(".")[:2])


def field_of_place(place: str) -> str:
    """The field of `App.function.field`; empty where the place is the function itself."""
    return place.split(".", 2)[2] if place.count(".") >= 2 else ""


def _place_in_words(place: str) -> str:
    if field := field_of_place(place):
        return f"from the `{field}` of `{function_of_place(place)}`"
    return _PLACES.get(place, f"from `{place}`")


def _is_from(action: Action, argument: str, place: str) -> bool:
    if field := field_of_place(place):
        values = action.values(argument)
        return bool(values) and values <= action.seen_values(function_of_place(place), field)
    return action.origin(argument) == place


def _is_multiple(action: Action, value: Any, text: str) -> bool:
    factor, _, place = text.partition(" of ")
    number = read_number(value)
    if number is None:
        return False
    bases = action.task_numbers() if place == "task" else _numbers(action, place)
    return any(abs(number - base * float(factor)) < 1e-6 * max(1.0, abs(number)) for base in bases if base)


def _numbers(action: Action, place: str) -> list[float]:
    values = action.seen_values(function_of_place(place), field_of_place(place))
    return [number for value in values if (number := read_number(value)) is not None]


_CONDITION = re.compile(
    r"([^\s=<>!]+)\s*(?:\s(given|missing)|(!=|<=|>=|=|<|>|\s(?:like|contains|lacks|is|from|picks|times)\s)\s*(.+))",
    re.DOTALL,
)
_TIMES = re.compile(r"(\d+(?:\.\d+)?)\s+of\s+(task|[^\s.]+\.[^\s.]+\.\S+)")


def parse_argument_condition(part: str, text: str) -> ArgumentCondition:
    """The condition that `part` writes; `text` is all of the pattern, for the complaint."""
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise GuardError(
            f"{part!r} in {text!r} is no condition; write `arg = value`, `arg > 500`, `arg like 9-A9`, `arg is form`, "
            "`arg from place`, `arg given` or `arg missing`"
        )
    argument, alone, test, value = match.groups()
    if alone:
        return ArgumentCondition(argument, cast(Test, alone))
    return ArgumentCondition(argument, cast(Test, test.strip()), _read_value(test.strip(), value.strip(), text))


def _read_value(test: str, value: str, text: str) -> str:
    if test in NUMERIC:
        return read_threshold(value, text)
    if test == "picks":
        return str(parse_choice(value))
    if test == "times":
        match = _TIMES.fullmatch(value)
        if match is None:
            raise GuardError(f"{value!r} in {text!r}: write `times 100 of task` or `times 100 of App.function.field`")
        return f"{write_number(float(match[1]))} of {match[2]}"
    return unquote(value, text)


def read_threshold(value: str, text: str) -> str:
    """A number, written the one way. Raises GuardError for anything else."""
    number = read_number(unquote(value, text))
    if number is None:
        raise GuardError(f"{value!r} in {text!r} is no number")
    return write_number(number)


def unquote(value: str, text: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        raise GuardError(f"{value} in {text!r} is no quoted text") from None
