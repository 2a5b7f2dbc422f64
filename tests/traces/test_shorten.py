"""A run of very many events is read in part, and whoever reads it is told so."""

from __future__ import annotations

from pathlib import Path

from tests.made_runs import call, run

from contramem.traces.read import MAX_EVENTS, read_traces, shorten
from contramem.traces.write import write_traces


def test_a_long_run_keeps_its_beginning_and_its_end_with_a_note_between_them() -> None:
    long = run("A", True, *(call("Desk.read", {"page": page}) for page in range(20)), "done")
    short = shorten(long, 8)
    assert len(short.events) == 8
    assert short.events[:6] == long.events[:6]
    assert short.events[6].text == f"{len(long.events) - 8} events of this run were left out here."
    assert short.events[-1] == long.events[-1]
    positions = [event.position for event in short.events]
    assert positions == sorted(set(positions))


def test_a_run_within_the_limit_stays_as_it_is() -> None:
    whole = run("A", True, call("Desk.read"), "done")
    assert shorten(whole) is whole


def test_reading_names_the_runs_that_were_shortened(tmp_path: Path) -> None:
    long = run("A", True, *(call("Desk.read") for _ in range(MAX_EVENTS)), "done")
    write_traces([long], tmp_path / "long.jsonl")
    reading = read_traces([tmp_path])
    (short,) = reading
    assert len(short.events) == MAX_EVENTS
    (problem,) = reading.problems
    assert "4,002 events" in problem.what
