"""Platforms that keep runs as trees of steps. Each step becomes a span, and spans.py reads the trace.

A platform says which of its steps are a model's and which are a tool's; `model_span` and `tool_span` write them down in
the names of the GenAI conventions, so that one reading serves them all. Adding a platform is a function that makes the
spans of a record, and a `Platform`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, read_literal
from contramem.traces.map import at
from contramem.traces.reader import Reading, ReadOptions
from contramem.traces.readers.dialects import Span, SpanCall, is_model, is_tool, json_of, messages_in, messages_of
from contramem.traces.readers.frameworks import from_langchain
from contramem.traces.readers.spans import Spans, first_record, read_spans, records_of, seconds, spans_of
from contramem.traces.trajectory import digest

Record = Mapping[str, Any]
Records = Iterable[tuple[object, Any]]


@dataclass(frozen=True)
class Platform:
    """One platform, as its exports look."""

    name: str
    lists: tuple[str, ...]
    """Where a document keeps its records, unless it is a list of them or has one per line."""
    is_record: Callable[[Record], bool]
    spans: Callable[[Records], Spans]

    def claims(self, file: TraceFile) -> bool:
        return self.is_record(first_record(file, *self.lists))

    def read(self, file: TraceFile, options: ReadOptions) -> Reading:
        return read_spans(file, options, self.spans(records_of(file, *self.lists)), self.name)


def each(make: Callable[[Any], Iterable[Span]]) -> Callable[[Records], Spans]:
    """The spans of records that tell each for itself."""
    return lambda records: spans_of(records, make)


class Place(NamedTuple):
    """Where a step stands in its trace."""

    trace: str
    parent: str
    start: float
    error: str | None = None


def place_of(trace: object, parent: object, start: object, error: object = None) -> Place:
    text = error if isinstance(error, str) else "" if not error else str(error)
    return Place(str(trace), str(parent or ""), seconds(start), text[:2000] or None)


def plain_span(place: Place, attributes: dict[str, Any]) -> Span:
    """A step that is neither a model's nor a tool's: it holds the trace together and may carry its labels."""
    return Span(place.trace, place.parent, place.start, attributes, error=place.error)


def model_span(place: Place, sent: object, reply: object, model: object, usage: object = None) -> Span:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model.rpartition("/models/")[2] if isinstance(model, str) and model else None,
        "gen_ai.input.messages": list(messages_in(json_of(sent))),
        "gen_ai.output.messages": list(messages_in(json_of(reply), "assistant")),
        "gen_ai.usage.input_tokens": at(usage, "input_tokens", "prompt_tokens", "input", "promptTokens"),
        "gen_ai.usage.output_tokens": at(usage, "output_tokens", "completion_tokens", "output", "completionTokens"),
    }
    return plain_span(place, attributes)


def tool_span(place: Place, name: object, arguments: object, result: object, call_id: object = None) -> Span:
    error = place.error
    chats = [chat for chat in from_langchain(json_of(result)) if chat["role"] == "tool"]
    if chats:  # LangChain's tools answer with a message
        result, call_id = chats[0]["content"], chats[0]["tool_call_id"] or call_id
        error = error or (str(result)[:2000] if chats[0]["is_error"] else None)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": str(name),
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": json_of(arguments),
        "gen_ai.tool.call.result": result,
    }
    return plain_span(place._replace(error=error), attributes)


def tool_arguments(inputs: object) -> object:
    """A tool's inputs, which LangChain's tracing wraps as the text under `input`, in Python's spelling, when they were
    logged as text."""
    given = inputs["input"] if isinstance(inputs, dict) and inputs.keys() == {"input"} else inputs
    if given is inputs or not isinstance(given, str) or not given.startswith("{") or len(given) > 100_000:
        return given
    try:
        return read_literal(given)  # only literals: nothing is run
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return given


def calls_asked_for(spans: Iterable[Span]) -> list[SpanCall]:
    """The calls that models asked for. Those that a later request repeats come once more."""
    return [call for span in spans if is_model(span) for message in messages_of(span) for call in message.calls]


def about_trace(metadata: object, sent: object, reply: object) -> dict[str, Any]:
    """What the outermost step says about the run: its labels, what was asked and what came of it."""
    about = labels(metadata, {"input.value": sent, "output.value": reply})
    if request := _find_request(sent):
        about.setdefault("contramem.task", request)
    return about


def _find_request(sent: object) -> str:
    """What the user asked the whole trace. The first message to a model may be an instruction."""
    value = json_of(json_of(sent))  # Langfuse's interface writes JSON as text once more
    if isinstance(value, dict) and "args" in value:  # a traced function: its arguments, not somebody's words
        return ""
    if isinstance(value, dict) and "messages" in value:  # of earlier turns, if the request stands beside them
        requests = (
            value[name] for name in ("query", "question", "prompt", "input") if isinstance(value.get(name), str)
        )
        value = next(requests, value)
    contents = (message.get("content") for message in messages_in(value) if message.get("role") == "user")
    return next((text for text in contents if isinstance(text, str)), "")


def labels(*holders: object) -> dict[str, Any]:
    """What tags and metadata say about the run, under the names that spans.py looks for."""
    named: dict[str, Any] = {}
    for holder in map(json_of, holders):
        if isinstance(holder, dict):
            own = {name: value for name, value in holder.items() if isinstance(name, str)}
            named |= {f"metadata.{name}": value for name, value in own.items()} | own
    return named


def score(name: object, value: object, comment: object = "") -> dict[str, Any]:
    """An evaluation as spans.py reads it."""
    key, kind = str(name or "score").replace(".", "_"), "label" if isinstance(value, str) else "score"
    return {f"eval.{key}.{kind}": value, f"eval.{key}.explanation": comment or ""}


# LangSmith: exports of a project as JSONL or a list, runs of the SDK (`run.dict()`), nested or flat.
#
#     {"id": "r0", "trace_id": "r0", "run_type": "chain", "start_time": "...", "inputs": {...},
#      "reference_example_id": "t1", "feedback_stats": {"correct": {"avg": 1}}}
#     {"id": "r1", "trace_id": "r0", "parent_run_id": "r0", "run_type": "llm", "inputs": {"messages": [[...]]}, ...}
#     {"id": "r2", ..., "run_type": "tool", "name": "send", "inputs": {"input": "{'to': 'Bob'}"}, "outputs": {...}}
#
# The trace of a dataset example is an attempt at that example; feedback is its outcome.


def _langsmith(run: Record) -> Iterator[Span]:
    trace, outputs = run.get("trace_id") or run["id"], run.get("outputs") or {}
    place = place_of(trace, run.get("parent_run_id"), run["start_time"], run.get("error"))
    if run["run_type"] == "llm":
        counted = {"input_tokens": run.get("prompt_tokens"), "output_tokens": run.get("completion_tokens")}
        model = at(run, "extra.metadata.ls_model_name", "extra.invocation_params.model")
        yield model_span(place, run.get("inputs"), outputs, model, outputs.get("usage_metadata") or counted)
    elif run["run_type"] == "tool":
        yield tool_span(place, run.get("name"), tool_arguments(run.get("inputs")), outputs.get("output", outputs))
    else:
        example = run.get("reference_example_id")
        about = labels(at(run, "extra.metadata"), {"task_id": example} if example else {})
        for key, stats in (run.get("feedback_stats") or {}).items():
            about |= score(key, stats.get("avg") if isinstance(stats, dict) else stats)
        yield plain_span(place, about)
    for child in run.get("child_runs") or ():
        yield from _langsmith({"trace_id": trace, **child})


LANGSMITH = Platform(
    "langsmith",
    ("runs",),
    lambda run: {"run_type", "inputs"} <= run.keys() and not {"trace_id", "dotted_order", "id"}.isdisjoint(run),
    each(_langsmith),
)


# OpenAI's Agents SDK, as a TracingProcessor exports: a `trace`, then its `trace.span` objects. Items of a run
# (`result.to_input_list()`) are Responses items and are read by codex.py.
#
#     {"object": "trace", "id": "trace_1", "workflow_name": "mail", "metadata": {"task_id": "t1"}}
#     {"object": "trace.span", "trace_id": "trace_1", "started_at": "...", "span_data":
#       {"type": "function", "name": "send", "input": "{}", "output": "sent"}, "error": null}


def _openai_agents(record: Record) -> Iterator[Span]:
    if record["object"] == "trace":
        session = {"session.id": record["group_id"]} if record.get("group_id") else {}
        yield plain_span(place_of(record["id"], "", 0), {**labels(record.get("metadata")), **session})
        return
    data, error = record["span_data"], record.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    place = place_of(record["trace_id"], record.get("parent_id") or "trace", record["started_at"], message)
    if data["type"] == "function":
        yield tool_span(place, data["name"], data.get("input"), data.get("output"))
    elif data["type"] in ("generation", "response"):
        holder, prefix = (data, "") if data["type"] == "generation" else (data, "response.")
        output, model = at(holder, f"{prefix}output"), at(holder, f"{prefix}model")
        yield model_span(place, data.get("input"), output, model, data.get("usage"))
    else:
        yield plain_span(place, {"agent.name": data.get("name")} if data["type"] == "agent" else {})


OPENAI_AGENTS = Platform(
    "openai-agents", ("data",), lambda record: record.get("object") in ("trace", "trace.span"), each(_openai_agents)
)


# MLflow: `trace.to_json()`, artifacts, saved `search_traces`. The values of attributes are JSON, often as text.
#
#     {"info": {"trace_id": "tr-1", "tags": {...}, "assessments": [{"assessment_name": "correct", "feedback": {...}}]},
#      "data": {"spans": [
#        {"span_id": "s1", "parent_span_id": "s0", "name": "send", "start_time_unix_nano": 1, "attributes": {
#          "mlflow.spanType": "TOOL", "mlflow.spanInputs": "{\"to\": \"Bob\"}", "mlflow.spanOutputs": "..."}}]}}


def _mlflow_spans(record: Record) -> list[Any]:
    data = json_of(record.get("data"))
    spans = data.get("spans") if isinstance(data, dict) else json_of(record.get("spans"))
    return spans if isinstance(spans, list) else []


def _is_mlflow(record: Record) -> bool:
    attributes = at(_mlflow_spans(record), "0.attributes")
    return isinstance(attributes, dict) and any(str(name).startswith("mlflow.") for name in attributes)


def _mlflow(record: Record) -> Iterator[Span]:
    info, spans = json_of(record.get("info")) or {}, _mlflow_spans(record)
    # Spans of the second schema keep their ids in `context`.
    trace = at(info, "trace_id", "request_id") or record.get("trace_id") or at(spans[0], "trace_id", "context.trace_id")
    for span in spans:
        said = {name: json_of(value) for name, value in (span.get("attributes") or {}).items()}
        kind, sent, reply = (said.get(f"mlflow.span{part}") for part in ("Type", "Inputs", "Outputs"))
        parent = at(span, "parent_span_id", "parent_id")
        place = place_of(trace, parent, span.get("start_time_unix_nano") or span["start_time"], _mlflow_error(span))
        if kind in ("LLM", "CHAT_MODEL"):
            model = at(said, "mlflow.llm.model", "mlflow.chat.model") or at(sent, "model")
            yield model_span(place, sent, reply, model, said.get("mlflow.chat.tokenUsage"))
        elif kind in ("TOOL", "RETRIEVER"):
            yield tool_span(place, span.get("name"), sent, reply)
        else:
            yield plain_span(place, {} if parent else _mlflow_about(info, sent, reply))


def _mlflow_about(info: Record, sent: object, reply: object) -> dict[str, Any]:
    about = labels(at(info, "trace_metadata", "request_metadata"), info.get("tags"))
    about |= {"input.value": next(iter(sent.values()), None) if isinstance(sent, dict) else sent, "output.value": reply}
    for assessment in info.get("assessments") or ():
        value = (assessment.get("feedback") or {}).get("value")
        about |= score(at(assessment, "assessment_name", "name"), value, assessment.get("rationale"))
    return about


def _mlflow_error(span: Record) -> str | None:
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else span.get("status_code")
    if "ERROR" not in str(code):
        return None
    thrown = (event for event in span.get("events") or () if event.get("name") == "exception")
    message = at(at(next(thrown, None), "attributes"), "exception.message") or at(status, "message")
    return str(message or "failed")


MLFLOW = Platform("mlflow", ("traces",), _is_mlflow, each(_mlflow))


# Weights & Biases Weave: exports and `call.to_dict()`, one call per record. A call without children is a tool.
#
#     {"id": "w0", "trace_id": "w", "parent_id": null, "op_name": "weave:///team/project/op/agent:abc", ...}
#     {"id": "w1", ..., "parent_id": "w0", "op_name": ".../op/openai.chat.completions.create:def", "inputs": {...}}
#     {"id": "w2", ..., "parent_id": "w0", "op_name": ".../op/send:123", "inputs": {"to": "Bob"}, "output": "sent"}
#
# In an evaluation each `predict_and_score` is a run of its own, and its scores are the outcome.

_MODEL_OPERATIONS = ("chat.completions", "completions.create", "messages.create", "Messages.create",
                     "responses.create", "litellm.completion", "generate_content", "ChatOpenAI",
                     "ChatAnthropic")  # fmt: skip


def _weave(records: Records) -> Spans:
    records = list(records)
    calls = {str(call.get("id")): call for _, call in records if isinstance(call, dict)}
    parents = {str(call.get("parent_id")) for call in calls.values()}

    def make(call: Record) -> Iterator[Span]:
        top = _weave_run(call, calls)
        if top is not None:
            yield _weave_span(call, top, is_leaf=str(call.get("id")) not in parents)

    return spans_of(records, make)


def _weave_name(call: Record) -> str:
    """`weave:///entity/project/op/send_email:digest` is `send_email`."""
    return str(call["op_name"]).rpartition("/")[2].partition(":")[0]


def _weave_run(call: Record, calls: Mapping[str, Record]) -> Record | None:
    """The outermost call of the run that this one belongs to; None for the frame and the scorers of an evaluation."""
    chain = [call]
    while (parent := calls.get(str(chain[-1].get("parent_id")))) is not None:
        chain.append(parent)
        if len(chain) > 1000:
            raise TraceError("is nested in itself", "Do calls name each other as parents?")
    names = list(map(_weave_name, chain))
    example = next((place for place, name in enumerate(names) if name.endswith("predict_and_score")), None)
    if example is None:
        return None if "Evaluation.evaluate" in names else chain[-1]
    return None if example and names[example - 1].endswith(".score") else chain[example]


def _weave_span(call: Record, top: Record, is_leaf: bool) -> Span:
    inputs: Record = call["inputs"] if isinstance(call.get("inputs"), dict) else {}
    output, name, kind = call.get("output"), _weave_name(call), at(call, "attributes.weave.kind")
    thrown = json_of(call.get("exception"))  # newer versions log an exception as JSON, with its traceback
    is_json = isinstance(thrown, dict) and "message" in thrown
    error = f"{thrown.get('type') or 'Error'}: {thrown['message']}" if is_json else call.get("exception")
    parent = "" if call is top else call.get("parent_id")
    place = place_of(f"{call['trace_id']}/{top.get('id')}", parent, call["started_at"], error)
    if kind == "llm" or any(operation in name for operation in _MODEL_OPERATIONS):
        return model_span(place, inputs, output, inputs.get("model"), at(output, "usage"))
    if call is top:
        return plain_span(place, _weave_about(call, inputs, output))
    if kind != "tool" and not is_leaf:
        return plain_span(place, {})
    given = {key: value for key, value in inputs.items() if key != "self"}
    return tool_span(place, name.rpartition(".")[2], given, output)


def _weave_about(call: Record, inputs: Record, output: object) -> dict[str, Any]:
    about, example = labels(call.get("attributes")), inputs.get("example")
    if isinstance(example, str) and example.startswith("weave:///"):  # a reference to a row of a data set
        about["task_id"] = example.rpartition("/")[2]
    elif isinstance(example, dict):
        about["task_id"] = str(at(example, "id", "task_id") or digest(str(sorted(example.items(), key=str))))
    scores = at(output, "scores")
    for name, value in scores.items() if isinstance(scores, dict) else ():
        for part, verdict in (value if isinstance(value, dict) else {"": value}).items():
            if isinstance(verdict, (bool, int, float)):
                about |= score(f"{name}-{part}", verdict)
    return about


WEAVE = Platform(
    "weave",
    ("calls",),
    lambda call: isinstance(call.get("op_name"), str) and {"started_at", "trace_id"} <= call.keys(),
    _weave,
)


# Langfuse: traces with observations and scores, or observations alone, as the API, the UI and the SDK write them.
#
#     {"id": "t1", "input": "Mail Bob.", "scores": [{"name": "correct", "value": 1}], "observations": [
#       {"type": "GENERATION", "startTime": "...", "model": "...", "input": [messages], "output": {message}},
#       {"type": "TOOL", "startTime": "...", "name": "send", "input": {"to": "Bob"}, "output": "sent"}]}
#
# What OpenTelemetry sent is kept in an observation's metadata, and often says more than its type: tools of many
# frameworks are a plain SPAN. A span with the name of a call that a model of the trace asked for is that call.

_MODELS = ("GENERATION", "EMBEDDING")
_TOOLS = ("TOOL", "RETRIEVER")
_TYPES = (*_MODELS, *_TOOLS, "SPAN", "EVENT", "AGENT", "CHAIN", "EVALUATOR", "GUARDRAIL")
_AROUND_NAME = re.compile(r"^(?:running tool: |execute_tool |tool\.)|-\d+$")


def _is_langfuse(record: Record) -> bool:
    observations = record.get("observations")
    if isinstance(observations, list) and observations:
        return _is_observation(observations[0])
    return _is_observation(record) and bool(_get(record, "traceId"))


def _is_observation(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") in _TYPES and bool(_get(value, "startTime"))


def _get(record: Record, camel: str) -> Any:
    """The field in either spelling: the API writes camelCase, the SDK snake_case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
    return record.get(camel, record.get(snake))


