"""`contramem doctor` says what is there and missing, and the command that it prints works as printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.traces.readers.samples import AG2, CHAT, LANGCHAIN

from contramem.cli import cli


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def diagnose(*arguments: object) -> dict[str, Any]:
    result = run("doctor", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def follow(command: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Result:
    program, *words = shlex.split(command)
    assert program == "contramem"
    monkeypatch.chdir(folder)
    return run(*words)


def test_runs_with_contrasts_are_ready_to_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model, passed in (("a", True), ("b", False)):
        put(tmp_path / "runs" / f"{model}.json", {"task_id": "1", "model": model, "messages": CHAT, "passed": passed})
    found = diagnose(tmp_path / "runs")
    assert (found["formats"], found["contrasts"], found["findings"]) == ({"openai-chat": 2}, 1, [])
    assert follow(found["command"], monkeypatch, tmp_path).exit_code == 0


def test_sources_in_folder_names_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("fast", "slow"):
        chat = [*AG2["trajectory"], {"role": "user", "name": "assistant", "content": f"Done, {model}."}]
        record = {"instance_id": "t1", "problem_statement": AG2["problem_statement"], "trajectory": chat}
        put(tmp_path / "runs" / model / "1.json", record)
    found = diagnose(tmp_path / "runs")
    assert found["options"] == ["--map", "source=path:-2"]
    assert follow(found["command"], monkeypatch, tmp_path).exit_code == 0


def test_messages_under_an_unknown_key_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "odd" / "1.json", {"instance_id": "t", "resolved": True, "log": {"turns": CHAT}})
    found = diagnose(tmp_path / "odd")
    assert "--map messages=log.turns" in found["command"]
    assert follow(found["command"], monkeypatch, tmp_path).exit_code == 0


def test_files_that_are_no_traces_are_counted_by_suffix(tmp_path: Path) -> None:
    put(tmp_path / "runs.json", {"task_id": "t", "model": "m", "passed": True, "messages": CHAT})
    for name in ("README.md", "a/blob", "b/blob"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Nothing.")
    assert "not traces: 2 without a suffix, 1 .md" in " ".join(run("doctor", tmp_path).output.split())


def test_missing_outcomes_are_named(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "1.json", {"task_id": "1", "model": "a", "messages": LANGCHAIN})
    shown = run("doctor", tmp_path / "runs").output
    assert "no outcome is known" in shown
    assert "--only functions" in shown


def test_an_unknown_file_says_what_it_looks_like_and_what_would_read_it(tmp_path: Path) -> None:
    put(tmp_path / "odd.json", {"log": {"turns": CHAT}})
    result = run("traces", tmp_path / "odd.json")
    assert result.exit_code == 1
    assert "messages under 'log.turns'" in str(result.exception)
    assert "--map messages=log.turns" in str(result.exception)


@pytest.mark.parametrize("named", ["own", "own/1.json"])
def test_of_runs_that_name_no_task_the_guessed_options_are_printed_to_be_completed(tmp_path: Path, named: str) -> None:
    steps = [{"do": "read_tide", "using": {"port": "X"}, "gave": "2 m"}]
    put(tmp_path / "own" / "1.json", {"voyages": [{"mission": "m1", "pilot": "a", "arrived": True, "legs": steps}]})
    told = " ".join(run("doctor", tmp_path / named).stdout.split())
    options = "--format steps --map messages=legs --map tool=do --map arguments=using --map result=gave --map records="
    assert "add what is missing (--map task_id=FIELD" in told and f"{options}voyages" in told


def test_calls_without_results_are_named_with_a_hint(tmp_path: Path) -> None:
    put(tmp_path / "1.json", {"task_id": "1", "model": "a", "messages": [m for m in CHAT if m["role"] != "tool"]})
    assert "2 of 2 calls have no result" in run("traces", tmp_path).output.replace("\n", " ").capitalize()


def test_own_sessions_are_listed_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    put(tmp_path / "claude" / "projects" / "-home-app" / "s1.jsonl", {"not": "opened"})
    result = run("traces", "--discover")
    assert result.exit_code == 0
    assert "1 session" in result.output and "-home-app" in result.output


def test_the_command_that_a_thin_build_prints_reads_the_runs_in_the_same_way(tmp_path: Path) -> None:
    rows = ["ticket,agent,tool,result,solved", "T-1,a,pay,ok,yes", "T-1,b,pay,Error: no such invoice,no"]
    (tmp_path / "calls.csv").write_text("\n".join(rows))
    how = ["--format", "steps", "--map", "task_id=ticket", "--map", "source=agent", "--map", "outcome=solved"]
    built = CliRunner().invoke(cli, ["build", str(tmp_path / "calls.csv"), *how, "--bank", str(tmp_path / "b.db")])
    assert built.exit_code == 0 and f"calls.csv {' '.join(how)} --bank" in built.output.replace("\n", "")
