"""What operators see: Prometheus metrics, a JSON line per request, an audit log of changes, and a span per request.

None contains secrets. Spans need the extra `otel`; whoever starts the server configures where they go, for example with
`opentelemetry-instrument`; otherwise none are made.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from contramem.whole_file import make_private

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer, TracerProvider


BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_log = logging.getLogger("contramem.server")


class Metrics:
    """Counts of requests and their durations by route, in Prometheus' text format."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, route: str, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[route, method, status] += 1
            self._counts[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for bound in BUCKETS_S:
                if seconds <= bound:
                    self._buckets[route, bound] += 1
                    break

    def text(self, gauges: dict[str, float]) -> str:
        seconds = "contramem_request_seconds"
        lines = ["# TYPE contramem_requests_total counter"]
        with self._lock:
            for (route, method, status), count in sorted(self._requests.items()):
                lines.append(f'contramem_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}')
            lines.append(f"# TYPE {seconds} histogram")
            for route, count in sorted(self._counts.items()):
                within = accumulate(self._buckets[route, bound] for bound in BUCKETS_S)
                totals = [*zip(BUCKETS_S, within, strict=True), ("+Inf", count)]
                lines += [f'{seconds}_bucket{{route="{route}",le="{bound}"}} {total}' for bound, total in totals]
                lines.append(f'{seconds}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'{seconds}_count{{route="{route}"}} {count}')
        lines += [
            line
            for name, value in gauges.items()
            for line in (f"# TYPE {name.partition('{')[0]} gauge", f"{name} {value:g}")
        ]
        return "\n".join(lines) + "\n"


def log_request(method: str, route: str, status: int, seconds: float, who: str, project: str) -> None:
    """Log one line per request, at INFO. It contains the route, not the address: addresses may contain task texts."""
    if _log.isEnabledFor(logging.INFO):
        line = {"time": _now(), "method": method, "route": route, "status": status, "ms": round(seconds * 1000, 2),
                "by": who, "project": project}  # fmt: skip
        _log.info("%s", json.dumps(line, ensure_ascii=False))


def audit(path: Path | None, who: str, project: str, what: str, decision: int) -> None:
    """Append who changed what. The ledger has the change itself."""
    if path is None:
        return
    line = {"time": _now(), "by": who, "project": project, "what": what, "decision": decision}
    with make_private(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# Spans

End: TypeAlias = Callable[[str, int, str, str], None]
"""Takes what is recorded about a request once it has been answered: route, status, who and project."""


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
    def span(self, method: str, headers: Mapping[bytes, bytes]) -> Iterator[End]:
        """The span of one request; it continues the trace in the client's `traceparent` header. Names follow
        OpenTelemetry's conventions for HTTP. The address is left out: it may contain a task's name."""
        if self._tracer is None:
            yield lambda *_: None
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind

        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        with self._tracer.start_as_current_span(method, context=extract(carrier), kind=SpanKind.SERVER) as span:

            def end(route: str, status: int, who: str, project: str) -> None:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.response.status_code", status)
                texts = {"http.request.method": method, "http.route": route}
                span.set_attributes({**texts, "contramem.project": project, "enduser.id": who})

            yield end