def _langfuse(record: Record) -> Iterator[Span]:
    if "observations" not in record:
        yield _observation(record)
        return
    trace = record["trace"] if isinstance(record.get("trace"), dict) else record  # what the UI downloads
    observations = [item for item in record["observations"] if isinstance(item, dict)]
    yield _langfuse_trace(trace, observations)
    placed = [{"traceId": trace["id"], **observation} for observation in observations]
    spans = [_observation(observation, inside=str(trace["id"])) for observation in placed]
    asked = {call.name for call in calls_asked_for(spans)}
    for observation, span in zip(placed, spans, strict=True):
        is_asked = observation.get("name") in asked and not is_model(span) and not is_tool(span)
        yield _observation(observation, inside=str(trace["id"]), tools=asked) if is_asked else span


def _langfuse_trace(record: Record, observations: list[dict[str, Any]]) -> Span:
    about = about_trace(record.get("metadata"), record.get("input"), record.get("output"))
    for name, camel in (("task_id", "datasetItemId"), ("session.id", "sessionId")):
        if _get(record, camel):
            about[name] = _get(record, camel)
    for given in record.get("scores") or ():
        text = _get(given, "stringValue")
        about |= score(given.get("name"), text if isinstance(text, str) else given.get("value"), given.get("comment"))
    begun = record.get("timestamp") or min(str(_get(item, "startTime")) for item in observations)
    return plain_span(place_of(record["id"], "", begun), about)


