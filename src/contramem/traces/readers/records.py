"""The user's own records, one run each, with fields under our names or where `--map` says; and what contramem writes.

Readers of chat dialects only translate their records (chat.py, frameworks.py) and end in `read_records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode, number
from contramem.traces.map import FIELDS, FieldMap
from contramem.traces.normalize import Naming, Recorder, check_depth, text_of
from contramem.traces.reader import Problem, Reading, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import Meter, conversation_in, is_message, messages_in, record_message
from contramem.traces.trajectory import Event, Origin, Outcome, RunUsage, ShownMemory, Tool, Trajectory, digest
from contramem.traces.write import FORMAT, VERSION

Records = Iterable[tuple[object, Any]]
"""(position, record), where a record that cannot be decoded is the TraceError that says so."""


def read_records(
    file: TraceFile,
    options: ReadOptions,
    translate: Callable[[Any], Any] = lambda record: record,
    is_message: Callable[[object], bool] = is_message,
    records: Records | None = None,
    judged: tuple[str, ...] = (),
) -> Reading:
    """Every record of the file as a run, then a Problem for each mapped field that no record has.

    `translate` makes a chat record of a record in another dialect, whose messages `is_message` recognises. `records`
    are those of a file that is not JSON. `judged` is where the format keeps its verdict."""
    paths = {name: path for name, path in options.record_fields.items() if name != "records"}
    fields = FieldMap(paths, options.found, judged, options.outcome_words)
    records = records_in(file, options, is_message) if records is None else records

    def build(record: object, position: str) -> Trajectory | SkippedRun:
        chat = translate(record)
        return (
            chat if isinstance(chat, SkippedRun) else _trajectory(chat, Origin(file.origin, position), fields, options)
        )

    yield from each_run(file, records, build)
    yield from (Problem(file.origin, what, hint) for what, hint in fields.missing())


def records_in(file: TraceFile, options: ReadOptions, is_message: Callable[[object], bool]) -> Records:
    """One record per line, or the items of a list, or the document. A list of messages is one record, and so are lines
    that are messages themselves. `--map records=PATH` says where a document keeps its list."""
    if (place := options.record_fields.get("records")) is not None:
        return _records_at(file, place)
    if not file.is_lines:
        document = file.document
        is_list = isinstance(document, list) and not (document and is_message(document[0]))
        return enumerate(document) if is_list else [("", document)]
    if not is_message(file.head):
        return file.lines()
    lines = list(file.lines())
    broken = [(number, line) for number, line in lines if isinstance(line, TraceError)]
    return [*broken, ("", [line for _, line in lines if not isinstance(line, TraceError)])]


def _records_at(file: TraceFile, place: str) -> Records:
    """The records in a list at `place`. What the document says around the list (the task of several attempts, say) is
    said about each. `*` stands for every name in an object of records, which becomes their `id`."""
    document = file.document
    found = list(_records_under(document, place.split("."), {})) if isinstance(document, dict) else []
    if not found:
        what = f"has no list at {place!r}, which --map names for records"
        raise TraceError(what, "Name the list that holds the runs.")
    return enumerate(found)


def _records_under(value: Any, steps: list[str], around: Mapping[str, Any]) -> Iterator[Any]:
    """The items of the lists at `steps`, which may lead through other lists: the attempts of each task."""
    if isinstance(value, list):
        for item in value:
            if steps:
                yield from _records_under(item, steps, around)
            else:
                yield {**around, **item} if isinstance(item, dict) else item
    elif isinstance(value, dict) and steps[:1] == ["*"]:
        for name, item in value.items():
            yield from _records_under([item], steps[1:], {**around, "id": name})
    elif isinstance(value, dict) and steps:
        yield from _records_under(value.get(steps[0]), steps[1:], {**around, **_scalars(value)})


def scalars_around(document: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The texts, numbers and verdicts beside a list and in the objects around it; the nearest counts."""
    fields: dict[str, Any] = {}
    inner: Any = document
    for key in place.split("."):
        if not isinstance(inner, Mapping):
            break
        fields |= _scalars(inner)
        inner = inner.get(key)
        inner = inner[0] if isinstance(inner, list) and inner else inner
    return fields


def _scalars(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in holder.items() if isinstance(value, (str, int, float, bool))}


def first_messages(file: TraceFile) -> list[Any]:
    """The messages of the first record, from which a reader sees whether the file is in its format."""
    head = file.head
    if isinstance(head, list) and head and not is_message(head[0]):
        head = head[0]
    messages = head[place] if (place := conversation_in(head)) else head
    if file.is_lines and isinstance(messages, dict) and is_message(messages) and "type" not in messages:
        messages = [messages]
    messages = messages_in(messages) if isinstance(messages, list) else []
    return messages if all(map(is_message, messages)) else []


_FIELDS_OF_STEPS = (
    {"span_id", "root_span_id"},
    {"trace_id", "start_time", "type"},
    {"traceId", "startTime", "type"},
    {"id", "project_id", "start_time"},
)


