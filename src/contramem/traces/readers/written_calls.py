"""Calls that an agent wrote as text: `click('a51')`, `type [164] [hello]`, `Search[Oslo]`.

Agents for browsers and those in the manner of ReAct name what they do in one line. It is read off its text, never run.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

MAX_CHARS = 10_000

_IN_PARENTHESES = re.compile(r"[A-Za-z_][\w.]*\(.*\)", re.DOTALL)
_IN_BRACKETS = re.compile(r"([A-Za-z_]\w*)((?:\s*\[[^\[\]]*\])+)", re.DOTALL)
_BRACKET = re.compile(r"\[([^\[\]]*)\]")


class WrittenCall(NamedTuple):
    """A call that was written as text. Arguments without a name are called by their place."""

    name: str
    arguments: dict[str, Any]


def read_written_call(text: str) -> WrittenCall | None:
    """The call that `text` writes out; None for any other text, such as the bare name of a tool."""
    text = text.strip()
    if len(text) > MAX_CHARS:
        return None
    if match := _IN_BRACKETS.fullmatch(text):
        return WrittenCall(match[1], _by_place(_BRACKET.findall(match[2])))
    return _read_python_call(text) if _IN_PARENTHESES.fullmatch(text) else None


def _read_python_call(text: str) -> WrittenCall | None:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return None
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        return WrittenCall(ast.unparse(call.func), {**_by_place(map(ast.literal_eval, call.args)), **named})
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _by_place(values: Any) -> dict[str, Any]:
    return {f"argument_{place}": value for place, value in enumerate(values, 1)}
