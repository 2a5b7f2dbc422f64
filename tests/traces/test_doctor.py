"""The verdict on a reading: inputs made to mislead each get their doubt, runs that are right get no grave one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.traces.readers.samples import BROWSER, CHAT, MLFLOW

from contramem.cli import cli
from contramem.traces.doctor import ReadingVerdict, diagnose, judge_reading, read_once
from contramem.traces.read import folders_of_sources, read_traces
from contramem.traces.reader import ReadOptions

ROOT = Path(__file__).parents[2]


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def judge(*paths: Path, options: ReadOptions | None = None) -> ReadingVerdict:
    reading = read_traces(paths, options)
    read_once(reading)
    return judge_reading(reading)


def steps(*tools: str, **more: Any) -> dict[str, Any]:
    """A run whose steps call these tools, one after the other, with a result each."""
    called = [{"tool": tool, "arguments": {"at": place}, "result": "ok"} for place, tool in enumerate(tools)]
    return {"task_id": "t1", "source": "a", "passed": True, "task": "Book a room.", "steps": called, **more}


def _saved_step_by_step(folder: Path) -> None:
    for number in range(1, 8):
        with (folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(steps(*["find", "book", "pay", "mail", "note", "list", "end"][:number])) + "\n")


def _two_verdicts(folder: Path) -> None:
    for number in range(10):
        judged = {"verdict": "pass" if number < 5 else "fail"}
        record = {"id": str(number), "success": True, "eval": judged, "messages": CHAT, "model": "m"}
        put(folder / f"{number}.json", record)


def _results_missing(folder: Path) -> None:
    for number in range(6):
        messages = [message for message in CHAT if message["role"] != "tool"]
        put(folder / f"{number}.json", {"task_id": str(number), "model": "m", "passed": True, "messages": messages})


def _launcher_only(folder: Path) -> None:
    for number in range(6):
        run = steps("bash", task_id=str(number))
        run["steps"][0]["arguments"] = {"command": f"mini -t 'Fix {number}.'"}
        put(folder / f"{number}.json", run)


def _mixed_folder(folder: Path) -> None:
    for number in range(6):
        put(folder / "runs" / f"{number}.json", steps("find", "pay", task_id=str(number)))
        turns = [{"speaker": "customer", "text": "Pay."}, {"speaker": "bot", "text": "", "call": {"fn": "pay"}}]
        put(folder / "other" / f"{number}.json", {"id": number, "dialog": turns})


def _run_ids_as_sources(folder: Path) -> None:
    for number in range(30):
        put(folder / f"{number}.json", steps("find", "pay", source=f"run-{number}"))


def _one_source_in_many_folders(folder: Path) -> None:
    for model in ("large", "small"):
        for task in range(8):
            run = steps("find", "pay", task_id=str(task), source="agent", passed=model == "large")
            put(folder / model / f"task-{'abcdefgh'[task]}" / "run.json", run)


def _copied_folder(folder: Path) -> None:
    for copy in ("runs", "runs (1)"):
        for number in range(4):
            put(folder / copy / f"{number}.json", steps("find", "pay", task_id=str(number)))


def _cut_off(folder: Path) -> None:
    for number in range(8):
        text = json.dumps(steps("find", "pay", task_id=str(number)))
        put(folder / f"{number}.json", text if number < 3 else text[: len(text) // 2])


def _ended_taken_for_passed(folder: Path) -> None:
    for number in range(12):
        put(folder / f"{number}.json", steps("find", "pay", task_id=str(number)))


def _same_opening(folder: Path) -> None:
    for number in range(40):
        asked = "Are you ready?" if number % 2 else f"Pay invoice {number}."
        said = [{"role": "user", "content": asked}, {"role": "user", "content": f"Number {number}."}, *CHAT[1:]]
        run = {"model": "m", "passed": bool(number % 3), "messages": said}
        put(folder / f"{number}.json", run)


def _calls_in_words_of_their_own(folder: Path) -> None:
    said = [{"role": "user", "content": "Pay."}, {"role": "assistant", "content": "CALL pay(invoice=7)"}]
    put(folder / "1.json", {"task_id": "1", "model": "m", "passed": True, "messages": said})


MISLEADING: list[tuple[Callable[[Path], None], str, str]] = [
    (_saved_step_by_step, "continued", "grave"),
    (_two_verdicts, "contradicted", "grave"),
    (_results_missing, "no-results", "grave"),
    (_launcher_only, "one-call", "grave"),
    (_launcher_only, "same-function", "note"),
    (_mixed_folder, "left-aside", "grave"),
    (_run_ids_as_sources, "many-sources", "grave"),
    (_one_source_in_many_folders, "one-source", "note"),
    (_copied_folder, "duplicates", "note"),
    (_cut_off, "unreadable", "grave"),
    (_ended_taken_for_passed, "one-sided", "note"),
    (_same_opening, "one-task", "note"),
    (_calls_in_words_of_their_own, "no-calls", "grave"),
]


@pytest.mark.parametrize(("make", "kind", "severity"), MISLEADING)
def test_a_misleading_input_gets_its_doubt(
    make: Callable[[Path], None], kind: str, severity: str, tmp_path: Path
) -> None:
    make(tmp_path)
    found = {doubt.kind: doubt for doubt in judge(tmp_path).doubts}
    assert kind in found, sorted(found)
    assert found[kind].severity == severity
    assert found[kind].hint


@pytest.mark.parametrize("folder", ["examples/runs", "examples/northline", "examples/fairlead", "examples/hallam"])
def test_no_shipped_example_is_gravely_doubted(folder: str) -> None:
    assert judge(ROOT / folder).grave == ()


@pytest.mark.parametrize(
    "name",
    ["agentdojo/runs_no_attack.tar.xz", "tau_bench/retail.tar.xz", "tau2_bench/telecom.tar.xz", "are"],
)
def test_no_benchmark_is_gravely_doubted(shared_data: Path, name: str) -> None:
    assert judge(shared_data / name).grave == ()


def test_a_build_refuses_a_grave_doubt_and_says_what_to_check(tmp_path: Path) -> None:
    _two_verdicts(tmp_path / "runs")
    bank = str(tmp_path / "bank.db")
    refused = CliRunner().invoke(cli, ["build", str(tmp_path / "runs"), "--bank", bank])
    assert refused.exit_code == 1
    assert "'eval.verdict' says otherwise in 5 of 10" in str(refused.exception)
    assert "--trust-reading" in str(refused.exception)
    for trusting in (["--trust-reading"], ["--map", "outcome=eval.verdict"]):
        assert CliRunner().invoke(cli, ["build", str(tmp_path / "runs"), "--bank", bank, *trusting]).exit_code == 0


def test_the_doctors_command_names_the_outcome_that_was_guessed(tmp_path: Path) -> None:
    _two_verdicts(tmp_path)
    found = diagnose([tmp_path], read_traces([tmp_path]))
    assert "--map outcome=success" in found.command
    (hint,) = [doubt.hint for doubt in found.verdict.grave]
    assert hint == ("Name the verdict: --map outcome=success (True 10) or --map outcome=eval.verdict (pass 5, fail 5).")


def test_a_judge_of_browser_agents_is_believed_and_the_agents_own_word_noted(tmp_path: Path) -> None:
    for number in range(4):
        put(tmp_path / f"{number}.json", BROWSER | {"run_id": number, "agent_answer": f"Port {number}."})
    verdict = judge(tmp_path)
    assert verdict.outcome.startswith("0 passed, 4 failed")
    assert [(doubt.kind, doubt.severity) for doubt in verdict.doubts if doubt.kind == "contradicted"] == [
        ("contradicted", "note")
    ]


def test_all_three_commands_give_the_same_verdict(tmp_path: Path) -> None:
    _copied_folder(tmp_path / "runs")
    lines = {}
    for command in (["traces"], ["doctor"], ["build", "--bank", str(tmp_path / "bank.db")]):
        shown = CliRunner().invoke(cli, [command[0], str(tmp_path / "runs"), *command[1:]]).output.splitlines()
        lines[command[0]] = [line for line in shown if line.startswith(("Call ", "Source ", "Outcome "))]
    assert lines["traces"] == lines["doctor"] and len(lines["traces"]) == 3
    assert lines["build"][-1] == lines["traces"][-1]


@pytest.mark.parametrize(
    ("paths", "sources"),
    [
        pytest.param(
            [
                f"{agent}/{day}/task-{task}/run.json"
                for agent, day in (("ann", "d1"), ("bob", "d2"))
                for task in "abcdef"
            ],
            ["ann"] * 6 + ["bob"] * 6,
            id="agents-above-tasks",
        ),
        pytest.param(
            [f"task-{task}/{agent}/run.json" for task in "abcdef" for agent in ("ann", "bob")],
            ["ann", "bob"] * 6,
            id="agents-below-tasks",
        ),
        pytest.param([f"task-{task}/run{n}/log.json" for task in "abcdef" for n in (1, 2)], [""] * 12, id="attempts"),
        pytest.param([f"{kind}/{kind}-{n}.json" for kind in ("easy", "hard") for n in range(6)], [""] * 12, id="kinds"),
        pytest.param([f"{x}/{y}/log.json" for x in "abc" for y in "defg"], [""] * 12, id="could-be-either"),
    ],
)
def test_folders_name_sources_where_the_same_names_stand_below_several(paths: list[str], sources: list[str]) -> None:
    assert folders_of_sources([tuple(path.split("/")) for path in paths]) == sources


def test_runs_that_name_no_source_are_of_their_folder_and_the_verdict_says_so(tmp_path: Path) -> None:
    for agent in ("ann", "bob"):
        for task in "abcdef":
            record = {"task_id": task, "passed": agent == "ann", "messages": CHAT}
            put(tmp_path / agent / f"task-{task}" / "run.json", record)
    assert judge(tmp_path).source == "2: ann, bob; 12 runs are named after their folder"


@pytest.mark.parametrize("kind", ["an empty folder", "a frozen bank", "a store"])
def test_the_doctor_says_what_is_no_run(kind: str, tmp_path: Path) -> None:
    if kind == "a frozen bank":
        put(tmp_path / "bank.jsonl", {"contramem_bank": 1})
    elif kind == "a store":
        (tmp_path / "bank.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    shown = CliRunner().invoke(cli, ["doctor", str(tmp_path)])
    assert shown.exit_code == 1
    told = {
        "an empty folder": "the folder is empty",
        "a frozen bank": "a frozen bank of contramem",
        "a store": "a store",
    }
    assert told[kind] in " ".join(shown.output.split())


def test_warnings_of_pythons_parser_stay_inside(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    put(tmp_path / "1.json", steps(r"click('a\d')", "pay"))
    put(tmp_path / "trace.json", MLFLOW)
    judge(tmp_path)
    assert [str(warning.message) for warning in recwarn] == []


def test_a_file_maps_what_flags_cannot_say(tmp_path: Path) -> None:
    turns = {"actions": ["SELECT 1", "SELECT 2"], "observations": ["1", "2"]}
    put(tmp_path / "log.json", {n: {"query": f"Count {n}", "grade": n, "turns": turns} for n in ("A", "B", "C")})
    put(
        tmp_path / "map.toml",
        'format = "steps"\n[fields]\nrecords = "*"\nmessages = "turns"\ntool = "=sql"\narguments = "actions"\n'
        'result = "observations"\ntask = "query"\noutcome = "grade"\nsource = "=m"\n'
        '[outcomes]\nA = true\nB = false\nC = "unknown"\n[sources]\nm = "model-m"\n',
    )
    read = CliRunner().invoke(
        cli, ["traces", str(tmp_path / "log.json"), "--map", str(tmp_path / "map.toml"), "--json"]
    )
    counted = json.loads(read.stdout)
    assert [counted[name] for name in ("runs", "calls", "calls_without_result", "problems")] == [3, 6, 0, []]
    assert counted["by_source"] == {"model-m": {"runs": 3, "passed": 1, "failed": 1, "unknown": 1}}


def test_a_map_to_go_on_from_reads_what_the_doctor_read(tmp_path: Path) -> None:
    leg = {"do": "read_tide", "using": {"port": "X"}, "gave": "2 m"}
    for number in range(3):
        put(tmp_path / "runs" / f"{number}.json", {"task_id": str(number), "model": "m", "passed": True, "legs": [leg]})
    written = tmp_path / "map.toml"
    CliRunner().invoke(cli, ["doctor", str(tmp_path / "runs"), "--write-map", str(written)])
    read = CliRunner().invoke(cli, ["traces", str(tmp_path / "runs"), "--map", str(written), "--json"])
    assert json.loads(read.stdout)["calls"] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[field]\n", "a map has format, [fields], [outcomes] and [sources]"),
        ("[outcomes]\nA = 3\n", "means true, false"),
        ("fields = [", "cannot be read as a map"),
    ],
)
def test_a_map_file_that_says_nothing_is_refused(tmp_path: Path, text: str, said: str) -> None:
    put(tmp_path / "map.toml", text)
    result = CliRunner().invoke(cli, ["traces", str(tmp_path), "--map", str(tmp_path / "map.toml")])
    assert said in str(result.exception)


def test_calls_in_a_list_of_lists_are_reached_by_a_path(tmp_path: Path) -> None:
    turns = [{"calls": [{"fn": "find", "args": {}, "out": 1}, {"fn": "pay", "args": {}, "out": 2}]}, {"calls": []}]
    put(tmp_path / "1.json", {"task_id": "1", "model": "m", "log": {"turns": turns}})
    fields = {"messages": "log.turns.calls", "tool": "fn", "arguments": "args", "result": "out"}
    (run,) = read_traces([tmp_path], ReadOptions(format="steps", fields=fields))
    assert [call.function for call in run.calls] == ["general.find", "general.pay"]
