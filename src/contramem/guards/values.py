"""Values: how one is compared, and where those come from that it is compared with.

= !=          the same word or number (case is ignored)
< <= > >=     numbers; `1,200.50` and `$500` are numbers too. Or dates: `< 2026-03-01`
like          the same shape: 9 stands for digits, A for capitals, a for small letters (`2026-W05` is 9-A9);
              doubled, they are counted (9999-A99), and any other character stands for itself (9999-W99)
contains lacks   a substring; also `starts with` and `ends with`
one of, none of  a set of words: `one of open | held`

All of what a value is compared with was seen before the call:

500                                   a number
task                                  the numbers in the request, or its dates
quantity                              another argument of the same call
App.find.total                        the values of this field in earlier results
total of lowest due of App.list       of the record that is chosen so (choices.py)
sum of App.list.total                 over the records of one result, or of all of them; may end in `where`
count of App.list                     the number of records in a result; may end in `where`
90 % of App.find.total plus 10        calculated from left to right; also `times`, `minus`, `rounded up to 1000` (the
                                      next multiple), `rounded down to`, `rounded to` (the nearest)

If there are several values, a condition holds if one of them fits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from contramem.errors import GuardError
from contramem.guards.dates import WRITTEN_DATE, read_time
from contramem.guards.results import field_values

if TYPE_CHECKING:
    from contramem.guards.actions import Action
    from contramem.guards.choices import Filters, RecordChoice

# Numbers and texts

MAX_SPELLED_CHARS = 40
MAX_NUMBER = 1e300
"""Programs pass larger ones and infinity, but nothing can be calculated with them."""
_NUMBER = re.compile(r"([-+]?)\s*[$€£¥₹]?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*%?")


def plain_text(value: Any) -> str:
    """A value as case-folded text, so that JSON's `true` equals Python's `True`."""
    return str(value).strip().casefold()


def take_number(value: Any) -> float | None:
    """The number that a value is; None if it is anything else, a text that spells a number too."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < MAX_NUMBER else None


def read_number(value: Any) -> float | None:
    """The number that a value is or spells; None if it is not a number."""
    if not isinstance(value, str):
        return take_number(value)
    return _read_spelled(value) if len(value) < MAX_SPELLED_CHARS else None


@lru_cache(maxsize=1 << 14)  # thousands of guards compare the same values
def _read_spelled(text: str) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    return float(f"{match[1]}{match[2].replace(',', '')}{match[3] or ''}") if match else None


def read_numbers(values: Iterable[Any]) -> list[float]:
    return [number for value in values if (number := read_number(value)) is not None]


def write_number(value: float) -> str:
    return f"{value:.12g}"


def is_near(number: float, other: float) -> bool:
    return abs(number - other) < 1e-6 * max(1.0, abs(number))


def is_same(actual: Any, expected: Any) -> bool:
    """Whether two values are the same text, ignoring case, or the same number."""
    if plain_text(actual) == plain_text(expected):
        return True
    number = read_number(actual)
    return number is not None and number == read_number(expected)


# Shapes

MAX_SHAPE_CHARS = 40
MAX_KEPT_CHARS = 200
"""The shapes of longer texts are not cached."""
_RUNS = re.compile(r"\d+|[^\W\d_]+")
_CLASSES = {"9": r"\d", "A": r"[^\W\d_a-zß-ÿ]", "a": r"[^\W\d_A-ZÀ-Þ]"}
_SAME = re.compile(r"(.)\1*", re.DOTALL)


def shape_of(value: Any) -> str:
    """The shape of a value without its content: `2026-W05` is `9-A9`, `Jane Doe` is `Aa Aa`."""
    text = str(value)
    return _shape_once(text) if len(text) <= MAX_KEPT_CHARS else _shape_of_text(text)


def _shape_of_text(text: str) -> str:
    return _RUNS.sub(_letters, text)[:MAX_SHAPE_CHARS]


