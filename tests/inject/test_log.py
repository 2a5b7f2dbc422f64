import json
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from pytest import approx

from contramem.errors import UsageError
from contramem.inject.log import FORMAT, InjectLog, Line, RunCounts, read_log, summarize, wilson
from contramem.inject.run import Memory
from contramem.traces.trajectory import Outcome, digest

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
DELETE = "EmailClient.delete_email"
RIDE = "Cab.order_ride"  # its card is not shown at the start of TASK


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def log(tmp_path):
    """A log whose clock stands still."""
    return InjectLog(tmp_path / "inject.jsonl", lambda: datetime(2026, 11, 15, tzinfo=UTC))


def lines_of(log):
    return [json.loads(line) for line in log.path.read_text().splitlines()]


def test_what_was_shown_and_how_it_ended_is_written(bank_path, log, failure):
    run = Memory.load(bank_path, log=log).start(TASK, ability="ambiguity", run_id="r1")
    before = run.before_call(RIDE, {"to": "1"})
    run.before_call(RIDE, {"to": "2"})
    run.observe(failure(RIDE))
    run.before_call(RIDE, {"to": "2"})
    run.finish(True)
    start, first, again, end = lines_of(log)
    assert start == {
        "log": FORMAT,
        "time": "2026-11-15T00:00:00.000+00:00",
        "run": "r1",
        "task": digest(TASK),
        "where": "start",
        "cards": dict(zip(run.guidance.card_ids, run.guidance.card_tokens, strict=True)),
        "tokens": run.guidance.tokens,
        "bank": run._line.bank,
        "profile": "default",
    }
    assert sum(start["cards"].values()) < start["tokens"]
    assert (first["where"], first["tokens"]) == ("before_call", before.tokens)
    assert again["where"] == "before_call"
    assert (end["where"], end["passed"]) == ("finish", True)
    assert "cards" not in end


def test_the_task_is_named_by_its_id_and_its_text_is_not_kept(bank_path, log):
    memory = Memory.load(bank_path, log=log)
    memory.start(TASK, task_id="mail/7")
    memory.start(TASK)
    assert [line["task"] for line in lines_of(log)] == ["mail/7", digest(TASK)]
    assert "newsletter" not in log.path.read_text()


def test_a_run_without_an_id_gets_one_of_its_own(memory):
    assert memory.start(TASK).run_id != memory.start(TASK).run_id


def test_an_outcome_may_come_with_a_reward(bank_path, log):
    run = Memory.load(bank_path, log=log).start(TASK)
    run.finish(Outcome(passed=False, reward=0.25))
    run.finish()
    assert [(line.get("passed"), line.get("reward")) for line in lines_of(log)[1:]] == [(False, 0.25), (None, None)]


def test_a_log_that_cannot_be_written_is_reported_once_and_the_agent_goes_on(bank_path, tmp_path, caplog):
    memory = Memory.load(bank_path, log=tmp_path / "no such folder" / "inject.jsonl")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            run = memory.start(TASK)
            assert run.before_call(RIDE)
            run.finish(False)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no such folder" in caplog.text


def test_a_name_that_is_no_text_costs_its_line_only(bank_path, log, caplog):
    memory = Memory.load(bank_path, log=log)
    assert memory.start(TASK, run_id="\ud800").guidance
    assert memory.start(TASK, run_id="fine").guidance
    assert [line["run"] for line in lines_of(log)] == ["fine"]
    assert "cannot be written" in caplog.text


def test_threads_share_a_log_and_every_line_is_whole(bank_path, log):
    memory = Memory.load(bank_path, log=log)

    def one(number):
        run = memory.start(TASK, run_id=f"r{number}")
        run.before_call(RIDE)
        run.finish(number % 2 == 0)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(100)))
    lines, unreadable = read_log(log.path)
    assert (len(lines), unreadable) == (300, 0)
    assert summarize(lines).with_memory == RunCounts(100, 50, 50)


def test_the_share_that_is_held_out_gets_nothing_and_is_logged(bank_path, log):
    memory = Memory.load(bank_path, log=log, holdout=0.2)
    runs = [memory.start(TASK, run_id=f"run {number}") for number in range(500)]
    held = [run for run in runs if run.withheld]
    assert 60 < len(held) < 140
    assert not any(run.guidance or run.before_call(DELETE) or run.before_final() for run in held)
    assert held[0].guidance.note == "this run is held out"
    assert {line["run"] for line in lines_of(log) if line.get("withheld") == "holdout"} == {run.run_id for run in held}


