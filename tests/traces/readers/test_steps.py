"""Runs as lists of steps or rows, and calls that stand in them as text."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from contramem.cli import cli
from contramem.errors import UsageError
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.readers.steps import StepCall, call_in, read_written_call


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({"tool": "pay", "args": {"n": 1}, "result": "ok"}, id="flat"),
        pytest.param({"action": {"tool": "pay", "input": {"n": 1}}, "observation": "ok"}, id="action-object"),
        pytest.param({"action": "pay", "action_input": {"n": 1}, "output": "ok"}, id="react"),
        pytest.param({"function": {"name": "pay", "arguments": {"n": 1}}, "response": "ok"}, id="function-object"),
    ],
)
def test_a_call_is_found_under_the_usual_names(step: dict[str, Any]) -> None:
    assert call_in(step) == StepCall("pay", {"n": 1}, "ok", "")


def test_a_step_that_only_says_something_is_no_call() -> None:
    assert call_in({"name": "planner", "text": "Let me think."}) is None


def write_log(path: Path) -> None:
    """Two agents at two cases, in six shapes: one agent pays, the other is refused."""
    runs = [
        {"id": f"{case}-{agent}", "case": f"case-{case}", "goal": f"Pay {case}", "agent": {"name": agent},
         "run": {"steps": [{"action": {"tool": "pay", "input": {"n": 1}}, "observation": "ok" if paid else "Error"}]},
         "metrics": {"success": paid}}
        for case in range(2) for agent, paid in (("alpha", True), ("beta", False))
    ]  # fmt: skip
    if path.name == "log.jsonl":
        path.write_text("\n".join(map(json.dumps, runs)))
    elif path.name == "report.json":
        path.write_text(json.dumps({"made": "today", "cases": [in_own_words(run) for run in runs]}))
    elif path.name == "tickets.csv":
        write_table(path, [["case", "agent", "request", "tool_log", "resolved"]] + [
            [run["case"], run["agent"]["name"], run["goal"], json.dumps(run["run"]["steps"]), run["metrics"]["success"]]
            for run in runs
        ])  # fmt: skip
    elif path.name == "events.jsonl":
        logs = [in_events(run) for run in runs]
        path.write_text("\n".join(json.dumps(event) for turn in zip(*logs, strict=True) for event in turn))
    else:
        rows = [in_rows(run) for run in runs for _ in range(2)]
        if path.suffix == ".csv":
            write_table(path, [[*rows[0]], *([*row.values()] for row in rows)])
        else:
            path.write_text("\n".join(map(json.dumps, rows)))


def in_own_words(run: dict[str, Any]) -> dict[str, Any]:
    """Steps in words that nobody else uses."""
    done = {"kind": "pay_invoice", "details": {"n": 1}, "afterwards": "ok" if run["metrics"]["success"] else "Error"}
    talk = [{"who": "customer", "what": run["goal"]}, {"who": "bot", "did": done}]
    return {"case": {"number": run["case"]}, "bot": run["agent"], "verdict": run["metrics"], "talk": {"turns": talk}}


def in_rows(run: dict[str, Any]) -> dict[str, Any]:
    """One call a row."""
    paid = run["metrics"]["success"]
    about = {"session": run["id"], "ticket": run["case"], "agent": run["agent"]["name"], "solved": str(paid)}
    return {**about, "fn": "pay", "in": '{"n": 1}', "out": "ok" if paid else "Error"}


def in_events(run: dict[str, Any]) -> list[dict[str, Any]]:
    """One event a line, with results and the verdict on lines of their own."""
    paid = run["metrics"]["success"]
    events = [
        {"event": "started", "case_id": run["case"], "goal": run["goal"], "agent": run["agent"]["name"]},
        {"event": "said", "role": "assistant", "text": "I look it up."},
        {"event": "tool_call", "tool": "pay", "args": {"n": 1}},
        {"event": "tool_result", "tool": "pay", "result": "ok" if paid else "Error: closed"},
        {"event": "ended", "success": paid},
    ]
    return [{"at": number, "job": run["id"], **event} for number, event in enumerate(events)]


def write_table(path: Path, rows: list[list[Any]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.mark.parametrize("name", ["log.jsonl", "tickets.csv", "rows.csv", "rows.jsonl", "report.json", "events.jsonl"])
def test_the_command_that_doctor_prints_for_an_unknown_log_reads_it(tmp_path: Path, name: str) -> None:
    write_log(tmp_path / name)
    doctor = CliRunner().invoke(cli, ["doctor", str(tmp_path / name)])
    assert "4 runs of 2 tasks by 2 sources" in doctor.output and "2 passed, 2 failed" in doctor.output
    words = shlex.split(doctor.output.splitlines()[-1])
    assert words[:2] == ["contramem", "build"]
    read = CliRunner().invoke(cli, ["traces", *words[2:], "--json"])
    assert read.exit_code == 0 and json.loads(read.output)["contrastive_tasks"] == 2


def test_a_table_without_steps_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    result = CliRunner().invoke(cli, ["traces", str(tmp_path / "t.csv"), "--format", "steps"])
    assert result.exit_code == 1 and "has no list of steps (keys: a, b)" in str(result.exception)


def test_the_plain_form_is_recognised(tmp_path: Path) -> None:
    run = {"task_id": "t", "source": "s", "passed": True, "task": "Pay.", "steps": [{"tool": "pay", "result": "ok"}]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(run))
    reading = read_traces([tmp_path / "runs.jsonl"])
    (found,) = reading
    assert dict(reading.formats) == {"steps": 1} and found.outcome.passed is True


def test_the_rows_of_a_run_are_its_steps_in_order(tmp_path: Path) -> None:
    table = "run,task_id,source,passed,tool,arguments,result\n"
    table += '1,t,a,,find,"{""n"": 1}",7\n2,t,b,false,pay,{},Error\n1,t,a,true,pay,"{""n"": 7}",ok\n'
    (tmp_path / "calls.csv").write_text(table)
    first, second = read_traces([tmp_path / "calls.csv"], ReadOptions(format="steps"))
    assert [(call.function, call.arguments) for call in first.calls] == [
        ("general.find", {"n": 1}),
        ("general.pay", {"n": 7}),
    ]
    assert (first.source, first.outcome.passed, second.outcome.passed) == ("a", True, False)


def test_rows_that_name_no_run_say_how_to_name_it(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text("tool,result\npay,ok\n")
    reading = read_traces([tmp_path / "calls.csv"], ReadOptions(format="steps"))
    assert list(reading) == [] and "--map run=FIELD" in str(reading.problems[0])


def test_a_field_of_steps_is_refused_where_no_steps_are_read(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello"}]}')
    with pytest.raises(UsageError, match="with --format steps also run, tool"):
        list(read_traces([tmp_path / "chat.jsonl"], ReadOptions(fields={"tool": "x"})))


def test_what_a_document_says_around_its_attempts_is_said_about_each(tmp_path: Path) -> None:
    attempts = [
        {"bot": bot, "verdict": verdict, "trace": [{"op": "book_courier", "in": {"id": 1}, "out": "booked"}]}
        for bot, verdict in (("otter", "ok"), ("heron", "nok"))
    ]
    document = {"ticket": "T-1", "ask": "Book a courier.", "attempts": attempts}
    (tmp_path / "ticket.json").write_text(json.dumps(document))
    told = json.loads(CliRunner().invoke(cli, ["doctor", str(tmp_path), "--json"]).stdout)
    options = dict(option.split("=", 1) for option in shlex.split(told["command"])[6::2])
    first, second = read_traces([tmp_path], ReadOptions(format="steps", fields=options))
    assert (first.task_id, first.task, first.source, first.outcome.passed) == ("T-1", "Book a courier.", "otter", True)
    assert (second.task_key, second.source, second.outcome.passed) == (first.task_key, "heron", False)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_table_may_use_semicolons_or_tabs_and_count_tries(tmp_path: Path, separator: str) -> None:
    rows = [["task_id", "model", "try", "tool", "params", "response"], ["a", "m", "1", "pay", '{"n": 1}', "ok"]]
    rows.append(["a", "m", "2", "pay", '{"n": 2}', "ok"])
    with (tmp_path / "calls.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    runs = list(read_traces([tmp_path / "calls.csv"], ReadOptions(format="steps")))
    assert [(run.run, run.events[0].arguments) for run in runs] == [("1", {"n": 1}), ("2", {"n": 2})]


def test_runs_that_take_turns_in_an_event_log_are_told_apart(tmp_path: Path) -> None:
    write_log(tmp_path / "events.jsonl")
    fields = {"run": "job", "task_id": "case_id", "source": "agent", "outcome": "success", "task": "goal"}
    runs = list(read_traces([tmp_path / "events.jsonl"], ReadOptions(format="steps", fields=fields)))
    assert [(run.task_id, run.source, run.outcome.passed) for run in runs[:2]] == [
        ("case-0", "alpha", True),
        ("case-0", "beta", False),
    ]
    (call,) = runs[1].calls
    assert call.arguments == {"n": 1} and call.result is not None and call.result.error == "Error: closed"
    assert [event.text for event in runs[0].events if event.kind == "message"] == ["Pay 0", "I look it up."]


def events_of(ok: bool, run: str, model: str) -> dict[str, list[dict[str, Any]]]:
    """The same run in three shapes of event log: chat messages, an object inside each line, results by call id."""
    result = "ok" if ok else "Error: locked"
    call = {"id": "1", "function": {"name": "refund", "arguments": '{"order": 7}'}}
    return {
        "chat": [
            {"run_id": run, "type": "task", "task_id": "T", "model": model},
            {"run_id": run, "role": "assistant", "content": "", "tool_calls": [call]},
            {"run_id": run, "role": "tool", "tool_call_id": "1", "content": result},
            {"run_id": run, "type": "verdict", "passed": ok},
        ],
        "nested": [
            {"session": run, "kind": "start", "data": {"task_id": "T", "model": model}},
            {"session": run, "kind": "tool", "data": {"name": "refund", "input": {"order": 7}, "output": result}},
            {"session": run, "kind": "end", "data": {"passed": ok}},
        ],
        "ids": [
            {"trace_id": run, "event": "start", "task_id": "T", "model": model},
            {"trace_id": run, "event": "call", "call_id": "c", "tool": "refund", "arguments": {"order": 7}},
            {"trace_id": run, "event": "result", "call_id": "c", "output": result},
            {"trace_id": run, "event": "end", "reward": float(ok)},
        ],
    }


@pytest.mark.parametrize("shape", ["chat", "nested", "ids"])
def test_an_event_log_of_runs_that_take_turns_needs_no_options(tmp_path: Path, shape: str) -> None:
    first, second = events_of(True, "r1", "a")[shape], events_of(False, "r2", "b")[shape]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(event) for turn in zip(first, second, strict=True) for event in turn))
    told = json.loads(CliRunner().invoke(cli, ["doctor", str(log), "--json"]).stdout)
    assert (told["runs"], told["contrasts"]) == (2, 1)
    assert f"build {log} --format steps" in told["command"]
    runs = list(read_traces([log], ReadOptions(format="steps")))
    calls = [call for run in runs for call in run.calls]
    assert [call.arguments for call in calls] == [{"order": 7}, {"order": 7}]
    assert [call.result and call.result.error for call in calls] == [None, "Error: locked"]


def test_attempts_inside_a_list_of_tasks_are_runs_of_their_task(tmp_path: Path) -> None:
    attempts = [{"model": model, "passed": ok, "trajectory": [{"tool": "pay", "input": {}, "output": "x"}]}
                for model, ok in (("a", True), ("b", False))]  # fmt: skip
    document = {"tasks": [{"id": name, "prompt": f"Pay {name}.", "attempts": attempts} for name in ("T-1", "T-2")]}
    (tmp_path / "all.json").write_text(json.dumps(document))
    told = json.loads(CliRunner().invoke(cli, ["doctor", str(tmp_path / "all.json"), "--json"]).stdout)
    assert (told["runs"], told["tasks"], told["contrasts"]) == (4, 2, 2)


# Calls that an agent wrote as text.


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("click('a51')", "click", {"argument_1": "a51"}),
        ("fill('b12', value='Oslo (N)')", "fill", {"argument_1": "b12", "value": "Oslo (N)"}),
        ("noop()", "noop", {}),
        ("page.goto('home', 2)", "page.goto", {"argument_1": "home", "argument_2": 2}),
        ("type [164] [two words] [1]", "type", {"argument_1": "164", "argument_2": "two words", "argument_3": "1"}),
        (" Search[Oslo] ", "Search", {"argument_1": "Oslo"}),
    ],
)
def test_a_call_that_is_written_out_is_read(text: str, name: str, arguments: dict[str, object]) -> None:
    assert read_written_call(text) == (name, arguments)


@pytest.mark.parametrize(
    "text", ["send_mail", "", "I will click(a) now", "f(x for x in y)", "click(open('f'))", "a()()"]
)
def test_other_texts_are_no_calls(text: str) -> None:
    assert read_written_call(text) is None


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    read_written_call(text)


def test_the_steps_of_a_browser_agent_are_calls(tmp_path: Path) -> None:
    """Their observation is what they saw before they acted, so it is the result of no call in its step."""
    steps = [{"obs": "a form", "action": "fill('12', 'Oslo')"}, {"obs": "3 degrees", "action": "send_msg_to_user('3')"}]
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"goal": "How cold is it?", "steps": steps, "success": True}))
    (run,) = read_traces([file], ReadOptions(format="steps"))
    assert [call.function.rpartition(".")[2] for call in run.calls] == ["fill", "send_msg_to_user"]
    assert run.calls[0].result is None
    assert run.calls[0].arguments == {"argument_1": "12", "argument_2": "Oslo"}
