"""OpenInference beyond span lines: trees of `child_spans` (TRAIL), and Phoenix data frames as JSON or Parquet.

    {"trace_id": "t", "spans": [{"trace_id": "t", "span_id": "s0", "timestamp": "...", "span_attributes": {
      "openinference.span.kind": "TOOL", "tool.name": "send", "input.value": "..."}, "child_spans": [...]}]}

    {"context.trace_id": "t", "context.span_id": "s1", "parent_id": "s0", "span_kind": "TOOL", "start_time": "...",
     "attributes.tool.name": "send", "attributes.input.value": "...", "attributes.output.value": "..."}

A data frame has one span per row, its attributes in columns `attributes.*`. Parquet needs the extra `parquet`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_messages import json_of
from contramem.traces.readers.otel_spans import Span, error_text, expand_metadata, flatten, seconds
from contramem.traces.readers.span_tree import first_record, records_of, spans_of
from contramem.traces.trajectory import Trajectory

Row = Mapping[str, Any]


class OpenInferenceReader:
    name = "openinference"

    def claims(self, file: TraceFile) -> bool:
        if file.ending == ".parquet":
            return True
        record = first_record(file, "spans", "data")
        return "context.trace_id" in record or ("span_attributes" in record and "trace_id" in record)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        rows = _parquet_rows(file) if file.ending == ".parquet" else records_of(file, "spans", "data")
        return read_spans(file, options, spans_of(rows, _spans), "openinference")


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


def _spans(row: Row) -> Iterator[Span]:
    if "context.trace_id" in row:
        yield _from_row(row)
        return
    yield _from_tree(row)
    for child in row.get("child_spans") or ():
        yield from _spans(child)


def _from_row(row: Row) -> Span:
    nested = {name.removeprefix("attributes."): json_of(value) for name, value in row.items()
              if name.startswith("attributes.") and value is not None}  # fmt: skip
    attributes = expand_metadata(flatten(nested))
    attributes.setdefault("openinference.span.kind", row.get("span_kind"))
    return _span(row, str(row["context.trace_id"]), row.get("parent_id"), row["start_time"], attributes)


def _from_tree(row: Row) -> Span:
    attributes = expand_metadata(flatten(row["span_attributes"]))
    return _span(
        row, str(row["trace_id"]), row.get("parent_span_id"), row.get("timestamp") or row["start_time"], attributes
    )


def _span(row: Row, trace: str, parent: object, start: object, attributes: dict[str, Any]) -> Span:
    failed = str(row.get("status_code") or "").upper().endswith("ERROR")
    raw_events = json_of(row.get("events"))
    events = [
        (str(event.get("name") or event.get("Name")), event.get("attributes") or event.get("Attributes") or {})
        for event in (raw_events if isinstance(raw_events, list) else ())
        if isinstance(event, dict)
    ]
    start = start.timestamp() if hasattr(start, "timestamp") else start  # Parquet keeps times as times
    error = error_text(row.get("status_message"), events, attributes) if failed else None
    return Span(trace, str(parent or ""), seconds(start), attributes, events=events, error=error)
