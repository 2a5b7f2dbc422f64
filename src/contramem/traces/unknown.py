"""What a file looks like that no reader knows, and which options would read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.outcomes import verdict_fields, verdict_of
from contramem.traces.readers.records import scalars_around
from contramem.traces.readers.steps import (
    RUN_NAMES,
    SPEAKERS,
    STEP_KEYS,
    TABLE_ENDINGS,
    TASK_NAMES,
    USERS,
    WORDS,
    call_in,
    is_spoken,
    names_run,
    table_records,
    unpack_payload,
)

MAX_DEPTH = 4
ATTEMPT = re.compile(r"(?i:run|trial|attempt|try|seed|sample|rep|iter|iteration|episode)?[-_. ]?\d+")
"""The name of a folder or file that counts attempts: `run1`, `trial-2`, `03`."""
LOOKED_AT = 5
"""Items of a list that are looked at: the first step of a run is often none."""
ROWS_LOOKED_AT = 100
_ID_ENDINGS = ("id", "uuid", "run", "session", "trace", "job", "thread", "conversation")
_TOOL_NAME = re.compile(r"[A-Za-z]\w*[._:]\w[\w.:-]*|[a-z]+[A-Z]\w*")
"""Of two words at least, written as one: `find_order`, `shop.refund`, `findOrder`."""

OWN_LOGS = (
    "For logs of your own, write a CSV table with one call a row (run, task_id, source, passed, tool, arguments, "
    'result), or JSON lines with one run each: {"task_id", "source", "passed", "steps": [{"tool", "result", ...}]}'
)
"""What to do with a log that nothing reads."""


class UnknownFile(NamedTuple):
    """`looks` is what was seen in the file; `options` would read it, where something in it is a conversation
    or a list of calls."""

    looks: str
    options: tuple[str, ...] = ()
    hint: str = ""
    """What to do with it, where it is one of contramem's own files."""


def describe_unknown(file: TraceFile) -> UnknownFile:
    try:
        if own := _own_file(file):
            return UnknownFile(
                own, hint=f"Runs are what it was made from; `contramem show {file.path}` lists its cards."
            )
        if file.ending in TABLE_ENDINGS:
            return _describe_record(_merge_rows(table_records(file)), "a CSV table")
        head = file.head if file.ending in (".json", ".jsonl", ".ndjson", ".traj") else None
    except TraceError as error:
        return UnknownFile(f"a file that {error.what}")
    if head is None:
        return UnknownFile("text" if _is_text(file) else "binary data")
    shape = "JSON lines" if file.is_lines else "a JSON list" if isinstance(head, list) else "one JSON object"
    if file.is_lines and (rows := _event_rows(file)):
        return _describe_events(rows)
    return _describe_record(head[0] if isinstance(head, list) and head else head, shape)


def _own_file(file: TraceFile) -> str:
    """What contramem calls this file, if it wrote it: something else than runs."""
    if file.ending in (".jsonl", ".json") and isinstance(file.head, dict) and "contramem_bank" in file.head:
        return "a frozen bank of contramem"
    if file.ending in (".json", ".jsonl") or not file.path.is_file():
        return ""
    with file.path.open("rb") as content:
        is_sqlite = content.read(16) == b"SQLite format 3\0"
    return "a store of contramem (a bank with its ledger) or another SQLite file" if is_sqlite else ""


def _merge_rows(rows: Iterable[tuple[object, Any]]) -> dict[str, Any] | None:
    """The first row, with what only later ones say: how a run ended often stands in its last row."""
    merged: dict[str, Any] = {}
    for _, row in islice(rows, ROWS_LOOKED_AT):
        if isinstance(row, dict):
            merged |= {name: value for name, value in row.items() if merged.get(name) in (None, "")}
    return merged or None


def _event_rows(file: TraceFile) -> list[dict[str, Any]]:
    """The first lines of a log with one event a line, some of which are calls; empty where it is another file."""
    rows = [unpack_payload(row) for _, row in islice(file.lines(), ROWS_LOOKED_AT) if isinstance(row, dict)]
    if any(isinstance(row.get(key), list) for row in rows for key in ("messages", *STEP_KEYS)):
        return []
    return rows if any(_is_step(row) or (is_spoken(row) and names_run(row, {})) for row in rows) else []