def _observation(record: Record, inside: str = "", tools: Set[str] = frozenset()) -> Span:
    message = (_get(record, "statusMessage") or "failed") if record.get("level") == "ERROR" else None
    parent = _get(record, "parentObservationId") or inside
    place = place_of(_get(record, "traceId"), parent, _get(record, "startTime"), message)
    about = labels(record.get("metadata"))
    sent = json_of(about.get("attributes"))
    if record["type"] in _MODELS:
        usage, model = _get(record, "usageDetails") or record.get("usage"), _get(record, "providedModelName")
        return model_span(place, record.get("input"), record.get("output"), record.get("model") or model, usage)
    if record["type"] not in _TOOLS and record.get("name") not in tools and not _was_tool(sent, record):
        return plain_span(place, about)
    name = at(sent, "gen_ai.tool.name", "tool.name", "ai.toolCall.name")
    given, got = json_of(record.get("input")), json_of(record.get("output"))
    if given in (None, "", {}):
        given = at(sent, "gen_ai.tool.call.arguments", "tool.parameters", "gcp.vertex.agent.tool_call_args")
    if got in (None, "", {}):
        got = at(sent, "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response") or got
    name = name or _AROUND_NAME.sub("", str(record.get("name")))
    return tool_span(place, name, given, got, at(sent, "gen_ai.tool.call.id"))


def _was_tool(sent: object, record: Record) -> bool:
    """Did the framework send this as a tool that did something? Some send its start and its end as spans as well."""
    is_kind = at(sent, "openinference.span.kind") == "TOOL" or at(sent, "gen_ai.operation.name") == "execute_tool"
    return (is_kind or bool(at(sent, "gen_ai.tool.name"))) and bool(record.get("input") or record.get("output"))


LANGFUSE = Platform("langfuse", ("data", "traces"), _is_langfuse, each(_langfuse))
