"""The way back in: runs are recorded, folded in as they appear, served through a gate, and picked up by agents."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from contramem.bank.acts import kept_banks, roll_back, serve_bank
from contramem.bank.bank import Bank
from contramem.bank.frozen import freeze, load_frozen, parse_frozen, write_frozen
from contramem.cli import cli
from contramem.errors import UsageError
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.recording import RunRecording
from contramem.inject.run import Memory
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem.watch import WatchOptions, WatchRound, find_harmed_tasks, fingerprint, learn_once, watch

ROOT = Path(__file__).parents[1]
CARS = ("Start the engine of car {}.", "Warm up car {} for the trip.", "Get car {} ready to leave.", "Turn car {} on.")


def drive(memory: Memory, number: int, careful: bool) -> bool:
    """A scripted agent at a car whose engine starts only behind locked doors. It locks them when it was told to."""
    task = CARS[number % len(CARS)].format(number)
    run = memory.start(task, task_id=f"car-{number}", tools=["car.lockDoors", "car.startEngine", "car.readState"])
    agent = GuidedRun(run)
    agent.tell("car.readState", {"car": f"c{number}"}, {"fuel": 10 + number})
    told = "lockDoors" in agent.guidance or "lockDoors" in (
        agent.hold("car.startEngine", {"car": f"c{number}"}, ends_run=False) or ""
    )
    passed = careful or told
    if passed:
        agent.tell("car.lockDoors", {"car": f"c{number}"}, {"locked": True})
        agent.tell("car.startEngine", {"car": f"c{number}"}, {"state": "running"})
    else:
        error = "Error: doors must be locked before the engine can start"
        agent.tell("car.startEngine", {"car": f"c{number}"}, error, error=error)
    run.finish(passed)
    return passed


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """An empty bank, as on the first day."""
    write_frozen(tmp_path / "bank.jsonl", Bank())
    return tmp_path / "bank.jsonl"


def record_first_day(served: Path, runs: Path) -> None:
    """Two agents at six cars: one locks the doors first, the other never does."""
    for source, careful in (("careful", True), ("hasty", False)):
        memory = Memory.load(served, record=RunRecording(runs, source=source))
        for number in range(6):
            assert drive(memory, number, careful) is careful


def options_for(served: Path, runs: Path, **more: int) -> WatchOptions:
    return WatchOptions((runs,), str(served.with_name("store.db")), served, **more)


def test_an_agent_improves_with_a_bank_learned_from_its_recorded_runs(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    living = Memory.load(served, record=RunRecording(runs, source="hasty"), reload=True)
    record_first_day(served, runs)
    assert not drive(living, 7, careful=False)
    done = learn_once(options_for(served, runs, max_changes=50))
    assert done.served and done.added and not done.refusals
    assert drive(living, 8, careful=False), "the memory was reloaded and tells to lock the doors"
    last = [run for run in read_traces([runs]) if run.task_id == "car-8"]
    assert last[0].outcome.passed is True
    assert last[0].guidance, "what was shown is recorded apart from the events"


def test_a_recording_reads_back_as_the_run_that_was_made(tmp_path: Path, served: Path) -> None:
    drive(Memory.load(served, record=RunRecording(tmp_path / "r.jsonl", source="me")), 1, careful=True)
    (run,) = read_traces([tmp_path / "r.jsonl"])
    assert (run.source, run.task_id, run.outcome.passed) == ("me", "car-1", True)
    assert [call.function for call in run.calls] == ["car.readState", "car.lockDoors", "car.startEngine"]
    assert run.calls[1].result is not None and run.calls[1].result.content == {"locked": True}


def test_nothing_is_recorded_unless_asked_for(tmp_path: Path, served: Path) -> None:
    before = set(tmp_path.iterdir())
    drive(Memory.load(served), 1, careful=True)
    assert set(tmp_path.iterdir()) == before


def test_redacted_recordings_contain_no_value_and_equal_values_stay_equal(tmp_path: Path, served: Path) -> None:
    recording = RunRecording(tmp_path / "r.jsonl", redact=True)
    drive(Memory.load(served, record=recording), 4711, careful=True)
    text = (tmp_path / "r.jsonl").read_text()
    assert "c4711" not in text and "running" not in text and "Warm up" not in text
    (run,) = read_traces([tmp_path / "r.jsonl"])
    assert len({call.arguments["car"] for call in run.calls}) == 1


def test_many_threads_record_whole_lines(tmp_path: Path, served: Path) -> None:
    memory = Memory.load(served, record=tmp_path / "r.jsonl")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: drive(memory, number, True), range(40)))
    reading = read_traces([tmp_path / "r.jsonl"])
    assert len(list(reading)) == 40 and not reading.problems


@pytest.mark.slow
def test_many_processes_record_to_one_file_without_losing_or_mixing_lines(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    workers = [start_process(RECORDER, str(served), str(runs), f"agent-{number}") for number in range(4)]
    for worker in workers:
        worker.communicate(timeout=120)
    assert [worker.returncode for worker in workers] == [0] * 4
    reading = read_traces([runs])
    found = {(run.source, run.task_id): run for run in reading}
    assert not reading.problems and len(found) == 4 * 25
    for (source, task), run in found.items():
        assert run.outcome.passed is True, (source, task)
        assert [call.function for call in run.calls] == ["car.readState", "car.lockDoors", "car.startEngine"]
        assert {call.arguments["car"] for call in run.calls} == {task.replace("car-", "c")}


@pytest.mark.slow
def test_an_agent_improves_while_the_watch_command_runs_beside_it(tmp_path: Path, served: Path) -> None:
    runs, store = tmp_path / "runs.jsonl", tmp_path / "store.db"
    living = Memory.load(served, record=RunRecording(runs, source="hasty"), reload=True)
    record_first_day(served, runs)
    assert not drive(living, 7, careful=False)
    words = ["watch", str(runs), "--bank", str(store), "--serve", str(served), "--every", "0.2", "--settle", "0"]
    watcher = start_process("-m", "contramem", *words, "--max-changes", "50", "--json")
    try:
        assert watcher.stdout is not None
        served_now = next(line for line in watcher.stdout if json.loads(line)["served"])  # a round that was served
        assert json.loads(served_now)["added"]
        assert drive(living, 8, careful=False), "the memory was reloaded and tells to lock the doors"
    finally:
        watcher.terminate()
        watcher.communicate(timeout=60)
    back = CliRunner().invoke(cli, ["bank", "rollback", str(served)])
    assert back.exit_code == 0, back.output
    assert not drive(living, 9, careful=False), "the bank before knew nothing"


RECORDER = """
import sys
from pathlib import Path
from tests.test_watch import drive
from contramem.inject.recording import RunRecording
from contramem.inject.run import Memory
bank, runs, source = sys.argv[1:]
memory = Memory.load(Path(bank), record=RunRecording(Path(runs), source=source))
for number in range(25):
    drive(memory, number, careful=True)
