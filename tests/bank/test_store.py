"""One decision is one transaction; the store is what its ledger folds to; what goes wrong is said plainly."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from bank_examples import add, amend, build_function, decide, delta, refuse
from bank_strategies import ABILITIES, SUPPORTS, patches
from hypothesis import given, settings
from hypothesis import strategies as st

from contramem.bank.acts import judge, person, revert
from contramem.bank.bank import Bank, Change
from contramem.bank.frozen import without_password
from contramem.bank.ledger import Decision, PastDecision, fold
from contramem.bank.store import Store, open_store
from contramem.errors import StoreError, UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bank.db"


@pytest.fixture
def store(path: Path):
    with open_store(path, create=True, clock=lambda: datetime(2026, 5, 4, tzinfo=UTC)) as store:
        yield store


def record(store: Store, *decisions: Decision, **progress: str) -> None:
    with store.writing("build"):
        store.record(*decisions, progress=progress)


def test_a_recorded_decision_comes_back_whole(store):
    decision = decide(Bank(), add())
    record(store, decision)
    (entry,) = store.ledger()
    assert (entry.number, entry.at, entry.decision) == (1, "2026-05-04T00:00:00+00:00", decision)
    assert store.bank() == Bank().with_changes(decision.changes)


def test_refusals_are_in_the_ledger_too(store):
    record(store, refuse(Bank()))
    assert [entry.decision.accepted for entry in store.ledger()] == [False]
    assert store.bank() == Bank()


def test_decision_and_progress_are_recorded_together_or_not_at_all(store):
    record(store, decide(Bank(), add()), packet="1 of 3")
    stale = decide(Bank(), add())  # made on the bank before the first decision
    with pytest.raises(StoreError, match="changed by another writer in the meantime"):
        record(store, decide(store.bank(), add(delta())), stale, packet="3 of 3")
    assert store.progress() == {"packet": "1 of 3"}
    assert len(store.ledger()) == 1
    assert len(store.bank().skills) == 1


def test_progress_can_be_recorded_without_a_decision(store):
    record(store, packet="taught nothing")
    record(store, packet="done", other="begun")
    assert store.progress() == {"packet": "done", "other": "begun"}


def test_the_ledger_of_a_card_has_the_decisions_that_changed_or_named_it(store):
    record(store, decide(store.bank(), add()))
    record(store, decide(store.bank(), add(delta())))
    card_id = store.bank().first_made_from("email", delta()).card.card_id
    record(store, decide(store.bank(), amend(card_id, delta("Another name"))))
    record(store, build_function(store.bank()))
    assert [entry.number for entry in store.ledger(card_id)] == [2, 3]
    assert [entry.number for entry in store.ledger()] == [1, 2, 3, 4]


def test_any_past_bank_can_be_rebuilt(store):
    banks = [store.bank()]
    for decision in (decide(Bank(), add()), refuse(Bank())):
        record(store, decision)
        banks.append(store.bank())
    record(store, judge(store.bank(), store.bank().skills[0].card_id, "MUTE", person("anna")))
    assert [store.bank_at(number) for number in (0, 1, 2)] == banks


@settings(max_examples=25)
@given(st.data())
def test_the_stored_bank_equals_the_replayed_ledger(tmp_path_factory, data):
    with open_store(tmp_path_factory.mktemp("store") / "bank.db", create=True) as store, store.writing("build"):
        for _ in range(data.draw(st.integers(1, 8))):
            store.record(data.draw(decisions(store)))
            assert fold(store.ledger()) == store.bank()
        numbers = [entry.number for entry in store.ledger()]
        assert numbers == list(range(1, len(numbers) + 1))
        for card_id in store.bank().entries:
            assert store.past(card_id) == [PastDecision.of(entry.decision) for entry in store.ledger(card_id)]


def test_past_decisions_tell_the_scope_before_and_after(store):
    record(store, decide(store.bank(), add()))
    (entry,) = store.bank().entries.values()
    scoped = entry.model_copy(update={"support": entry.support.model_copy(update={"scope": "universal"})})
    changes = (Change(before=entry, after=scoped),)
    record(store, Decision(operation="PATCH", reason="It is for all.", by=person("anna"), changes=changes))
    card_id = entry.card.card_id
    assert [past.scopes[card_id] for past in store.past(card_id)] == [(None, None), (None, "universal")]
    assert [past.writes for past in store.past(card_id)] == [True, False]


def test_a_past_decision_that_cannot_be_read_is_damage(path, store):
    record(store, decide(store.bank(), add()))
    (card_id,) = store.bank().entries
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE contramem_changes SET change = '{\"after\": 3'")
    with pytest.raises(StoreError, match="is damaged"):
        store.past(card_id)


@st.composite
def decisions(draw: st.DrawFn, store: Store) -> Decision:
    """What builds and people could decide next."""
    bank = store.bank()
    kind = draw(st.sampled_from(["patch", "function", "refuse"] + ["verdict", "revert"] * bool(bank.cards)))
    if kind == "patch":
        ability = draw(st.sampled_from(ABILITIES))
        return decide(bank, draw(patches(bank.with_changes(()), ability)), ability, draw(SUPPORTS))
    if kind == "function":
        return build_function(bank) if bank.functions or not bank.entries else refuse(bank)
    if kind == "verdict":
        card = draw(st.sampled_from(bank.cards))
        return judge(bank, card.card_id, draw(st.sampled_from(["ACCEPT", "MUTE", "REJECT"])), person("anna"))
    if kind == "revert":
        try:
            return revert(store.ledger(), bank, draw(st.integers(1, 8)), person("anna"))
        except UsageError:
            return refuse(bank)
    return refuse(bank)


def test_a_second_writer_is_told_who_the_first_is(path, store):
    with store.writing("build"), open_store(path) as second:
        assert second.bank() == Bank(), "reading goes on"
        who = rf"in use by `contramem build`, process {os.getpid()} on .*, since 2026-05-04"
        with pytest.raises(StoreError, match=who), second.writing("bank review"):
            pass
    with open_store(path) as second, second.writing("bank review"):
        pass


def test_after_a_writer_is_killed_the_next_one_can_write(path, store):
    script = (
        "import os, signal, sys\nfrom contramem.bank.store import open_store\n"
        "with open_store(sys.argv[1]) as store, store.writing('build'):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    record(store, decide(Bank(), add()))
    assert len(store.ledger()) == 1


def test_a_locked_store_is_reported_and_works_afterwards(path, store, monkeypatch):
    monkeypatch.setattr("contramem.bank.store.BUSY_TIMEOUT_S", 0.05)
    with open_store(path) as hasty:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process keeps the store locked"):
            record(hasty, decide(Bank(), add()))
        other.close()
        record(hasty, decide(Bank(), add()))
    assert len(store.ledger()) == 1


FILL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from bank_examples import *
from contramem.bank.store import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write past the limit fails as on a full disk
with open_store(sys.argv[1]) as store, store.writing("build"):
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    for number in range(1000):
        try:
            store.record(decide(store.bank(), add(delta(f"Rule {number}"))), progress={"last": str(number)})
        except Exception as error:
            print(type(error).__name__, error)
            break
"""


