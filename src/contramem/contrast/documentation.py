"""A tool's documentation as authors may see it. It came with a trace, so it is untrusted.

Of a description, only sentences that fit a manual stay: no links, markup, addresses, secrets or instructions to an
agent. Of a schema, only the parts that say how to call stay; defaults and examples are somebody's values.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from contramem.contrast.instructions import instructs, is_plain_message
from contramem.contrast.personal_data import find_personal_data
from contramem.contrast.plain_words import is_plain_in_prose, is_unknown_constant
from contramem.contrast.values import EMAIL_PATTERN, IBAN_PATTERN, URL_PATTERN
from contramem.traces.plain_names import is_choice, plain_argument
from contramem.traces.secret_names import are_secret_name, is_secret_name
from contramem.traces.secrets import SecretMask
from contramem.traces.trajectory import Tool

MAX_SENTENCE_CHARS = 400
MAX_SCHEMA_DEPTH = 6

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_PRIVATE = re.compile(f"{EMAIL_PATTERN}|{URL_PATTERN}|{IBAN_PATTERN}")
_SECRET = re.compile(r"<SECRET_\d+>")
_TOKEN = re.compile(r"[^\W_]+(?:['_-][^\W_]+)*")
MAX_STATED_DIGITS = 3
"""`a PIN of 4 digits`, `at most 128`."""
_SAMPLE = re.compile(r"\w*(?:(\d)\1{3}|12345)\w*")
"""`gift_card_0000000`: a sample value, as manuals show it."""
_SOMEBODYS_NUMBER = re.compile(
    r"(?<![\w.,-])(?<!ISO )(?<!RFC )"
    r"(?!(?:19|20)\d\d(?!\d)|(?:1024|2048|4096|8192|16384|32768|65535|65536)(?!\d)|\d+0(?!\d))"
    r"\d{4,}(?![\w-])"
)
"""`Use code 405544`. The number of a standard, a year or a round limit belongs to a manual."""
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
    mask = SecretMask()
    mask.collect(text)  # whole: one line may say what the next one gives
    return " ".join(sentence for sentence in _SENTENCE_END.split(text) if _is_of_a_manual(sentence, mask))


def _is_of_a_manual(sentence: str, mask: SecretMask) -> bool:
    if not sentence.strip() or len(sentence) > MAX_SENTENCE_CHARS or _is_private(sentence):
        return False
    if _SECRET.search(mask.in_text(sentence)) or _gives_a_secret(sentence):
        return False
    return is_plain_message(sentence) and not instructs(sentence)


def _gives_a_secret(sentence: str) -> bool:
    """`Print with pinCode pearlibex.`: does the name of a secret stand before a number or an unknown word?"""
    tokens = _TOKEN.findall(sentence)
    return any(
        _is_value(after) and are_secret_name(before, name) and not is_secret_name(after, "any")
        for before, name, after in zip(["", *tokens], tokens, tokens[1:], strict=False)
    )


def _is_value(token: str) -> bool:
    return len(token) > MAX_STATED_DIGITS if token.isdigit() else not is_plain_in_prose(token)


def _clean_schema(schema: Any, depth: int) -> Any:
    if depth > MAX_SCHEMA_DEPTH or not isinstance(schema, (dict, list)):
        return schema if isinstance(schema, bool) else {}
    if isinstance(schema, list):
        return [_clean_schema(child, depth + 1) for child in schema]
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            cleaned[key] = {
                plain_argument(str(name)): _clean_schema(_without_values(str(name), child), depth + 1)
                for name, child in value.items()
            }
        elif key == "required" and isinstance(value, list):
            cleaned[key] = [plain_argument(str(name)) for name in value]
        elif key == "enum" and isinstance(value, list) and not is_unknown_constant(value):
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
    if not isinstance(schema, dict) or not is_secret_name(name, "any"):
        return schema
    return {key: value for key, value in schema.items() if key != "enum"}


def _is_word(value: object) -> bool:
    """Choices of an interface are one or two words, and never a secret."""
    return isinstance(value, str) and is_choice(value) and not _is_private(value) and not _SECRET.search(value)


def _is_private(text: str) -> bool:
    without_samples = _SAMPLE.sub(" ", text)
    if _PRIVATE.search(text) or _SOMEBODYS_NUMBER.search(without_samples):
        return True
    return next(find_personal_data(without_samples), None) is not None
