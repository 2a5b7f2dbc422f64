"""Spans as exporters write them, and the runs in them: one trace is one run.

Models are sent the whole conversation each time, so each message is recorded when it first appears. Tool spans give
results and errors; a call without a tool span (answered without running) is in the messages. Platforms (platforms.py)
make such spans of what they keep.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, number
from contramem.traces.normalize import Recorder, check_depth
from contramem.traces.outcomes import verdict_of
from contramem.traces.reader import WRONG_SHAPE, Problem, Reading, ReadOptions, SkippedRun, each_run, first_of
from contramem.traces.readers.dialects import (
    Span,
    SpanCall,
    SpanMessage,
    is_model,
    is_tool,
    json_of,
    messages_of,
    tool_call,
    use_known_names,
)
from contramem.traces.readers.messages import sum_numbers, whole
from contramem.traces.readers.records import tools_of
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Tool, Trajectory, digest

Spans = Iterable[tuple[object, Span | TraceError]]
"""(position, span); a TraceError for anything that is not a span."""

# How exporters write spans: `ReadableSpan.to_json` lines, lists, OTLP-JSON, rows and trees of OpenInference.


def is_otel(file: TraceFile) -> bool:
    head = first_of(file.head)
    if not isinstance(head, dict):
        return False
    context = head.get("context")
    is_span = isinstance(context, dict) and "trace_id" in context and "start_time" in head and "attributes" in head
    return "resourceSpans" in head or is_span


def read_otel(file: TraceFile, options: ReadOptions) -> Reading:
    """The GenAI conventions (`gen_ai.*`) and OpenInference, as span lines, lists or OTLP-JSON.

    {"name": "execute_tool send", "context": {"trace_id": "t", "span_id": "s1"}, "parent_id": "s0", "start_time": "...",
     "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send"}}
    """
    return read_spans(file, options, spans_of(_raw_spans(file), lambda make: [make()], "span"))


def is_openinference(file: TraceFile) -> bool:
    record = first_record(file, "spans", "data")
    is_row = "context.trace_id" in record or ("span_attributes" in record and "trace_id" in record)
    return file.ending == ".parquet" or is_row


def read_openinference(file: TraceFile, options: ReadOptions) -> Reading:
    """Trees of `child_spans` (TRAIL), and Phoenix data frames as JSON or Parquet, which needs the extra `parquet`.

    {"trace_id": "t", "spans": [{"trace_id": "t", "span_id": "s0", "timestamp": "...", "span_attributes": {
      "openinference.span.kind": "TOOL", "tool.name": "send", "input.value": "..."}, "child_spans": [...]}]}

    {"context.trace_id": "t", "context.span_id": "s1", "parent_id": "s0", "span_kind": "TOOL", "start_time": "...",
     "attributes.tool.name": "send", "attributes.input.value": "...", "attributes.output.value": "..."}

    A data frame has one span per row, its attributes in columns `attributes.*`."""
    rows = _parquet_rows(file) if file.ending == ".parquet" else records_of(file, "spans", "data")
    return read_spans(file, options, spans_of(rows, _openinference_spans), "openinference")


def records_of(file: TraceFile, *keys: str) -> Iterable[tuple[object, Any]]:
    """(position, record): one per line, the items of a list or of the list under one of `keys`, or the document."""
    if file.is_lines:
        return file.lines()
    document = file.document
    if isinstance(document, dict):
        document = next((document[key] for key in keys if isinstance(document.get(key), list)), document)
    return enumerate(document) if isinstance(document, list) else [("", document)]


def first_record(file: TraceFile, *keys: str) -> dict[str, Any]:
    """The first record, from which a reader sees whether the file is in its format; empty if there is none."""
    head = file.head
    if isinstance(head, dict):
        head = next((head[key] for key in keys if isinstance(head.get(key), list) and head[key]), head)
    head = first_of(head)
    return head if isinstance(head, dict) else {}


def spans_of(
    records: Iterable[tuple[object, Any]],
    make: Callable[[Any], Iterable[Any]],
    unit: str = "step",
) -> Iterator[tuple[object, Any]]:
    """(position, span) for the spans that `make` makes of each record; anything else comes as a TraceError."""
    for position, record in records:
        if isinstance(record, TraceError):
            yield position, record
            continue
        try:
            for span in make(record):
                yield position, span
        except TraceError as error:
            yield position, TraceError(error.what, error.hint or "Is this an export of traces?")
        except WRONG_SHAPE as error:
            yield position, TraceError(f"has no usable {unit} ({str(error)[:200]})", "Is this an export of traces?")


def _raw_spans(file: TraceFile) -> Iterator[tuple[object, Any]]:
    """(position, what makes the span)"""
    for position, value in _exported(file):
        if isinstance(value, TraceError):
            yield position, value
        elif not isinstance(value, dict) or not ("resourceSpans" in value or "resourceLogs" in value):
            yield position, partial(_readable_span, value)
        else:
            for kind, scopes, items, make in (
                ("resourceSpans", "scopeSpans", "spans", _otlp_span),
                ("resourceLogs", "scopeLogs", "logRecords", _otlp_log),
            ):
                for group in _objects(value.get(kind)):
                    for scope in _objects(group.get(scopes)):
                        for raw in _objects(scope.get(items)):
                            yield position, partial(make, raw, group.get("resource"))


def _exported(file: TraceFile) -> Iterator[tuple[object, Any]]:
    """(position, value), also of objects that a console exporter writes one after the other over several lines each."""
    if file.is_lines:
        yield from file.lines()
        return
    try:
        document = file.document
    except TraceError as error:
        text, at, count = file.content.decode("utf-8", "replace"), 0, 0
        while at < len(text):
            try:
                value, end = json.JSONDecoder().raw_decode(text, at)
            except (ValueError, RecursionError):
                yield f"span {count + 1}" if count else "", error
                return
            count += 1
            yield f"span {count}", value
            at = end + len(text[end:]) - len(text[end:].lstrip()) if text[end : end + 1].isspace() else end
        return
    yield from enumerate(document) if isinstance(document, list) else [("", document)]


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _readable_span(raw: dict[str, Any]) -> Span:
    context, status = raw["context"], raw.get("status")
    code = status.get("status_code") if isinstance(status, dict) else raw.get("status_code") or status
    description = status.get("description") if isinstance(status, dict) else raw.get("status_message")
    events = [(event["name"], event.get("attributes") or {}) for event in raw.get("events") or ()]
    attributes = _flatten(raw["attributes"])
    if raw.get("span_kind"):  # Phoenix's API writes the kind beside the attributes
        attributes.setdefault("openinference.span.kind", raw["span_kind"])
    return Span(
        trace=str(context["trace_id"]),
        parent=str(raw.get("parent_id") or ""),
        start=seconds(raw["start_time"]),
        attributes=attributes,
        resource=(raw.get("resource") or {}).get("attributes") or {},
        events=events,
        error=_error_text(description, events, attributes) if str(code).endswith("ERROR") else None,
    )


def _otlp_span(raw: dict[str, Any], resource: Any) -> Span:
    status = raw.get("status") or {}
    events = [(event["name"], _otlp_attributes(event.get("attributes"))) for event in raw.get("events") or ()]
    attributes = _expand_metadata(_otlp_attributes(raw.get("attributes")))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        trace=str(raw["traceId"]),
        parent=str(raw.get("parentSpanId") or ""),
        start=int(raw["startTimeUnixNano"]) / 1e9,
        attributes=attributes,
        resource=_otlp_attributes((resource or {}).get("attributes")),
        events=events,
        error=_error_text(status.get("message"), events, attributes) if failed else None,
    )


def _otlp_log(raw: dict[str, Any], resource: Any) -> Span:
    """A log record as a span without a status: evaluations are logged after the trace has ended."""
    attributes = _otlp_attributes(raw.get("attributes"))
    name = raw.get("eventName") or attributes.get("event.name") or ""
    time = int(raw.get("timeUnixNano") or raw.get("observedTimeUnixNano") or 0) / 1e9
    return Span(str(raw["traceId"]), "log", time, {}, events=[(str(name), attributes)])


def _otlp_attributes(pairs: Any) -> dict[str, Any]:
    check_depth(pairs, 128)
    return {pair["key"]: _otlp_value(pair.get("value")) for pair in pairs or ()}


def _otlp_value(value: Any) -> Any:
    """A value in OTLP's encoding: `{"intValue": "5"}` is 5."""
    if not isinstance(value, dict) or not value:
        return value or None
    kind, content = next(iter(value.items()))
    if kind == "intValue":
        return int(content)
    if kind == "arrayValue":
        return [_otlp_value(item) for item in content.get("values") or ()]
    if kind == "kvlistValue":
        return _otlp_attributes(content.get("values"))
    return content


