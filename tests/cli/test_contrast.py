"""`contramem contrast` can be read for coding agents too: shell commands by their shape, long tasks folded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from contramem.cli import cli

TASK = "\n".join(["Fix the parser.", *(f"Instruction {number}" for number in range(40))])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two coding agents at one task: one runs the tests after its edit."""
    for model, commands in (
        ("a", ["grep -rn 'def parse' src/core.py", "pytest -q tests"]),
        ("b", ["ls secret-folder"]),
    ):
        messages = [{"role": "user", "content": TASK}]
        for number, command in enumerate(commands):
            call = {"id": str(number), "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
            messages += [
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": str(number), "content": "ok"},
            ]  # type: ignore[list-item]
        record = {"task_id": "t", "model": model, "passed": model == "a", "messages": messages}
        (tmp_path / f"{model}.json").write_text(json.dumps(record))
    return tmp_path


def show(*words: object) -> str:
    result = CliRunner().invoke(cli, ["contrast", *map(str, words)], env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    return result.output


def test_shell_commands_are_shown_by_program_and_shape(runs: Path) -> None:
    shown = show(runs)
    assert "grep -rn … *.py" in shown
    assert "secret-folder" not in shown


def test_values_are_shown_when_asked_for(runs: Path) -> None:
    assert "ls secret-folder" in show(runs, "--values")


def test_a_long_task_is_shortened(runs: Path) -> None:
    shown = show(runs)
    assert "more lines" in shown and "Instruction 39" not in shown


def test_the_picture_is_written_as_a_page(runs: Path, tmp_path: Path) -> None:
    assert "is written" in show(runs, "--html", tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text()
    assert "<title>contramem contrast</title>" in page and "grep" in page


def test_a_page_and_json_exclude_each_other(runs: Path, tmp_path: Path) -> None:
    arguments = ["contrast", str(runs), "--json", "--html", str(tmp_path / "picture.html")]
    assert "only one of them" in str(CliRunner().invoke(cli, arguments).exception)


def test_a_task_that_nothing_separates_shows_no_markup(tmp_path: Path) -> None:
    for number in range(2):
        record = {"task_id": str(number), "model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        (tmp_path / f"{number}.json").write_text(json.dumps(record))
    shown = show(tmp_path)
    assert "nothing" in shown and "[dim]" not in shown


def test_two_runs_are_put_beside_each_other_whatever_their_outcomes(runs: Path) -> None:
    shown = show(runs, "--runs", "b,a")
    assert "A at 1 parts from B: shell.grep and 1 more instead of shell.ls; doesn't rejoin" in shown
    refused = CliRunner().invoke(cli, ["contrast", str(runs), "--runs", "a,c"])
    assert "'c' matches 0 runs. Sources here: a, b." in str(refused.exception)


def test_whether_a_version_changed_is_said_in_a_sentence(runs: Path) -> None:
    assert "b acts otherwise than a in 1 of 1 task" in show(runs, "--versions", "a,b")
    assert json.loads(show(runs, "--versions", "a,b", "--json"))["changed"] == 1


def test_the_machine_readable_packet_says_what_separates_and_where_runs_part(runs: Path) -> None:
    task = json.loads(show(runs, "--task", "t", "--json"))
    assert task["partings"][0]["run"] == "B" and 0 <= task["separation"][0]["separation"] <= 1
