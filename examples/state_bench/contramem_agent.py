"""An agent for STATE-Bench's Agent Learning Track: its own agent, with a contramem bank as its learnings.

Copy this file to `agents/` of a STATE-Bench checkout and set CONTRAMEM_BANK to a frozen bank.
"""

import os
from pathlib import Path

from state_bench.agents.state_bench import StateBenchAgent

from contramem.bank.export import card_markdown
from contramem.inject.run import Memory

FUNCTIONS = 1
"""How many of the learnings may be about a function rather than about a decision."""


class ContramemAgent(StateBenchAgent):
    """Gives the cards that fit a query best, decisions first."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._memory = Memory.load(Path(os.environ["CONTRAMEM_BANK"]))

    def retrieve_learnings(self, query: str, top_k: int = 3) -> list[str]:
        tools = [tool["name"] for tool in self.tools if tool["name"] != "retrieve_learnings"]
        hits = self._memory.start(query, tools=tools).guidance.hits
        decisions = [hit.card for hit in hits if hit.kind == "skill"]
        functions = [hit.card for hit in hits if hit.kind == "function"][:FUNCTIONS]
        return [card_markdown(card) for card in [*decisions, *functions][:top_k]]
