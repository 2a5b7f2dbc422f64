"""What calls returned, as data. Tools answer in JSON, in Python's repr of objects, in `key: value` lines or in prose.

Texts are parsed and never evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from contramem.traces.files import parse_python

MAX_LITERAL_CHARS = 20_000
"""Longer Python reprs stay text: parsing them costs more than it gains."""
_EMPTY = frozenset({"", "[]", "{}", "()", "null", "none", "no results", "set()"})
_NOTHING_FOUND = re.compile(r"no (?:[a-z]+ ){1,4}(?:were |was )?found\.?", re.IGNORECASE)
_KEY_LINE = re.compile(r"[ \t]*(?:- )?([A-Za-z_][\w \-]{0,40}?):(?:[ \t]+(\S.*?))?[ \t]*")
_OBJECT = re.compile(r"[A-Z]\w*\(\w+=")
_ENUM = re.compile(r"<\w+(?:\.\w+)+: ([^<>]{1,100})>")
"""`<Gender.MALE: 'Male'>`."""
_DATES = frozenset({"date", "datetime"})


def decode_result(content: Any) -> Any:
    """Decode a result into lists, records and scalars. Text that is neither JSON nor `key: value` lines stays text."""
    return _decode_text(content) if isinstance(content, str) else content


@lru_cache(maxsize=8192)
def _decode_text(text: str) -> Any:
    stripped = text.strip()
    if stripped.lower() in _EMPTY or _NOTHING_FOUND.fullmatch(stripped):
        return []
    if looks_structured(stripped):
        value = decode_literal(stripped)
        if isinstance(value, (dict, list, tuple)):
            return value
    return _decode_lines(stripped) or text


def _decode_lines(text: str) -> Any:
    """Read `key: value` lines as a record, or as a list of records if they begin with a dash. None for prose."""
    lines = text.splitlines()
    if len(lines) >= 2 and all(line.startswith("- ") and not _KEY_LINE.fullmatch(line) for line in lines):
        return [line[2:].strip() for line in lines]
    matches = [match for line in lines if (match := _KEY_LINE.fullmatch(line))]
    top = sum(not line.startswith((" ", "\t")) for line in lines)
    if len(matches) < 2 or len(matches) * 4 < top:
        return None
    records: list[dict[str, Any]] = []
    for match in matches:
        if not records or match[0].startswith("- "):
            records.append({})
        if match[2]:
            records[-1].setdefault(match[1], match[2].strip("'\""))
    return records if text.startswith("- ") else records[0]


def looks_structured(text: str) -> bool:
    """May it be JSON, a Python literal or the repr of an object (`Contact(name='Ann')`)?"""
    return text[:1] in ("[", "{", "(", '"') or is_object_repr(text)


def decode_literal(text: str) -> object:
    """Decode JSON or the repr of Python data; None if the text is neither. Nothing is evaluated."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    if len(text) > MAX_LITERAL_CHARS:
        return None
    try:
        return ast.literal_eval(parse_python(text.lstrip(" \t"), "eval"))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return decode_objects(text)


def is_object_repr(text: str) -> bool:
    """Does the text begin like the repr of an object with fields?"""
    return _OBJECT.match(text) is not None


def decode_objects(text: str) -> object:
    """The objects in a text as records; None if the text is anything else."""
    if not _OBJECT.search(text):
        return None
    try:
        return _value(parse_python(_ENUM.sub(r"\1", text), "eval").body)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _value(node: ast.expr) -> Any:
    for kind, read in _READERS.items():
        if isinstance(node, kind):
            return read(node)
    raise ValueError("is neither data nor an object")


def _call(node: ast.Call) -> Any:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _DATES and node.args:
        return _date(list(map(_value, node.args)))
    fields = {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg}
    return fields or list(map(_value, node.args))


def _date(parts: list[int]) -> str:
    day, time = "-".join(f"{part:02}" for part in parts[:3]), ":".join(f"{part:02}" for part in parts[3:5])
    return f"{day} {time}" if len(parts) > 4 else day


def _dict(node: ast.Dict) -> dict[str, Any]:
    if None in node.keys:
        raise ValueError("a mapping inside a mapping has no key")
    return {str(_value(key)): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}


def _negative(node: ast.UnaryOp) -> Any:
    if not isinstance(node.op, ast.USub):
        raise ValueError("is an expression")
    return -_value(node.operand)


def _constant(node: ast.Constant) -> Any:
    return node.value if isinstance(node.value, (str, int, float, type(None))) else str(node.value)


_READERS: dict[type[ast.expr], Callable[[Any], Any]] = {
    ast.Constant: _constant,
    ast.List: lambda node: list(map(_value, node.elts)),
    ast.Tuple: lambda node: list(map(_value, node.elts)),
    ast.Set: lambda node: list(map(_value, node.elts)),
    ast.Dict: _dict,
    ast.Call: _call,
    ast.UnaryOp: _negative,
    ast.Name: lambda node: node.id,
    ast.Attribute: lambda node: node.attr,
}
