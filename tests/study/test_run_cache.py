"""Runs on disk: the same answers as in memory, kept for the next command, and never stale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.study.office import NOTE_RULE, note_office, write_office

from contramem.collection.runs import Collection
from contramem.study import run_cache, run_file
from contramem.study.ask import TrialRequest, list_kinds, try_on
from contramem.study.report_json import trial_json
from contramem.study.run_cache import open_study
from contramem.study.run_file import open_run_file, write_run_file
from contramem.study.run_set import RunSet
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions


class CountedReads:
    """Reads a file of runs, and counts how often."""

    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0

    @contextmanager
    def __call__(self) -> Iterator[Collection]:
        self.count += 1
        with Collection(read_traces([self.path])) as pool:
            yield pool


def test_runs_on_disk_give_the_answers_of_runs_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "MAX_LOADED_BYTES", 1)  # each run is read anew
    with Collection(note_office()) as pool:
        write_run_file(pool, tmp_path)
        in_memory = RunSet.of(run for task in pool for run in task)
    on_disk, file = open_run_file(tmp_path)
    assert on_disk.digest == in_memory.digest
    assert on_disk.functions == in_memory.functions
    assert list_kinds(on_disk) == list_kinds(in_memory)
    for guard in (NOTE_RULE, "response(Office.create_note, Office.assign_owner)", "known_value(Office.look.order)"):
        reports = [
            trial_json(try_on(runs, TrialRequest(guard, log=tmp_path / f"{place}.jsonl")))
            for place, runs in enumerate((on_disk, in_memory))
        ]
        assert reports[0] == reports[1]
    file.close()


def test_large_sets_are_kept_and_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "KEPT_BYTES", 1)
    path, cache = Path(write_office(tmp_path)), tmp_path / "cache"
    read = CountedReads(path)
    for _ in range(2):
        with open_study([path], ReadOptions(), read, cache=cache) as study:
            assert len(study.run_set.runs) == 60
            with study.tables() as tables:
                assert tables.query("SELECT count(*) FROM runs").rows == [(60,)]
    assert read.count == 1
    assert (cache / ".gitignore").read_text() == "*\n"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with open_study([path], ReadOptions(), read, cache=cache) as study:
        assert len(study.run_set.runs) == 59
    with open_study([path], ReadOptions(app="Other"), read, cache=cache):
        assert read.count == 3, "read otherwise, it is another set"


def test_the_sets_that_were_used_longest_ago_make_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "KEPT_BYTES", 1)
    path, cache = Path(write_office(tmp_path)), tmp_path / "cache"
    for app in "abcde":
        with open_study([path], ReadOptions(app=app), CountedReads(path), cache=cache):
            pass
    assert sum(kept.is_dir() for kept in cache.iterdir()) == run_cache.MAX_KEPT


def test_small_sets_leave_nothing_behind(tmp_path: Path) -> None:
    path, cache = Path(write_office(tmp_path)), tmp_path / "cache"
    with open_study([path], ReadOptions(), CountedReads(path), cache=cache) as study:
        assert study.folder.exists()
    assert not cache.exists()
    assert not study.folder.exists()
