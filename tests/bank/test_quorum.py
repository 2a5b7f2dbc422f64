"""What too few sources show is kept and not served; every sentence says who stands behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made_runs import call, run

from contramem.bank.acts import hold_to_quorum, judge, person
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.show import sentences_of, trace_sentences
from contramem.bank.store import Store, open_store
from contramem.inject.guidance import text_of
from contramem.pipeline import learn


def _runs(*sources: str) -> Iterator[object]:
    for task in ("t1", "t2"):
        for source in sources:
            login = call("Desk.sign_in", {"user": "desk"}, {"session": "open"})
            refused = call("Desk.refund", {"order": f"W{task}"}, None, "PermissionError: session not authenticated")
            paid = call("Desk.refund", {"order": f"W{task}"}, {"refunded": True})
            asked = {"task": f"Refund order W{task}.", "task_id": task}
            yield run(source, True, refused, login, paid, "Done.", trial="0", **asked)
            yield run(source, False, refused, "Could not.", trial="1", **asked)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A bank that one agent has taught."""
    with open_store(tmp_path / "bank.db", create=True) as store:
        learn(_runs("agent-one"), store)  # type: ignore[arg-type]
        yield store


def test_cards_of_one_source_are_muted_until_another_source_supports_them(store: Store) -> None:
    served = {card.card_id for card in store.bank().cards}
    assert served
    assert not hold_to_quorum(store, 2).cards
    assert len(store.ledger()) == len({entry.number for entry in store.ledger()})
    learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
    assert {card.card_id for card in hold_to_quorum(store, 2).cards} == served


def test_a_card_muted_by_a_person_stays_muted(store: Store) -> None:
    card_id = store.bank().cards[0].card_id
    with store.writing("test"):
        store.record(judge(store.bank(), card_id, "MUTE", person("ann")))
    assert card_id not in {card.card_id for card in hold_to_quorum(store, 2).cards}
    learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
    assert store.bank().entries[card_id].status == "muted"
    assert hold_to_quorum(store, 2).entries[card_id].status == "muted"


def test_a_frozen_bank_leaves_out_cards_with_too_few_sources_unless_a_person_approved_them(store: Store) -> None:
    card_id = store.bank().cards[0].card_id
    with store.writing("test"):
        store.record(judge(store.bank(), card_id, "ACCEPT", person("ann")))
    assert [card.card_id for card in store.bank().of_sources(2).cards] == [card_id]


def test_agents_are_told_if_only_one_source_supports_a_card(store: Store, tmp_path: Path) -> None:
    alone = parse_frozen(freeze(store.bank()), "bank").cards
    assert all("one agent only" in text_of(card).lines[-1] for card in alone)
    with open_store(tmp_path / "two.db", create=True) as two:
        learn(_runs("agent-one", "agent-two"), two)  # type: ignore[arg-type]
        together = freeze(two.bank())
    assert b"single_source" not in together


def test_every_sentence_of_a_card_names_its_decision_tasks_and_sources(store: Store) -> None:
    for entry in store.bank().entries.values():
        sentences = trace_sentences(entry, store.ledger(entry.card.card_id))
        assert [(sentence.field, sentence.text) for sentence in sentences] == list(sentences_of(entry.card))
        assert all(
            sentence.decision and sentence.tasks and sentence.sources == ("agent-one",) for sentence in sentences
        )
    assert b"agent-one" not in freeze(store.bank())