_shape_once = lru_cache(maxsize=1 << 12)(_shape_of_text)  # runs pass the same values again and again


def _letters(match: re.Match[str]) -> str:
    run = match[0]
    return "9" if run[0].isdecimal() else "A" if run.isupper() else "Aa" if run[0].isupper() else "a"


def is_written_like(value: Any, form: str) -> bool:
    """Is the value written so? `9-A9` and `9999-W99` are both forms of `2026-W05`, `99-W99` is not."""
    return shape_of(value) == form or _read_form(form).fullmatch(str(value)) is not None


@lru_cache(maxsize=1024)
def _read_form(form: str) -> re.Pattern[str]:
    """A class that stands alone is any number of characters, doubled ones are counted."""

    def piece(match: re.Match[str]) -> str:
        mark, count = match[1], len(match[0])
        known = _CLASSES.get(mark)
        return re.escape(match[0]) if known is None else f"{known}{{{count}}}" if count > 1 else f"{known}+"

    return re.compile("".join(map(piece, _SAME.finditer(form))))


# Comparisons

Operator: TypeAlias = Literal[
    "=", "!=", "<", "<=", ">", ">=", "like", "contains", "lacks", "starts with", "ends with", "one of", "none of"
]


class OperatorWords(NamedTuple):
    """How an operator is worded."""

    of_argument: str
    """After the name of an argument: "with `total` of at least 500"."""
    of_record: str
    """As a verb: "whose `total` is at least"."""
    of_result: str
    """After the name of a field that a call returns: "shows a `total` of at least"."""


OPERATOR_WORDS: dict[Operator, OperatorWords] = {
    "=": OperatorWords("set to {}", "is", "of"),
    "!=": OperatorWords("other than {}", "is not", "other than"),
    "<": OperatorWords("below {}", "is below", "below"),
    "<=": OperatorWords("of at most {}", "is at most", "of at most"),
    ">": OperatorWords("above {}", "is above", "above"),
    ">=": OperatorWords("of at least {}", "is at least", "of at least"),
    "like": OperatorWords("written like {}", "is written like", "written like"),
    "contains": OperatorWords("that contains “{}”", "contains", "with"),
    "lacks": OperatorWords("that does not contain “{}”", "does not contain", "without"),
    "starts with": OperatorWords("that starts with “{}”", "starts with", "that starts with"),
    "ends with": OperatorWords("that ends with “{}”", "ends with", "that ends with"),
    "one of": OperatorWords("that is one of {}", "is one of", "that is one of"),
    "none of": OperatorWords("that is none of {}", "is none of", "that is none of"),
}
_OF_DATES: dict[Operator, str] = {"<": "before", "<=": "on or before", ">": "after", ">=": "on or after"}
"""One date is not below another, but before it."""

NUMERIC: tuple[Operator, ...] = ("<", "<=", ">", ">=")
WORD_OPERATORS = "like|contains|lacks|starts with|ends with|one of|none of"
OPERATORS = rf"!=|<=|>=|=|<|>|\s(?:{WORD_OPERATORS})\s"
"""Regular expression for any operator; longer ones come first so that they match first."""
_NEGATED: dict[Operator, Operator] = {"!=": "=", "lacks": "contains", "none of": "one of"}
_TEXTUAL: dict[Operator, Callable[[str, str], bool]] = {
    "contains": str.__contains__,
    "starts with": str.startswith,
    "ends with": str.endswith,
}
LimitT = TypeVar("LimitT", float, datetime)


def say_operator(operator: Operator, expected: str, kind: Literal["of_argument", "of_record", "of_result"]) -> str:
    """The operator and what follows it in words."""
    words: str = getattr(OPERATOR_WORDS[operator], kind)
    if operator in _OF_DATES and read_time(expected) is not None:
        words = _OF_DATES[operator]
    return words.format(expected) if "{" in words else f"{words} {expected}"