def test_a_full_disk_is_reported_and_recorded_decisions_are_kept(path, store):
    # -B: the limit would cut modules short that are compiled on the way, and break them for everybody.
    command = [sys.executable, "-B", "-c", FILL, str(path), str(Path(__file__).parent)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.startswith(f"StoreError {path}: ")
    assert "disk" in said
    done = int(store.progress()["last"]) + 1
    assert 0 < done < 1000
    assert len(store.ledger()) == len(store.bank().skills) == done
    record(store, decide(store.bank(), add(delta("There is room again"))))
    assert fold(store.ledger()) == store.bank()


def test_sqlites_error_for_a_full_disk_is_explained(path, store):
    with store._engine.connect() as connection:  # the pool hands the same connection to the writer
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
    full = "the disk is full\\. Nothing of this decision was recorded"
    with pytest.raises(StoreError, match=full), store.writing("build"):
        for number in range(100):
            store.record(decide(store.bank(), add(delta(f"Rule {number}"))))
    with open_store(path) as again:
        record(again, refuse(Bank()))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b'{"contramem_bank": 1}\n', "is a frozen bank; this needs a store", id="frozen"),
        pytest.param(b"SQLite format 3\x00" + b"junk" * 100, "is not a store|is damaged", id="broken"),
    ],
)
def test_a_file_that_is_not_a_store_is_refused(path, content, complaint):
    path.write_bytes(content)
    for create in (False, True):
        with pytest.raises(StoreError, match=complaint):
            open_store(path, create=create)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match="no contramem store"):
        open_store(path, create=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


def test_a_store_of_a_newer_contramem_is_refused(path, store):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO contramem_migrations VALUES ('0099 telepathy')")
    with pytest.raises(StoreError, match=r"written by a newer contramem \(unknown: 0099 telepathy\).*Upgrade"):
        open_store(path)


@pytest.mark.parametrize("where", ["nowhere.db", "no/such/folder/bank.db", "."])
def test_the_error_for_a_missing_store_says_how_to_create_one(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"makes one|is a folder"):
        open_store(where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("postgresql://anna:s3:cr@host:5/db", "postgresql://anna:***@host:5/db"),
        ("postgresql://host/db?user=anna&password=s3cr&x=1", "postgresql://host/db?user=anna&password=***&x=1"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("banks/a@b.db", "banks/a@b.db"),
    ],
)
def test_messages_show_no_password(where, said):
    assert without_password(where) == said


def test_any_file_name_works(tmp_path):
    with open_store(tmp_path / "a b#c%d?.db", create=True) as store:
        assert store.bank() == Bank()
    assert (tmp_path / "a b#c%d?.db").exists()


def test_a_missing_folder_is_not_created(tmp_path):
    with pytest.raises(UsageError, match="Create it first"):
        open_store(tmp_path / "no" / "bank.db", create=True)


@pytest.mark.parametrize("url", ["mysql://here/bank", "http://example.org/bank.db"])
def test_another_kind_of_database_is_refused(url):
    with pytest.raises(UsageError, match="A store is a SQLite path or a postgresql:// URL"):
        open_store(url)


READ_ONLY = """
import os, sys
import sqlalchemy.dialects.sqlite
from contramem.bank.store import open_store
if os.getuid() == 0:
    os.setuid(65534)  # to root nothing is read-only
with open_store(sys.argv[1]) as store:
    print(len(store.ledger()), flush=True)
    with store.writing("build"):
        pass
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, unlike pytest's own."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


def test_a_read_only_store_can_be_read_and_says_that_it_cannot_be_written(open_folder):
    path = open_folder / "bank.db"
    with open_store(path, create=True) as store:
        record(store, decide(Bank(), add()))
    path.chmod(0o444)
    open_folder.chmod(0o555)
    run = subprocess.run([sys.executable, "-c", READ_ONLY, str(path)], check=False, capture_output=True, text=True)
    assert run.stdout == "1\n", run.stderr
    assert "StoreError" in run.stderr
    assert "Make its folder writable, or work on a copy" in run.stderr


def test_recording_outside_writing_is_a_bug(store):
    with pytest.raises(AssertionError, match="belongs inside"):
        store.record(refuse(Bank()))


def test_reading_a_bank_needs_no_database_library():
    script = "import sys, contramem.bank.frozen; assert 'sqlalchemy' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_new_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    where = tmp_path / "bank.db"
    open_store(where, create=True).close()
    assert where.stat().st_mode & 0o777 == 0o600


def test_an_error_of_whoever_writes_is_no_damage_of_the_store(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "bank.db", create=True) as store,
        pytest.raises(OverflowError),
        store.writing("build"),
    ):
        raise OverflowError("a bug elsewhere")
