"""Damaged real files all the way to packets: problems are reported, nothing else is raised, nothing hangs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.traces.files import TraceFile
from contramem.traces.read import TraceReading, read_traces
from contramem.traces.reader import ReadOptions

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def originals() -> list[tuple[str, bytes]]:
    """The shipped runs, one line each with the header, and the small samples of the shared data where they are."""
    header, *lines = (ROOT / "examples/runs/bfcl.jsonl").read_bytes().splitlines(keepends=True)
    found = [("runs.jsonl", header + line) for line in lines[::20]]
    samples = ROOT.parent / "shared" / "data"
    found += [
        (path.name, path.read_bytes())
        for folder in ("formats", "are/traces")
        for path in sorted((samples / folder).rglob("*.json*"))
        if path.stat().st_size < 60_000
    ]
    return found


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), how=st.sampled_from(["flip", "cut", "drop", "repeat", "swap"]))
def test_a_damaged_file_never_stops_contrast(
    originals: list[tuple[str, bytes]], tmp_path_factory: pytest.TempPathFactory, seed: int, how: str
) -> None:
    rng = random.Random(seed)
    name, content = rng.choice(originals)
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(damaged(content, how, rng))
    reading = read_traces([path])
    with Collection(reading) as pool:
        for packet in contrast(pool):
            assert packet.runs
    assert isinstance(reading, TraceReading)


def damaged(content: bytes, how: str, rng: random.Random) -> bytes:
    if not content:
        return content
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.randrange(1, 40))
    if how == "flip":
        return content[:start] + bytes([rng.randrange(256)]) + content[start + 1 :]
    if how == "cut":
        return content[:start]
    if how == "drop":
        return content[:start] + content[end:]
    if how == "repeat":
        return content[:start] + content[start:end] * rng.randrange(2, 50) + content[end:]
    other = rng.randrange(len(content))
    return content[:start] + content[other : other + end - start] + content[end:]


def test_files_named_by_a_user_that_are_no_traces_are_problems_not_crashes(tmp_path: Path) -> None:
    odd = {
        "a.json": b"[[[[",
        "b.jsonl": b"\xff\xfe",
        "c.json": b"",
        "d.tar.xz": b"no tar",
        "e.gz": b"no gz",
        "f.zip": b"PK",
    }
    for name, content in odd.items():
        (tmp_path / name).write_bytes(content)
        reading = read_traces([tmp_path / name], ReadOptions())
        assert list(reading) == []
        assert len(reading.problems) == 1, name
        assert reading.problems[0].where == str(tmp_path / name)


def test_deep_nesting_is_a_problem_and_costs_no_stack() -> None:
    deep = b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    file = TraceFile.of_bytes("deep.json", deep)
    with pytest.raises(Exception, match="nested too deeply"):
        _ = file.document
