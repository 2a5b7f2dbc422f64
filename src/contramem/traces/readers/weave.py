"""Weights & Biases Weave calls: exports and `call.to_dict()`, one call per record. A call without children is a tool.

    {"id": "w0", "trace_id": "w", "parent_id": null, "op_name": "weave:///team/project/op/agent:abc", "started_at": ...}
    {"id": "w1", ..., "parent_id": "w0", "op_name": ".../op/openai.chat.completions.create:def", "inputs": {...}}
    {"id": "w2", ..., "parent_id": "w0", "op_name": ".../op/send:123", "inputs": {"to": "Bob"}, "output": "sent"}

In an evaluation each `predict_and_score` is a run of its own, and its scores are the outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_messages import json_of
from contramem.traces.readers.otel_spans import Span
from contramem.traces.readers.span_tree import (
    Spans,
    first_record,
    labels,
    model_span,
    plain_span,
    records_of,
    score_attributes,
    spans_of,
    step,
    tool_span,
)  # fmt: skip
from contramem.traces.trajectory import Trajectory, digest

Call = Mapping[str, Any]
_MODEL_OPS = ("chat.completions", "completions.create", "messages.create", "Messages.create", "responses.create",
              "litellm.completion", "generate_content", "ChatOpenAI", "ChatAnthropic")  # fmt: skip


class WeaveReader:
    name = "weave"

    def claims(self, file: TraceFile) -> bool:
        call = first_record(file, "calls")
        return isinstance(call.get("op_name"), str) and "started_at" in call and "trace_id" in call

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, _spans(file), "weave")


def _spans(file: TraceFile) -> Spans:
    records = list(records_of(file, "calls"))
    calls = {str(call.get("id")): call for _, call in records if isinstance(call, dict)}
    parents = {str(call.get("parent_id")) for call in calls.values()}

    def make(call: Call) -> Iterator[Span]:
        top = _outermost_call(call, calls)
        if top is not None:
            yield _span(call, top, leaf=str(call.get("id")) not in parents)

    return spans_of(records, make)


def _name(call: Call) -> str:
    """`weave:///entity/project/op/send_email:digest` is `send_email`."""
    return str(call["op_name"]).rpartition("/")[2].partition(":")[0]


def _outermost_call(call: Call, calls: Mapping[str, Call]) -> Call | None:
    """The outermost call of the run that this one belongs to; None for the frame and the scorers of an evaluation."""
    chain = [call]
    while (parent := calls.get(str(chain[-1].get("parent_id")))) is not None:
        chain.append(parent)
        if len(chain) > 1000:
            raise TraceError("is nested in itself", "Do calls name each other as parents?")
    example = next((place for place, link in enumerate(chain) if _name(link).endswith("predict_and_score")), None)
    if example is not None:
        judges = example > 0 and _name(chain[example - 1]).endswith(".score")  # a scorer is no part of the run
        return None if judges else chain[example]
    in_evaluation = any(_name(link) == "Evaluation.evaluate" for link in chain)
    return None if in_evaluation else chain[-1]


def _span(call: Call, top: Call, leaf: bool) -> Span:
    inputs = call.get("inputs") if isinstance(call.get("inputs"), dict) else {}
    output = call.get("output")
    parent = "" if call is top else call.get("parent_id")
    place = step(f"{call['trace_id']}/{top.get('id')}", parent, call["started_at"], _error(call.get("exception")))
    name = _name(call)
    kind = ((call.get("attributes") or {}).get("weave") or {}).get("kind")
    if kind == "llm" or any(operation in name for operation in _MODEL_OPS):
        usage = (output.get("usage") if isinstance(output, dict) else None) or {}
        return model_span(place, inputs, output, (inputs or {}).get("model"), usage)
    if call is top or not (kind == "tool" or leaf):
        return plain_span(place, _about(call) if call is top else {})
    arguments = {key: value for key, value in (inputs or {}).items() if key != "self"}
    return tool_span(place, name.rpartition(".")[2], arguments, output)


def _error(exception: object) -> object:
    """`ValueError: message`: newer versions log an exception as JSON, with its traceback."""
    thrown = json_of(exception)
    if not isinstance(thrown, dict) or "message" not in thrown:
        return exception
    return f"{thrown.get('type') or 'Error'}: {thrown['message']}"


def _about(call: Call) -> dict[str, Any]:
    about = labels(call.get("attributes"))
    inputs, output = call.get("inputs") or {}, call.get("output")
    example = inputs.get("example")
    if isinstance(example, str) and example.startswith("weave:///"):  # a reference to a row of a data set
        about["task_id"] = example.rpartition("/")[2]
    elif isinstance(example, dict):
        named = example.get("id") or example.get("task_id")
        about["task_id"] = str(named) if named else digest(str(sorted(example.items(), key=str)))
    scores = output.get("scores") if isinstance(output, dict) else None
    for name, value in scores.items() if isinstance(scores, dict) else ():
        verdicts = value if isinstance(value, dict) else {"": value}
        for part, score in verdicts.items():
            if isinstance(score, (bool, int, float)):
                about |= score_attributes(f"{name}-{part}", score)
    return about
