"""LangSmith runs: exports of a project as JSONL or a list, runs of the SDK (`run.dict()`), nested or flat.

    {"id": "r0", "trace_id": "r0", "run_type": "chain", "start_time": "...", "inputs": {...},
     "reference_example_id": "t1", "feedback_stats": {"correct": {"avg": 1}}}
    {"id": "r1", "trace_id": "r0", "parent_run_id": "r0", "run_type": "llm", "inputs": {"messages": [[...]]}, ...}
    {"id": "r2", ..., "run_type": "tool", "name": "send", "inputs": {"input": "{'to': 'Bob'}"}, "outputs": {...}}

The trace of a dataset example is an attempt at that example; feedback is its outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_spans import Span
from contramem.traces.readers.span_tree import (
    first_record,
    labels,
    model_span,
    plain_span,
    records_of,
    score_attributes,
    spans_of,
    step,
    tool_arguments,
    tool_span,
)  # fmt: skip
from contramem.traces.trajectory import Trajectory


class LangSmithReader:
    name = "langsmith"

    def claims(self, file: TraceFile) -> bool:
        run = first_record(file, "runs")
        return "run_type" in run and "inputs" in run and ("trace_id" in run or "dotted_order" in run or "id" in run)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of(records_of(file, "runs"), _spans), "langsmith")


def _spans(run: Mapping[str, Any]) -> Iterator[Span]:
    yield _span(run)
    for child in run.get("child_runs") or ():
        yield from _spans({"trace_id": run.get("trace_id") or run["id"], **child})


def _span(run: Mapping[str, Any]) -> Span:
    extra = run.get("extra") or {}
    metadata = extra.get("metadata") or {}
    outputs = run.get("outputs") or {}
    place = step(run.get("trace_id") or run["id"], run.get("parent_run_id"), run["start_time"], run.get("error"))
    if run["run_type"] == "llm":
        named = metadata.get("ls_model_name") or (extra.get("invocation_params") or {}).get("model")
        usage = outputs.get("usage_metadata") or {
            "input_tokens": run.get("prompt_tokens"),
            "output_tokens": run.get("completion_tokens"),
        }
        return model_span(place, run.get("inputs"), outputs, named, usage)
    if run["run_type"] == "tool":
        return tool_span(place, run.get("name"), tool_arguments(run.get("inputs")), outputs.get("output", outputs))
    attributes = labels(
        metadata, {"task_id": run.get("reference_example_id")} if run.get("reference_example_id") else {}
    )
    for key, stats in (run.get("feedback_stats") or {}).items():
        attributes |= score_attributes(key, stats.get("avg") if isinstance(stats, dict) else stats)
    return plain_span(place, attributes)
