"""Another package can register a reader; it is detected, forced and reported like our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem.traces.read import read_traces, readers

READER = """
from contramem.traces.normalize import Recorder
from contramem.traces.reader import each_run
from contramem.traces.trajectory import Origin, Outcome, Trajectory

class DiaryReader:
    name = "{name}"

    def claims(self, file):
        return isinstance(file.head, dict) and "diary" in file.head

    def read(self, file, options):
        def build(entry, position):
            recorder = Recorder(options.naming("diary"))
            for line in entry["diary"]:
                recorder.call(line, None)
            return Trajectory("diary", "d", entry["by"], Origin(file.origin, position), recorder.events(),
                              Outcome(passed=entry["good"]))
        return each_run(file, file.lines(), build)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `diary_reader` with an entry point, as pip would leave it."""
    monkeypatch.syspath_prepend(tmp_path)
    readers.cache_clear()
    yield tmp_path
    readers.cache_clear()


def install(folder: Path, name: str, module: str) -> None:
    (folder / f"{module}.py").write_text(READER.replace("{name}", name))
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[contramem.readers]\n{name} = {module}:DiaryReader\n")


def test_a_registered_reader_reads_its_files_and_reports_what_does_not_fit(installed: Path) -> None:
    install(installed, "diary", "diary_reader")
    lines = [{"diary": ["open_door", "send_mail"], "by": "m", "good": True}, {"diary": 3, "by": "m", "good": True}]
    (installed / "week.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    reading = read_traces([installed / "week.jsonl"])
    (run,) = list(reading)
    assert [(call.function, call.effect) for call in run.calls] == [
        ("diary.open_door", "write"),
        ("diary.send_mail", "write"),
    ]
    assert reading.problems[0].where.endswith("week.jsonl:2")


def test_a_reader_under_a_name_that_is_taken_is_refused(installed: Path) -> None:
    install(installed, "tau2", "rival_reader")
    with pytest.raises(UsageError, match="registers a reader 'tau2', but that name is taken"):
        readers()
