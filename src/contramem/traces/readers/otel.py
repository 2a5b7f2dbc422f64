"""OpenTelemetry spans of agents: the GenAI conventions (`gen_ai.*`) and OpenInference, as span lines or OTLP-JSON.

    {"name": "execute_tool send", "context": {"trace_id": "t", "span_id": "s1"}, "parent_id": "s0", "start_time": "...",
     "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send"}}

One trace is one run. Models are sent the whole conversation each time, so each message is recorded when it first
appears. Tool spans give results and errors; a call without a tool span (answered without running) is in the messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.otel_dialects import use_known_names
from contramem.traces.readers.otel_messages import (
    OtelCall,
    OtelMessage,
    is_model,
    is_tool,
    json_of,
    messages_of,
    tool_call,
)
from contramem.traces.readers.otel_outcome import outcome_of, usage_of
from contramem.traces.readers.otel_spans import Span, spans_in
from contramem.traces.readers.records import tools_of
from contramem.traces.trajectory import Origin, Tool, Trajectory, digest

_TASKS = ("contramem.task", "metadata.task")
_TASK_IDS = ("contramem.task_id", "task_id", "task.id", "metadata.task_id")
_SOURCES = ("contramem.source", "gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "model_name")
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name", "llm.provider")
_RUNS = ("contramem.run", "trial", "metadata.trial", "gen_ai.conversation.id", "session.id")
_ABILITIES = ("contramem.ability", "metadata.ability")
_INVENTED = "unnamed-"
"""How the ids begin that we give to calls that have none."""
_INPUTS = ("task", "input", "query", "question", "prompt")


class OtelReader:
    name = "otel"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if isinstance(head, list) and head:
            head = head[0]
        if not isinstance(head, dict):
            return False
        context = head.get("context")
        return "resourceSpans" in head or (
            isinstance(context, dict) and "trace_id" in context and "start_time" in head and "attributes" in head
        )

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_in(file))


def read_spans(
    file: TraceFile,
    options: ReadOptions,
    found_spans: Iterable[tuple[object, Span | TraceError]],
    environment: str = "otel",
) -> Iterator[Trajectory | Problem | SkippedRun]:
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
    conversation = OtelConversation(Recorder(options.naming()))
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
        outcome=outcome_of(spans, marks.value("outcome")),
        run=marks("trial", *_RUNS) or trace,
        task=task,
        ability=marks("ability", *_ABILITIES) or None,
        tools=tools,
        usage=usage_of(spans),
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


class OtelConversation:
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
            self._say(OtelMessage("user", _input(silent)), silent.start)
        for span in spans:
            if id(span) in turns:
                self._turn(turns[id(span)], span.start)
            elif is_tool(span):
                self._tool(tool_call(span), span.start)
        if silent is not None and isinstance(answer := silent.get("output.value", "final_result"), str):
            self._say(OtelMessage("assistant", answer), silent.start)

    def _turn(self, messages: list[OtelMessage], time: float) -> None:
        here: Counter[tuple[object, ...]] = Counter()
        for message in messages:
            key = message.key
            here[key] += 1
            if here[key] > self._seen[key]:
                self._seen[key] = here[key]
                self._say(message, time)

    def _say(self, message: OtelMessage, time: float) -> None:
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

    def _tool(self, call: OtelCall, time: float) -> None:
        call_id = call.id if call.id in self._open else self._waiting_for(call)
        if call_id is None:
            self.recorder.call(call.name, call.arguments, call.id, time=time)
            self._told |= {call.id} if call.id else set()
            call_id = call.id
        self._result(call, call_id, time)

    def _waiting_for(self, call: OtelCall) -> str | None:
        """The open call of this tool, where the tool's span or the model's reply does not name it by an id."""
        return next(
            (
                call_id
                for call_id, tool in self._open.items()
                if tool == call.name and (not call.id or call_id.startswith(_INVENTED))
            ),
            None,
        )

    def _result(self, call: OtelCall, call_id: str | None, time: float) -> None:
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
