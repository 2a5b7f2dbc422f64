"""ArgumentCondition: a condition on one argument of a call, written in brackets: `Mail.send[to given]`.

folder = INBOX                    compares with a fixed word, number or date; comparison.py has every operator
amount <= Shop.find.total         compares with what is looked up or calculated (quantity.py)
amount equals 100 times task      the same number as calculated, or the same text as in a field
to is e-mail address              the form of the value, as Function Cards name forms
to from Contacts.find             where the value was first seen: `task`, `user`, `nowhere` or a function
to from Contacts.find.mail        one of the values of this source (source.py)
text mentions Shop.find.id        the text contains a value of this source; `mentions every`: all of them; `omits`: none
text has at most 160 characters   also words, lines and, for a list, items; also `at least`
id picks lowest due of Shop.list  how the record it names was chosen (choice.py)
due falls on weekend              a condition on a date (date_relation.py)
cc given   cc missing             whether the argument is given at all

Short forms of `equals`: `amount times 100 of task`, `amount sums Shop.list.total`, `lines counts Shop.list`.

For an argument that is a list, one item is enough, except for `from`, which is about all of them. `each`
in front asks for every item: `each ids picks status = open of Shop.list`.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast, get_args

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import OPERATORS, Operator, write_expected
from contramem.monitor.quantity import find_quantity
from contramem.monitor.relation import RELATIONS, AnyOperand, Fixed, Test, read_operand


class ArgumentCondition(NamedTuple):
    """A condition on one argument of a call."""

    argument: str
    test: Test
    value: str = ""
    each: bool = False
    """Whether every item of the argument has to satisfy it, and not only one."""

    def __str__(self) -> str:
        subject = f"each {self.argument}" if self.each else self.argument
        if self.test in ("given", "missing"):
            return f"{subject} {self.test}"
        return f"{subject} {self.test} {self._written_value}"

    @property
    def _written_value(self) -> str:
        if isinstance(self.operand, Fixed) and self.test in get_args(Operator):
            return write_expected(cast(Operator, self.test), self.value)
        return self.value

    @property
    def operand(self) -> AnyOperand:
        """What the argument is compared with."""
        return read_operand(self.test, self.value)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that the condition looks values up in."""
        return self.operand.functions

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields of earlier results that it names, each with the function that returned it."""
        return self.operand.fields

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the call that it is about: its own, and those that this one is compared with."""
        return (self.argument, *self.operand.arguments)

    def holds(self, action: Action) -> bool:
        value = action.arguments.get(self.argument)
        if self.test in ("given", "missing"):
            return (value is not None) == (self.test == "given")
        if self.argument not in action.arguments:
            return False
        relation, operand = RELATIONS[self.test], self.operand
        if isinstance(value, (list, tuple)) and (self.each or relation.is_of_items):
            found = (relation.holds(action, self.argument, item, operand) for item in value)
            return bool(value) and (all(found) if self.each else any(found))
        return relation.holds(action, self.argument, value, operand)

    def in_words(self) -> str:
        """The condition as worded after the name of the function."""
        argument = f"`{self.argument}`"
        if self.test in ("given", "missing"):
            return f"{'with' if self.test == 'given' else 'without'} {argument}"
        words = self.relation_in_words()
        if self.test == "picks" and not self.each:
            return f"with the {argument} {words}"
        return f"with each of its {argument} {words}" if self.each else f"with {argument} {words}"

    def relation_in_words(self) -> str:
        """The condition as worded after the name of the argument. Not for `given` and `missing`."""
        return RELATIONS[self.test].say(self.operand)


_WORDS = "equals|is|from|mentions|omits|has|picks|times|sums|counts|falls"
_CONDITION = re.compile(
    rf"(each\s+)?([^\s=<>!]+)\s*(?:\s(given|missing)|({OPERATORS}|\s(?:{_WORDS})\s)\s*(.+))",
    re.DOTALL,
)


def parse_argument_condition(part: str, text: str) -> ArgumentCondition:
    """Parse one condition. `text` is the whole pattern, quoted in the error."""
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise GuardError(
            f"{part!r} in {text!r} is not a condition; write `arg = value`, `arg > 500`, `arg like 9-A9`, "
            '`arg contains "words"`, `arg from place`, `arg equals 100 times App.function.field`, `arg given` or '
            "`arg missing`; docs/guards.md lists them all"
        )
    each, argument, alone, test, value = match.groups()
    if alone:
        return ArgumentCondition(argument, cast(Test, alone))
    test, value = " ".join(test.split()), value.strip()
    if test == "=" and find_quantity("=", value) is not None:
        test = "equals"
    if each and test in ("from", "is"):
        raise GuardError(f"{part!r} in {text!r}: `{test}` is about all items already; leave `each` out")
    operand = read_operand(test, value, text)
    return ArgumentCondition(argument, cast(Test, test), RELATIONS[test].write(operand), bool(each))