"""


def start_process(*words: str) -> subprocess.Popen[str]:
    """Python with these arguments; a program that is no option is run with `-c`."""
    arguments = words if words[0].startswith("-") else ("-c", *words)
    return subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_full_recording_and_a_huge_result_are_bounded(tmp_path: Path, served: Path) -> None:
    memory = Memory.load(served, record=RunRecording(tmp_path / "r.jsonl", max_bytes=100_000))
    agent = GuidedRun(memory.start("Read it", task_id="t"))
    for _ in range(10):
        agent.tell("files.read", {}, "x" * 1_000_000)
    assert (tmp_path / "r.jsonl").stat().st_size <= 100_000
    (run,) = read_traces([tmp_path / "r.jsonl"])
    assert run.calls


def test_watch_learns_only_when_the_runs_changed_and_are_stable(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    rounds: list[WatchRound] = []
    looks = iter([True, True, False])
    watch(options_for(served, runs, max_changes=50), lambda: next(looks), rounds.append)
    assert [done.runs for done in rounds] == [12]


def test_a_round_with_what_was_kept_serves_the_same_bank(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    options = replace(options_for(served, runs, max_changes=50), kept=tmp_path / "runs", store="")
    learn_once(replace(options, store=str(tmp_path / "first.db")))
    write_frozen(tmp_path / "empty.jsonl", Bank())
    drive(Memory.load(tmp_path / "empty.jsonl", record=RunRecording(runs, source="hasty")), 6, careful=False)
    learn_once(replace(options, store=str(tmp_path / "second.db"), serve=tmp_path / "kept.jsonl"))
    learn_once(options_for(tmp_path / "anew.jsonl", runs, max_changes=50))
    assert (tmp_path / "kept.jsonl").read_bytes() == (tmp_path / "anew.jsonl").read_bytes()


def test_runs_that_are_still_being_written_are_left_for_the_next_round(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    rounds: list[WatchRound] = []

    def writes_on() -> None:
        with runs.open("a") as file:
            file.write("\n")

    watch(options_for(served, runs), lambda: False, rounds.append, settled=writes_on)
    assert not rounds


def test_the_gate_refuses_too_many_changes_and_names_them(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    before = served.read_bytes()
    done = learn_once(options_for(served, runs, max_changes=0))
    assert not done.served and "would change at once" in done.refusals[0]
    assert served.read_bytes() == before


def test_no_new_bank_is_served_while_a_recorded_task_is_harmed(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    with runs.open("a") as file:
        for name, shown, passed in (("without", False, True), ("with", True, False)):
            line = {"recording": 1, "run": name, "time": 0, "task": "Park car 9.", "task_id": "park-9"}
            for what in ("start", *(["shown"] if shown else []), "finish"):
                file.write(json.dumps({**line, "what": what, "text": "Do not.", "passed": passed}) + "\n")
    before = served.read_bytes()
    (refusal,) = learn_once(options_for(served, runs, max_changes=50)).refusals
    assert refusal.startswith("memory harmed 1 task: ") and refusal.endswith("park-9")
    assert served.read_bytes() == before


def test_a_task_is_harmed_if_it_passes_only_without_memory(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    (plain, *_) = (run for run in read_traces([runs]) if run.outcome.passed)
    harmed = {"recording": 1, "run": "h", "time": 0, "what": "start", "task": plain.task, "task_id": plain.task_id}
    lines = [harmed, {**harmed, "what": "shown", "text": "Do not."}, {**harmed, "what": "finish", "passed": False}]
    only_passed = [run for run in read_traces([runs]) if run.task_id != plain.task_id or run.outcome.passed]
    more = tmp_path / "more.jsonl"
    more.write_text("\n".join(map(json.dumps, lines)))
    both: list[Trajectory] = [*only_passed, *read_traces([more])]
    assert find_harmed_tasks(both) == [plain.task_key]


def test_rollback_serves_the_bank_before_and_watch_does_not_serve_the_other_again(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    options = options_for(served, runs, max_changes=50)
    assert learn_once(options).served
    learned = load_frozen(served).header.content_sha256
    result = CliRunner().invoke(cli, ["bank", "rollback", str(served)])
    assert result.exit_code == 0, result.output
    assert load_frozen(served).header.content_sha256 != learned
    assert learn_once(options).refusals == ("this bank was served before and taken back",)
    assert len(kept_banks(served)) == 2


def test_rolling_back_again_never_returns_to_a_bank_that_was_taken_back(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    first = served.read_bytes()
    assert learn_once(options_for(served, runs, max_changes=50)).served
    second = served.read_bytes()
    roll_back(served)
    with pytest.raises(UsageError, match=r"no earlier bank to go back to \(--to takes 2\)"):
        roll_back(served)
    learned = parse_frozen(second, "second").to_bank()
    serve_bank(served, freeze(Bank(dict([*learned.entries.items()][:1]))), keep=10)
    assert roll_back(served).number == 1 and served.read_bytes() == first
    assert roll_back(served, to=2).number == 2 and served.read_bytes() == second


def test_rollback_without_an_earlier_bank_says_so(served: Path) -> None:
    with pytest.raises(UsageError, match="no earlier bank"):
        roll_back(served)


def test_the_command_learns_once_and_says_what_it_did(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    words = [
        "watch",
        str(runs),
        "--bank",
        str(tmp_path / "s.db"),
        "--serve",
        str(served),
        "--once",
        "--max-changes",
        "50",
    ]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    assert "is served now" in result.output
    assert "Nothing new" in CliRunner().invoke(cli, words).output


def test_cards_with_too_few_sources_are_not_served(tmp_path: Path, served: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    record_first_day(served, runs)
    words = ["watch", str(runs), "--bank", str(tmp_path / "s.db"), "--serve", str(served), "--once"]
    CliRunner().invoke(cli, [*words, "--min-sources", "3"], catch_exceptions=False)
    assert not load_frozen(served).functions
    CliRunner().invoke(cli, [*words, "--min-sources", "2"], catch_exceptions=False)
    assert load_frozen(served).functions


def test_a_fingerprint_changes_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("x")
    before = fingerprint([tmp_path])
    (tmp_path / "a.jsonl").write_text("xy")
    assert fingerprint([tmp_path]) != before
