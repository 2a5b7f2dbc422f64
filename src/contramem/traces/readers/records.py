"""The user's own records: one run each, with fields under our names or where `--map` says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError, UsageError
from contramem.traces.decoding import decode
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Naming, Recorder, check_depth, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import is_message, record_message
from contramem.traces.readers.meter import Meter
from contramem.traces.trajectory import Origin, Outcome, RunUsage, Tool, Trajectory, digest
from contramem.traces.verdict_files import VERDICTS, verdict_of

FIELDS = "task_id source trial outcome task messages ability scenario_id environment tools feedback".split()
"""What `--map` takes on its left side, beside `records`: where a document keeps the list of its records."""

STEP_FIELDS = "run tool arguments result".split()
"""What it takes as well with `--format steps`: where a row names its run, and a step the parts of its call."""

_DEFAULTS = {"source": ("model", "source"), "outcome": ("passed", "reward")}
ABSENT: Any = object()


def read_records(
    file: TraceFile,
    options: ReadOptions,
    translate: Callable[[Any], Any] = lambda record: record,
    is_message: Callable[[object], bool] = is_message,
    records: Iterable[tuple[object, Any]] | None = None,
) -> Iterator[Trajectory | Problem | SkippedRun]:
    """Every record of the file as a run, then a Problem for each mapped field that no record has.

    `translate` makes a chat record of a record in another dialect, whose messages `is_message` recognises. `records`
    are those of a file that is not JSON."""
    paths = dict(options.record_fields)
    place = paths.pop("records", None)
    fields = FieldMap(paths)
    if records is None:
        records = records_in(file, is_message) if place is None else records_at(file, place)

    def build(record: object, position: str) -> Trajectory:
        return _trajectory(translate(record), Origin(file.origin, position), fields, options)

    yield from each_run(file, records, build)
    yield from fields.missing(file)


def records_at(file: TraceFile, place: str) -> Iterable[tuple[object, Any]]:
    """The records that a document keeps in a list at `place`. What the document says around the list (the task of
    several attempts, say) is said about each."""
    document = file.document
    found = list(_records_under(document, place.split("."), {})) if isinstance(document, dict) else []
    if not found:
        raise TraceError(
            f"has no list at {place!r}, which --map names for records", "Name the list that holds the runs."
        )
    return enumerate(found)


def _records_under(value: Any, steps: list[str], around: Mapping[str, Any]) -> Iterator[Any]:
    """The items of the lists at `steps`, which may lead through other lists: the attempts of each task."""
    if isinstance(value, list):
        for item in value:
            if steps:
                yield from _records_under(item, steps, around)
            else:
                yield {**around, **item} if isinstance(item, dict) else item
    elif isinstance(value, dict) and steps:
        known = {**around, **{name: said for name, said in value.items() if isinstance(said, (str, int, float, bool))}}
        yield from _records_under(value.get(steps[0]), steps[1:], known)


def scalars_around(document: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The texts, numbers and verdicts beside a list and in the objects around it; the nearest counts."""
    fields: dict[str, Any] = {}
    inner: Any = document
    for key in place.split("."):
        if not isinstance(inner, Mapping):
            break
        fields |= {name: value for name, value in inner.items() if isinstance(value, (str, int, float, bool))}
        inner = inner.get(key)
        inner = inner[0] if isinstance(inner, list) and inner else inner
    return fields


def records_in(file: TraceFile, is_message: Callable[[object], bool]) -> Iterable[tuple[object, Any]]:
    """(position, record): one per line, or the items of a list, or the document; a list of messages is one record."""
    if file.is_lines:
        return _line_records(file, is_message)
    document = file.document
    if isinstance(document, list) and not (document and is_message(document[0])):
        return enumerate(document)
    return [("", document)]


def _line_records(file: TraceFile, is_message: Callable[[object], bool]) -> Iterable[tuple[object, Any]]:
    """Lines that are messages themselves are one record together; otherwise each line is a record."""
    if not is_message(file.head):
        return file.lines()
    lines = list(file.lines())
    broken = [(number, line) for number, line in lines if isinstance(line, TraceError)]
    return [*broken, ("", [line for _, line in lines if not isinstance(line, TraceError)])]


def first_messages(file: TraceFile) -> list[Any]:
    """The messages of the first record, from which a reader sees whether the file is in its format."""
    head = file.head
    if isinstance(head, list) and head and not is_message(head[0]):
        head = head[0]
    messages = head.get("messages") if isinstance(head, dict) and "messages" in head else head
    if file.is_lines and isinstance(messages, dict) and is_message(messages) and "type" not in messages:
        messages = [messages]
    return messages if isinstance(messages, list) and messages and all(map(is_message, messages)) else []


