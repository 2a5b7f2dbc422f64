"""What a file looks like that no reader knows, and which options would read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile

MAX_DEPTH = 4
_SPEAKERS = ("role", "from", "author", "speaker", "sender")
_WORDS = ("content", "text", "value", "message", "parts", "tool_calls")


class UnknownFile(NamedTuple):
    """`looks` is what was seen in the file; `options` would read it, where something in it is a conversation."""

    looks: str
    options: tuple[str, ...] = ()


def describe_unknown(file: TraceFile) -> UnknownFile:
    try:
        head = file.head if file.ending in (".json", ".jsonl", ".ndjson", ".traj") else None
    except TraceError as error:
        return UnknownFile(f"a file that {error.what}")
    if head is None:
        return UnknownFile("text" if _is_text(file) else "binary data")
    record = head[0] if isinstance(head, list) and head else head
    if not isinstance(record, dict):
        return UnknownFile(f"JSON that holds a {type(record).__name__}")
    keys = ", ".join(list(map(str, record))[:12])
    lines = "JSON lines" if file.is_lines else "a JSON list" if isinstance(head, list) else "one JSON object"
    path = next(_conversations(record), "")
    if not path:
        return UnknownFile(f"{lines} with the keys {keys}, and no list of messages in it")
    return UnknownFile(f"{lines} with the keys {keys}, and messages under {path!r}", _options(record, path))


def _is_text(file: TraceFile) -> bool:
    try:
        file.content[:4096].decode("utf-8")
    except (UnicodeDecodeError, TraceError):
        return False
    return True


def _conversations(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Where lists of messages are, the outermost first."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return
    for key, child in value.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(child, list) and child and _is_message(child[0]):
            yield here
        yield from _conversations(child, here, depth + 1)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _SPEAKERS) and any(key in value for key in _WORDS)


def _options(record: dict[str, Any], path: str) -> tuple[str, ...]:
    options = ["--format", "openai-chat", "--map", f"messages={path}"]
    for field, names in (
        ("task_id", ("task_id", "instance_id", "id", "question_id", "question_ID", "example_id")),
        ("source", ("model", "source", "agent", "model_name", "agent_name")),
        ("outcome", ("passed", "reward", "resolved", "success", "is_correct", "correct", "score")),
    ):
        named = next((name for name in names if isinstance(record.get(name), (str, int, float, bool))), None)
        if named is not None and named not in (field, "model", "passed", "reward"):
            options += ["--map", f"{field}={named}"]
    return tuple(options)
