"""What operators see: Prometheus metrics, a JSON line per request, and an audit log of changes. None contains
secrets."""

from __future__ import annotations

import json
import logging
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from contramem.whole_file import make_private

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
        lines = ["# TYPE contramem_requests_total counter"]
        with self._lock:
            for (route, method, status), count in sorted(self._requests.items()):
                lines.append(f'contramem_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}')
            lines.append("# TYPE contramem_request_seconds histogram")
            for route, count in sorted(self._counts.items()):
                total = 0
                for bound in BUCKETS_S:
                    total += self._buckets[route, bound]
                    lines.append(f'contramem_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}')
                lines.append(f'contramem_request_seconds_bucket{{route="{route}",le="+Inf"}} {count}')
                lines.append(f'contramem_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'contramem_request_seconds_count{{route="{route}"}} {count}')
        for name, value in gauges.items():
            lines += [f"# TYPE {name.partition('{')[0]} gauge", f"{name} {value:g}"]
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