class FieldMap:
    """Finds our fields in a record, and remembers which mapped ones were never there."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        if unknown := sorted(set(paths) - set(FIELDS)):
            raise UsageError(
                f"--map: unknown field {', '.join(unknown)}. The fields are {', '.join((*FIELDS, 'records'))}; "
                f"with --format steps also {', '.join(STEP_FIELDS)}."
            )
        self.paths = paths
        self._unseen = set(paths)
        self._keys: dict[str, None] = {}

    def get(self, record: Mapping[str, Any], field: str) -> Any:
        """The value of `field`, or None. Without a map it is under our name for it, or under a usual one."""
        path = self.paths.get(field)
        if path is None:
            return next((record[key] for key in _DEFAULTS.get(field, (field,)) if record.get(key) is not None), None)
        value = value_at(record, path)
        if value is not ABSENT:
            self._unseen.discard(field)
            return value
        if len(self._keys) < 40:
            self._keys.update(dict.fromkeys(_paths(record)))
        return None

    def missing(self, file: TraceFile) -> Iterator[Problem]:
        for field in sorted(self._unseen if self._keys else ()):
            what = f"no record has {self.paths[field]!r}, which --map names for {field}"
            yield Problem(file.origin, what, f"Records have: {', '.join(list(self._keys)[:40])}.")


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """The value at `path`, which may lead into objects and lists; ABSENT if there is none."""
    if path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.lstrip("-").isdecimal() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def _paths(record: Mapping[str, Any]) -> Iterator[str]:
    for key, value in record.items():
        yield key
        if isinstance(value, dict):
            yield from (f"{key}.{inner}" for inner in value)


def _trajectory(record: object, origin: Origin, fields: FieldMap, options: ReadOptions) -> Trajectory:
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, dict):
        raise TraceError(f"is a {type(record).__name__}, not an object", "Each record is an object with 'messages'.")
    values = {field: fields.get(record, field) for field in FIELDS}
    messages = _messages(values["messages"], record)
    environment = label(values["environment"], "environment") or "general"
    recorder = Recorder(options.naming(environment))
    tools = tools_of(values["tools"], recorder.naming)
    asked = next(filter(None, [record_message(recorder, message) for message in messages]), "")
    task = text_of(values["task"]).strip()
    task_id = label(values["task_id"], "task_id")
    if task_id is None and not (task or asked) and options.located_fields.keys().isdisjoint(("task_id", "task")):
        raise TraceError("names no task: no task_id, no task, no user message", "Map one with --map task_id=PATH.")
    return Trajectory(
        environment=environment,
        task_id=task_id or digest(task or asked),
        source=label(values["source"], "source") or _model_in(messages) or "unknown",
        origin=origin,
        events=recorder.events(),
        outcome=_outcome(values["outcome"], record, fields, text_of(values["feedback"])),
        run=label(values["trial"], "trial") or "0",
        task=task or asked,
        authored=bool(task),
        scenario_id=label(values["scenario_id"], "scenario_id"),
        ability=label(values["ability"], "ability"),
        tools=tools,
        usage=_usage(record, messages),
        system=recorder.system,
    )


def _messages(value: object, record: Mapping[str, Any]) -> list[Any]:
    if isinstance(value, str):  # tables keep nested values as JSON text
        value = decode(value.encode())
    if not isinstance(value, list) or not value:
        keys = ", ".join(list(record)[:40])
        raise TraceError(f"has no list of messages (keys: {keys})", "Say where it is with --map messages=PATH.")
    return value


def label(value: object, what: str) -> str | None:
    """An id or name as text. None if there is none. A value that cannot be a name is refused."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TraceError(f"has a {what} that is a {type(value).__name__}", f"A {what} is text or a number.")
    return str(value)


def _outcome(value: object, record: Mapping[str, Any], fields: FieldMap, feedback: str) -> Outcome:
    passed, reward = verdict_of(value)
    if "outcome" not in fields.paths and reward is None:
        by_reward, reward = verdict_of(record.get("reward"))
        passed = by_reward if passed is None else passed
    if "outcome" not in fields.paths and passed is None:
        passed = next((record[name] for name in VERDICTS if isinstance(record.get(name), bool)), None)
    return Outcome(passed, reward, feedback)


_FIELDS_OF_STEPS = (
    {"span_id", "root_span_id"},
    {"trace_id", "start_time", "type"},
    {"traceId", "startTime", "type"},
    {"id", "project_id", "start_time"},
)


def is_step(record: object) -> bool:
    """Is this a platform's trace or a step of one? What it was given and gave back may look like a run of its own."""
    return isinstance(record, dict) and any(fields <= record.keys() for fields in _FIELDS_OF_STEPS)


def tools_of(raw: object, naming: Naming) -> tuple[Tool, ...]:
    """Tool schemas as OpenAI, Anthropic, Gemini or MCP write them, or bare names. Anything else is not a tool."""
    if isinstance(raw, str):
        raw = decode(raw.encode())
    tools = []
    for entry in _declared(raw):
        wrapped = entry.get("function") if isinstance(entry, dict) else {"name": entry}
        spec = wrapped if isinstance(wrapped, dict) else entry
        if isinstance(spec.get("name"), str):
            parameters = next((spec[name] for name in _SCHEMAS if spec.get(name)), None)
            check_depth(parameters)
            tools.append(
                naming.tool(
                    spec["name"], text_of(spec.get("description")), parameters if isinstance(parameters, dict) else {}
                )
            )
    return tuple(tools)


_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


def _declared(raw: object) -> Iterator[Any]:
    """Each tool of a list. Gemini puts several functions into one tool."""
    for entry in raw if isinstance(raw, list) else ():
        several = (
            entry.get("functionDeclarations", entry.get("function_declarations")) if isinstance(entry, dict) else ()
        )
        yield from several if isinstance(several, list) else (entry,)


def _model_in(messages: Iterable[Any]) -> str | None:
    return next((label(message["model"], "model") for message in messages if message.get("model")), None)


def _usage(record: Mapping[str, Any], messages: Iterable[Any]) -> RunUsage:
    meter = Meter()
    if isinstance(record.get("usage"), dict):
        meter.add(record["usage"])
        meter.model_calls = None  # the sum of the record says nothing about how many calls it sums
    else:
        for message in messages:
            meter.add(message.get("usage"))
    return meter.usage()
