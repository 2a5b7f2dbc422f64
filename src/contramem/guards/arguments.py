"""ArgumentCondition: a condition on one argument of a call, written in brackets: `Mail.send[to given]`.

folder = INBOX                    compares with a fixed word, number or date; values.py has every operator
amount <= Shop.find.total         compares with what is looked up or calculated (values.py)
amount equals 100 times task      the same number as calculated, or the same text as in a field
to is e-mail address              the form of the value, as Function Cards name forms
to from Contacts.find             where the value was first seen: `task`, `user`, `nowhere` or a function
to from Contacts.find.mail        one of the values of this source (values.py)
text mentions Shop.find.id        the text contains a value of this source; `mentions every`: all of them; `omits`: none
text has at most 160 characters   also words, lines and, for a list, items; also `at least`
id picks lowest due of Shop.list  how the record it names was chosen (choices.py)
due falls on weekend              a condition on a date (dates.py)
cc given   cc missing             whether the argument is given at all

Short forms of `equals`: `amount times 100 of task`, `amount sums Shop.list.total`, `lines counts Shop.list`. For an
argument that is a list, one item is enough, except for `from`, which is about all of them. `each` in front asks for
every item: `each ids picks status = open of Shop.list`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from contramem.errors import GuardError
from contramem.guards.actions import Action
from contramem.guards.choices import FieldTest, RecordChoice, parse_choice
from contramem.guards.dates import DateRelation, parse_date_relation, reverse_bound
from contramem.guards.values import (
    FIELD_PLACE,
    OPERATOR_WORDS,
    OPERATORS,
    Operator,
    Quantity,
    Read,
    Source,
    find_quantity,
    name_place,
    parse_quantity,
    parse_source,
    plain_text,
    read_expected,
    say_operator,
    unquote,
    write_expected,
    write_number,
)

Test: TypeAlias = (
    Operator
    | Literal["equals", "is", "from", "mentions", "omits", "has", "picks", "times", "sums", "counts", "falls"]
    | Literal["given", "missing"]
)


class FirstSeen(NamedTuple):
    """Where a value was first seen: `task`, `user`, `nowhere` or a function."""

    place: str

    def __str__(self) -> str:
        return self.place

    @property
    def reads(self) -> tuple[Read, ...]:
        return (Read(self.place),) if "." in self.place else ()

    def in_words(self) -> str:
        return name_place(self.place)


class Length(NamedTuple):
    """The length of a text or of a list."""

    bound: str
    """`at most` or `at least`."""
    number: int
    unit: str

    def __str__(self) -> str:
        return f"{self.bound} {self.number} {self.unit}{'' if self.number == 1 else 's'}"

    @property
    def reads(self) -> tuple[Read, ...]:
        return ()

    def reverse_bound(self) -> Length:
        """What is true exactly if this is not."""
        return Length(*reverse_bound(self.bound, self.number), self.unit)

    def has(self, value: Any) -> bool:
        size = _SIZES[self.unit](value)
        return size <= self.number if self.bound == "at most" else size >= self.number

    def in_words(self) -> str:
        return str(self)


_SIZES: dict[str, Callable[[Any], int]] = {
    "character": lambda value: len(str(value)),
    "word": lambda value: len(str(value).split()),
    "line": lambda value: len([line for line in str(value).splitlines() if line.strip()]),
    "item": lambda value: len(value) if isinstance(value, (list, tuple, dict)) else 1,
}
_SIZE = re.compile(r"(at most|at least)\s+(\d+)\s+(character|word|line|item)s?")


class Every(NamedTuple):
    """Every value of a source, where otherwise one is enough."""

    source: Source

    def __str__(self) -> str:
        return f"every {self.source}"

    @property
    def reads(self) -> tuple[Read, ...]:
        return self.source.reads

    def in_words(self) -> str:
        return f"every value of {self.source.in_words()}"


Operand: TypeAlias = str | Quantity | Source | Every | FirstSeen | Length | RecordChoice | DateRelation
"""What an argument is compared with. A text is a word, a number or a form: nothing that has to be looked up."""


class Relation(NamedTuple):
    """What a condition can say about the value of an argument."""

    read: Callable[[str, str], Any]
    """The operand that a text is. The second argument is the whole pattern, quoted in the error."""
    holds: Callable[[Any, Any, Action, str], bool]
    """Of the operand, the value, the action and the name of the argument."""
    words: str
    write: Callable[[Any], str] = str
    is_of_items: bool = False
    """Whether it is enough that it holds for one item, if the value is a list."""


def _read_compared(operator: Operator, value: str, text: str) -> str | Quantity:
    quantity = find_quantity(operator, value) if operator != "=" else None
    return quantity or (read_expected(operator, value, text) if text else value)  # without a text, it is unquoted


def _compare(operator: Operator, operand: str | Quantity, value: Any, action: Action, argument: str) -> bool:
    return FieldTest(operator, operand).holds(value, action)


def _read_origin(value: str, text: str) -> FirstSeen | Source:
    place = unquote(value, text)
    is_origin = place in ("task", "user", "nowhere") or (place.count(".") == 1 and " " not in place)
    return FirstSeen(place) if is_origin else _read_source(place, text)


def _is_from(operand: FirstSeen | Source, value: Any, action: Action, argument: str) -> bool:
    if isinstance(operand, FirstSeen):
        return action.origin(argument) == operand.place
    values = action.values(argument)
    return bool(values) and values <= operand.texts(action)


def _read_source(value: str, text: str) -> Source:
    source = None if value.startswith('"') else parse_source(value)
    if source is None or source.kind in ("task", "argument"):
        raise GuardError(f"{value!r} in {text!r}: write `App.function.field`; for words, `contains` and `lacks`")
    return source


def _read_mentioned(value: str, text: str) -> Source | Every:
    source = _read_source(value.removeprefix("every ").strip(), text)
    return Every(source) if value.startswith("every ") else source


def _mentions(operand: Source | Every, value: Any, action: Action, argument: str) -> bool:
    source = operand.source if isinstance(operand, Every) else operand
    whole, values = plain_text(value), [seen for seen in source.texts(action) if seen]
    found = (seen in whole for seen in values)
    return bool(values) and all(found) if isinstance(operand, Every) else any(found)


def _read_size(value: str, text: str) -> Length:
    match = _SIZE.fullmatch(value)
    if match is None:
        raise GuardError(f"{value!r}: write `has at most 160 characters`; also `at least`, words, lines and items")
    return Length(match[1], int(match[2]), match[3])


_TIMES = re.compile(rf"(\d+(?:\.\d+)?)\s+of\s+(task|{FIELD_PLACE})")
_SUM = re.compile(rf"((?:\d+(?:\.\d+)?\s+times\s+)?)({FIELD_PLACE}(?:\s+where\s+.+)?)", re.DOTALL)
_COUNT = re.compile(r"[^\s.]+\.[^\s.]+(?:\.\S+)?(?:\s+where\s+.+)?", re.DOTALL)


def _require(form: re.Pattern[str], value: str, text: str, example: str) -> re.Match[str]:
    match = form.fullmatch(value)
    if match is None:
        raise GuardError(f"{value!r} in {text!r}: write {example}")
    return match


def _read_multiple(value: str, text: str) -> Quantity:
    match = _require(_TIMES, value, text, "`times 100 of task` or `times 100 of App.function.field`")
    factor = write_number(float(match[1]))
    return parse_quantity(match[2] if factor == "1" else f"{factor} times {match[2]}")


def _write_multiple(quantity: Quantity) -> str:
    return f"{quantity.source} of {quantity.steps[0][1]}" if quantity.steps else f"1 of {quantity.source}"


def _read_sum(value: str, text: str) -> Quantity:
    match = _require(_SUM, value, text, "`sums App.function.field`")
    return parse_quantity(f"{match[1]}sum of {match[2]}")


def _read_count(value: str, text: str) -> Quantity:
    return parse_quantity(f"count of {_require(_COUNT, value, text, '`counts App.function`')[0]}")


def _equals(quantity: Quantity, value: Any, action: Action, argument: str) -> bool:
    return quantity.equals(value, action)


RELATIONS: dict[str, Relation] = {
    operator: Relation(partial(_read_compared, operator), partial(_compare, operator), words.of_argument)
    for operator, words in OPERATOR_WORDS.items()
} | {
    "equals": Relation(lambda value, text: parse_quantity(value), _equals, "as {}", is_of_items=True),
    "times": Relation(_read_multiple, _equals, "as {}", _write_multiple, is_of_items=True),
    "sums": Relation(_read_sum, _equals, "as {}", lambda total: str(total).replace("sum of ", "", 1), is_of_items=True),
    "counts": Relation(_read_count, _equals, "as {}", lambda n: str(n).removeprefix("count of "), is_of_items=True),
    "is": Relation(unquote, lambda form, value, action, argument: action.form(argument) == form, "as {}"),
    "from": Relation(_read_origin, _is_from, "from {}"),
    "mentions": Relation(_read_mentioned, _mentions, "that contains {}"),
    "omits": Relation(_read_mentioned, lambda *asked: not _mentions(*asked), "that does not contain {}"),
    "has": Relation(_read_size, lambda size, value, *_: size.has(value), "of {}"),
    "picks": Relation(
        lambda value, text: parse_choice(value),
        lambda choice, value, action, argument: choice.is_made(action, value),
        "of {}",
        is_of_items=True,
    ),
    "falls": Relation(
        lambda value, text: parse_date_relation(value),
        lambda relation, value, action, argument: relation.holds(action, value),
        "that falls {}",
        is_of_items=True,
    ),
    "given": Relation(lambda value, text: "", lambda *asked: True, "with {}"),
    "missing": Relation(lambda value, text: "", lambda *asked: False, "without {}"),
}


@lru_cache(maxsize=1 << 14)  # a study replays thousands of guards
def read_operand(test: str, value: str, text: str = "") -> Operand:
    """The operand of a relation. Raises GuardError with what is wrong."""
    return cast(Operand, RELATIONS[test].read(value, text))


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
        is_fixed = isinstance(self.operand, str) and self.test in get_args(Operator)
        return (
            f"{subject} {self.test} {write_expected(cast(Operator, self.test), self.value) if is_fixed else self.value}"
        )

    @property
    def operand(self) -> Operand:
        """What the argument is compared with."""
        return read_operand(self.test, self.value)

    @property
    def reads(self) -> tuple[Read, ...]:
        """What else it looks values up in."""
        operand = self.operand
        return () if isinstance(operand, str) else operand.reads

    def holds(self, action: Action) -> bool:
        value = action.arguments.get(self.argument)
        if self.test in ("given", "missing"):
            return (value is not None) == (self.test == "given")
        if self.argument not in action.arguments:
            return False
        relation, operand = RELATIONS[self.test], self.operand
        if isinstance(value, (list, tuple)) and (self.each or relation.is_of_items):
            found = (relation.holds(operand, item, action, self.argument) for item in value)
            return bool(value) and (all(found) if self.each else any(found))
        return relation.holds(operand, value, action, self.argument)

    def in_words(self) -> str:
        """The condition as worded after the name of the function."""
        argument = f"`{self.argument}`"
        if self.test in ("given", "missing"):
            return RELATIONS[self.test].words.format(argument)
        words = self.relation_in_words()
        if self.test == "picks" and not self.each:
            return f"with the {argument} {words}"
        return f"with each of its {argument} {words}" if self.each else f"with {argument} {words}"

    def relation_in_words(self) -> str:
        """The condition as worded after the name of the argument. Not for `given` and `missing`."""
        if self.operand == FirstSeen("nowhere"):
            return "that was seen nowhere before"
        words = self.operand if isinstance(self.operand, str) else self.operand.in_words()
        if self.test in OPERATOR_WORDS:
            return say_operator(self.test, words, "of_argument")
        return RELATIONS[self.test].words.format(words)


_TESTS = "|".join(test for test in RELATIONS if test not in (*OPERATOR_WORDS, "given", "missing"))
_CONDITION = re.compile(
    rf"(each\s+)?([^\s=<>!]+)\s*(?:\s(given|missing)|({OPERATORS}|\s(?:{_TESTS})\s)\s*(.+))", re.DOTALL
)


def parse_argument(part: str, text: str) -> ArgumentCondition:
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
