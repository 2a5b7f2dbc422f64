"""The instruments as MCP tools, for a coding agent that is to learn from runs. Answers are text, as agents read it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from mcp.server.mcpserver import MCPServer

from contramem.bank.store import open_store
from contramem.errors import ContramemError
from contramem.study.ask import TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.proposal import parse_proposal
from contramem.study.propose import Proposer, propose
from contramem.study.report_json import explanation_json, trial_json
from contramem.study.run_set import RunSet
from contramem.study.tables import SCHEMA, RunTables
from contramem.study.trial_log import TrialLog

MAX_ROWS = 200
"""Rows that one answer shows: an agent reads them all."""
INSTRUCTIONS = (
    "Instruments to learn house rules from recorded runs: look (show_kinds, explain_runs, query_runs), suppose, try "
    "(try_guard), confirm (try_guard with confirm), propose (propose_card), stop. Tables for query_runs: "
    + "; ".join(f"{table}({', '.join(columns)})" for table, columns in SCHEMA.items())
)


def author_server(run_set: RunSet, tables: RunTables, store: str, name: str, log: Path) -> MCPServer:
    """The server over some runs and a store, ready to run."""
    serves = MCPServer("contramem-author", version=version("contramem"), instructions=INSTRUCTIONS, log_level="WARNING")
    tool: Callable[[Any], Any] = serves.tool(structured_output=False)

    @tool
    def show_kinds() -> str:
        """The kinds of tasks in the runs, with pass rates by source. Start here."""
        return _say([report._asdict() for report in list_kinds(run_set)])

    @tool
    def explain_runs(kind: str = "", function: str = "", limit: int = 8) -> str:
        """What separates passing from failing runs of a kind of task, or of all tasks that use a function: ranked, each
        as a guard to try."""
        return _answer(
            lambda: [
                explanation_json(report)
                for report in explain_kind(run_set, kind=kind or None, function=function or None, limit=limit)
            ]
        )

    @tool
    def query_runs(sql: str) -> str:
        """Run one SELECT (DuckDB) over the runs. Read-only. At most 200 rows come back."""

        def ask() -> Any:
            answer = tables.query(sql)
            rows = [dict(zip(answer.columns, map(str, row), strict=True)) for row in answer.rows[:MAX_ROWS]]
            return {"rows": rows, "more": max(0, len(answer.rows) - MAX_ROWS)}

        return _answer(ask)

    @tool
    def try_guard(guard: str, kind: str = "", confirm: bool = False) -> str:
        """Test a guard on the open half of the tasks. With confirm, hold it against the half kept back, once: each such
        look makes the next proof harder."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        request = TrialRequest(guard, kind or None, confirm, log=log, by=name, at=at)
        return _answer(lambda: trial_json(try_on(run_set, request)))

    @tool
    def propose_card(card: dict[str, Any], carry_out_edits: bool = False) -> str:
        """Propose one card: title, when, rule, guards, and optionally solves, completion, recovery, functions, tags,
        ability, reason, replaces. It is checked on all runs. Edits of cards that are there wait for carry_out_edits."""

        def ask() -> Any:
            proposal = parse_proposal(card, "card")
            author = Proposer(name, run_set, TrialLog(log, run_set.digest))
            with open_store(store, create=True) as opened:
                (reply,) = propose([proposal], opened, author, lambda question: carry_out_edits)
            return vars(reply)

        return _answer(ask)

    @serves.prompt()
    def learn_from_these_runs() -> str:
        """How to work: look, suppose, try, confirm, propose, stop."""
        return read_skill().partition("---\n\n")[2]

    return serves


def read_skill() -> str:
    """The Agent Skill that says how to work with the instruments."""
    return (files("contramem") / "study" / "skill" / "SKILL.md").read_text(encoding="utf-8")


def _answer(ask: Callable[[], Any]) -> str:
    """What can be mended is told to the agent as an answer; a bug stays an error."""
    try:
        return _say(ask())
    except ContramemError as error:
        return f"Not done: {error}"


def _say(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
