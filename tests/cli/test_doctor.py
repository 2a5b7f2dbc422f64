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
    assert (found["formats"], found["contrasts"], found["reading"]["doubts"]) == ({"openai-chat": 2}, 1, [])
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


# Logs that people write themselves


def _home_made(folder: Path, shape: str) -> None:
    """Two tasks, each passed by one of two models that approves before it pays."""
    for task in ("1", "2"):
        for model in ("fast", "slow"):
            passed = (model == "fast") == (task == "1")
            calls = ["find_invoice", *(["approve"] if passed else []), "pay"]
            _write_home_made(folder, shape, task, model, calls, "paid" if passed else "error: not approved", passed)


def _write_home_made(
    folder: Path, shape: str, task: str, model: str, calls: list[str], result: str, passed: bool
) -> None:
    given = {"invoice": f"I-{task}"}
    asked = f"Pay invoice I-{task}"
    if shape == "a dialogue with names of its own":
        turns: list[Any] = [{"speaker": "customer", "text": asked}]
        for name in calls:
            turns.append({"speaker": "bot", "text": "", "call": {"fn": name, "kwargs": given}})
            turns.append({"speaker": "tool", "fn": name, "text": result})
        record = {"id": f"{model}/{task}", "backend": model, "dialog": turns, "grade": "pass" if passed else "fail"}
        put(folder / f"{model}_{task}.json", record)
    elif shape == "a table of verdicts beside the runs":
        steps = [{"tool": name, "args": given, "result": result} for name in calls]
        put(folder / f"{model}-{task}.json", {"goal": asked, "steps": steps})
        table = folder / "grades.csv"
        head = "" if table.exists() else "File;Model;Verdict;Checked by\n"
        with table.open("a") as out:
            out.write(f"{head}{model}-{task}.json;{model};{'PASS' if passed else 'FAIL'};Ann\n")
    elif shape == "two tables":
        with (folder / "calls.csv").open("a") as out:
            out.write("" if out.tell() else "run,question,tool,args,result\n")
            out.writelines(f"{model}{task},{asked},{name},{task},{result}\n" for name in calls)
        with (folder / "verdicts.csv").open("a") as out:
            out.write("" if out.tell() else "run,model,success\n")
            out.write(f"{model}{task},{model},{passed}\n")
    else:
        steps = [{"tool": name, "args": given, "result": result} for name in calls]
        put(folder / model / f"invoice-{task}" / "run1" / "log.json", {"steps": steps})
        (folder / model / f"invoice-{task}" / "run1" / "status.txt").write_text("success" if passed else "failure")


@pytest.mark.parametrize(
    "shape",
    [
        "a dialogue with names of its own",
        "a table of verdicts beside the runs",
        "two tables",
        "folders named by model and task, and a word beside each run",
    ],
)
def test_the_command_for_a_home_made_log_reads_tasks_sources_and_outcomes(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    _home_made(tmp_path / "logs", shape)
    found = diagnose(tmp_path / "logs")
    assert found["contrasts"] == 2, found
    assert follow(found["command"], monkeypatch, tmp_path).exit_code == 0
    read = run("traces", *shlex.split(found["command"])[2:], "--json")
    counted = json.loads(read.stdout)
    assert {source: tally["runs"] for source, tally in counted["by_source"].items()} == {"fast": 2, "slow": 2}
    assert counted["problems"] == []


def test_a_run_that_names_no_task_may_have_it_in_its_path(tmp_path: Path) -> None:
    put(tmp_path / "pay" / "log.json", {"steps": [{"tool": "pay", "result": "paid"}]})
    result = run("traces", tmp_path, "--map", "task_id=path:-2")
    assert "1 run of 1 task" in result.output


@pytest.mark.parametrize("rule", ["tests", "exit", "commit"])
def test_sessions_are_judged_by_what_they_ran_last(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model, result in (("a", "3 passed"), ("b", "Exit code 1\nFAILED test_cart.py")):
        commands = ["pytest -q", *(["git commit -m done"] if model == "a" else [])]
        steps = [{"tool": "Bash", "arguments": {"command": command}, "result": result} for command in commands]
        put(tmp_path / "runs" / f"{model}.json", {"task": "Fix the cart", "model": model, "steps": steps})
    missing = diagnose(tmp_path / "runs")
    assert "--rule tests" in missing["reading"]["doubts"][0]["hint"]
    found = diagnose(tmp_path / "runs", "--rule", rule)
    assert (found["passed"], found["failed"], found["contrasts"]) == (1, 1, 1)
    assert f"--rule {rule}" in found["command"]
    assert follow(found["command"], monkeypatch, tmp_path).exit_code == 0
