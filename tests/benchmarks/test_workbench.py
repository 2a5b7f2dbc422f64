"""benchmarks/workbench: WorkBench's rows as runs. The CSVs here are small and made, shaped as the real ones."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from contramem.errors import TraceError, UsageError
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "workbench"
LIMIT = "Agent stopped due to iteration limit or time limit."
SEARCH = (
    "(AgentAction(tool='email.search_emails', tool_input={'query': 'nadia'}, "
    'log=\'I look for it.\\nAction:\\n```\\n{"action": "email.search_emails"}\\n```\'), '
    "[{'email_id': '00000479', 'read': nan, 'score': -1, 'sent': Timestamp('2023-11-29 12:32:17')}])"
)
DELETE = (
    "(AgentAction(tool='email.delete_email', tool_input={'email_id': '00000479'}, log='```\\n{}\\n```'), "
    "'Email deleted successfully.')"
)


def _load() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("workbench_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
workbench: Any = _load()
sys.dont_write_bytecode = kept


def response(*steps: str, output: str = "Done.") -> str:
    return f"{{'input': 'Delete it', 'output': {output!r}, 'intermediate_steps': [{', '.join(steps)}]}}"


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def results(tmp_path: Path) -> Any:
    """Lets a test say what one model logged and what the verdicts are; the rest of a row is made up."""

    def make(*rows: dict[str, str]) -> Path:
        logs: dict[str, list[dict[str, str]]] = {}
        verdicts = []
        for number, row in enumerate(rows):
            query = row.get("query", f"Delete the last email from nadia, number {number}")
            tools = row.get("tools_in_prompt", "domains")
            file = f"results/email/{row.get('model', 'gpt-4')}_{tools}.csv"
            log = {"function_calls": "[]", "full_response": row.get("log", ""), "error": row.get("error", "")}
            logs.setdefault(file, []).append({"query": row.get("logged_query", query)} | log)
            verdicts.append({
                "task_id": row.get("task_id", f"email/{number:03}"),
                "domain": "email",
                "query": query,
                "base_template": "Delete the last email from {name}",
                "model": row.get("model", "gpt-4"),
                "tools_in_prompt": tools,
                "results_file": f"data/{file}",
                "row": str(number * 7),  # positions among all tasks, of which some were left out
                "n_calls": row.get("n_calls", str(row.get("log", "").count("AgentAction("))),
                "error": row.get("error", ""),
                "correct": row.get("correct", "False"),
                "unwanted_side_effects": row.get("side_effects", "False"),
            })  # fmt: skip
        for file, logged in logs.items():
            _write(tmp_path / "wb" / file, logged)
        _write(tmp_path / "wb" / "outcomes.csv", verdicts)
        return tmp_path / "wb"

    return make


def only_run(root: Path) -> Trajectory:
    conversion = workbench.convert(root)
    assert conversion.problems == []
    (run,) = conversion.runs
    return run


def test_a_row_becomes_a_run_with_its_thoughts_calls_results_and_answer(results):
    run = only_run(results({"log": response(SEARCH, DELETE), "correct": "True"}))
    assert (run.environment, run.ability, run.source) == ("workbench/email", "email", "gpt-4")
    assert run.authored and run.task == "Delete the last email from nadia, number 0"
    assert [(event.actor, event.kind) for event in run.events] == [
        ("user", "message"),
        ("agent", "message"),
        ("agent", "call"),
        ("agent", "call"),
        ("agent", "final"),
    ]
    thought, search, delete, final = run.events[1:]
    assert thought.text == "I look for it."
    assert (search.function, search.effect, search.arguments) == ("email.search_emails", "read", {"query": "nadia"})
    assert search.result.content == [{"email_id": "00000479", "read": None, "score": -1, "sent": "2023-11-29 12:32:17"}]
    assert (delete.function, delete.effect, delete.result.error) == ("email.delete_email", "write", None)
    assert final.text == "Done."
    assert (run.outcome.passed, run.outcome.ended) == (True, "complete")


def test_tasks_of_one_template_are_siblings_and_all_tools_is_another_source(results):
    log = response(DELETE)
    root = results({"log": log}, {"log": log, "tools_in_prompt": "all"})
    runs = workbench.convert(root).runs
    assert {run.source for run in runs} == {"gpt-4", "gpt-4 (all tools)"}
    assert len({run.scenario_id for run in runs}) == 1
    assert len({run.task_key for run in runs}) == 2


def test_side_effects_are_told_without_blame(results):
    run = only_run(results({"log": response(DELETE), "side_effects": "True"}))
    assert run.outcome.passed is False
    assert run.outcome.feedback == (
        "The end state is not the expected one. Data was changed that the task did not ask to change."
    )


def test_a_run_that_ran_out_of_steps_has_no_answer(results):
    run = only_run(results({"log": response(SEARCH, output=LIMIT), "error": LIMIT}))
    assert (run.outcome.passed, run.outcome.ended) == (False, "limit")
    assert run.events[-1].kind == "call"


@pytest.mark.parametrize(
    "error", ["Context window exceeded", "Error code: 504 - {'error': 'timeout'}", "unhashable type: 'list'"]
)
def test_a_run_whose_log_was_lost_is_no_evidence(results, error):
    run = only_run(results({"error": error}))
    assert (run.outcome.passed, run.outcome.ended) == (False, "interrupted")
    assert run.calls == ()
    assert error in run.outcome.feedback


def test_a_verdict_on_fewer_calls_than_were_made_is_no_verdict(results):
    # WorkBench could not write down a call whose input is a text, and judged the run without it.
    step = "(AgentAction(tool='email.delete_email', tool_input='00000479', log=''), 'Email deleted successfully.')"
    run = only_run(results({"log": response(step), "n_calls": "0", "error": "'str' object has no attribute 'items'"}))
    assert run.outcome.passed is None
    assert run.calls[0].arguments == {"input": "00000479"}


@pytest.mark.parametrize(
    ("observed", "refused"),
    [
        ("Email not found.", True),
        ("Assignee email not valid. Please choose from the list of team members.", True),
        ("Please provide all required fields: customer_name, status.", True),
        ("No search parameters provided.", True),
        ("None is not a valid tool, try one of [email.send_email].", True),
        ("Value to plot must be one of 'total_visits', 'direct'", True),
        ("Invalid recipient email address.", True),
        ("Missing task details.", True),
        ("No events found.", False),
        ("Email sent successfully.", False),
        ("plots/2023-10-10_total_visits_line.png", False),
        ([], False),
    ],
)
def test_tools_that_say_no_are_told_from_tools_that_find_nothing(observed, refused):
    assert workbench.is_refusal(observed) is refused


@pytest.mark.parametrize(
    ("log", "complaint"),
    [
        pytest.param("{'input': ", "not the text of a Python value", id="cut-off"),
        pytest.param("{'output': 'x'}", "no 'intermediate_steps'", id="no-steps"),
        pytest.param(response("(1, 2)"), "no pair of action and observation", id="no-action"),
        pytest.param(response("(AgentAction(log='x'), 'y')"), "without a tool", id="no-tool"),
        pytest.param(response(DELETE.replace("'Email deleted successfully.'", "open('x')")), "Call", id="code"),
        pytest.param(response(DELETE.replace("'00000479'", "9" * 30)), "Constant", id="huge-number"),
        pytest.param(response(DELETE.replace("'00000479'", "[" * 80 + "]" * 80)), "nested", id="deep"),
        pytest.param("(" * 5000 + ")" * 5000, "not the text of a Python value", id="too-deep-to-parse"),
    ],
)
def test_a_row_that_cannot_be_parsed_is_reported_and_the_others_are_kept(results, log, complaint):
    conversion = workbench.convert(results({"log": log, "n_calls": "0"}, {"log": response(DELETE)}))
    assert len(conversion.runs) == 1
    (problem,) = conversion.problems
    assert problem.where == "results/email/gpt-4_domains.csv:0"
    assert complaint in problem.what
    assert workbench.counts(conversion)["rows not converted"] == 1


def test_a_cell_beyond_measure_is_refused_before_it_is_parsed():
    with pytest.raises(TraceError, match="more than 1,048,576"):
        workbench.parsed(" " * (workbench.MAX_CELL_CHARS + 1))


def test_rows_without_a_counterpart_are_reported(results):
    conversion = workbench.convert(results({"log": response(DELETE), "logged_query": "Something else"}))
    assert conversion.runs == []
    assert [problem.what for problem in conversion.problems] == [
        "has a verdict but no log",
        "has no verdict on 'Something else'",
    ]


def test_a_verdict_that_names_a_file_outside_finds_nothing(results, tmp_path):
    root = results({"log": response(DELETE)})
    outcomes = root / "outcomes.csv"
    outcomes.write_text(outcomes.read_text().replace("data/results/", "../results/"))
    (tmp_path / "results").symlink_to(root / "results")
    conversion = workbench.convert(root)
    assert conversion.runs == []


def test_other_files_are_told_by_name(tmp_path):
    with pytest.raises(UsageError, match=r"has no outcomes\.csv"):
        workbench.convert(tmp_path)
    _write(tmp_path / "outcomes.csv", [{"task_id": "1"}])
    with pytest.raises(TraceError, match="no column base_template, correct"):
        workbench.convert(tmp_path)


def test_apps_are_those_that_the_run_was_given(results):
    root = results(
        {"query": "Delete it", "log": response(DELETE)},
        {"query": "Delete it", "log": response(DELETE), "tools_in_prompt": "all"},
    )
    folder = root / "processed" / "queries_and_answers"
    _write(folder / "email_queries_and_answers.csv", [{"query": "Delete it", "domains": "['email', 'crm']"}])
    _write(folder / "calendar_queries_and_answers.csv", [{"query": "Move it", "domains": "['calendar']"}])
    _write(folder / "multi_domain_queries_and_answers.csv", [{"query": "Both", "domains": "['email']"}])
    assert {run.source: run.apps for run in workbench.convert(root).runs} == {
        "gpt-4": ("company_directory", "email"),
        "gpt-4 (all tools)": ("calendar", "company_directory", "email"),
    }


def test_the_command_gives_the_same_bytes_from_folder_and_archive_and_contramem_reads_them(results, tmp_path):
    root = results({"log": response(SEARCH, DELETE), "correct": "True"}, {"error": "Context window exceeded"})
    archive = tmp_path / "results.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for path in sorted(root.rglob("*.csv"), reverse=True):
            content = path.read_bytes()
            member = tarfile.TarInfo(path.relative_to(root).as_posix())
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    outs = [tmp_path / "folder.jsonl", tmp_path / "archive.jsonl"]
    for source, out in zip((root, archive), outs, strict=True):
        told = subprocess.run(
            [sys.executable, SCRIPT, source, "--out", out], check=True, capture_output=True, text=True
        )
        assert "     2  runs\n" in told.stdout
        assert "     1  runs passed\n" in told.stdout
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert len(list(read_traces(outs[:1]))) == 2


@pytest.mark.slow
def test_every_real_row_is_converted(shared_data):
    archive = shared_data / "workbench" / "results.tar.xz"
    if not archive.exists():
        pytest.skip("no WorkBench results")
    with workbench.folder_of(archive) as root:
        conversion = workbench.convert(root)
    assert workbench.counts(conversion) == {
        "runs": 3840,
        "tasks": 480,
        "templates": 48,
        "sources": 8,
        "runs passed": 801,
        "runs without a verdict": 25,
        "runs that reached their limit": 118,
        "runs interrupted (no log)": 554,
        "contrastive tasks": 269,
        "rows not converted": 0,
    }
