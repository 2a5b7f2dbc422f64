import logging
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

from contramem.bank.bank import Bank
from contramem.bank.frozen import load_frozen, write_frozen
from contramem.inject.run import Memory

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
DELETE = "EmailClient.delete_email"


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def path(bank_path, tmp_path):
    """A bank file that the test may replace."""
    path = tmp_path / "bank.jsonl"
    path.write_bytes(bank_path.read_bytes())
    return path


def test_a_changed_bank_is_served_to_runs_that_start_after(path):
    memory = Memory.load(path, reload=True)
    before = memory.start(TASK)
    write_frozen(path, Bank())
    assert not memory.start(TASK).guidance
    assert before.guidance
    assert before.look_up(DELETE), "a run keeps the bank it started with"


def test_without_reload_the_file_is_not_looked_at_again(path):
    memory = Memory.load(path)
    path.unlink()
    assert memory.start(TASK).guidance


def test_a_broken_file_is_reported_once_and_the_bank_before_stays(path, bank_path, caplog):
    memory = Memory.load(path, reload=True)
    path.write_text("half a ba")
    with caplog.at_level(logging.WARNING):
        assert [bool(memory.start(TASK).guidance) for _ in range(3)] == [True] * 3
    assert len(caplog.records) == 1
    assert "is not a frozen bank" in caplog.text
    path.unlink()
    assert memory.start(TASK).guidance
    write_frozen(path, Bank())
    assert not memory.start(TASK).guidance, "a file that is whole again is served"


def test_a_file_of_the_same_size_and_a_newer_time_is_read(path):
    memory = Memory.load(path, reload=True)
    bank = memory.bank
    os.utime(path, ns=(1, 1))
    memory.start(TASK)
    assert memory.bank is not bank


def test_threads_never_see_half_a_bank(path, bank_path):
    memory = Memory.load(path, reload=True)
    full, empty = load_frozen(bank_path).to_bank(), Bank()
    whole, writing = memory.start(TASK).guidance.text, Lock()

    def one(number):
        if number % 10 == 0:
            with writing:
                write_frozen(path, empty if number % 20 else full)
        run = memory.start(TASK)
        return run.guidance.text, run.look_up(DELETE) is not None

    with ThreadPoolExecutor(10) as pool:
        seen = set(pool.map(one, range(200)))
    assert seen <= {(whole, True), ("", False)}
