"""Reads the repr of Python objects, in which many tools answer: `[Contact(name='Ann', city=None)]`.

An object becomes a record of its fields. The text is parsed and never evaluated.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from typing import Any

_OBJECT = re.compile(r"[A-Z]\w*\(\w+=")
_ENUM = re.compile(r"<\w+(?:\.\w+)+: ([^<>]{1,100})>")
"""`<Gender.MALE: 'Male'>`."""
_DATES = frozenset({"date", "datetime"})


def is_object_repr(text: str) -> bool:
    """Does the text begin like the repr of an object with fields?"""
    return _OBJECT.match(text) is not None


def decode_objects(text: str) -> object:
    """The objects in a text as records; None if the text is anything else."""
    if not _OBJECT.search(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the escapes in a text that is no program
            tree = ast.parse(_ENUM.sub(r"\1", text), mode="eval")
        return _value(tree.body)
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
