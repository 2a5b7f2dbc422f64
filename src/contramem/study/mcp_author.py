"""The instruments as MCP tools, for a coding agent that is to learn from runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from contramem.bank.bank import Bank
from contramem.bank.store import open_store
from contramem.errors import UsageError
from contramem.study.instruments import TABLES, Instruments, read_instructions
from contramem.study.proposal import Proposal
from contramem.study.propose import Proposer, Reply, propose
from contramem.study.run_set import RunSet
from contramem.study.tables import RunTables
from contramem.study.trial_log import TrialLog

INSTRUCTIONS = (
    "Instruments to learn house rules from recorded runs: look (show_kinds, explain_runs, query_runs), suppose, try "
    "(try_guard), confirm (try_guard with confirm), propose (propose_card), stop. How to work and how guards are "
    f"written: the skill learn-from-runs, or the prompt learn_from_these_runs. Tables for query_runs: {TABLES}"
)


@dataclass(frozen=True)
class StoreDesk:
    """Opens the store for each question, so that others can use it in between."""

    store: str
    author: Proposer

    def bank(self) -> Bank:
        if "://" not in self.store and not Path(self.store).exists():
            return Bank()
        with open_store(self.store) as opened:
            return opened.bank()

    def propose(self, proposal: Proposal | UsageError, carry_out_edits: bool) -> Reply:
        with open_store(self.store, create=True) as opened:
            (reply,) = propose([proposal], opened, self.author, lambda question: carry_out_edits)
        return reply


def author_server(run_set: RunSet, tables: RunTables, store: str, name: str, log: Path) -> MCPServer:
    """The server over some runs and a store, ready to run."""
    serves = MCPServer("contramem-author", version=version("contramem"), instructions=INSTRUCTIONS, log_level="WARNING")
    desk = StoreDesk(store, Proposer(name, run_set, TrialLog(log, run_set.digest)))
    for tool in Instruments(run_set, tables, desk, name, log).tools:
        serves.tool(structured_output=False)(tool)

    @serves.prompt()
    def learn_from_these_runs() -> str:
        """How to work: look, suppose, try, confirm, propose, stop."""
        return read_instructions()

    return serves
