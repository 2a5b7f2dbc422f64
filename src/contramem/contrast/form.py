"""The form of a call's result (kind, fields, count), and the scalar values in it with their fields.

Results may be JSON, text containing JSON, a Python repr, `key: value` lines (such as YAML) or prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from contramem.collection.results import decode_literal, looks_structured
from contramem.traces.sanitize import plain_field

FormKind: TypeAlias = Literal["nothing", "empty", "list", "map", "record", "text", "number", "boolean"]

MAX_LEAVES = 4000
"""Values beyond this many are ignored: thousands of rows teach nothing more about a listing."""
MAX_FIELDS = 12


class Leaf(NamedTuple):
    """A scalar in a result and the name of its field (empty if it has none)."""

    field: str
    value: Any


class ResultForm(NamedTuple):
    """What kind of value came back, without its content."""

    kind: FormKind
    fields: tuple[str, ...] = ()
    """Fields of a record, or of the records in a list."""
    size: int | None = None
    """Number of items in a list, or of entries in a map (an object whose keys are data)."""

    def __str__(self) -> str:
        names = ", ".join(self.fields[:MAX_FIELDS]) + (", …" if len(self.fields) > MAX_FIELDS else "")
        if self.kind in ("list", "map"):
            plural = {"list": "items", "map": "entries"}[self.kind]
            counted = f"{self.kind} of {self.size} {plural}"
            return f"{counted} ({names})" if names else counted
        if self.kind == "record" and names:
            return f"record ({names})"
        return self.kind


class ParsedResult(NamedTuple):
    """A result, parsed once."""

    form: ResultForm
    leaves: tuple[Leaf, ...]
    """Without booleans: they are nobody's value, and where one was seen before says nothing."""
    prose: str
    """The text in which to search for names and numbers if there are no fields."""
    with_booleans: tuple[Leaf, ...] = ()
    """All leaves in their order, if there are booleans among them."""

    @property
    def shown(self) -> tuple[Leaf, ...]:
        """The leaves that a reader is shown."""
        return self.with_booleans or self.leaves


_FIELD = re.compile(r"[a-z_][A-Za-z_\-]*\d{0,2}[A-Za-z_\-]*|[A-Z][A-Z_]+")


@lru_cache(maxsize=8192)
def is_field(key: str) -> bool:
    """Is this key part of the form (`sender`, `orderId`) or data (`Le Marais`, `9513926`, `a@b.org`, `ask_zanmel_now`)?

    In doubt it is data: a form that names too little is dull, one that names a person is a leak.
    """
    return len(key) <= 40 and _FIELD.fullmatch(key) is not None and plain_field(key) == key


def parse(content: object) -> ParsedResult:
    """Parse a result. Texts that recur across runs are parsed once."""
    return _parse_text(content) if isinstance(content, str) else _parse_value(content)


def parse_recorded(content: object) -> ParsedResult:
    """`parse` for a result of a recorded run. Nobody changes it, so it is parsed once, however often it is looked
    at."""
    return _parse_object(_Same(content)) if isinstance(content, (dict, list)) else parse(content)


