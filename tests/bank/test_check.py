"""What a check says about a store that was damaged."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.bank.test_forget import _runs

from contramem.bank.check import check_store
from contramem.bank.store import open_store
from contramem.errors import ContramemError
from contramem.pipeline import learn


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check") / "bank.db"
    with open_store(path, create=True) as store:
        learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def path(built: Path, tmp_path: Path) -> Iterator[Path]:
    copy = tmp_path / "bank.db"
    copy.write_bytes(built.read_bytes())
    yield copy


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_a_newly_built_store_is_whole(path: Path) -> None:
    found = check_store(path)
    assert found.is_whole and found.decisions and found.cards


def test_a_changed_decision_breaks_the_chain_at_its_number(path: Path) -> None:
    _execute(path, "UPDATE contramem_decisions SET recorded_at = '2020-01-01' WHERE number = 2")
    assert check_store(path).chain_broken_at == 2


def test_a_removed_decision_is_reported_as_missing(path: Path) -> None:
    _execute(path, "DELETE FROM contramem_changes WHERE number = 1")
    _execute(path, "DELETE FROM contramem_decisions WHERE number = 1")
    found = check_store(path)
    assert found.missing_decisions == (1,) and found.chain_broken_at == 2 and found.differing_cards


def test_a_card_that_differs_from_the_ledger_is_reported(path: Path) -> None:
    _execute(path, "UPDATE contramem_cards SET holding = replace(holding, 'active', 'muted')")
    assert check_store(path).differing_cards


@pytest.mark.parametrize("seed", range(12))
def test_any_damage_is_a_clear_error_and_never_called_whole_if_something_is_lost(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    whole = check_store(path)
    start = rng.randrange(100, len(content))
    content[start : start + 600] = rng.randbytes(min(600, len(content) - start))
    path.write_bytes(content if seed % 3 else content[: len(content) - rng.randrange(1, 9000)])
    try:
        with open_store(path) as store:
            store.bank(), store.ledger(), store.calls(), store.progress()
    except ContramemError as error:
        assert "damaged" in str(error) or "store" in str(error)
    found = check_store(path)
    assert not found.is_whole or (found.decisions, found.cards) == (whole.decisions, whole.cards)


def test_a_header_that_names_another_format_is_damage_and_no_traceback(path: Path) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[44:48] = bytes([0, 0, 0, 9])  # the schema format number of SQLite's file header, which is 1 to 4
    path.write_bytes(damaged)
    with pytest.raises(ContramemError, match=r"is damaged \(.*unsupported file format"), open_store(path) as store:
        store.bank()