def satisfies(actual: Any, operator: Operator, expected: str) -> bool:
    """Whether the comparison holds. For a list, one item is enough; `!=`, `lacks` and `none of` need every item."""
    if operator in _NEGATED:
        return not satisfies(actual, _NEGATED[operator], expected)
    if isinstance(actual, (list, tuple)):
        return any(satisfies(item, operator, expected) for item in actual) or str(actual) == expected
    if operator == "=":
        return is_same(actual, expected)
    if operator == "like":
        return is_written_like(actual, expected)
    if operator == "one of":
        return any(is_same(actual, word) for word in split_words(expected))
    if operator in _TEXTUAL:
        return _TEXTUAL[operator](str(actual).strip().casefold(), expected.casefold())
    date = read_time(expected)
    if date is not None:
        return compare(read_time(str(actual)), operator, date)
    return compare(read_number(actual), operator, float(expected))


def compare(actual: LimitT | None, operator: Operator, limit: LimitT) -> bool:
    """Apply a `NUMERIC` operator. False if there is nothing to compare."""
    if actual is None:
        return False
    if operator == "<":
        return actual < limit
    if operator == "<=":
        return actual <= limit
    return actual > limit if operator == ">" else actual >= limit


# Fixed values in guards

_JOINTS = frozenset("and of when within unless where plus minus times rounded".split())
"""Words that mean something in a guard."""
_BARE = re.compile(r"[\w\-.]+(?: [\w\-.]+)*")
_JOINED = re.compile(r"(?:\sor\s|,|\|\||&&)\s*[^\s,=<>!]+\s*(?:!=|<=|>=|=|<|>)", re.IGNORECASE)


def write_value(value: str) -> str:
    """A value as written in a guard: bare if it cannot be misread, otherwise quoted. Numbers with dots stay bare; other
    text with dots is quoted, because it could be read as a function."""
    is_plain = "." not in value and _BARE.fullmatch(value) is not None and _JOINTS.isdisjoint(value.split(" "))
    is_bare = is_plain or (read_number(value) is not None and " " not in value and "," not in value)
    return value if is_bare else msgspec.json.encode(value).decode()


def write_expected(operator: Operator, value: str) -> str:
    """The operand as written in a guard."""
    return value if operator in NUMERIC or operator in ("one of", "none of") else write_value(value)


def read_expected(operator: Operator, value: str, text: str) -> str:
    """Parse the operand of an operator, unquoted. `text` is the whole condition, quoted in the error. A value that
    holds another condition is refused: `A or b = C` would be taken for a text."""
    if not value.startswith('"') and _JOINED.search(value):
        raise GuardError(
            f"{value!r} in {text!r}: conditions are joined by `and` only. For one of several values write "
            "`one of A | B`, otherwise two guards; put a text with such words into double quotes"
        )
    if operator in NUMERIC:
        return read_threshold(value, text)
    if operator in ("one of", "none of"):
        return " | ".join(write_value(unquote(word.strip(), text)) for word in value.split("|"))
    return unquote(value, text)


@lru_cache(maxsize=4096)
def split_words(value: str) -> tuple[str, ...]:
    """The words of `one of`, unquoted."""
    return tuple(unquote(word.strip(), value) for word in value.split("|"))


def read_threshold(value: str, text: str) -> str:
    """A number in canonical form, or a date as it is. Raises GuardError for anything else."""
    bare = unquote(value, text)
    if read_time(bare) is not None:
        return bare.strip()
    number = read_number(bare)
    if number is None:
        raise GuardError(
            f"{value!r} in {text!r} is neither a number nor a date, nor can it be calculated: write `500`, "
            "`2026-03-01`, `App.function.field`, `task` or `100 times App.function.field plus 10`"
        )
    return write_number(number)


def unquote(value: str, text: str) -> str:
    """The value without its quotes, if it has any. Raises GuardError if the quotes are malformed."""
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        raise GuardError(f"{value} in {text!r} is not a quoted text") from None


