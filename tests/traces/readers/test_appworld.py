"""AppWorld's outputs, in the shape that its source gives them; the contents were made up."""

from __future__ import annotations

import json
from pathlib import Path

from contramem.traces.read import read_traces
from contramem.traces.readers.appworld import REDACTED, calls_in

RULE = "-" * 60
CELLS = (
    ('token = apis.notes.login(password="pw-7781")["access_token"]', "Execution successful."),
    ("for item in items:\n    apis.notes.add_item(item=item, access_token=token)", "Execution successful."),
    ("print(apis.notes.show_list(page_limit=5))", '[{"item": "milk"}, {"item": "tea"}]'),
    ("apis.notes.remove(item_id=9)", "Execution failed. Traceback:\nException: 404: no such item"),
)
REQUESTS = (
    {"method": "post", "url": "/notes/auth/token", "data": {"password": "pw-7781"}},
    {"method": "post", "url": "/notes/items", "data": {"item": "milk", "access_token": "t"}},
    {"method": "post", "url": "/notes/items", "data": {"item": "tea", "access_token": "t"}},
    {"method": "get", "url": "/notes/items", "data": {"page_limit": 5}},
    {"method": "delete", "url": "/notes/items/9", "data": {}},
)


def write_run(root: Path, report: str = "Num Failed Tests : 0\n") -> Path:
    task = root / "outputs" / "gpt" / "tasks" / "aa1_2"
    (task / "logs").mkdir(parents=True)
    (task / "evaluation").mkdir()
    shown = (
        f"\n### Environment Interaction {number}\n{RULE}\n```python\n{code}\n```\n\n```\n{output}\n```\n\n"
        for number, (code, output) in enumerate(CELLS, 1)
    )
    (task / "logs" / "environment_io.md").write_text("".join(shown))
    (task / "logs" / "api_calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in REQUESTS))
    (task / "evaluation" / "report.md").write_text(report)
    return root


def test_calls_inside_cells_are_calls_with_arguments_results_and_errors(tmp_path: Path) -> None:
    (run,) = read_traces([write_run(tmp_path)])
    assert (run.environment, run.task_id, run.scenario_id, run.source) == ("appworld", "aa1_2", "aa1", "gpt")
    assert [(event.function, event.arguments) for event in run.calls] == [
        ("notes.login", {"password": REDACTED}),
        ("notes.add_item", {"item": "milk", "access_token": REDACTED}),
        ("notes.add_item", {"item": "tea", "access_token": REDACTED}),
        ("notes.show_list", {"page_limit": 5}),
        ("notes.remove", {"item_id": 9}),
    ]
    listed, removed = run.calls[3].result, run.calls[4].result
    assert listed is not None and listed.content == [{"item": "milk"}, {"item": "tea"}]
    assert removed is not None and removed.error == "Exception: 404: no such item"


def test_passwords_are_redacted_while_reading(tmp_path: Path) -> None:
    (run,) = read_traces([write_run(tmp_path)])
    assert "pw-7781" not in str(run)


def test_the_report_gives_the_outcome_and_what_failed(tmp_path: Path) -> None:
    report = "Num Failed Tests : 1\n>> Failed Requirement\nassert the list has 3 items\n"
    (run,) = read_traces([write_run(tmp_path, report)])
    assert run.outcome.passed is False
    assert run.outcome.feedback == "assert the list has 3 items"


def test_without_a_report_the_outcome_is_unknown(tmp_path: Path) -> None:
    (run,) = read_traces([write_run(tmp_path, "")])
    assert run.outcome.passed is None


def test_code_that_does_not_parse_has_no_calls() -> None:
    assert calls_in("print(") == []
