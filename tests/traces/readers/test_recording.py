"""Recordings that somebody else wrote, or damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contramem.traces.pool import Pool
from contramem.traces.read import read_traces


@pytest.mark.parametrize(("tokens", "kept"), [(3, 3), (True, None), (-1, None), (10**30, None), ("3", None)], ids=str)
def test_an_invalid_token_count_is_left_out(tmp_path: Path, tokens: Any, kept: int | None) -> None:
    lines = [
        {"recording": 1, "run": "r", "what": "start", "task": "Pay", "task_id": "t"},
        {"recording": 1, "run": "r", "what": "shown", "text": "Pay once.", "tokens": tokens},
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Pool(read_traces([tmp_path / "runs.jsonl"])) as pool:
        ((run,),) = pool
    assert run.guidance[0].tokens == kept