# Places: where a value was seen before a call. `task`, `App.function`, or `App.function.field` of what it returned.

FIELD_PLACE = r"[^\W\d][^\s.\[\]()\",]*\.[^\s.\[\]()\",]+\.[^\s\[\]()\",]+"
"""Regular expression for a field of what a function returned."""
_FIELD_PLACE = re.compile(FIELD_PLACE)
_PLACE_WORDS = {"task": "the task", "user": "the user"}


def function_of_place(place: str) -> str:
    """The `App.function` part of a place; empty for `task`."""
    return ".".join(place.split(".")[:2]) if "." in place else ""


def field_of_place(place: str) -> str:
    """The field of `App.function.field`; empty if the place names no field."""
    return place.split(".", 2)[2] if place.count(".") >= 2 else ""


def is_field_place(text: str) -> bool:
    """Whether the text has the form `App.function.field`. A number with dots does not count."""
    return _FIELD_PLACE.fullmatch(text) is not None and read_number(text) is None


def name_place(place: str) -> str:
    """The place as worded in a sentence: "the `total` of `find_order`"."""
    if field := field_of_place(place):
        return f"the `{field}` of `{function_of_place(place)}`"
    return _PLACE_WORDS.get(place, f"`{place}`")


# What parts of a guard read


class Read(NamedTuple):
    """A field of what a function returned; without a function, another argument of the call."""

    function: str
    name: str = ""


class GuardPart(Protocol):
    """A part of a guard that reads values."""

    @property
    def reads(self) -> tuple[Read, ...]: ...


def functions_of(part: GuardPart) -> tuple[str, ...]:
    """The functions whose results it reads."""
    return tuple(dict.fromkeys(read.function for read in part.reads if read.function))


def fields_of(part: GuardPart) -> tuple[Read, ...]:
    """The fields that it reads, each with the function that returned it."""
    return tuple(read for read in part.reads if read.function and read.name)


def arguments_of(part: GuardPart) -> tuple[str, ...]:
    """The other arguments of the call that it reads."""
    return tuple(read.name for read in part.reads if not read.function)


