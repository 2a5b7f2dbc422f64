"""Reading side by side: the same runs in the same order, and the same complaints, as one reader gives."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from contramem.collection import collect as collecting
from contramem.collection.collect import Collected, collect, cut_shards
from contramem.collection.runs import Collection, open_collection
from contramem.engine import SERIAL, Engine, LocalEngine
from contramem.traces.outcomes import OutcomeRows
from contramem.traces.read import FoundFile, TraceReading, read_traces
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
) -> tuple[list[Trajectory], TraceReading, Collected]:
    reading = read_traces([folder], options)
    with Collection() as collection:
        found = collect(reading, collection, engine, sources)
        return [run for task in collection for run in task], reading, found


def test_runs_and_complaints_are_those_of_a_single_reader(folder: Path) -> None:
    runs, reading, found = read_side_by_side(folder)
    single = read_traces([folder])
    with Collection(single) as collection:
        assert runs == [run for task in collection for run in task]
    assert len(runs) == 4
    assert reading.problems == single.problems
    assert len(single.problems) == reading.problem_count == 1
    assert reading.ignored_files == single.ignored_files
    assert reading.formats == single.formats
    assert found.tools.find_disputed() == ToolDescriptions(read_traces([folder])).find_disputed() == ("Mail.send",)


@pytest.mark.slow
def test_two_workers_read_what_one_reads(folder: Path) -> None:
    with LocalEngine(2) as engine:
        runs, reading, found = read_side_by_side(folder, engine)
    alone, single, found_alone = read_side_by_side(folder)
    assert runs == alone
    assert reading.problems == single.problems
    assert found.tools.by_function() == found_alone.tools.by_function()


def test_only_runs_of_wanted_sources_are_taken_and_all_sources_are_known(folder: Path) -> None:
    runs, _, found = read_side_by_side(folder, sources=frozenset({"two"}))
    assert {run.source for run in runs} == {"two"}
    assert found.sources == {"one", "two"}
    assert not found.tools.find_disputed()


def test_a_row_of_outcomes_that_no_worker_used_is_named_once(folder: Path) -> None:
    rows = {name: {"run": name, "passed": "true"} for name in ("made", "nobody.jsonl")}
    _, reading, _ = read_side_by_side(folder, options=ReadOptions(outcomes=OutcomeRows(rows, "outcomes.csv")))
    unused = [problem.what for problem in reading.problems if problem.where == "outcomes.csv"]
    assert unused == ["row 'nobody.jsonl' matches no run that was read"]


def test_a_verdict_that_lies_beside_a_run_is_found_by_the_worker(tmp_path: Path) -> None:
    write_traces([replace(run(1, "one"), outcome=Outcome(None))], tmp_path / "runs.jsonl")
    (tmp_path / "reward.txt").write_text("1")
    runs, reading, _ = read_side_by_side(tmp_path)
    assert [run.outcome.passed for run in runs] == [True]
    assert reading.verdicts.files == {"reward.txt": 1}


def test_progress_counts_every_file_once(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    with Collection() as collection:
        collect(read_traces([folder], None, lambda done, found: told.append((done, found))), collection)
    assert told[-1] == (6, 6)  # five, and the one inside the archive


def test_a_large_file_is_a_shard_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "OWN_SHARD_BYTES", 10)
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
    together = read_side_by_side(tmp_path)[0]
    alone = [run for name in "ab" for run in read_side_by_side(tmp_path / f"{name}.jsonl")[0]]
    assert together == alone


# What was read before


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "runs"


def read_kept(folder: Path, kept: Path | None) -> tuple[list[Trajectory], Collected, list[str]]:
    """All runs, what is known about them, and the files that were read now."""
    read: list[str] = []

    class Reading(TraceReading):
        def read(self, found: FoundFile) -> Iterator[Trajectory]:
            read.append(Path(found.path).relative_to(folder).as_posix())
            return super().read(found)

    with pytest.MonkeyPatch.context() as patched, open_collection(kept) as collection:
        patched.setattr(collecting, "TraceReading", Reading)
        found = collect(Reading([folder], ReadOptions()), collection)
        return [run for task in collection for run in task], found, read


def test_files_that_did_not_change_are_not_read_again(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "OWN_SHARD_BYTES", 10)
    first, found, _ = read_kept(folder, kept)
    again, found_again, read = read_kept(folder, kept)
    assert read == []
    assert (again, found_again.sources) == (first, found.sources)
    assert found_again.tools.by_function() == found.tools.by_function()
    write_traces([run(2, "one"), run(3, "one")], folder / "c" / "runs.jsonl")
    (folder / "a" / "runs.jsonl").unlink()
    changed, _, read = read_kept(folder, kept)
    assert read == ["c/runs.jsonl"]
    assert changed == read_kept(folder, None)[0] != first


def test_a_collection_that_was_not_finished_is_read_to_its_end(folder: Path, kept: Path) -> None:
    first, _, _ = read_kept(folder, None)
    with open_collection(kept) as collection, pytest.raises(KeyboardInterrupt):
        collect(read_traces([folder], None, stop_after(2)), collection)
    assert read_kept(folder, kept)[0] == first


def stop_after(files: int) -> Callable[[int, int], None]:
    def stop(done: int, found: int) -> None:
        if done > files:
            raise KeyboardInterrupt

    return stop


def test_a_file_with_a_secret_is_read_again_because_no_secret_is_kept(tmp_path: Path, kept: Path) -> None:
    shows = Event(0, "agent", "call", function="App.login", arguments={"password": "hunter2secret"})
    says = Event(0, "agent", "message", "We try hunter2secret today.")
    for name, event in (("shows", shows), ("says", says), ("other", Event(0, "agent", "message", "hi"))):
        task = 2 if name == "other" else 1
        write_traces([replace(run(task, name), events=(event,))], tmp_path / f"{name}.jsonl")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(collecting, "OWN_SHARD_BYTES", 10)
        first, _, _ = read_kept(tmp_path, kept)
        again, _, read = read_kept(tmp_path, kept)
    assert read == ["says.jsonl", "shows.jsonl"]
    assert again == first
    assert "hunter2" not in str(first)
    (tmp_path / "shows.jsonl").unlink()
    assert "hunter2" in str(read_kept(tmp_path, kept)[0]), "nobody says that it is a secret"


def test_with_verdicts_from_elsewhere_a_file_is_read_again(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "run").mkdir()
    write_traces([replace(run(1, "one"), outcome=Outcome(None))], tmp_path / "run" / "runs.jsonl")
    for verdict in ("1", "0"):
        (tmp_path / "run" / "reward.txt").write_text(verdict)
        assert [each.outcome.passed for each in read_kept(tmp_path, kept)[0]] == [verdict == "1"]