def _parquet_rows(file: TraceFile) -> Iterable[tuple[object, Any]]:
    try:
        from pyarrow import ArrowException, BufferReader
        from pyarrow.parquet import read_table
    except ImportError:
        raise TraceError("is Parquet, which needs pyarrow", "pip install 'contramem[parquet]'") from None
    try:
        rows = read_table(BufferReader(file.content)).to_pylist()
    except (ArrowException, OSError, ValueError) as error:
        raise TraceError(f"cannot be read as Parquet ({str(error)[:200]})", "Is the file complete?") from None
    return list(enumerate(rows))


def _openinference_spans(row: Mapping[str, Any]) -> Iterator[Span]:
    if "context.trace_id" in row:
        named = {name.removeprefix("attributes."): json_of(value) for name, value in row.items()
                 if name.startswith("attributes.") and value is not None}  # fmt: skip
        attributes = _flatten(named)
        attributes.setdefault("openinference.span.kind", row.get("span_kind"))
        trace, parent, start = row["context.trace_id"], row.get("parent_id"), row["start_time"]
    else:
        attributes = _flatten(row["span_attributes"])
        trace, parent, start = row["trace_id"], row.get("parent_span_id"), row.get("timestamp") or row["start_time"]
    events = [
        (str(event.get("name") or event.get("Name")), event.get("attributes") or event.get("Attributes") or {})
        for event in _objects(json_of(row.get("events")))
    ]
    start = start.timestamp() if isinstance(start, datetime) else start  # Parquet keeps times as times
    failed = str(row.get("status_code") or "").upper().endswith("ERROR")
    error = _error_text(row.get("status_message"), events, attributes) if failed else None
    yield Span(str(trace), str(parent or ""), seconds(start), attributes, events=events, error=error)
    for child in row.get("child_spans") or ():
        yield from _openinference_spans(child)


