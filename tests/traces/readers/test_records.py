"""The user's own records, contramem's own format, and recordings of guided runs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from contramem.collection.runs import Collection
from contramem.errors import TraceError, UsageError
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Naming
from contramem.traces.read import read_traces, readers
from contramem.traces.reader import Problem, ReadOptions
from contramem.traces.readers.records import tools_of
from contramem.traces.trajectory import Event, Origin, Outcome, Result, RunUsage, Tool, Trajectory
from contramem.traces.write import write_traces

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param({"type": "function", "function": {"name": "send", "parameters": SCHEMA}}, id="openai"),
        pytest.param({"name": "send", "input_schema": SCHEMA}, id="anthropic"),
        pytest.param({"name": "send", "inputSchema": SCHEMA}, id="mcp"),
        pytest.param({"functionDeclarations": [{"name": "send", "parameters": SCHEMA}]}, id="gemini"),
        pytest.param({"function_declarations": [{"name": "send", "parametersJsonSchema": SCHEMA}]}, id="gemini-sdk"),
    ],
)
def test_tools_are_read_as_each_provider_lists_them(listed: dict[str, Any]) -> None:
    (tool,) = tools_of([listed], Naming())
    assert (tool.function.rpartition(".")[2], tool.parameters) == ("send", SCHEMA)


def read_only_run(document: object) -> Trajectory:
    (run,) = readers()["openai-chat"].read(
        TraceFile.of_bytes("runs.json", json.dumps(document).encode()), ReadOptions()
    )
    assert isinstance(run, Trajectory), run
    return run


@pytest.mark.parametrize(
    ("field", "value", "passed"), [("success", True, True), ("correct", False, False), ("success", "maybe", None)]
)
def test_a_verdict_is_found_under_its_usual_names(field: str, value: object, passed: bool | None) -> None:
    run = read_only_run({field: value, "messages": [{"role": "user", "content": "Mail Bob."}]})
    assert run.outcome.passed is passed


def test_a_result_that_cohere_wraps_in_a_document_is_read() -> None:
    call = {"id": "c1", "function": {"name": "find", "arguments": "{}"}}
    document = {"type": "document", "document": {"data": '{"found": 3}'}}
    run = read_only_run(
        [
            {"role": "user", "content": "Count them."},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [document]},
        ]
    )
    assert run.calls[0].result is not None
    assert run.calls[0].result.content == '{"found": 3}'


# contramem's own traces: what was written is what is read.


HEADER = b'{"format":"contramem-trace","version":1}\n'

RUN = Trajectory(
    environment="shop/retail",
    task_id="t1",
    source="model-a",
    origin=Origin("runs.json", "4"),
    events=(
        Event(0, "user", "message", "Cancel my order."),
        Event(
            1,
            "agent",
            "call",
            function="retail.cancel",
            arguments={"id": "#1", "items": [{"n": 1.5}]},
            effect="write",
            result=Result({"status": "cancelled"}),
            time=3.25,
        ),
        Event(2, "agent", "final", "Done. ✓"),
    ),
    outcome=Outcome(True, 1.0, "fine"),
    run="2",
    task="Cancel my order.",
    authored=True,
    ability="retail",
    apps=("retail",),
    tools=(Tool("retail.cancel", "Cancels.", {"type": "object"}),),
    usage=RunUsage(3, 100, 20, 0.01),
)


def read(content: bytes, options: ReadOptions | None = None) -> list[object]:
    return list(readers()["contramem"].read(TraceFile.of_bytes("own.jsonl", content), options or ReadOptions()))


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_what_was_written_is_read_back_equal(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"own.jsonl{ending}"
    other = Trajectory("e", "t", "s", Origin("f"), ())
    assert write_traces(iter([RUN, other]), path) == 2
    back = list(readers()["contramem"].read(TraceFile(path), ReadOptions()))
    assert back == [RUN, other]
    assert [run.ability for run in read_traces([path])] == ["retail", "general"]


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_the_same_runs_give_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one.jsonl{ending}", tmp_path / f"two.jsonl{ending}"
    write_traces([RUN] * 3, one)
    write_traces([RUN] * 3, two)
    assert one.read_bytes() == two.read_bytes()
    assert ending != ".gz" or gzip.decompress(one.read_bytes()).startswith(HEADER)


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text("before")

    def breaking():
        yield RUN
        raise TraceError("half-way")

    with pytest.raises(TraceError, match="half-way"):
        write_traces(breaking(), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"own\.jsonl: cannot be written"):
        write_traces([RUN], tmp_path / "missing" / "own.jsonl")


def test_what_json_cannot_say_is_written_as_null_or_as_the_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    odd = Event(0, "agent", "call", function="a.b", arguments={"x": float("nan"), "half \ud800": float("inf")})
    said = Event(1, "agent", "final", "broken \udc00 text", time=float("inf"))
    write_traces([Trajectory("e", "t", "s", Origin("f"), (odd, said))], path)
    (back,) = readers()["contramem"].read(TraceFile(path), ReadOptions())
    assert back.events[0].arguments == {"x": None, "half \ufffd": None}
    assert back.events[1].text == "broken \ufffd text"
    assert back.events[1].time is None


def test_files_put_together_with_cat_are_read_without_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    write_traces([RUN], path)
    part = path.read_bytes()
    path.write_bytes(part + part.replace(b"model-a", b"model-b"))
    read = list(readers()["contramem"].read(TraceFile(path), ReadOptions()))
    assert [run.source for run in read if isinstance(run, Trajectory)] == ["model-a", "model-b"]
    assert not any(isinstance(run, Problem) for run in read)


def test_unknown_fields_are_ignored() -> None:
    line = b'{"environment":"e","task_id":"t","source":"s","origin":{"file":"f"},"events":[],"colour":"red"}\n'
    assert read(HEADER + line) == [Trajectory("e", "t", "s", Origin("f"), ())]


def test_a_bad_line_is_a_problem_with_its_path_and_does_not_stop_the_others() -> None:
    good = b'{"environment":"e","task_id":"t","source":"s","origin":{"file":"f"},"events":[]}\n'
    bad = b'{"environment":"e","task_id":7,"source":"s","origin":{"file":"f"},"events":[]}\n'
    first, problem, broken, last = read(HEADER + good + bad + b"{half\n" + good)
    assert first == last
    assert isinstance(problem, Problem)
    assert problem.where == "own.jsonl:3"
    assert "$.task_id" in problem.what
    assert isinstance(broken, Problem)
    assert broken.where == "own.jsonl:4"


def test_events_that_are_misnumbered_are_refused() -> None:
    line = json.dumps(
        {
            "environment": "e",
            "task_id": "t",
            "source": "s",
            "origin": {"file": "f"},
            "events": [{"position": 1, "actor": "agent", "kind": "final"}],
        }
    )
    (problem,) = read(HEADER + line.encode())
    assert isinstance(problem, Problem)
    assert "event 0 has position 1" in problem.what


def test_a_newer_version_says_to_upgrade() -> None:
    with pytest.raises(TraceError, match=r"newer contramem \(trace format 2\); this one reads up to 1\. Upgrade"):
        read(b'{"format":"contramem-trace","version":2}\n')


@pytest.mark.parametrize("head", [b"", b"{}\n", b"[1]\n", b"\xff\n", b'{"format":"contramem-trace","version":"x"}\n'])
def test_a_file_without_a_proper_header_is_refused(head: bytes) -> None:
    with pytest.raises(TraceError, match="header"):
        read(head)


def test_an_app_the_user_gives_wins_over_the_files() -> None:
    (run,) = read(HEADER + encode_line(RUN), ReadOptions(app="Shop", effects={"cancel": "read"}))
    assert run.events[1].function == "Shop.cancel"
    assert run.events[1].effect == "read"


def test_a_function_without_an_app_gets_one() -> None:
    event = Event(0, "agent", "call", function="send_email")
    (run,) = read(HEADER + encode_line(Trajectory("e", "t", "s", Origin("f"), (event,))))
    assert (run.events[0].function, run.events[0].effect) == ("general.send_email", "write")


def encode_line(run: Trajectory) -> bytes:
    from contramem.traces.write import encode_line as as_line

    return as_line(run)


# Recordings that somebody else wrote, or damaged.


@pytest.mark.parametrize(("tokens", "kept"), [(3, 3), (True, None), (-1, None), (10**30, None), ("3", None)], ids=str)
def test_an_invalid_token_count_is_left_out(tmp_path: Path, tokens: Any, kept: int | None) -> None:
    lines = [
        {"recording": 1, "run": "r", "what": "start", "task": "Pay", "task_id": "t"},
        {"recording": 1, "run": "r", "what": "shown", "text": "Pay once.", "tokens": tokens},
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Collection(read_traces([tmp_path / "runs.jsonl"])) as pool:
        ((run,),) = pool
    assert run.guidance[0].tokens == kept
