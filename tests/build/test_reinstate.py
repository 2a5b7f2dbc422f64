"""A lesson that runs turned against comes back when runs speak for it again."""

from __future__ import annotations

from pathlib import Path

from tests.shipped import bank, build, decisions

from contramem.bank.bank import Change
from contramem.bank.ledger import Attribution, Decision
from contramem.bank.store import open_store


def test_a_lesson_that_runs_turned_against_comes_back_as_the_card_it_was(store: Path) -> None:
    """Until a few more runs are seen, it looks as if passing runs did without it."""
    card = next(card for card in bank(store).skills if card.guards)
    with open_store(store) as living, living.writing("build"):
        held = living.bank().entries[card.card_id]
        change = Change(before=held, after=held.model_copy(update={"status": "retired"}))
        by = Attribution(kind="rules", name="rules", version="1")
        living.record(Decision(operation="RETIRE", reason="Passing runs do without it.", by=by, changes=(change,)))
    build(store, store.with_name("many.jsonl"))
    again = bank(store).entries[card.card_id]
    assert set(held.support.tasks) <= set(again.support.tasks)
    stated = [one.card_id for one in bank(store).skills if set(card.guards) <= set(one.guards)]
    assert stated in ([], [card.card_id]), "no second card says the same"
    shaped = [d.operation for d in decisions(store) if card.card_id in d.card_ids]
    assert "ADD" in shaped[shaped.index("RETIRE") :]
