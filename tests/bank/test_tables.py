"""Copies of stores: every row, every seal; and nothing over what is there already."""

from __future__ import annotations

from pathlib import Path

import pytest
from bank_examples import add, decide, refuse
from click.testing import CliRunner

from contramem.bank.bank import Bank
from contramem.bank.check import check_store
from contramem.bank.store import open_store
from contramem.bank.tables import StoredExchange, copy_store
from contramem.cli import cli
from contramem.errors import UsageError

CALL = StoredExchange("digest", "reflect", "task", "model", "prompt", "{}", "[]", "stop", 1, 2, 0.5, "", False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_store(tmp_path / "bank.db", create=True) as store, store.writing("build"):
        store.record(decide(Bank(), add()), refuse(Bank()), progress={"packet t1": "done"})
        store.keep(CALL)
    return tmp_path / "bank.db"


def copy(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["bank", "copy", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_copy_equals_the_store(path: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    assert copy(path, new) == (0, f"{new}: 2 decisions and 1 cards.\n")
    assert check_store(new).is_whole
    with open_store(path) as old, open_store(new) as store:
        assert store.ledger() == old.ledger()
        assert (store.bank(), store.progress(), store.calls()) == (old.bank(), old.progress(), old.calls())


def test_a_store_that_is_not_empty_is_not_overwritten(path: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db", create=True) as other, other.writing("build"):
        other.record(refuse(Bank()))
    with (
        open_store(path) as old,
        open_store(tmp_path / "other.db") as other,
        pytest.raises(UsageError, match="not empty"),
    ):
        copy_store(old, other)
