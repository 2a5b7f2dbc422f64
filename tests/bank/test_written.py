"""Decisions as a store keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
from bank_examples import add, amend, decide, delta

from contramem.bank.bank import Bank
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.bank.written import DecisionWriter
from contramem.errors import StoreError


def two_decisions() -> list[Decision]:
    """A card is added and then amended."""
    first = decide(Bank(), add(delta()))
    bank = Bank().with_changes(first.changes)
    (card_id,) = bank.entries
    return [first, decide(bank, amend(card_id, delta(title="Log in again, once")))]


def test_decisions_that_a_worker_wrote_are_recorded_as_if_they_had_been_made_here(tmp_path: Path) -> None:
    decisions, writer = two_decisions(), DecisionWriter()
    ledgers = []
    for name in ("here", "worker"):
        with open_store(tmp_path / name, create=True) as store, store.writing("test"):
            if name == "here":
                for decision in decisions:
                    store.record(decision, progress={"step": decision.reason})
            else:
                store.record_written(list(map(writer.write, decisions)), {"step": decisions[-1].reason})
            ledgers.append([(entry.number, entry.decision) for entry in store.ledger()])
            assert store.progress() == {"step": decisions[-1].reason}
            assert store.bank() == Bank().with_changes([c for each in decisions for c in each.changes])
    assert ledgers[0] == ledgers[1]


def test_an_entry_that_was_just_written_is_not_written_again() -> None:
    writer = DecisionWriter()
    first, second = map(writer.write, two_decisions())
    assert second.changes[0].before is first.changes[0].after


def test_a_written_decision_about_a_card_that_changed_meanwhile_changes_nothing(tmp_path: Path) -> None:
    _, second = two_decisions()
    with open_store(tmp_path / "store", create=True) as store, store.writing("test"):
        with pytest.raises(StoreError, match="changed by another writer"):
            store.record_written([DecisionWriter().write(second)], {"step": "done"})
        assert store.ledger() == () and store.progress() == {}
