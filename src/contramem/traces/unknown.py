"""What a file looks like that no reader knows, and which options would read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.readers.steps import call_in, table_records

MAX_DEPTH = 4
_SPEAKERS = ("role", "from", "author", "speaker", "sender")
_WORDS = ("content", "text", "value", "message", "parts", "tool_calls")


class UnknownFile(NamedTuple):
    """`looks` is what was seen in the file; `options` would read it, where something in it is a conversation
    or a list of calls."""

    looks: str
    options: tuple[str, ...] = ()


def describe_unknown(file: TraceFile) -> UnknownFile:
    try:
        if file.ending == ".csv":
            return _describe_record(next((row for _, row in table_records(file)), None), "a CSV table")
        head = file.head if file.ending in (".json", ".jsonl", ".ndjson", ".traj") else None
    except TraceError as error:
        return UnknownFile(f"a file that {error.what}")
    if head is None:
        return UnknownFile("text" if _is_text(file) else "binary data")
    shape = "JSON lines" if file.is_lines else "a JSON list" if isinstance(head, list) else "one JSON object"
    return _describe_record(head[0] if isinstance(head, list) and head else head, shape)


def _describe_record(record: Any, shape: str) -> UnknownFile:
    if not isinstance(record, dict):
        return UnknownFile(f"{shape} that holds {'nothing' if record is None else type(record).__name__}")
    looks = f"{shape} with the keys {', '.join(list(map(str, record))[:12])}"
    if path := next(_lists_of(record, _is_message), ""):
        return UnknownFile(f"{looks}, and messages under {path!r}", _options(record, "openai-chat", path))
    if path := next(_lists_of(record, _is_step), ""):
        return UnknownFile(f"{looks}, and steps under {path!r}", _options(record, "steps", path))
    return UnknownFile(f"{looks}, and no list of messages or steps in it")


def _is_text(file: TraceFile) -> bool:
    try:
        file.content[:4096].decode("utf-8")
    except (UnicodeDecodeError, TraceError):
        return False
    return True


def _lists_of(value: Any, is_item: Callable[[Any], bool], path: str = "", depth: int = 0) -> Iterator[str]:
    """Where lists of such items are, the outermost first."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return
    for key, child in value.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(child, list) and child and is_item(child[0]):
            yield here
        yield from _lists_of(child, is_item, here, depth + 1)


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and call_in(value) is not None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _SPEAKERS) and any(key in value for key in _WORDS)


_USUAL_NAMES = {
    "task_id": (
        "task_id",
        "instance_id",
        "case_id",
        "case",
        "ticket_id",
        "question_id",
        "question_ID",
        "example_id",
        "id",
    ),
    "source": ("model", "source", "agent", "model_name", "agent_name", "agent.name", "model.name", "agent_id"),
    "outcome": ("passed", "reward", "resolved", "success", "is_correct", "correct", "solved", "score"),
    "task": ("task", "goal", "request", "question", "instruction", "prompt"),
}
_READ_ANYWAY = {
    "task_id": ("task_id",),
    "source": ("model", "source"),
    "outcome": ("passed", "reward"),
    "task": ("task",),
}


def _options(record: dict[str, Any], reader: str, path: str) -> tuple[str, ...]:
    """The reader, and where its fields seem to be: under a usual name, at the top or one level below."""
    options = ["--format", reader, "--map", f"messages={path}"]
    places = {str(key): value for key, value in record.items()}
    places |= {f"{key}.{name}": value for key, inner in record.items() if isinstance(inner, dict)
               for name, value in inner.items()}  # fmt: skip
    for field, names in _USUAL_NAMES.items():
        found = (place for name in names for place in places if name in (place, place.rpartition(".")[2])
                 and isinstance(places[place], (str, int, float, bool)))  # fmt: skip
        place = next(found, None)
        if place is not None and place not in _READ_ANYWAY[field] and (field != "task" or reader == "steps"):
            options += ["--map", f"{field}={place}"]
    return tuple(options)