def test_a_run_id_is_always_on_the_same_side_and_a_larger_share_adds_to_a_smaller(bank_path):
    def held(share):
        memory = Memory.load(bank_path, holdout=share)
        return {number for number in range(200) if memory.start(TASK, run_id=str(number)).withheld}

    assert held(0.1) == held(0.1)
    assert held(0.1) < held(0.3)
    assert held(0.0) == set()


@pytest.mark.parametrize("share", [-0.1, 1.0, 10])
def test_a_share_that_is_none_is_refused(bank_path, share):
    with pytest.raises(UsageError, match="holdout is a share"):
        Memory.load(bank_path, holdout=share)


def test_a_run_that_was_switched_off_is_no_control(bank_path, log, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    Memory.load(bank_path, log=log, holdout=0.5).start(TASK).finish(True)
    found = summarize(read_log(log.path)[0])
    assert (found.switched_off, found.held_out, found.with_memory) == (RunCounts(1, 1, 0), RunCounts(), RunCounts())


def line(run, where="start", **fields):
    return Line(FORMAT, "2026-11-15T00:00:00.000+00:00", run, "t", where, **fields)


@pytest.fixture
def told():
    """Two runs see the card; one passes, one is not told of. A third sees nothing and fails; a fourth is held out."""
    return [
        line("a", cards={"skill::x": 40}, tokens=100),
        line("a", "before_call", cards={"function::M.send": 60}, tokens=90),
        line("a", "before_call", cards={"function::M.send": 60}, tokens=90),
        line("a", "finish", passed=True),
        line("b", cards={"skill::x": 30}, tokens=80),
        line("b", "finish"),
        line("c"),
        line("c", "finish", passed=True),
        line("c", "finish", passed=False),
        line("d", withheld="holdout"),
        line("d", "finish", withheld="holdout", passed=True),
    ]


def test_cards_are_counted_by_runs_and_unknown_stays_unknown(told):
    found = summarize(told)
    skill, function = found.cards
    assert (skill.card_id, skill.times, skill.runs, skill.tokens) == ("skill::x", 2, RunCounts(2, 1, 0), 70)
    assert skill.runs.unknown == 1
    assert (function.times, function.runs, function.tokens) == (2, RunCounts(1, 1, 0), 120)
    assert found.with_memory == RunCounts(3, 1, 1), "what was told last about a run counts"
    assert found.held_out == RunCounts(1, 1, 0)
    assert (found.before_call.times, found.before_call.runs, found.before_call.tokens) == (2, 1, 180)
    assert (found.start.times, found.start.tokens) == (2, 180)
    assert found.difference is None, "too few runs for a rate"


def test_with_enough_outcomes_the_held_out_runs_are_the_control():
    ours = [line(f"m{n}", "finish", passed=n < 56) for n in range(70)]
    control = [line(f"h{n}", "finish", passed=n < 48, withheld="holdout") for n in range(80)]
    change, (low, high) = summarize(ours + control).difference
    # Newcombe 1998, table II, example (a): 56 of 70 against 48 of 80, method 10.
    assert (change, low, high) == (approx(0.2), approx(0.0524, abs=1e-4), approx(0.3339, abs=1e-4))


def test_wilson_by_the_book():
    # Newcombe 1998 (single proportion), 81 of 263.
    assert wilson(81, 263) == (approx(0.2553, abs=1e-4), approx(0.3662, abs=1e-4))


def test_the_summary_counts_what_the_log_says(tmp_path, told):
    path = tmp_path / "inject.jsonl"
    for one in told:
        InjectLog(path).append(one)
    found = summarize(*read_log(path))
    assert (found.start.times, found.start.runs, found.start.tokens) == (2, 2, 180)
    assert found.with_memory.unknown == found.cards[0].runs.unknown == 1
    assert found.with_memory.rate is None and found.difference is None


def test_a_line_cut_short_is_counted_and_the_rest_is_read(tmp_path, told):
    path = tmp_path / "inject.jsonl"
    for one in told:
        InjectLog(path).append(one)
    with path.open("ab") as file:
        file.write(b'{"log": 1, "time"\n{"log": 99, "time": "", "run": "z", "task": "", "where": "start"}\n')
    lines, unreadable = read_log(path)
    assert (lines, unreadable) == (told, 2)


def test_a_file_that_is_no_log_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no log\n")
    with pytest.raises(UsageError, match="is not an inject log"):
        read_log(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="cannot be read"):
        read_log(tmp_path / "nothing")
