"""JSON as found in traces: nearly valid JSON is read, and JSON made to fill the memory is refused."""

from __future__ import annotations

import ast
import math
import warnings
from typing import Any, Literal

import msgspec

from contramem.errors import TraceError

MAX_VALUES = 6_000_000
"""In one JSON value. An empty list of three characters takes 64 bytes in memory, so a limit in bytes is not enough."""

MAX_LITERAL_DEPTH = 60
"""Of a value in Python's spelling. Results nested deeper than 64 are refused, and one may hold such a value."""

_decode = msgspec.json.Decoder().decode


def decode(content: bytes) -> Any:
    """JSON, leniently: `NaN` and `Infinity`, which Python writes, and numbers beyond all bounds are read as null."""
    if len(content) > MAX_VALUES and count_values(content) > MAX_VALUES:
        what = f"holds more than {MAX_VALUES // 10**6} million values"
        raise TraceError(what, "Is this one run? Split it into JSON lines, or leave it out.")
    try:
        return _decode(content)
    except RecursionError:
        raise TraceError("JSON is nested too deeply", "Leave the file out, or flatten it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _decode_leniently(content, error)


def _decode_leniently(content: bytes, error: Exception) -> Any:
    import json  # only files that the fast decoder refuses pay for it

    try:
        value = json.loads(content, parse_constant=lambda name: None, parse_float=number)
        # Halves of surrogate pairs, which JSON can spell and UTF-8 cannot, become question marks on the way out.
        return _decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise TraceError("JSON is nested too deeply", "Leave the file out, or flatten it.") from None
    except ValueError:
        what = "is empty" if not content.strip() else f"is not valid JSON ({error})"
        raise TraceError(what, "Is the file complete?") from None


def count_values(content: bytes) -> int:
    """At most so many values: commas and brackets inside of texts are counted too."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def is_json(content: bytes) -> bool:
    """Is it a JSON value, and nothing else?"""
    try:
        _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def number(value: object) -> float | None:
    """A finite number, or None. Booleans are not numbers, and scores exported as text still count."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def parse_python(text: str, mode: Literal["eval", "exec"] = "exec") -> Any:
    """The syntax tree of code or of a value that a trace holds. It is read and never run, and what Python would warn
    its author of is nobody's business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)


def read_literal(text: str) -> Any:
    """A value in Python's spelling, as JSON has it. Raises what `ast.literal_eval` raises."""
    return plain_value(ast.literal_eval(parse_python(text.lstrip(" \t"), "eval")))


def plain_value(value: Any, depth: int = MAX_LITERAL_DEPTH) -> Any:
    """The value as JSON has it. Raises ValueError if it is nested too deeply."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): plain_value(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain_value(item, depth - 1) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, (str, bool, float)) or (isinstance(value, int) and abs(value) < 1 << 63):
        return value
    return str(value)
