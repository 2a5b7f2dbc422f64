"""Limits the memory of one query. DuckDB limits its tables, but not a single value of a gigabyte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SIZE = Path("/proc/self/statm")


@contextmanager
def bound_memory(more: int) -> Iterator[None]:
    """Allow the process this many bytes more than it has; beyond that, allocations fail. No limit without /proc."""
    try:
        import resource

        size = int(_SIZE.read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = size + more if before[0] == resource.RLIM_INFINITY else min(size + more, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