def _describe_events(rows: list[dict[str, Any]]) -> UnknownFile:
    merged = _merge_rows(enumerate(rows)) or {}
    looks = f"JSON lines with the keys {', '.join(list(map(str, merged))[:12])}, one call or event each"
    run = () if any(name in merged for name in RUN_NAMES) else _run_options(rows)
    return UnknownFile(looks, ("--format", "steps", *run, *_row_options(merged, bool(run))))


def _run_options(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """The field that every line has and that few of them share: it names the run."""
    shared = set(rows[0]).intersection(*rows[1:])
    counts = {key: len({str(row[key]) for row in rows}) for key in rows[0] if key in shared}
    ids = [key for key, count in counts.items() if 1 < count < len(rows) and key.lower().endswith(_ID_ENDINGS)]
    return ("--map", f"run={ids[0]}") if ids else ()


def _describe_record(record: Any, shape: str) -> UnknownFile:
    if not isinstance(record, dict):
        return UnknownFile(f"{shape} that holds {'nothing' if record is None else type(record).__name__}")
    looks = f"{shape} with the keys {', '.join(list(map(str, record))[:12])}"
    for value in [*record.values()][:LOOKED_AT] if _is_object_of_records(record) else ():
        if description := _describe_run(value, f"{looks}, each a record"):
            return description._replace(options=(*description.options, "--map", "records=*"))
    if description := _describe_run(record, looks):
        return description
    for path, items in _record_lists(record):
        run = scalars_around(record, path) | items[0] if isinstance(items[0], dict) else None
        if run is not None and (description := _describe_run(run, f"{looks}, runs under {path!r}")):
            return description._replace(options=(*description.options, "--map", f"records={path}"))
    return UnknownFile(f"{looks}, and no list of messages or steps in it")


def _describe_run(record: dict[str, Any], looks: str) -> UnknownFile | None:
    """What a record is that may be a run, or one call of it."""
    lists = list(_lists_in(record))
    if parts := _column_options(record):
        return UnknownFile(f"{looks}, and steps in columns", ("--format", "steps", *parts, *_field_options(record)))
    spoken, stepped = _list_of(lists, _is_message), _list_of(lists, _is_step)
    if spoken and spoken != stepped:
        return UnknownFile(
            f"{looks}, and messages under {spoken!r}", ("--format", "openai-chat", *_options(record, spoken))
        )
    if path := stepped:
        return UnknownFile(f"{looks}, and steps under {path!r}", ("--format", "steps", *_options(record, path)))
    if _is_step(record):
        return UnknownFile(f"{looks}, one call each", ("--format", "steps", *_row_options(record)))
    for path, items in lists:
        if parts := next((parts for item in items[:LOOKED_AT] if (parts := _guess_parts(item))), ()):
            options = ("--format", "steps", *_options(record, path), *parts)
            return UnknownFile(f"{looks}, and perhaps steps under {path!r}", options)
    return None


def _is_object_of_records(record: Mapping[str, Any]) -> bool:
    """Are its values records of one kind, each under its number or name?"""
    first, *others = [*record.values()][:LOOKED_AT] or [None]
    return isinstance(first, dict) and bool(others) and all(
        isinstance(other, dict) and len(other.keys() & first.keys()) > len(first) / 2 for other in others
    )  # fmt: skip


_COLUMNS = {"arguments": ("actions", "commands", "inputs"), "result": ("observations", "results", "outputs")}


def _column_options(record: Mapping[str, Any], path: str = "") -> tuple[str, ...]:
    """`--map` options for steps that are kept as columns: what was done in one list, what came back in another."""
    lists = {key: value for key, value in record.items() if isinstance(value, list)}
    found = {part: next((name for name in names if name in lists), "") for part, names in _COLUMNS.items()}
    if path and all(found.values()) and any(lists[name] for name in found.values()):
        parts = {"messages": path, "tool": "=act", **found}
        return tuple(word for part, place in parts.items() for word in ("--map", f"{part}={place}"))
    inner = ((f"{path}.{key}".strip("."), value) for key, value in record.items() if isinstance(value, dict))
    return next(
        (
            options
            for place, value in inner
            if path.count(".") < MAX_DEPTH and (options := _column_options(value, place))
        ),
        (),
    )


def _is_text(file: TraceFile) -> bool:
    try:
        file.content[:4096].decode("utf-8")
    except (UnicodeDecodeError, TraceError):
        return False
    return True


def _lists_in(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """(where, list) of the lists that are not empty, the outermost first."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return
    for key, child in value.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(child, list) and child:
            yield here, child
        yield from _lists_in(child, here, depth + 1)


def _record_lists(record: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The lists that may hold runs: those of a record, and then those in the items of these."""
    lists = list(_lists_in(record))
    yield from lists
    for path, items in lists:
        yield from _lists_in(items[0], path, depth=1)


def _list_of(lists: list[tuple[str, list[Any]]], is_item: Callable[[Any], bool]) -> str:
    return next((path for path, items in lists if any(map(is_item, items[:LOOKED_AT]))), "")


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and call_in(value) is not None


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and any(key in value for key in SPEAKERS)
        and any(key in value for key in (*WORDS, "parts", "tool_calls"))
    )


def _guess_parts(step: Any) -> tuple[str, ...]:
    """`--map` options for a step in words of its own: a text that reads like a tool's name beside an object. What
    stands after both is the result."""
    if not isinstance(step, dict):
        return ()
    for where, fields in (("", step), *((f"{key}.", inner) for key, inner in step.items() if isinstance(inner, dict))):
        tool = next(
            (key for key, value in fields.items() if isinstance(value, str) and _TOOL_NAME.fullmatch(value)), ""
        )
        given = next((key for key, value in fields.items() if isinstance(value, dict)), "")
        if tool and given:
            rest = [key for key in fields if key not in (tool, given)]
            parts = {"tool": tool, "arguments": given} | ({"result": rest[-1]} if rest else {})
            return tuple(word for part, key in parts.items() for word in ("--map", f"{part}={where}{key}"))
    return ()


_USUAL_NAMES = {
    "task_id": ("task_id", "instance_id", "case_id", "case", "ticket_id", "ticket", "question_id", "question_ID",
                "example_id", "scenario_id", "scenario", "id"),
    "source": ("model", "source", "agent", "model_name", "agent_name", "agent_id", "bot", "llm",
               "backend", "engine"),
    "outcome": ("passed", "reward", "resolved", "success", "is_correct", "correct", "solved", "score", "verdict",
                "grade", "outcome", "status", "ok"),
    "task": TASK_NAMES,
}  # fmt: skip
_READ_ANYWAY = {
    "task_id": ("task_id",),
    "source": ("model", "source"),
    "outcome": ("passed", "reward"),
    "task": ("task",),
}


def _options(record: dict[str, Any], path: str) -> tuple[str, ...]:
    """Where the messages are, and where the fields of a run seem to be."""
    messages = next((items for place, items in _lists_in(record) if place == path), [])
    return ("--map", f"messages={path}", *_field_options(record, asks=any(map(_asks, messages[:LOOKED_AT]))))


def _asks(message: Any) -> bool:
    """Is this message the user's? Runs with the same request are of one task."""
    return isinstance(message, dict) and any(str(message.get(key)).lower() in USERS for key in SPEAKERS)


def _row_options(row: dict[str, Any], has_run_name: bool = False) -> tuple[str, ...]:
    """Where the fields of a run seem to be in a row that is one call."""
    own = {key: value for key, value in row.items() if key not in ("score", "id")}
    has_run_name = has_run_name or any(name in row for name in RUN_NAMES)
    options = _field_options(own)
    return options if has_run_name or options else ("--map", f"run={next(iter(row))}")


def _field_options(record: Mapping[str, Any], asks: bool = False) -> tuple[str, ...]:
    """`--map` options for fields under a usual name, at the top or one level below. Where the run `asks` something
    itself or a field says what was asked, an `id` is that of the run."""
    places = {str(key): value for key, value in record.items()}
    places |= {f"{key}.{name}": value for key, inner in record.items() if isinstance(inner, dict)
               for name, value in inner.items()}  # fmt: skip
    scalars = {place: value for place, value in places.items() if isinstance(value, (str, int, float, bool))}
    if asks or any(name in scalars for name in TASK_NAMES):
        scalars = {place: value for place, value in scalars.items() if place.rpartition(".")[2] != "id"}
    options: list[str] = []
    for field, names in _USUAL_NAMES.items():
        place = next((place for name in names for place in scalars if _goes_by(place, name)
                      and (field != "outcome" or verdict_of(scalars[place])[0] is not None)), None)  # fmt: skip
        if place is None and field == "outcome":
            place = next((found.place for found in verdict_fields(record)), None)
        if place is not None and place not in _READ_ANYWAY[field]:
            options += ["--map", f"{field}={place}"]
    return tuple(options)


def _goes_by(place: str, name: str) -> bool:
    """`agent.label` goes by `agent` as well as by `label`."""
    return name in (place, place.rpartition(".")[2], place.partition(".")[0])
