"""A tool's documentation as authors may see it. It came with a trace, so it is untrusted.

Of a description, only sentences that fit a manual stay: no links, markup, addresses, secrets or instructions to an
agent. Of a schema, only the parts that say how to call stay; defaults and examples are somebody's values.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from contramem.privacy.instructions import instructs
from contramem.privacy.personal import find_personal
from contramem.privacy.secrets import find_secrets, is_secret_name
from contramem.traces.sanitize import plain_field
from contramem.traces.trajectory import Tool

MAX_SENTENCE_CHARS = 400
MAX_SCHEMA_DEPTH = 6

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
MAX_CHOICE_CHARS, MAX_CHOICE_WORDS = 60, 5
_PLAIN_KEYS = frozenset({"type", "format", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength",
                         "uniqueItems", "additionalProperties", "nullable"})  # fmt: skip
_SCHEMAS = ("items", "anyOf", "oneOf", "allOf")


def clean_documentation(tool: Tool | None) -> Tool | None:
    """The tool without anything a manual does not need. None stays None."""
    return _clean_once(msgspec.json.encode(tool)) if tool is not None else None


@lru_cache(maxsize=2048)
def _clean_once(written: bytes) -> Tool:
    tool = msgspec.json.decode(written, type=Tool)
    parameters = _clean_schema(tool.parameters, 0)
    return Tool(tool.function, clean_description(tool.description), parameters if isinstance(parameters, dict) else {})


def clean_description(text: str) -> str:
    """The sentences of `text` that fit a manual. None of them if the text as a whole instructs an agent."""
    if instructs(text):
        return ""
    return " ".join(filter(_is_of_a_manual, _SENTENCE_END.split(text)))


def _is_of_a_manual(sentence: str) -> bool:
    return bool(sentence.strip()) and len(sentence) <= MAX_SENTENCE_CHARS and not _is_private(sentence)


def _clean_schema(schema: Any, depth: int) -> Any:
    if depth > MAX_SCHEMA_DEPTH or not isinstance(schema, (dict, list)):
        return schema if isinstance(schema, bool) else {}
    if isinstance(schema, list):
        return [_clean_schema(child, depth + 1) for child in schema]
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            cleaned[key] = {
                plain_field(str(name)): _clean_schema(_without_values(str(name), child), depth + 1)
                for name, child in value.items()
            }
        elif key == "required" and isinstance(value, list):
            cleaned[key] = [plain_field(str(name)) for name in value]
        elif key == "enum" and isinstance(value, list):
            cleaned[key] = [word for word in value if not isinstance(word, (str, dict, list)) or _is_word(word)]
        elif key == "description" and isinstance(value, str):
            cleaned[key] = clean_description(value)
        elif key in _SCHEMAS:
            cleaned[key] = _clean_schema(value, depth + 1)
        elif key in _PLAIN_KEYS and not isinstance(value, (dict, list)):
            cleaned[key] = value if not isinstance(value, str) or _is_word(value) else "string"
    return cleaned


def _without_values(name: str, schema: Any) -> Any:
    """The choices of an argument that holds a secret are secrets."""
    if not isinstance(schema, dict) or not is_secret_name(name):
        return schema
    return {key: value for key, value in schema.items() if key != "enum"}


def _is_word(value: object) -> bool:
    """Choices of an interface are short, and name nobody."""
    return isinstance(value, str) and _is_short(value) and not _is_private(value) and not instructs(value)


def _is_short(choice: str) -> bool:
    return len(choice) <= MAX_CHOICE_CHARS and len(choice.split()) <= MAX_CHOICE_WORDS


def _is_private(text: str) -> bool:
    return any(True for _ in find_personal(text)) or any(True for _ in find_secrets(text))
