"""Logs of calls to a model: rows that continue each other are one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

USER = {"role": "user", "content": "Mail Bob."}


def call(number: int) -> dict[str, Any]:
    entry = {"id": f"c{number}", "type": "function", "function": {"name": "send", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [entry], "refusal": None}


def result(number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": "sent"}


def row(messages: list[dict[str, Any]], reply: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = {"model": "m-1", "choices": [{"message": reply}], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    return {"request": {"model": "m-1", "messages": messages}, "response": body, **fields}


def echo(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as clients send it back: without what says nothing."""
    return {"role": "assistant", "content": "", "tool_calls": reply["tool_calls"]}


def read(tmp_path: Path, rows: list[dict[str, Any]]) -> list[Trajectory]:
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reading = read_traces([tmp_path])
    runs = list(reading)
    assert not reading.problems, reading.problems
    return runs


DONE = {"role": "assistant", "content": "Done."}


def test_the_steps_of_an_agent_are_one_run(tmp_path: Path) -> None:
    first, second = row([USER], call(1)), row([USER, echo(call(1)), result(1)], DONE)
    (run,) = read(tmp_path, [first, second])
    assert [event.kind for event in run.events] == ["message", "call", "final"]
    assert (run.calls[0].result.content, run.source) == ("sent", "m-1")  # type: ignore[union-attr]
    assert (run.usage.model_calls, run.usage.tokens_in) == (2, 20)


def test_runs_that_take_turns_are_kept_apart(tmp_path: Path) -> None:
    rows = [
        row([USER], call(1), session_id="a"),
        row([USER], call(1), session_id="b"),
        row([USER, echo(call(1)), result(1)], call(2), session_id="b"),
        row([USER, echo(call(1)), result(1)], DONE, session_id="a"),
    ]
    runs = read(tmp_path, rows)
    assert [(run.run, len(run.calls), run.events[-1].text) for run in runs] == [("a", 1, "Done."), ("b", 2, "")]


def test_a_row_without_a_reply_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(row([USER], DONE)) + '\n{"request": {"messages": []}}')
    reading = read_traces([tmp_path])
    assert len(list(reading)) == 1
    assert [problem.what for problem in reading.problems] == ["is no call of a model with its reply"]
