"""Langfuse: traces with observations and scores, or observations alone, as the API, the UI and the SDK write them."""

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
    tool_span,
)  # fmt: skip
from contramem.traces.trajectory import Trajectory

_MODELS = ("GENERATION", "EMBEDDING")
_TOOLS = ("TOOL", "RETRIEVER")
_TYPES = (*_MODELS, *_TOOLS, "SPAN", "EVENT", "AGENT", "CHAIN", "EVALUATOR", "GUARDRAIL")


class LangfuseReader:
    name = "langfuse"

    def claims(self, file: TraceFile) -> bool:
        record = first_record(file, "data", "traces")
        observations = record.get("observations")
        if isinstance(observations, list) and observations:
            return _is_observation(observations[0])
        return _is_observation(record) and bool(_get(record, "traceId"))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of(records_of(file, "data", "traces"), _spans), "langfuse")


def _is_observation(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") in _TYPES and bool(_get(value, "startTime"))


def _get(record: Mapping[str, Any], camel: str) -> Any:
    """The field in either spelling: the API writes camelCase, the SDK snake_case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
    return record.get(camel, record.get(snake))


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    if "observations" not in record:
        yield _observation(record)
        return
    observations = [item for item in record["observations"] if isinstance(item, dict)]
    yield _trace(record, observations)
    for observation in observations:
        yield _observation({"traceId": record["id"], **observation}, inside=str(record["id"]))


def _trace(record: Mapping[str, Any], observations: list[dict[str, Any]]) -> Span:
    attributes = labels(
        record.get("metadata"), {"input.value": record.get("input"), "output.value": record.get("output")}
    )
    for name, camel in (("task_id", "datasetItemId"), ("session.id", "sessionId")):
        if _get(record, camel):
            attributes[name] = _get(record, camel)
    for score in record.get("scores") or ():
        text = _get(score, "stringValue")
        attributes |= score_attributes(
            score.get("name"), text if isinstance(text, str) else score.get("value"), score.get("comment")
        )
    begun = record.get("timestamp") or min(str(_get(item, "startTime")) for item in observations)
    return plain_span(step(record["id"], "", begun), attributes)


def _observation(record: Mapping[str, Any], inside: str = "") -> Span:
    failed = record.get("level") == "ERROR"
    parent = _get(record, "parentObservationId") or inside
    message = (_get(record, "statusMessage") or "failed") if failed else None
    place = step(_get(record, "traceId"), parent, _get(record, "startTime"), message)
    if record["type"] in _MODELS:
        usage = _get(record, "usageDetails") or record.get("usage")
        model = record.get("model") or _get(record, "providedModelName")
        return model_span(place, record.get("input"), record.get("output"), model, usage)
    if record["type"] in _TOOLS:
        return tool_span(place, record.get("name"), record.get("input"), record.get("output"))
    return plain_span(place, labels(record.get("metadata")))
