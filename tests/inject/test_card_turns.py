from __future__ import annotations

from contramem.inject.shown import CardTurns


def test_a_card_is_due_once_and_once_more_after_a_failure() -> None:
    turns = CardTurns()
    assert turns.take("f", before_each=False)
    turns.note_call("f", failed=False)
    assert not turns.take("f", before_each=False)
    turns.note_call("f", failed=True)
    assert turns.has_failed("f")
    assert turns.take("f", before_each=False)
    turns.note_call("f", failed=True)
    assert not turns.take("f", before_each=False)


def test_a_card_before_each_call_lets_the_call_that_follows_it_through() -> None:
    turns = CardTurns()
    assert [turns.take("f", before_each=True) for _ in range(3)] == [True, False, True]
    turns.note_call("f", failed=False)
    assert turns.take("f", before_each=True)


def test_a_card_shown_at_the_start_is_not_due() -> None:
    turns = CardTurns()
    turns.shown.add("f")
    assert not turns.take("f", before_each=False)
