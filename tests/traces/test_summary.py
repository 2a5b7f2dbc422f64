"""The summary of a reading says what most likely went wrong."""

from __future__ import annotations

import json
from pathlib import Path

from contramem.traces.doctor import judge_reading, read_once
from contramem.traces.read import read_traces


def test_runs_without_any_call_are_worth_a_word(tmp_path: Path) -> None:
    reply = {"role": "assistant", "content": [{"type": "some_vendors_call", "called": "send"}]}
    record = {"model": "m", "passed": True, "messages": [{"role": "user", "content": "Mail Bob."}, reply]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(record))
    reading = read_traces([tmp_path])
    read_once(reading)
    assert judge_reading(reading).grave[0].what == "no run calls a tool, so nothing can be learned"
