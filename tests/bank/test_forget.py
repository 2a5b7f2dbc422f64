"""What some runs taught, erased."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made_runs import call, run

from contramem.bank.acts import person
from contramem.bank.check import check_store
from contramem.bank.forget import ForgetSelection, forget_runs, take_over
from contramem.bank.ledger import Attribution
from contramem.bank.store import Store, open_store
from contramem.errors import UsageError
from contramem.pipeline import learn


def _runs(*sources: str) -> Iterator[object]:
    for task in ("t1", "t2", "t3"):
        for source in sources:
            login = call("Desk.sign_in", {"user": "desk"}, {"session": "open"})
            refused = call("Desk.refund", {"order": f"W{task}"}, None, "PermissionError: session not authenticated")
            paid = call("Desk.refund", {"order": f"W{task}"}, {"refunded": True})
            asked = {"task": f"Refund order W{task}.", "task_id": task}
            yield run(source, True, refused, login, paid, "Done.", trial="0", **asked)
            yield run(source, False, refused, "Could not.", trial="1", **asked)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A bank that two agents have taught the same."""
    with open_store(tmp_path / "bank.db", create=True) as store:
        learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
        yield store


def test_nothing_of_a_forgotten_source_is_left_in_the_file(store: Store) -> None:
    assert b"agent-one" in Path(store.where).read_bytes() + Path(f"{store.where}-wal").read_bytes()
    with store.writing("test"):
        erased = forget_runs(store, ForgetSelection(source="agent-one"), person("ann"))
    assert erased.cards and erased.left == () and erased.searched_for > 1
    assert b"agent-one" not in Path(store.where).read_bytes()
    assert check_store(Path(store.where)).is_whole


def test_what_other_runs_teach_too_is_built_again(store: Store, tmp_path: Path) -> None:
    before = {card.card_id for card in store.bank().cards}
    with store.writing("test"):
        forget_runs(store, ForgetSelection(source="agent-one"), person("ann"))
        assert not store.bank().cards
        with open_store(tmp_path / "rest.db", create=True) as rest:
            learn(_runs("agent-two"), rest)  # type: ignore[arg-type]
            take_over(store, rest.bank(), rest.ledger(), Attribution(kind="rules", name="rules"))
    assert {card.card_id for card in store.bank().cards} & before
    assert all("agent-one" not in entry.support.sources for entry in store.bank().entries.values())


def test_forgetting_what_was_never_there_is_an_error(store: Store) -> None:
    with store.writing("test"), pytest.raises(UsageError, match="no decision"):
        forget_runs(store, ForgetSelection(source="nobody"), person("ann"))
    with pytest.raises(UsageError, match="say which runs"):
        ForgetSelection()
