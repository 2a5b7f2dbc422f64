"""What a pull request is told: tasks gained and harmed, cards added, changed and retired."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from contramem.cli import cli

BANK = Path(__file__).parents[1] / "retrieve" / "sample_cards.json"


def write_runs(path: Path, verdicts: list[bool]) -> Path:
    lines = [
        {
            "task_id": f"t{number}",
            "model": "m",
            "passed": passed,
            "messages": [{"role": "user", "content": f"Do {number}"}],
        }
        for number, passed in enumerate(verdicts)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_gained_and_harmed_tasks_are_named(tmp_path: Path) -> None:
    before = write_runs(tmp_path / "before.jsonl", [False, True, True])
    after = write_runs(tmp_path / "after.jsonl", [True, False, True])
    text = tmp_path / "pr.md"
    result = CliRunner().invoke(
        cli, ["evaluate", "compare", str(before), "--with", str(after), "--markdown", str(text)]
    )
    assert result.exit_code == 0, result.output
    written = text.read_text()
    assert "**Tasks gained: 1**" in written and "t0`" in written
    assert "**Tasks harmed: 1**" in written and "t1`" in written
    assert "Cards added" not in written


def test_banks_without_markdown_are_refused(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "a.jsonl", [True])
    words = ["evaluate", "compare", str(runs), "--banks", "a", "b", "--with", str(runs)]
    assert CliRunner().invoke(cli, words).exit_code == 1
