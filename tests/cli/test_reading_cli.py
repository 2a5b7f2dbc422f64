"""`contramem traces`, `convert` and `contrast` as a user meets them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contramem.cli import COMMANDS, RENAMED, cli, main
from contramem.errors import ContramemError
from contramem.traces.read import read_traces

EXAMPLES = Path(__file__).parents[2] / "examples"
KEYS = {
    "runs", "tasks", "sources", "passed", "failed", "unknown", "contrastive_tasks", "functions", "calls", "skipped",
    "ignored", "problems",
}  # fmt: skip


def contramem(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)


def counted(*arguments: object) -> dict:
    return json.loads(contramem("traces", *arguments, "--json").stdout)


def test_traces_counts_the_shipped_runs() -> None:
    found = counted(EXAMPLES / "runs")
    assert set(found) >= KEYS
    assert {key: found[key] for key in ("runs", "tasks", "sources", "contrastive_tasks", "unknown")} == {
        "runs": 156, "tasks": 26, "sources": 6, "contrastive_tasks": 20, "unknown": 0,
    }  # fmt: skip


def test_traces_prints_a_table_for_people() -> None:
    shown = contramem("traces", EXAMPLES / "runs").stdout
    assert "156 runs of 26 tasks by 6 sources" in shown
    assert "scripted-careful" in shown


def test_pass_rates_are_readable_without_colour() -> None:
    rows = contramem("traces", EXAMPLES / "runs").stdout.splitlines()
    bars = {row.split()[0]: row.count("━") for row in rows if row.startswith("scripted-")}
    assert bars["scripted-careful"] == 11 and bars["scripted-quitter"] == 5


@pytest.mark.slow
def test_a_terminal_that_is_not_utf_8_gets_question_marks_and_json_stays_whole() -> None:
    def said(*arguments: str) -> bytes:
        command = [sys.executable, "-m", "contramem", "contrast", str(EXAMPLES / "runs"), "--task", "drive_lights_on"]
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        return subprocess.run([*command, *arguments], env=environment, capture_output=True, check=True).stdout

    assert b"?" in said() and said().isascii()
    assert json.loads(said("--json"))["task_id"] == "drive_lights_on"


def test_runs_without_any_verdict_say_how_to_give_one(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"messages": [{"role": "user", "content": "Hello"}]}')
    shown = contramem("traces", tmp_path).stdout
    assert "1 run of 1 task by 1 source:" in shown
    assert "no outcome is known" in shown and "--outcomes" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("traces", EXAMPLES / "runs", "--format", "openai"), "did you mean 'openai-chat'?"),
        (("contrast", EXAMPLES / "runs", "--task", "drive"), "Similar: bfcl/drive/drive_all_doors_open"),
        (("traces", EXAMPLES / "runs", "--outcomes", "nowhere.csv"), "nowhere.csv: cannot be read (No such file"),
        (("traces", "{tmp_path}/empty.jsonl"), "is empty"),
        (("traces", "{tmp_path}"), "name it with --format (contramem, "),
        (("build", EXAMPLES / "runs", "--bank", "{tmp_path}/bank.jsonl"), "is a frozen bank; this needs a store"),
    ],
)
def test_a_wrong_word_or_file_gets_a_suggestion(tmp_path: Path, arguments, said: str) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "bank.jsonl").write_text('{"contramem_bank":1}')
    with pytest.raises(ContramemError, match=re.escape(said)):
        contramem(*(str(argument).format(tmp_path=tmp_path) for argument in arguments))


@pytest.mark.parametrize("wrong", [("trace",), ("cards", "revie"), ("lab", "condition")])
def test_a_mistyped_command_gets_a_suggestion(wrong: tuple[str, ...]) -> None:
    assert f"did you mean '{wrong[-1]}" in contramem(*wrong).output.lower()


def test_groups_show_the_full_summary_of_their_commands() -> None:
    shown = " ".join(contramem("cards", "-h").output.split())
    assert "its rule, the runs that taught it, and the decisions that shaped it." in shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "agentdojo/runs_no_attack.tar.xz",
            {"runs": 1408, "sources": 22, "passed": 791, "contrastive_tasks": 71, "calls": 4610, "skipped": {}},
            marks=pytest.mark.slow,
        ),
        (
            "tau_bench/retail.tar.xz",
            {"runs": 411, "tasks": 75, "contrastive_tasks": 50, "skipped": {"api error": 39}, "problems": []},
        ),
        ("tau2_bench/telecom.tar.xz", {"runs": 180, "passed": 116, "problems": []}),
        ("are", {"runs": 4, "passed": 3, "failed": 1, "problems": []}),
    ],
)
@pytest.mark.slow
def test_real_collections_have_the_expected_counts(shared_data: Path, name: str, expected: dict) -> None:
    found = counted(shared_data / name)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.slow  # importing inspect-ai takes longer than the fast suite has for it
def test_every_sample_format_is_read(shared_data: Path) -> None:
    pytest.importorskip("inspect_ai", reason="contramem[inspect] is not installed")
    formats = shared_data / "formats"
    for name in ("anthropic-messages", "atif", "claude-code", "codex", "inspect", "openai-chat", "openai-responses",
                 "openinference", "otel-genai", "tau-bench", "tau2"):  # fmt: skip
        found = counted(formats / name)
        assert found["runs"] > 0, name
        assert found["problems"] == [], name


def test_converted_runs_read_back_equal_and_are_not_counted_twice(tmp_path: Path) -> None:
    out = tmp_path / "again.jsonl.zst"
    assert "156 runs written" in contramem("convert", EXAMPLES / "runs", "--out", out).stdout
    assert list(read_traces([out])) == list(read_traces([EXAMPLES / "runs"]))
    assert counted(EXAMPLES / "runs", out)["skipped"] == {"duplicate": 156}


def test_contrast_lists_tasks_with_what_separates_them_first() -> None:
    shown = contramem("contrast", EXAMPLES / "runs").stdout
    assert "what separates them" in shown
    assert "passing" in shown


def test_contrast_shows_one_task_with_runs_as_columns_and_the_divergence_marked() -> None:
    shown = contramem("contrast", EXAMPLES / "runs", "--task", "drive_lights_on").stdout
    assert "ABCD  EF" in shown
    assert "startEngine" in shown
    assert "◀" in shown
    assert "correctness" in shown


def test_contrast_as_json_is_one_packet_or_all() -> None:
    one = json.loads(contramem("contrast", EXAMPLES / "runs", "--task", "drive_lights_on", "--json").stdout)
    assert {"task_key", "task", "runs", "signals"} <= set(one)
    assert len(json.loads(contramem("contrast", EXAMPLES / "runs", "--json").stdout)) == 26


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["traces", "nowhere.jsonl"], "nowhere.jsonl: there is no such file or folder."),
        (["traces", EXAMPLES / "README.md"], "is not in a format that contramem reads"),
        (
            ["traces", EXAMPLES / "runs", "--format", "tau3"],
            "there is no reader 'tau3'; did you mean 'tau2'? --format takes one of: contramem",
        ),
        (["traces", EXAMPLES / "runs", "--map", "outcome"], "--map takes field=path"),
        (["contrast", EXAMPLES / "runs", "--task", "nothing"], "there is no task 'nothing' here"),
        (["convert", EXAMPLES / "tasks", "--out", "x.jsonl"], "no traces among"),
    ],
)
def test_a_user_error_is_one_line(arguments: list, complaint: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    assert exited.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_a_bad_run_is_reported_with_its_place_and_the_others_are_read(tmp_path: Path) -> None:
    good = {"task_id": "t", "model": "m", "passed": True, "messages": [{"role": "user", "content": "Hi"}]}
    lines = [json.dumps(good), '{"task_id": "t", "model": "m"', json.dumps({**good, "messages": 7})]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    found = counted(tmp_path)
    assert found["runs"] == 1
    assert [problem["where"].rpartition("/")[2] for problem in found["problems"]] == ["runs.jsonl:2", "runs.jsonl:3"]
    assert all(problem["what"] for problem in found["problems"])


def test_outcomes_can_be_supplied_beside_sessions_that_have_none(tmp_path: Path) -> None:
    for model in ("fast", "slow"):
        record = {"model": model, "messages": [{"role": "user", "content": "Tidy up"}]}
        (tmp_path / f"{model}.json").write_text(json.dumps(record))
    (tmp_path / "verdicts.csv").write_text("run,passed,task_id\nfast.json,true,tidy\nslow,no,tidy\nlost.json,no,tidy\n")
    found = counted(tmp_path / "fast.json", tmp_path / "slow.json", "--outcomes", tmp_path / "verdicts.csv")
    assert (found["passed"], found["failed"], found["contrastive_tasks"]) == (1, 1, 1)
    assert found["problems"][0]["what"] == "row 'lost.json' matches no run that was read"


def test_effects_can_be_overridden_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "effects.toml").write_text('startEngine = "read"\n')
    packet = json.loads(
        contramem(
            "contrast", EXAMPLES / "runs", "--task", "drive_lights_on", "--json", "--effects", tmp_path / "effects.toml"
        ).stdout
    )
    effects = {s["effect"] for r in packet["runs"] for s in r["steps"] if s.get("function", "").endswith("startEngine")}
    assert effects == {"read"}
    (tmp_path / "effects.toml").write_text('startEngine = "reads"\n')
    with pytest.raises(ContramemError, match="'startEngine' has effect 'reads'; it must be one of read, write"):
        contramem("traces", EXAMPLES / "runs", "--effects", tmp_path / "effects.toml")


def test_an_option_that_says_app_or_ability_wins_over_the_trace() -> None:
    assert set(counted(EXAMPLES / "runs", "--ability", "all")["by_ability"]) == {"all"}


def test_the_help_lists_every_command_in_order_without_importing_them() -> None:
    code = (
        "import sys; from contramem.cli import main\n"
        "try: main(['--help-all'])\nfinally: print('sqlalchemy' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert shown.rstrip().endswith("False")


def test_help_lists_the_everyday_commands_and_help_all_the_rest() -> None:
    listed, all_of_it = contramem("--help").output, contramem("--help-all").output
    everyday = [name for name, place in COMMANDS.items() if place.is_listed]
    assert len(everyday) == 9
    assert all(f"\n  {name} " in listed for name in [*everyday, "lab"])
    assert not any(f"\n  {name} " in listed for name in COMMANDS if name not in everyday)
    assert all(f"\n  {name} " in all_of_it for name in COMMANDS)


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_of_a_command_still_works_and_says_the_new_one(old: str) -> None:
    shown = contramem(*old.split(), "--help")
    assert shown.stdout == contramem(*RENAMED[old].split(), "--help").stdout
    assert f"`contramem {old}` is now `contramem {RENAMED[old]}`" in shown.stderr


def test_every_command_has_help() -> None:
    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert contramem(name, "--help").exit_code == 0, name


@pytest.mark.slow
def test_a_closed_pipe_gives_no_traceback() -> None:
    command = f"{sys.executable} -m contramem contrast {EXAMPLES / 'runs'} --json | head -c 10"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in finished.stderr


def test_unreadable_files_are_reported_and_fail_only_with_strict(tmp_path: Path) -> None:
    whole = (EXAMPLES / "runs" / "bfcl.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_bytes(b"".join(whole[:3]) + whole[3][:200])
    lenient = contramem("traces", tmp_path)
    assert lenient.exit_code == 0 and "runs.jsonl" in lenient.stderr
    with pytest.raises(ContramemError, match="1 problem in what was read, and --strict allows none"):
        contramem("traces", tmp_path, "--strict")
    with pytest.raises(ContramemError, match="--strict allows none"):
        contramem("build", tmp_path, "--bank", tmp_path / "bank.db", "--strict")
    assert not (tmp_path / "bank.db").exists()