def is_step(record: object) -> bool:
    """Is this a platform's trace or a step of one? What it was given and gave back may look like a run of its own."""
    return isinstance(record, dict) and any(fields <= record.keys() for fields in _FIELDS_OF_STEPS)


def _trajectory(record: object, origin: Origin, fields: FieldMap, options: ReadOptions) -> Trajectory:
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, dict):
        raise TraceError(f"is a {type(record).__name__}, not an object", "Each record is an object with 'messages'.")
    values = {field: fields.get(record, field) for field in FIELDS if field != "outcome"}
    messages = _messages(values["messages"] or record.get(conversation_in(record)), record)
    environment = label(values["environment"], "environment") or "general"
    recorder = Recorder(options.naming(environment))
    tools = tools_of(values["tools"], recorder.naming)
    asked = next(filter(None, [record_message(recorder, message) for message in messages]), "")
    task = text_of(values["task"]).strip()
    task_id = label(values["task_id"], "task_id")
    if task_id is None and not (task or asked) and options.located_fields.keys().isdisjoint(("task_id", "task")):
        raise TraceError("names no task: no task_id, no task, no user message", "Map one with --map task_id=PATH.")
    models = (label(message["model"], "model") for message in messages if message.get("model"))
    return Trajectory(
        environment=environment,
        task_id=task_id or digest(task or asked),
        source=label(values["source"], "source") or next(models, None) or fields.find_source(record) or "unknown",
        origin=origin,
        events=recorder.events(),
        outcome=Outcome(*fields.find_outcome(record), text_of(values["feedback"])),
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
    return messages_in(value)


def label(value: object, what: str) -> str | None:
    """An id or name as text. None if there is none. A value that cannot be a name is refused."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TraceError(f"has a {what} that is a {type(value).__name__}", f"A {what} is text or a number.")
    return str(value)


_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


def tools_of(raw: object, naming: Naming) -> tuple[Tool, ...]:
    """Tool schemas as OpenAI, Anthropic, Gemini or MCP write them, or bare names. Anything else is not a tool."""
    if isinstance(raw, str):
        raw = decode(raw.encode())
    tools = []
    for entry in _declared(raw):
        wrapped = entry.get("function") if isinstance(entry, dict) else {"name": entry}
        spec = wrapped if isinstance(wrapped, dict) else entry
        if isinstance(spec.get("name"), str):
            found = next((spec[name] for name in _SCHEMAS if spec.get(name)), None)
            check_depth(found)
            parameters = found if isinstance(found, dict) else {}
            tools.append(naming.tool(spec["name"], text_of(spec.get("description")), parameters))
    return tuple(tools)


def _declared(raw: object) -> Iterator[Any]:
    """Each tool of a list. Gemini puts several functions into one tool."""
    for entry in raw if isinstance(raw, list) else ():
        names = ("functionDeclarations", "function_declarations")
        several = next((entry[name] for name in names if name in entry), None) if isinstance(entry, dict) else None
        yield from several if isinstance(several, list) else (entry,)


def _usage(record: Mapping[str, Any], messages: Iterable[Any]) -> RunUsage:
    meter = Meter()
    if isinstance(record.get("usage"), dict):
        meter.add(record["usage"])
        meter.model_calls = None  # the sum of the record says nothing about how many calls it sums
    else:
        for message in messages:
            meter.add(message.get("usage"))
    return meter.usage()


# contramem's own format, which `write_traces` writes. A line is decoded straight into the types of trajectory.py:
# unknown fields are ignored, a missing or wrong one is reported with its path.

_decode = msgspec.json.Decoder(Trajectory).decode
_LONGEST_HEADER = 200
"""In bytes: no line of a run is as short, so runs are not decoded twice."""


def is_native(file: TraceFile) -> bool:
    return isinstance(file.head, dict) and file.head.get("format") == FORMAT


def read_native(file: TraceFile, options: ReadOptions) -> Reading:
    """contramem's own traces: a header line, then one Trajectory per line.

    {"format": "contramem-trace", "version": 1}
    {"environment": "general", "task_id": "t1", "source": "m", "outcome": {"passed": true}, "events": [
      {"position": 1, "actor": "agent", "kind": "call", "function": "mail.send", "arguments": {"to": "Bob"}}]}
    """
    lines = file.raw_lines()
    first = next(lines, (1, b""))[1]
    _check_header(first if isinstance(first, bytes) else b"")
    # Names and effects stand in the file, unless the user gives others.
    naming = options.naming() if options.app or options.effects else None
    runs = (line for line in lines if not _is_header(line[1]))
    yield from each_run(file, runs, lambda line, _: _native_trajectory(line, naming))


def _is_header(line: object) -> bool:
    """Files put together with `cat` have a header before each part."""
    return isinstance(line, bytes) and len(line) < _LONGEST_HEADER and _header_of(line).get("format") == FORMAT


def _header_of(line: bytes) -> dict[str, Any]:
    try:
        header = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return header if isinstance(header, dict) else {}


def _check_header(line: bytes) -> None:
    header = _header_of(line)
    if header.get("format") != FORMAT:
        what = f'The first line must be {{"format": "{FORMAT}", "version": {VERSION}}}.'
        raise TraceError("has no header line", what)
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise TraceError(f"has a header whose version is {version!r}", f"The version is a number from 1 to {VERSION}.")
    if version > VERSION:
        what = f"was written by a newer contramem (trace format {version}); this one reads up to {VERSION}"
        raise TraceError(what, "Upgrade contramem.")


def _native_trajectory(line: bytes, naming: Naming | None) -> Trajectory:
    try:
        trajectory = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TraceError(f"is not a trajectory ({error})", "docs/formats.md describes the fields.") from None
    bare = False
    for index, event in enumerate(trajectory.events):
        if event.position != index:
            raise TraceError(f"event {index} has position {event.position}", "Number the events 0, 1, 2, ...")
        if event.function and "." not in event.function:
            bare = True
        if event.result is not None and isinstance(event.result.content, (dict, list)):
            check_depth(event.result.content)
        for value in event.arguments.values():
            if isinstance(value, (dict, list)):
                check_depth(value)
    if naming is None and not bare:
        return trajectory
    events = tuple([_rename(event, naming or Naming()) for event in trajectory.events])
    return msgspec.structs.replace(trajectory, events=events)


def _rename(event: Event, naming: Naming) -> Event:
    if not event.function:
        return event
    function = naming.function(event.function)
    effect = naming.effect(function, None if event.effect == "unknown" else event.effect)
    given = event.effect_given or naming.is_given(function)
    return msgspec.structs.replace(event, function=function, effect=effect, effect_given=given)


# Recordings of guided runs (`Memory.load(bank, record=...)`).

_MAX_TOKENS = 1 << 53
"""A larger count is no count: files are written by anybody."""


def is_recording(file: TraceFile) -> bool:
    head = file.head
    return isinstance(head, dict) and type(head.get("recording")) is int and "run" in head and "what" in head


def read_recording(file: TraceFile, options: ReadOptions) -> Reading:
    """Lines of many runs, in the order they were written.

    {"recording": 1, "run": "c5f7", "time": 1.0, "what": "start", "task": "Mail Bob.", "task_id": "t1", "source": "m"}
    {"recording": 1, "run": "c5f7", "time": 1.1, "what": "shown", "text": "...", "cards": ["..."]}
    {"recording": 1, "run": "c5f7", "time": 1.2, "what": "event", "event": {"kind": "call", "function": "mail.send"}}
    {"recording": 1, "run": "c5f7", "time": 1.3, "what": "finish", "passed": true}
    """
    runs: dict[str, list[dict[str, Any]]] = {}
    for position, line in file.lines():
        if isinstance(line, dict) and isinstance(line.get("run"), str):
            runs.setdefault(line["run"], []).append(line)
        else:
            error = line if isinstance(line, TraceError) else TraceError("is not a line of a recording")
            yield Problem(f"{file.origin}:{position}", error.what, error.hint)
    yield from each_run(file, runs.items(), lambda lines, run: _recorded(lines, Origin(file.origin, run), options))


def _recorded(lines: list[dict[str, Any]], origin: Origin, options: ReadOptions) -> Trajectory | SkippedRun:
    opening = next((line for line in lines if line.get("what") == "start"), None)
    if opening is None:
        return SkippedRun(str(origin), "recording whose beginning is missing")
    naming, task = options.naming(), str(opening.get("task") or "")
    events, memories = [Event(0, "user", "message", text=task)], []
    for line in lines:
        if line.get("what") == "event":
            event = msgspec.convert({"position": len(events), **line["event"]}, Event)
            check_depth(event.arguments)
            if event.function:
                event = msgspec.structs.replace(event, function=naming.function(event.function))
            events.append(event)
        elif line.get("what") == "shown":
            cards = tuple(map(str, line.get("cards") or ()))
            tokens = line["tokens"] if type(line.get("tokens")) is int and 0 <= line["tokens"] < _MAX_TOKENS else None
            memories.append(ShownMemory(len(events), str(line["text"]), str(line.get("function") or ""), cards, tokens))
    verdicts = [line for line in lines if line.get("what") == "finish" and isinstance(line.get("passed"), bool)]
    last = verdicts[-1] if verdicts else {}
    return Trajectory(
        environment="recorded",
        task_id=label(opening.get("task_id"), "task_id") or digest(task),
        source=label(opening.get("source"), "source") or "agent",
        origin=origin,
        events=tuple(events),
        outcome=Outcome(last.get("passed"), number(last.get("reward")), str(last.get("feedback") or "")),
        run=origin.position,
        task=task,
        ability=label(opening.get("ability"), "ability"),
        guidance=tuple(memories),
    )
