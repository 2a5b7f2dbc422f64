"""What a build by a model with tools will cost: its beginning is known, its length is the model's choice."""

from __future__ import annotations

from collections.abc import Iterable

from contramem.build.agent.conversation import MAX_TOKENS, MAX_TURNS, AuthorConversation
from contramem.build.model.estimate import Range, StageEstimate
from contramem.llm.client import Price

FEWEST_TURNS = 2
"""A look, and a reply that it is done."""
SHORTEST_REPLY, LONGEST_REPLY = 20, 2_000
"""Tokens of a turn: a single call, or several with reasoning."""


def estimate_conversations(conversations: Iterable[AuthorConversation], price: Price | None) -> list[StageEstimate]:
    """The cost of the conversations that have not ended. Each turn pays again for everything said before."""
    waiting = [conversation for conversation in conversations if not conversation.ended]
    if not waiting:
        return []
    calls = Range(
        sum(max(1, FEWEST_TURNS - conversation.turns) for conversation in waiting),
        sum(MAX_TURNS - conversation.turns for conversation in waiting),
    )
    tokens_in = Range(
        sum(conversation.request.tokens * max(1, FEWEST_TURNS - conversation.turns) for conversation in waiting),
        calls.most * MAX_TOKENS,
    )
    tokens_out = Range(calls.least * SHORTEST_REPLY, calls.most * LONGEST_REPLY)
    cost = None
    if price is not None:
        cost = Range(*(price.of(*tokens) for tokens in zip(tokens_in, tokens_out, strict=True)))
    return [StageEstimate("author", "later", calls, tokens_in, tokens_out, cost)]
