"""One step of a packet in words: what was called with what, and what came back as far as it can decide."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet
from contramem.contrast.quotation import quote_if_long, quote_words
from contramem.contrast.recovery import complaint_of
from contramem.contrast.step import Step, is_command

MAX_CONTENT_CHARS = 400
"""Of the contents of one result."""
MOST_CELLS = 0.7
"""The share of the fields of a table that have to be told to show it as one."""
MAX_REPEATED_CHARS = 40
"""Of a result in words that is shown again where another call returns the same."""
MAX_SAID_CHARS = 400
"""Of what an agent says in one message."""
Item: TypeAlias = tuple[tuple[str, str], ...]
Contents: TypeAlias = tuple[Item, ...]
"""The items of a result, each as its fields."""
PLACEHOLDER = re.compile(r"<[A-Z]+(?:_\d+)?>")
_MEASURE = re.compile(r"-?\d{1,3}(?:\.\d{1,2})?")
"""A number that is too short to tell whose it is."""


def call_text(step: Step, *, origins: bool = True, said_chars: int = MAX_SAID_CHARS) -> str:
    """What the agent did, in one line, with where each value had been seen before."""
    if not step.function:
        return f"{step.label}: {quote_words(shorten(step.text, said_chars))}"
    if step.speaks:
        said = f"{step.label} by {step.function}" if step.label != step.function else step.function
        return f"{said}: {quote_words(shorten(step.text, said_chars))}"
    given = ", ".join(
        f"{name}={argument_text(step, name)}{_from(step, name) if origins else ''}" for name in step.arguments
    )
    effect = f" [{step.effect}]" if step.effect not in ("read", "unknown") else ""
    return f"{step.function}({given}){effect}"


def difference_text(step: Step, other: Step) -> str:
    """What a call gives otherwise than another call of its function; empty where that would not be shorter."""
    if not step.function or step.function != other.function or step.speaks or other.speaks:
        return ""
    changed = [
        f"{name}={argument_text(step, name)}{_from(step, name)}"
        for name, value in step.arguments.items()
        if other.arguments.get(name) != value or step.origins.get(name) != other.origins.get(name)
    ]
    changed += [f"no {name}" for name in other.arguments if name not in step.arguments]
    if not changed or len(changed) >= len(step.arguments):
        return ""
    return f"{step.function}(… {', '.join(changed)})"


def argument_text(step: Step, name: str) -> str:
    """An argument as a packet shows it; a command in its words."""
    if is_command(name) and name in step.prose:
        return quote_words(step.prose[name])
    return value_text(step.arguments[name])


def value_text(value: object) -> str:
    """An argument as a packet shows it."""
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, str) and PLACEHOLDER.fullmatch(part) for part in value)
    ):
        return f"[{' '.join(value)}]"  # nothing that quotes and commas would keep apart
    return quote_if_long(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _from(step: Step, name: str) -> str:
    """Where the value of an argument had been seen. Readable words say it themselves, and many occur by chance."""
    origin = step.origins.get(name, "").removeprefix(f"{step.function.partition('.')[0]}.")
    if not origin or origin == "task" or not PLACEHOLDER.search(str(step.arguments.get(name))):
        return ""
    return "" if origin == NOWHERE and name in step.prose else f" «{origin}»"


def result_text(step: Step) -> str:
    """What came back, to follow the call; empty when the trace does not show it."""
    if step.error:
        return f" -> error: {quote_words(step.error)}"
    if step.form is not None and step.form.kind == "text" and step.returned != str(step.form):
        is_value = PLACEHOLDER.fullmatch(step.returned) is not None
        return f" -> {step.returned if is_value else quote_words(step.returned)}"
    return f" -> {flatten(step.returned)}" if step.returned and not step.speaks else ""


class ResultTexts:
    """Results with the contents that can decide: readable values, and placeholders that some run uses elsewhere.

    What the call itself had given is not repeated, and fields and contents are told once.
    """

    def __init__(self, packet: Packet) -> None:
        steps = [step for run in packet.runs for step in run.steps]
        used = [packet.task, *(str(step.arguments) for step in steps), *(step.text for step in steps)]
        self._used = {name for text in used for name in PLACEHOLDER.findall(text)}
        self._measures = {
            name: original
            for name, original in packet.placeholders.originals().items()
            if name.startswith("<NUMBER") and name not in self._used and _MEASURE.fullmatch(original)
        }
        """Numbers by placeholder that nobody passes on: how many are free, how wide something is."""
        self._told: set[tuple[str, object]] = set()
        self._seen: dict[bytes, Contents] = {}
        self._complaints: dict[str, str] = {}
        """By function: the error that it was shown with last."""

    def text(self, step: Step) -> str:
        """What came back, to follow the call."""
        if step.error:
            before, self._complaints[step.function] = self._complaints.get(step.function), complaint_of(step)
            return " -> the same error" if self._complaints[step.function] == before else result_text(step)
        if step.form is None or step.form.kind not in ("list", "record", "map"):
            is_repeated = len(step.returned) > MAX_REPEATED_CHARS and self._is_told(step.function, step.returned)
            return " -> the same result" if is_repeated else result_text(step)
        form = step.form
        step = self._without_known(step)
        columns = self._columns(step)
        if self._is_told(step.function, form.fields):
            form = form._replace(fields=())
        else:
            known = {*columns, *(step.arguments if step.effect == "write" else ())}
            form = form._replace(fields=tuple(name for name in form.fields if name not in known))
        rows = self._rows(step, step.contents, columns)
        if len(rows) > MAX_CONTENT_CHARS:
            rows = self._rows(step, self._chosen(step), columns)
        if not columns or not rows or len(rows) > MAX_CONTENT_CHARS:
            return f" -> {step.form if not form.fields and columns else form}"
        return f" -> {form}; {rows}"

    def _chosen(self, step: Step) -> Contents:
        """The items of a long result that some run uses."""
        given = set(map(str, step.arguments.values()))
        return tuple(
            item for item in step.contents if any(value in self._used and value not in given for _, value in item)
        )

    def _without_known(self, step: Step) -> Step:
        """If an equal call was shown before: with only those items and fields that have changed since."""
        call = msgspec.json.encode([step.function, step.arguments], order="deterministic")
        before, self._seen[call] = self._seen.get(call), step.contents
        if before is None or before == step.contents or len(before) != len(step.contents):
            return step
        changed = (
            tuple(field for field in item if field not in old) for item, old in zip(step.contents, before, strict=True)
        )
        return msgspec.structs.replace(step, contents=tuple(filter(None, changed)))

    def _rows(self, step: Step, contents: Contents, columns: Sequence[str]) -> str:
        """The items that say something: under a line of names where most fields are told, else each with its name."""
        items = [item for item in contents if any(self._tells(step, value) for _, value in item)]
        told = sum(self._tells(step, value) for item in items for value in dict(item).values())
        if any(columns) and told >= MOST_CELLS * len(items) * len(columns):
            return f"{', '.join(columns)}: {_fold(self._row(step, item, columns) for item in items)}"
        return _fold(self._named_row(step, item) for item in items)

    def _columns(self, step: Step) -> list[str]:
        """The fields that are worth showing; none where nothing but placeholders would stand there.

        What a write returns mostly repeats what it was given.
        """
        telling = [(name, value) for item in step.contents for name, value in item if self._tells(step, value)]
        readable = any(value in self._measures or not PLACEHOLDER.search(value) for _, value in telling)
        if step.effect == "write" or not readable or self._are_told(step):
            return []
        told = {name for name, _ in telling}
        return list(dict.fromkeys(name for item in step.contents for name, _ in item if name in told))

    def _row(self, step: Step, item: Item, columns: Sequence[str]) -> str:
        told = self._told_fields(step, item)
        return ", ".join(told.get(name, "-") for name in columns)

    def _named_row(self, step: Step, item: Item) -> str:
        return ", ".join(f"{name} {value}".strip() for name, value in self._told_fields(step, item).items())

    def _told_fields(self, step: Step, item: Item) -> dict[str, str]:
        """The fields of an item that say something; a list of values as `en+de`."""
        fields = defaultdict[str, list[str]](list)
        for name, value in item:
            if self._tells(step, value):
                fields[name].append(quote_if_long(shorten(self._measures.get(value, value), 40)))
        return {name: _fold(values, "+") for name, values in fields.items()}

    def _are_told(self, step: Step) -> bool:
        """Was every item told before? From now on it was."""
        told = [self._is_told(step.function, item) for item in step.contents]
        return all(told)

    def _is_told(self, function: str, what: object) -> bool:
        """Was it told before? From now on it was."""
        repeated = (function, what) in self._told
        self._told.add((function, what))
        return repeated

    def _tells(self, step: Step, value: str) -> bool:
        given = value in map(str, step.arguments.values())
        if not value or given:
            return False
        return PLACEHOLDER.fullmatch(value) is None or value in self._used or value in self._measures


def _fold(rows: Iterable[str], mark: str = " | ") -> str:
    """Rows one after the other, equal ones that follow each other once."""
    groups = [(row, len(list(alike))) for row, alike in groupby(rows)]
    return mark.join(f"{row} x{times}" if times > 1 else row for row, times in groups)


def flatten(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut where it is longer."""
    flat = flatten(text)
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
