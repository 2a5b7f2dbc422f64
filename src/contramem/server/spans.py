"""An OpenTelemetry span per request, if the extra `otel` is installed. Whoever starts the server configures where spans
go, for example with `opentelemetry-instrument`; otherwise none are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider


class RequestSpan(Protocol):
    """What is recorded about a request once it has been answered."""

    def end(self, route: str, status: int, who: str, project: str) -> None: ...


class _NoSpan:
    def end(self, route: str, status: int, who: str, project: str) -> None:
        pass


class Spans:
    """Makes spans with the tracer of `provider`, or with that of this process."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer: Tracer | None = None
        try:
            from opentelemetry import trace
        except ImportError:
            return
        provider = provider or trace.get_tracer_provider()
        if not isinstance(provider, trace.ProxyTracerProvider):  # which means that nothing was configured
            self._tracer = trace.get_tracer("contramem.server", tracer_provider=provider)

    @contextmanager
    def span(self, method: str, headers: Mapping[bytes, bytes]) -> Iterator[RequestSpan]:
        """The span of one request; it continues the trace in the client's `traceparent` header."""
        if self._tracer is None:
            yield _NoSpan()
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind

        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        with self._tracer.start_as_current_span(method, context=extract(carrier), kind=SpanKind.SERVER) as span:
            yield _Recorded(span, method)


class _Recorded:
    def __init__(self, span: Span, method: str) -> None:
        self._span, self._method = span, method

    def end(self, route: str, status: int, who: str, project: str) -> None:
        """Names follow OpenTelemetry's conventions for HTTP. The address is left out: it may contain a task's name."""
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attributes(
            {
                "http.request.method": self._method,
                "http.route": route,
                "http.response.status_code": status,
                "contramem.project": project,
                "enduser.id": who,
            }
        )