def _error_text(description: object, events: list[tuple[str, dict[str, Any]]], attributes: dict[str, Any]) -> str:
    thrown = next((values for name, values in events if name == "exception"), {})
    texts = (thrown.get("exception.message"), description, thrown.get("exception.type"), attributes.get("error.type"))
    return next((str(text)[:2000] for text in texts if text), "failed")


def seconds(time: object) -> float:
    """Of an ISO text, or of a number that is nanoseconds when it could not be seconds."""
    if isinstance(time, str) and not time.isdigit():
        return datetime.fromisoformat(time).timestamp()
    value = number(time)
    if value is None:
        raise ValueError(f"start time is {time!r}")
    return value / 1e9 if value > 1e14 else value


_NESTED = frozenset(
    "llm tool openinference input output session user message agent tool_call embedding retrieval eval".split()
)
"""Prefixes that Phoenix exports as objects instead of dotted names."""


def _flatten(attributes: Any) -> dict[str, Any]:
    """Attributes under dotted names, however deep the exporter nested OpenInference's own ones."""
    flat: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.partition(".")[0] in _NESTED and isinstance(value, (dict, list)) and not name.endswith("put.value"):
            check_depth(value)
            _spread(name, value, flat)
        else:
            flat[name] = value
    return _expand_metadata(flat)