class Source(NamedTuple):
    """Where values come from."""

    kind: Literal["number", "task", "argument", "field", "record", "sum", "count"]
    name: str
    """The number, the argument or the place (of `sum` and `count`, too); of a chosen record, the field."""
    choice: RecordChoice | None = None
    """For `record`: how it is chosen."""
    filters: Filters = ()
    """For `sum` and `count`: which records are meant."""

    def __str__(self) -> str:
        if self.kind in ("sum", "count"):
            where = f" where {', '.join(map(str, self.filters))}" if self.filters else ""
            return f"{self.kind} of {self.name}{where}"
        return self.name if self.choice is None else f"{self.name} of {self.choice}"

    @property
    def reads(self) -> tuple[Read, ...]:
        if self.kind in ("number", "task"):
            return ()
        if self.kind == "argument":
            return (Read("", self.name),)
        if self.choice is not None:
            return (Read(self.choice.function, self.name), *self.choice.reads)
        function = function_of_place(self.name)
        own = (Read(function, field_of_place(self.name)), *(Read(function, each.field) for each in self.filters))
        return (*own, *(read for each in self.filters for read in each.test.reads))

    def texts(self, action: Action) -> frozenset[str]:
        """Its values before the call, as plain text. Of the request, the dates."""
        if self.kind == "field":
            return action.seen_values(function_of_place(self.name), field_of_place(self.name))
        if self.kind == "task":
            return frozenset(WRITTEN_DATE.findall(action.history.task))
        if self.kind == "argument":
            value = action.arguments.get(self.name)
            return frozenset() if value is None else frozenset((plain_text(value),))
        if self.choice is None:
            return frozenset(map(write_number, self.numbers(action)))
        results = action.seen_records(self.choice.function, self.choice.inside)
        chosen = (record for records in results for record in self.choice.select(records, action))
        return frozenset(plain_text(value) for record in chosen for value in field_values(record, self.name))

    def numbers(self, action: Action) -> list[float]:
        """Its values before the call that are numbers: of records one for each result, a sum also over all results."""
        if self.kind == "number":
            return [float(self.name)]
        if self.kind == "task":
            return list(action.history.task_numbers)
        field = field_of_place(self.name)
        if self.kind == "count":
            return [float(len(records)) for records in self._select(action, field)]
        if self.kind == "sum":
            inside, _, name = field.rpartition(".")
            sums = self._add_up(action, "", field) or (self._add_up(action, inside, name) if inside else [])
            return [*sums, sum(sums)] if any(sums) else sums
        return read_numbers(self.texts(action))

    def _select(self, action: Action, inside: str) -> Iterator[list[dict[str, Any]]]:
        for records in action.seen_records(function_of_place(self.name), inside):
            yield [record for record in records if all(each.suits(record, action) for each in self.filters)]

    def _add_up(self, action: Action, inside: str, field: str) -> list[float]:
        """The sum of each result that has the field, in the records of the list `inside` it or in all of them."""
        results = self._select(action, inside)
        amounts = ([read_number(v) or 0.0 for item in items for v in field_values(item, field)] for items in results)
        return [sum(some) for some in amounts if some]

    def in_words(self) -> str:
        if self.kind == "number":
            value = float(self.name)
            return f"{int(value):,}" if value == int(value) else self.name
        if self.kind in ("task", "argument"):
            return "a number from the task" if self.kind == "task" else f"its `{self.name}`"
        if self.choice is not None:
            return f"the `{self.name}` of {self.choice.in_words()}"
        if self.kind == "field":
            return name_place(self.name)
        items = f"the sum of the `{field_of_place(self.name)}` of all items"
        which = f" whose {' and '.join(each.in_words() for each in self.filters)}" if self.filters else ""
        return f"{items if self.kind == 'sum' else 'the number of items'} of `{function_of_place(self.name)}`{which}"


_NAME = re.compile(r"[^\W\d][\w-]*")
_TOTAL = re.compile(
    rf"(?:(sum)\s+of\s+({FIELD_PLACE})|(count)\s+of\s+([^\s.]+\.[^\s.]+(?:\.\S+)?))(?:\s+where\s+(.+))?", re.DOTALL
)
_RECORD = re.compile(r"(\S+)\s+of\s+(.+)", re.DOTALL)
_OF_RECORDS = re.compile(r"\S+\s+of\s")


@lru_cache(maxsize=4096)
def parse_source(text: str) -> Source:
    """Parse a source. Raises GuardError with what is wrong."""
    text = text.strip()
    if (number := read_number(text)) is not None:
        return Source("number", write_number(number))
    if text == "task" or is_field_place(text):
        return Source("task" if text == "task" else "field", text)
    if _NAME.fullmatch(text):
        return Source("argument", text)
    if _OF_RECORDS.match(text):
        from contramem.guards.choices import parse_choice, parse_filters  # these compare with sources

        if match := _TOTAL.fullmatch(text):
            kind: Literal["sum", "count"] = "sum" if match[1] else "count"
            return Source(kind, match[2] or match[4], filters=parse_filters(match[5] or ""))
        match = _RECORD.fullmatch(text)
        if match is None or match[1] in ("sum", "count"):
            raise GuardError(f"{text!r}: write `sum of App.list.field` or `count of App.list`, perhaps with `where`")
        return Source("record", match[1], parse_choice(match[2]))
    raise GuardError(
        f"{text!r} is nothing to compare with; write a number, `task`, `App.function.field`, another argument of the "
        "call, `sum of App.list.field where status = open` or `field of lowest due of App.list where status = open`"
    )


# Quantities: calculated from sources

