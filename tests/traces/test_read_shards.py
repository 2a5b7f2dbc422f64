"""Reading side by side: the same runs in the same order, and the same complaints, as one reader gives."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from contramem.engine import SERIAL, Engine, LocalEngine
from contramem.errors import UsageError
from contramem.kept_work import NO_WORK, KeptWork, Work
from contramem.traces import read_shards
from contramem.traces.outcomes import OutcomeRows
from contramem.traces.pool import Pool, encode_runs
from contramem.traces.read import FoundFile, read_traces
from contramem.traces.read_shards import RunReading, cut_shards
from contramem.traces.reader import ReadOptions
from contramem.traces.run_table import ListedRun, RunTable
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
) -> tuple[list[ListedRun], RunReading]:
    reading = RunReading(read_traces([folder], options), engine, sources)
    return [listed for batch in reading for listed in list_runs(batch.table)], reading


def list_runs(table: RunTable) -> list[ListedRun]:
    columns = table.tasks, table.run_names, table.run_sketches, table.contents, table.rows, table.lengths
    return [
        ListedRun(
            table.task_keys[task], table.names[name], table.sketches[sketch], bytes(content), bytes(row), int(length)
        )
        for task, name, sketch, content, row, length in zip(*columns, strict=True)
    ]


def test_runs_and_complaints_are_those_of_a_single_reader(folder: Path) -> None:
    runs, reading = read_side_by_side(folder)
    single = read_traces([folder])
    assert runs == list_runs(encode_runs(single)[0])
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
    assert {listed.name.source for listed in runs} == {"two"}
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
    assert [listed.sketch.passed for listed in runs] == [True]
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


class Lost(KeptWork):
    """Kept work whose rows somebody removed."""

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {} if stage == "rows" else super().get(stage, keys)


def put_in_pool(folder: Path, work: Work) -> Pool:
    pool = Pool()
    for batch in RunReading(read_traces([folder]), work=work):
        pool.put(batch)
    return pool


def every_run(pool: Pool) -> list[Trajectory]:
    with pool:
        return [trajectory for task in pool for trajectory in task]


@pytest.mark.parametrize("kept", [KeptWork, Lost])
def test_runs_that_were_read_before_are_loaded_when_somebody_asks(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, kept: type[KeptWork]
) -> None:
    place = tmp_path_factory.mktemp("work") / "work.db"
    with KeptWork(place) as work:
        first = every_run(put_in_pool(folder, work))
    with kept(place) as work:
        pool = put_in_pool(folder, work)
        with put_in_pool(folder, NO_WORK) as alone:
            assert [pool.digest(task) for task in pool.tasks()] == [alone.digest(task) for task in alone.tasks()]
        assert every_run(pool) == first


def test_a_file_that_changes_before_its_runs_are_loaded_ends_the_command(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("work") / "work.db"
    with KeptWork(place) as work:
        put_in_pool(folder, work).close()
    with Lost(place) as work, put_in_pool(folder, work) as pool:
        write_traces([run(3, "one")], folder / "a" / "runs.jsonl")
        with pytest.raises(UsageError, match=r"a/runs\.jsonl changed while it was being read"):
            every_run(pool)
