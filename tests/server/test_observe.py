"""Spans: one for each request, in the client's trace, without the address."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

from contramem.server.app import Server, make_app
from contramem.server.observe import Spans
from contramem.server.options import ProjectOptions, ServerOptions

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def test_a_request_is_a_span_in_the_trace_of_its_client(bank: Path, exporter: InMemorySpanExporter) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    server = Server(ServerOptions({"default": ProjectOptions(str(bank))}), spans=Spans(provider))
    server.open()
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
        client.get("/default/search?q=secret-task", headers=headers)
        client.get("/nowhere/cards")
    server.close()
    found, missing = exporter.get_finished_spans()
    assert found.name == "GET search" and f"{found.context.trace_id:032x}" == TRACE
    assert "secret-task" not in found.to_json()
    assert dict(found.attributes or {})["http.response.status_code"] == 200
    assert dict(missing.attributes or {})["http.response.status_code"] == 404
