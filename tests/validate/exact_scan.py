"""An independent search for values of traces in cards. It shares no code with the validator or the placeholders.

What counts as a value: a scalar in an argument, a leaf of a structured result, and whatever has the form of an address,
a link, a number or an identifier in any text of a run, if it is written in four or more characters. Not a value: a
plain lower-case word (`pending`), a word with a capital (`Open`) that runs of several tasks write in lower case too, as
nobody does with a name, a time or a day of the week, a name of a field or function, the error that a tool answered
with, and what is public, which the caller gives. A date is one if `dates` are asked for.
Values are looked for as they are written, letter by letter.
Structured results are what `json` and `ast` can read, and `key: value` lines.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from contramem.bank.card import FunctionCard, SkillDelta
from contramem.traces.trajectory import Trajectory

MIN_CHARS = 4
MAX_CHARS = 300
MIN_TASKS_IN_LOWER_CASE = 2
"""Of a word that is no name."""

_LIKE_A_VALUE = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]*\w|(?:https?://|www\.)[^\s\"'<>)\]]+|\b[A-Z]{2}\d{2}[A-Z0-9]{8,}\b|\b\w*\d\w*-\w[\w-]*\b"
    r"|\b(?=\w*[A-Za-z])(?=\w*\d)\w{4,}\b|\b\d{4,}\b|\b\d+\.\d+\b"
)
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d{2}(-\d{2})?([T ]\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?.*|\d{1,2}/\d{1,2}/\d{2,4}|(19|20)\d{2}"
    r"|(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{2,4}")
_KEY_LINE = re.compile(r"^[ -]*([A-Za-z_]\w*):[ ]+(\S.*)$", re.MULTILINE)


class Find(NamedTuple):
    """A value of a trace in a card."""

    card: str
    value: str
    context: str


def find_values(
    runs: Iterable[Trajectory],
    cards: Iterable[SkillDelta | FunctionCard],
    closed: Collection[str] = (),
    *,
    dates: bool = False,
) -> list[Find]:
    """Every value of the runs that stands in a card on its own; with `dates`, every date too. `closed` is public."""
    runs = list(runs)
    names = set(_names(runs))
    allowed = {word.lower() for word in closed} | names | {part for name in names for part in re.split(r"[\W_]+", name)}
    allowed |= _common_words(runs)
    errors = {_plain(event.result.error) for run in runs for event in run.events if event.result and event.result.error}
    values = {value for run in runs for value in _values(run) if value.lower() not in allowed and value not in errors}
    if dates:
        values |= {day for run in runs for text in _texts_of(run) for day in _DAY.findall(text)} - set(closed)
    return [find for card in cards for find in _in_card(card, values)]


def _texts_of(run: Trajectory) -> Iterator[str]:
    yield run.task
    for event in run.events:
        yield from (event.text, str(event.arguments), str(event.result.content if event.result is not None else ""))


def _common_words(runs: Iterable[Trajectory]) -> set[str]:
    """Words that texts of several tasks write in lower case."""
    tasks = defaultdict[str, set[str]](set)
    for run in runs:
        results = (str(event.result.content) for event in run.events if event.result is not None)
        for text in (run.task, *(event.text for event in run.events), *results):
            for word in set(re.findall(r"(?<![\w@./-])[a-z]{4,}(?![\w@/-])", text)):
                tasks[word].add(run.task_key)
    return {word for word, where in tasks.items() if len(where) >= MIN_TASKS_IN_LOWER_CASE}


def _in_card(card: SkillDelta | FunctionCard, values: set[str]) -> Iterator[Find]:
    # What is left of a card without names and placeholders; then every stretch of up to twelve words is looked up.
    kept = {"card_id", "tool", "app", "function", "functions_used", "guards", "version", "ability"}
    for text in _texts(card.model_dump(exclude=kept)):
        plain = " ".join(re.sub(r"<[A-Z_|\d]+>", " ", text).split())
        cuts = [match.start() for match in re.finditer(r"(?<![A-Za-z0-9])(?=\S)", plain)]
        ends = [match.start() for match in re.finditer(r"(?<=\S)(?![A-Za-z0-9])", plain)]
        for start in cuts:
            for end in [end for end in ends if end > start][:40]:
                if plain[start:end] in values:
                    yield Find(getattr(card, "card_id", getattr(card, "title", "")), plain[start:end], text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _texts(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from _texts(child)


def _names(runs: Iterable[Trajectory]) -> Iterator[str]:
    for run in runs:
        for event in run.events:
            if event.function:
                yield event.function.lower()
                yield from event.function.lower().split(".")
            yield from (key.lower() for key in _keys(event.arguments))
            if event.result is not None:
                yield from (
                    key.lower() for key in _keys(_structured(event.result.content)) if re.fullmatch(r"\w+", key)
                )


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield str(key)
            yield from _keys(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from _keys(child)


def _values(run: Trajectory) -> Iterator[str]:
    texts = [run.task, run.outcome.feedback]
    for event in run.events:
        yield from _worth_finding(_scalars(event.arguments))
        texts.append(event.text)
        if event.result is not None:
            structured = _structured(event.result.content)
            if structured is not None:
                yield from _worth_finding(_scalars(structured))
            texts.append(str(event.result.content))
            texts.append(event.result.error or "")
    for text in texts:
        yield from _worth_finding(_LIKE_A_VALUE.findall(text))


def _worth_finding(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        text = _plain(str(value))
        plain_word = re.fullmatch(r"[a-z]+", text)
        if MIN_CHARS <= len(text) <= MAX_CHARS and not plain_word and not _DATE_OR_TIME.fullmatch(text):
            yield text


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .,;:!?'\"")


def _scalars(value: Any) -> Iterator[object]:
    if isinstance(value, dict):
        for child in value.values():
            yield from _scalars(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from _scalars(child)
    elif value is not None and not isinstance(value, bool):
        yield value


def _structured(content: Any) -> Any:
    if not isinstance(content, str):
        return content
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(content)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, (dict, list, tuple)) else None
    lines = _KEY_LINE.findall(content)
    return dict(lines) if len(lines) > 1 else None