def _spread(name: str, value: Any, flat: dict[str, Any]) -> None:
    if name in ("input.value", "output.value"):  # whatever a tool was given: its own fields are no attributes
        flat[name] = value
    elif isinstance(value, dict):
        for key, child in value.items():
            _spread(f"{name}.{key}", child, flat)
    elif isinstance(value, list) and any(isinstance(child, dict) for child in value):
        for place, child in enumerate(value):
            _spread(f"{name}.{place}", child, flat)
    elif value is not None:
        flat[name] = value


def _expand_metadata(attributes: dict[str, Any]) -> dict[str, Any]:
    """With the entries of a `metadata` attribute, which is JSON text or an object, under names of their own."""
    metadata = json_of(attributes.get("metadata"))
    if not isinstance(metadata, dict):
        return attributes
    return {**{f"metadata.{key}": value for key, value in metadata.items()}, **attributes}


# The run in the spans of a trace.

_TASKS = ("contramem.task", "metadata.task")
_TASK_IDS = ("contramem.task_id", "task_id", "task.id", "metadata.task_id")
_SOURCES = ("contramem.source", "gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "model_name")
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name", "llm.provider")
_RUNS = ("contramem.run", "trial", "metadata.trial", "gen_ai.conversation.id", "session.id")
_ABILITIES = ("contramem.ability", "metadata.ability")
_INVENTED = "unnamed-"
"""How the ids begin that we give to calls that have none."""
_INPUTS = ("task", "input", "query", "question", "prompt")


def read_spans(
    file: TraceFile,
    options: ReadOptions,
    found_spans: Spans,
    environment: str = "otel",
) -> Reading:
    """One run for each trace among the spans; (position, TraceError) for anything that is not a span."""
    traces: dict[str, list[Span]] = {}
    for position, span in found_spans:
        if isinstance(span, TraceError):
            yield Problem(f"{file.origin}:{position}" if str(position) else file.origin, span.what, span.hint)
        else:
            traces.setdefault(span.trace, []).append(span)

    def build(spans: list[Span], position: str) -> Trajectory | SkippedRun:
        ordered = sorted(map(use_known_names, spans), key=lambda span: span.start)
        return _trajectory(ordered, position, environment, file, options)

    yield from each_run(file, traces.items(), build)


def _trajectory(
    spans: list[Span], trace: str, environment: str, file: TraceFile, options: ReadOptions
) -> Trajectory | SkippedRun:
    if not any(is_model(span) or is_tool(span) for span in spans):
        return SkippedRun(f"{file.origin}:{trace}", f"trace shows no model and no tool{_attribute_names(spans)}")
    conversation = _Conversation(Recorder(options.naming()))
    tools = _tools(spans, conversation.recorder)
    conversation.tell(spans)
    marks = _Marks(spans, options.record_fields)
    task = marks("task", *_TASKS) or _agent_input(spans) or conversation.task
    return Trajectory(
        environment=environment,
        task_id=marks("task_id", *_TASK_IDS) or f"prompt-{digest(task)}",
        source=marks("source", *_SOURCES, *_AGENTS) or "unknown",
        origin=Origin(file.origin, trace),
        events=conversation.recorder.events(),
        outcome=_outcome(spans, marks.value("outcome")),
        run=marks("trial", *_RUNS) or trace,
        task=task,
        ability=marks("ability", *_ABILITIES) or None,
        tools=tools,
        usage=_usage(spans),
    )


def _attribute_names(spans: list[Span]) -> str:
    names = sorted({name for span in spans for name in span.attributes})
    return f" (attributes: {', '.join(names[:6])}{', ...' if names[6:] else ''})" if names else ""


class _Marks:
    """Finds what attributes say about the run: under the name that the user maps a field to, else under usual names."""

    def __init__(self, spans: list[Span], named: Mapping[str, str]) -> None:
        self._outer_first = sorted(spans, key=lambda span: bool(span.parent))
        self._named = named

    def __call__(self, field: str, *usual: str) -> str:
        value = self.value(field, *usual)
        return "" if value is None else str(value)

    def value(self, field: str, *usual: str) -> Any:
        for name in (self._named[field],) if field in self._named else usual:
            for span in self._outer_first:
                if (value := span.attributes.get(name, span.resource.get(name))) not in (None, ""):
                    return value
        return None


def _tools(spans: list[Span], recorder: Recorder) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    for span in spans:
        documented = list(tools_of(json_of(span.get("gen_ai.tool.definitions")), recorder.naming))
        if is_tool(span) and span.get("tool.description"):
            about = {"name": span.get("tool.name"), "description": span.get("tool.description")}
            documented += tools_of([{**about, "parameters": json_of(span.get("tool.parameters"))}], recorder.naming)
        for tool in documented:
            tools.setdefault(tool.function, tool)
    return tuple(tools.values())


class _Conversation:
    """Records each message and call of a trace once, in the order of first appearance."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.task = ""
        self._seen: Counter[tuple[object, ...]] = Counter()
        self._told: set[str] = set()  # ids of calls
        self._open: dict[str, str] = {}  # id of each call that has no result yet -> its tool

    def tell(self, spans: list[Span]) -> None:
        turns = {id(span): messages_of(span) for span in spans if is_model(span)}
        root = next((span for span in spans if not span.parent), None)
        silent = root if not any(turns.values()) else None
        if silent is not None:
            self._say(SpanMessage("user", _input(silent)), silent.start)
        for span in spans:
            if id(span) in turns:
                self._turn(turns[id(span)], span.start)
            elif is_tool(span):
                self._tool(tool_call(span), span.start)
        if silent is not None and isinstance(answer := silent.get("output.value", "final_result"), str):
            self._say(SpanMessage("assistant", answer), silent.start)

    def _turn(self, messages: list[SpanMessage], time: float) -> None:
        here: Counter[tuple[object, ...]] = Counter()
        for message in messages:
            key = message.key
            here[key] += 1
            if here[key] > self._seen[key]:
                self._seen[key] = here[key]
                self._say(message, time)

    def _say(self, message: SpanMessage, time: float) -> None:
        for answer in message.answers:
            call_id = answer.id if answer.id in self._open else self._waiting_for(answer)
            if call_id is not None:  # else its tool span has told it
                self._result(answer, call_id, time)
        if message.role in ("assistant", "model", "ai"):
            self.recorder.message("agent", message.text, time)
        elif message.role in ("user", "human"):
            self.task = self.task or message.text
            self.recorder.message("user", message.text, time)
        for call in message.calls:
            if call.id in self._told:
                continue
            self._told |= {call.id} if call.id else set()
            call_id = call.id or f"{_INVENTED}{len(self._seen)}-{len(self._open)}-{call.name}"
            self._open[call_id] = call.name
            self.recorder.call(call.name, call.arguments, call_id, time=time)

    def _tool(self, call: SpanCall, time: float) -> None:
        call_id = call.id if call.id in self._open else self._waiting_for(call)
        if call_id is None:
            self.recorder.call(call.name, call.arguments, call.id, time=time)
            self._told |= {call.id} if call.id else set()
            call_id = call.id
        self._result(call, call_id, time)

    def _waiting_for(self, call: SpanCall) -> str | None:
        """The open call of this tool, where the tool's span or the model's reply does not name it by an id."""
        return next(
            (
                call_id
                for call_id, tool in self._open.items()
                if tool == call.name and (not call.id or call_id.startswith(_INVENTED))
            ),
            None,
        )

    def _result(self, call: SpanCall, call_id: str | None, time: float) -> None:
        if call_id is not None:
            self._open.pop(call_id, None)
        self.recorder.result(call.result, call_id, error=call.error, time=time)


def _agent_input(spans: list[Span]) -> str:
    """What the outermost agent was asked, if its span has it as text. Models are shown more than that."""
    agent = next((span for span in spans if span.get("openinference.span.kind") == "AGENT"), None)
    if agent is None or (agent.parent and not isinstance(json_of(agent.get("input.value")), dict)):
        return ""
    return _input(agent)


def _input(root: Span) -> str:
    value = json_of(root.get("input.value"))
    if isinstance(value, dict):
        return next((value[name] for name in _INPUTS if isinstance(value.get(name), str)), "")
    return value if isinstance(value, str) else ""


# What a trace says about its own success and cost.

_SUCCESS = frozenset(
    "accuracy accurate complete completed completion correct correctness goal outcome pass passed resolved reward "
    "solved success succeeded successful".split()
)
_NO_SUCCESS = frozenset(
    "bias biased cost duration frustration hallucination hallucinated harm harmful harmfulness injection jailbreak "
    "latency leak length pii refusal speed time tokens toxic toxicity verbosity".split()
)
"""Words in the names of evaluations: those that say whether the task was done, and those that measure something else,
often something of which less is better."""


class Evaluation(NamedTuple):
    """One evaluation of a trace."""

    name: str
    score: Any
    label: Any
    why: str

    @property
    def words(self) -> set[str]:
        return set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name).lower()))


def _outcome(spans: list[Span], named: object) -> Outcome:
    """`named`, the user's own attribute, decides; otherwise all evaluations about success must pass."""
    evaluations = [Evaluation("", named, None, "")] if named is not None else _about_success(list(_evaluations(spans)))
    judged = [_judge(evaluation.score, evaluation.label) for evaluation in evaluations]
    rewards = [reward for evaluation in evaluations if (reward := number(evaluation.score)) is not None]
    failed = next((span for span in spans if not span.parent and span.error), None)
    ended: Ending = "complete"
    if failed is not None:
        ended = "limit" if "limit" in str(failed.error).lower() else "interrupted"
    texts = [evaluation.why for evaluation in evaluations if evaluation.why] or (
        [failed.error] if failed and failed.error else []
    )
    return Outcome(_all(judged), min(rewards, default=None), "\n".join(texts)[:4000], ended)


def _about_success(evaluations: list[Evaluation]) -> list[Evaluation]:
    """The evaluations named after success; if there are none, all but those that measure something else."""
    telling = [evaluation for evaluation in evaluations if evaluation.words & _SUCCESS]
    return telling or [evaluation for evaluation in evaluations if not evaluation.words & _NO_SUCCESS]


def _all(judged: list[bool | None]) -> bool | None:
    verdicts = [passed for passed in judged if passed is not None]
    return all(verdicts) if verdicts else None


def _judge(value: object, label: object) -> bool | None:
    """A label that we know decides; a score passes from 1."""
    by_label, _ = verdict_of(label)
    return verdict_of(value)[0] if by_label is None else by_label


def _evaluations(spans: list[Span]) -> Iterator[Evaluation]:
    """Those of the GenAI evaluation events and of OpenInference's `eval.<name>.*` attributes."""
    for span in spans:
        for name, values in span.events:
            if name == "gen_ai.evaluation.result":
                score, label = (values.get(f"gen_ai.evaluation.score.{part}") for part in ("value", "label"))
                named = str(values.get("gen_ai.evaluation.name") or "")
                yield Evaluation(named, score, label, str(values.get("gen_ai.evaluation.explanation") or ""))
        keys = [key.split(".") for key in span.attributes if key.startswith("eval.")]
        for name in sorted({parts[1] for parts in keys if len(parts) > 2}):
            score, label, why = (span.get(f"eval.{name}.{part}") for part in ("score", "label", "explanation"))
            yield Evaluation(name, score, label, str(why or ""))


def _usage(spans: list[Span]) -> RunUsage:
    """Summed over model spans; if there are none, the totals of the agent's span."""
    models = [span for span in spans if is_model(span)]
    rows = [span.attributes for span in models or [span for span in spans if not span.parent]]
    sent = ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.aggregated_usage.input_tokens")
    replied = ("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.aggregated_usage.output_tokens")
    return RunUsage(
        model_calls=len(models) or None,
        tokens_in=whole(sum_numbers(rows, *sent)),
        tokens_out=whole(sum_numbers(rows, *replied)),
        cost_usd=sum_numbers(rows, "llm.cost.total", "operation.cost"),
    )