class _Same:
    """Equal only to itself, so that a list or an object can be looked up."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@lru_cache(maxsize=2048)
def _parse_object(same: _Same) -> ParsedResult:
    return _parse_value(same.value)


_KEY_LINE = re.compile(r"^[ \t]*(?:- )?([A-Za-z_][\w \-]{0,40}?):(?:[ \t]+(\S.*?))?[ \t]*$", re.MULTILINE)
_ITEM_LINE = re.compile(r"^- ", re.MULTILINE)
_BARE_ITEM = re.compile(r"^[ \t]*- ([^:\n]{1,200})$", re.MULTILINE)
_EMPTY = frozenset({"[]", "{}", "()", "null", "none", "no results", "set()"})
_NOTHING_FOUND = re.compile(r"no (?:[a-z]+ ){1,4}(?:were |was )?found\.?", re.IGNORECASE)
"""Phrases by which tools report an empty list."""


@lru_cache(maxsize=2048)
def _parse_text(text: str) -> ParsedResult:
    stripped = text.strip()
    if not stripped:
        return ParsedResult(ResultForm("nothing"), (), "")
    if stripped.lower() in _EMPTY or _NOTHING_FOUND.fullmatch(stripped):
        return ParsedResult(ResultForm("empty", size=0), (), "")
    if looks_structured(stripped):
        value = decode_literal(stripped)
        if isinstance(value, (dict, list)):
            return _parse_value(value)
    return _parse_key_lines(stripped) or ParsedResult(ResultForm("text"), (), stripped)


def _parse_key_lines(text: str) -> ParsedResult | None:
    pairs = _KEY_LINE.findall(text)
    # A line with a colon may be a sentence; several lines of nothing but `key: value` are a record.
    if len(pairs) < 2 or len(pairs) * 4 < _top_lines(text):
        return _parse_items(text)
    fields = tuple(dict.fromkeys(key for key, _ in pairs if is_field(key)))
    leaves = [Leaf("", key) for key, _ in pairs[:MAX_LEAVES] if not is_field(key)]
    leaves += [
        Leaf(key if is_field(key) else "", _unquote(value))
        for key, value in pairs[:MAX_LEAVES]
        if value and value not in _EMPTY
    ]
    leaves += [Leaf("", _unquote(item)) for item in _BARE_ITEM.findall(text)[:MAX_LEAVES]]
    items = len(_ITEM_LINE.findall(text)) if text.startswith("- ") else 0
    form = ResultForm("list", fields, items) if items else ResultForm("record", fields)
    return ParsedResult(form, tuple(leaves), text)


def _top_lines(text: str) -> int:
    """Count lines that are not indented; indented lines continue the one above."""
    return sum(not line.startswith((" ", "\t")) for line in text.splitlines())


def _parse_items(text: str) -> ParsedResult | None:
    """Parse `- one`, `- two`, each on its own line, as a list."""
    lines = text.splitlines()
    if len(lines) < 2 or not all(line.startswith("- ") for line in lines):
        return None
    leaves = tuple(Leaf("", _unquote(line[2:].strip())) for line in lines[:MAX_LEAVES])
    return ParsedResult(ResultForm("list", (), len(lines)), leaves, text)


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _parse_value(value: object) -> ParsedResult:
    found = tuple(_leaves(value))
    leaves = tuple(leaf for leaf in found if not isinstance(leaf.value, bool))
    prose = "\n".join(leaf.value for leaf in leaves if isinstance(leaf.value, str))
    return ParsedResult(_form(value), leaves, prose, found if len(leaves) < len(found) else ())


def _form(value: object) -> ResultForm:
    if value is None:
        return ResultForm("nothing")
    if isinstance(value, bool):
        return ResultForm("boolean")
    if isinstance(value, (int, float)):
        return ResultForm("number")
    if isinstance(value, str):
        return ResultForm("text") if value.strip() else ResultForm("nothing")
    if not value:
        return ResultForm("empty", size=0)
    if isinstance(value, dict):
        fields = tuple(str(key) for key in value if is_field(str(key)))
        if len(fields) * 2 >= len(value):
            return ResultForm("record", fields)
        return ResultForm("map", _fields_of(value.values()), len(value))
    if isinstance(value, (list, tuple)):
        return ResultForm("list", _fields_of(value), len(value))
    return ResultForm("text")


def _fields_of(items: Iterable[object]) -> tuple[str, ...]:
    keys = dict.fromkeys(str(key) for item in items if isinstance(item, dict) for key in item)
    return tuple(key for key in keys if is_field(key))


def _leaves(value: object) -> Iterator[Leaf]:
    """Depth first, without recursion; at most MAX_LEAVES."""
    stack: list[tuple[str, object]] = [("", value)]
    given = 0
    while stack and given < MAX_LEAVES:
        field, node = stack.pop()
        if isinstance(node, dict):
            for key, child in reversed(list(node.items())):
                name = str(key)
                if is_field(name):
                    stack.append((name, child))
                else:
                    stack.append((field, child))
                    stack.append((field, name))
        elif isinstance(node, (list, tuple, set)):
            stack.extend((field, child) for child in reversed(list(node)))
        elif node is not None:
            given += 1
            yield Leaf(field, node)