MAX_VALUES = 200
"""Values of a source that are calculated with, if there are steps."""
_STEPS: dict[str, tuple[Callable[[float, float], float], str]] = {
    "times": (lambda value, by: value * by, "{} times {}"),
    "plus": (lambda value, by: value + by, "{} plus {}"),
    "minus": (lambda value, by: value - by, "{} minus {}"),
    "rounded up to": (lambda value, step: math.ceil(value / step - 1e-9) * step, "{}, rounded up to the next {}"),
    "rounded down to": (lambda value, step: math.floor(value / step + 1e-9) * step, "{}, rounded down to whole {}"),
    "rounded to": (lambda value, step: math.floor(value / step + 0.5) * step, "{}, rounded to the nearest {}"),
}
"""What can be done with a number, and how it is worded."""
_STEP = re.compile(rf',?\s+({"|".join(_STEPS)})\s+(?=(?:[^"]|"[^"]*")*$)')
"""Outside of quotes."""
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%\s+of\s+(.+)", re.DOTALL)


def calculate(name: str, value: float, other: float) -> float:
    """One step of a calculation, such as `minus`."""
    return _STEPS[name][0](value, other)


class Quantity(NamedTuple):
    """A source, and what is done with its value."""

    source: Source
    steps: tuple[tuple[str, Source], ...] = ()

    def __str__(self) -> str:
        return " ".join((str(self.source), *(f"{name} {source}" for name, source in self.steps)))

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.source, *(source for _, source in self.steps))

    @property
    def reads(self) -> tuple[Read, ...]:
        return tuple(read for source in self.sources for read in source.reads)

    def numbers(self, action: Action) -> list[float]:
        """What it may be before the call: one number for each value of its sources."""
        values = self.source.numbers(action)
        for name, source in self.steps:
            pairs = product(values[:MAX_VALUES], source.numbers(action)[:MAX_VALUES])
            values = [calculate(name, value, other) for value, other in pairs if other or "rounded" not in name]
        return values

    def equals(self, value: Any, action: Action) -> bool:
        """Whether the value is the same number or, if nothing is calculated, the same text."""
        if not self.steps and plain_text(value) in self.source.texts(action):
            return True
        number = read_number(value)
        return number is not None and any(is_near(number, other) for other in self.numbers(action))

    def relates(self, operator: Operator, value: Any, action: Action) -> bool:
        """Whether the comparison holds with any value that the quantity has before the call."""
        if operator in NUMERIC:
            number = read_number(value)
            return any(compare(number, operator, other) for other in self.numbers(action))
        return self.equals(value, action) is (operator == "=")

    def in_words(self) -> str:
        words = self.source.in_words()
        for name, source in self.steps:
            words = _STEPS[name][1].format(words, source.in_words())
        share = float(self.source.name) if self.source.kind == "number" else 0.0
        is_share = 0 < share < 1 and self.steps and self.steps[0][0] == "times"
        return words.replace(f"{self.source} times", f"{100 * share:g} % of", 1) if is_share else words


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity:
    """Parse a quantity. Raises GuardError with what is wrong."""
    if match := _PERCENT.fullmatch(text := text.strip()):
        text = f"{float(match[1]) / 100:.12g} times {match[2]}"
    first, *rest = _STEP.split(text)
    steps = tuple((name, parse_source(operand)) for name, operand in zip(rest[::2], rest[1::2], strict=True))
    return Quantity(parse_source(first), steps)


@lru_cache(maxsize=4096)
def find_quantity(operator: Operator, text: str) -> Quantity | None:
    """The quantity behind a comparison; None if the operand is a fixed number or word. `=` and `!=` compare with words
    too, so what they look up has to name a function or the request."""
    if operator not in (*NUMERIC, "=", "!=") or text.startswith('"'):
        return None
    try:
        quantity = parse_quantity(text)
    except GuardError:
        return None
    kinds = {source.kind for source in quantity.sources}
    if operator in NUMERIC:
        return quantity if kinds != {"number"} else None
    return quantity if functions_of(quantity) or (quantity.steps and "task" in kinds) else None
