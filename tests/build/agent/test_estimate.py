"""What conversations with a model will cost, from the fewest turns to the most."""

from __future__ import annotations

from pathlib import Path

from tests.build.agent.test_conversation import OPENING, conversation, exchange

from contramem.build.agent.conversation import MAX_TOKENS, MAX_TURNS
from contramem.build.agent.estimate import FEWEST_TURNS, LONGEST_REPLY, SHORTEST_REPLY, estimate_conversations
from contramem.llm.client import Price


def test_a_new_conversation_takes_at_least_a_look_and_a_farewell_and_at_most_all_turns(tmp_path: Path) -> None:
    with conversation(tmp_path, []) as talk:
        (stage,) = estimate_conversations([talk], Price(input=1, output=10))
    assert stage.calls == (FEWEST_TURNS, MAX_TURNS)
    assert stage.tokens_in == (FEWEST_TURNS * OPENING.tokens, MAX_TURNS * MAX_TOKENS)
    assert stage.tokens_out == (FEWEST_TURNS * SHORTEST_REPLY, MAX_TURNS * LONGEST_REPLY)
    assert stage.cost_usd is not None
    assert stage.cost_usd.least == (FEWEST_TURNS * OPENING.tokens + 10 * FEWEST_TURNS * SHORTEST_REPLY) / 1_000_000


def test_turns_that_were_taken_are_not_counted_again(tmp_path: Path) -> None:
    with conversation(tmp_path, []) as talk:
        for number in range(3):
            talk.take(exchange(("look_up", {"word": "x"}), digest=f"d{number}"))
        (stage,) = estimate_conversations([talk], None)
    assert stage.calls == (1, MAX_TURNS - 3)
    assert stage.cost_usd is None, "without a price there is no cost"


def test_a_conversation_that_has_ended_costs_nothing_more(tmp_path: Path) -> None:
    with conversation(tmp_path, []) as talk:
        talk.take(exchange(text="Done."))
        assert estimate_conversations([talk], None) == []
