"""The instruments as MCP tools, for a coding agent that learns from runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any

from mcp.server.mcpserver import MCPServer

from contramem.bank.bank import Bank
from contramem.bank.store import open_store
from contramem.errors import ContramemError, UsageError
from contramem.study.instruments import INSTRUMENTS, TABLES, Instruments, read_instructions
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


OpenInstruments = Callable[[], Instruments]


def author_server(open_instruments: OpenInstruments) -> MCPServer:
    """The server, ready to run. The instruments are opened when a tool is first called: clients do not wait long for a
    server to start, and reading many runs takes a while."""
    serves = MCPServer("contramem-author", version=version("contramem"), instructions=INSTRUCTIONS, log_level="WARNING")
    opened = cache(open_instruments)
    one_at_a_time = Lock()  # a client may call several tools at once, and the runs are one file
    for tool in INSTRUMENTS:
        serves.tool(structured_output=False)(_open_late(tool, opened, one_at_a_time))

    @serves.prompt()
    def learn_from_these_runs() -> str:
        """How to work: look, suppose, try, confirm, propose, stop."""
        return read_instructions()

    return serves


def open_instruments(run_set: RunSet, tables: RunTables, store: str, name: str, log: Path) -> Instruments:
    """The instruments over some runs and a store."""
    desk = StoreDesk(store, Proposer(name, run_set, TrialLog(log, run_set.digest), tables))
    return Instruments(run_set, tables, desk, name, log)


def _open_late(tool: Callable[..., str], opened: OpenInstruments, lock: Lock) -> Callable[..., str]:
    """A tool that looks from outside like the method `tool`, without its `self`."""

    @wraps(tool)
    def call(**given: Any) -> str:
        with lock:
            try:
                instruments = opened()
            except ContramemError as error:
                return f"Not done: {error}"
            return str(getattr(instruments, tool.__name__)(**given))

    own = signature(tool, eval_str=True)
    without_self = list(own.parameters.values())[1:]
    call.__signature__ = own.replace(parameters=without_self)  # type: ignore[attr-defined]
    return call
