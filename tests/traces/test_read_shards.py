"""Reading side by side: the same runs in the same order, and the same complaints, as one reader gives."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from contramem.engine import SERIAL, Engine, LocalEngine
from contramem.traces import read_shards
from contramem.traces.outcomes import OutcomeRows
from contramem.traces.pool import EncodedRun
from contramem.traces.read import FoundFile, read_traces
from contramem.traces.read_shards import RunReading, cut_shards
from contramem.traces.reader import ReadOptions
from contramem.traces.tools import ToolDescriptions
from contramem.traces.trajectory import Event, Origin, Outcome, Tool, Trajectory
from contramem.traces.write import write_traces


def run(task: int, source: str) -> Trajectory:
    tools = (Tool("Mail.send", f"Sends a mail, says {source}.", {}),)
    events = (Event(0, "agent", "final", f"done {task}"),)
    return Trajectory("env", f"t{task}", source, Origin("made"), events, Outcome(task % 2 == 0), tools=tools)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of runs in folders of their own, an archive between them, a damaged file and one that is no trace."""
    for name, task in (("a", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        write_traces([run(task, "one"), run(task, "two")], tmp_path / name / "runs.jsonl")
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        archive.add(tmp_path / "a" / "runs.jsonl", "inside.jsonl")
    (tmp_path / "damaged.jsonl").write_text("{nothing\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path


def read_side_by_side(
    folder: Path, engine: Engine = SERIAL, options: ReadOptions | None = None, sources: frozenset[str] | None = None
) -> tuple[list[EncodedRun], RunReading]:
    reading = RunReading(read_traces([folder], options), engine, sources)
    return list(reading), reading


def test_runs_and_complaints_are_those_of_a_single_reader(folder: Path) -> None:
    runs, reading = read_side_by_side(folder)
    single = read_traces([folder])
    assert runs == [EncodedRun.of(trajectory) for trajectory in single]
    assert len(runs) == 6
    assert reading.files.problems == single.problems
    assert len(single.problems) == reading.files.problem_count == 1
    assert reading.files.ignored_files == single.ignored_files
    assert reading.files.formats == single.formats
    assert reading.tools.find_disputed() == ToolDescriptions(read_traces([folder])).find_disputed() == ("Mail.send",)


@pytest.mark.slow
def test_two_workers_read_what_one_reads(folder: Path) -> None:
    with LocalEngine(2) as engine:
        runs, reading = read_side_by_side(folder, engine)
    alone, single = read_side_by_side(folder)
    assert runs == alone
    assert reading.files.problems == single.files.problems
    assert reading.tools.by_function() == single.tools.by_function()


def test_only_runs_of_wanted_sources_are_taken_and_all_sources_are_known(folder: Path) -> None:
    runs, reading = read_side_by_side(folder, sources=frozenset({"two"}))
    assert {encoded.source for encoded in runs} == {"two"}
    assert reading.sources == {"one", "two"}
    assert not reading.tools.find_disputed()


def test_a_row_of_outcomes_that_no_worker_used_is_named_once(folder: Path) -> None:
    rows = {name: {"run": name, "passed": "true"} for name in ("made", "nobody.jsonl")}
    _, reading = read_side_by_side(folder, options=ReadOptions(outcomes=OutcomeRows(rows, "outcomes.csv")))
    unused = [problem.what for problem in reading.files.problems if problem.where == "outcomes.csv"]
    assert unused == ["row 'nobody.jsonl' matches no run that was read"]


def test_a_verdict_that_lies_beside_a_run_is_found_by_the_worker(tmp_path: Path) -> None:
    write_traces([replace(run(1, "one"), outcome=Outcome(None))], tmp_path / "runs.jsonl")
    (tmp_path / "reward.txt").write_text("1")
    runs, reading = read_side_by_side(tmp_path)
    assert [encoded.sketch.passed for encoded in runs] == [True]
    assert reading.files.verdicts.files == {"reward.txt": 1}


def test_progress_counts_every_file_once(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    list(RunReading(read_traces([folder], None, lambda done, found: told.append((done, found)))))
    assert told[-1] == (6, 6)  # five, and the one inside the archive


def test_a_large_file_is_a_shard_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_shards, "OWN_SHARD_BYTES", 10)
    for name, size in (("a", 1), ("b", 1), ("c", 50), ("d", 1)):
        (tmp_path / name).write_bytes(b"x" * size)
    files = [FoundFile(str(tmp_path / name)) for name in "abcd"]
    assert [files[2]] in [shard.files for shard in cut_shards(files)]


def test_one_file_more_leaves_nearly_all_shards_as_they_were() -> None:
    files = [FoundFile(f"runs/{number:04}.json") for number in range(1_000)]
    before = {tuple(shard.files) for shard in cut_shards(files)}
    after = {tuple(shard.files) for shard in cut_shards([*files[:500], FoundFile("runs/0499a.json"), *files[500:]])}
    assert len(before) > 8
    assert len(after - before) <= 2


def chat(task: str, tools: list[object]) -> str:
    call = {"id": "1", "type": "function", "function": {"name": "ledger", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    return json.dumps({"task_id": task, "source": "m", "passed": True, "messages": messages, "tools": tools}) + "\n"


def test_what_a_file_says_about_a_tool_does_not_depend_on_files_read_before_it(tmp_path: Path) -> None:
    documented = {"type": "function", "function": {"name": "ledger", "description": "Deletes it.", "parameters": {}}}
    (tmp_path / "a.jsonl").write_text(chat("1", [documented]))
    (tmp_path / "b.jsonl").write_text(chat("2", []))
    together = [encoded.content for encoded in read_side_by_side(tmp_path)[0]]
    alone = [encoded.content for name in "ab" for encoded in read_side_by_side(tmp_path / f"{name}.jsonl")[0]]
    assert together == alone
