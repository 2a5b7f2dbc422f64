"""The instruments as tools that a model calls: over MCP, or in a build. Answers are text, short enough to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field

from contramem.bank.bank import Bank
from contramem.errors import ContramemError, UsageError
from contramem.prompts import fence
from contramem.study.ask import TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.proposal import Proposal, parse_proposal
from contramem.study.propose import Reply
from contramem.study.report_text import write_explanations, write_kinds, write_reply, write_trial
from contramem.study.run_set import RunSet
from contramem.study.side_by_side import lay_side_by_side
from contramem.study.tables import SCHEMA, RunTables

MAX_ROWS = 200
"""Rows of a query that one answer shows."""
MAX_ANSWER_CHARS = 24_000
TABLES = "; ".join(f"{table}({', '.join(columns)})" for table, columns in SCHEMA.items())


class ProposalDesk(Protocol):
    """Where cards are proposed to: a store that is opened for each, or one that a build holds."""

    def bank(self) -> Bank:
        """The cards that are there."""

    def propose(self, proposal: Proposal | UsageError, carry_out_edits: bool) -> Reply:
        """Decide on one card."""


@dataclass(frozen=True)
class Instruments:
    """Look, try, propose. Each public method is a tool; its docstring is what a model is told about it."""

    run_set: RunSet
    tables: RunTables
    desk: ProposalDesk
    name: str
    """Of whoever uses them: written to the trials."""
    log: Path
    """Of trials."""

    @property
    def tools(self) -> tuple[Callable[..., str], ...]:
        return tuple(getattr(self, tool.__name__) for tool in INSTRUMENTS)

    def show_kinds(self) -> str:
        """The kinds of tasks in the runs, largest first, with pass rates. Start here. Tasks of a kind, and how many of
        them are open: the table `kinds`."""
        return _answer(lambda: write_kinds(list_kinds(self.run_set)))

    def show_runs(
        self,
        task: Annotated[str, Field(description="key or id of a task")] = "",
        kind: Annotated[str, Field(description="instead: some tasks of this kind with passing and failing runs")] = "",
        everything: Annotated[bool, Field(description="of a kind, also tasks that are kept back")] = False,
    ) -> str:
        """What the runs of a task did, call by call, with arguments and results: passing and failing side by side, runs
        that did the same together. Read some of these before you suppose anything."""
        return _answer(lambda: lay_side_by_side(self.run_set, task=task, kind=kind, on_all=everything))

    def explain_runs(
        self,
        kind: Annotated[str, Field(description="name of a kind; empty for all kinds")] = "",
        function: Annotated[str, Field(description="instead of a kind: all tasks in which some run calls it")] = "",
        limit: Annotated[int, Field(description="differences per kind")] = 8,
        everything: Annotated[bool, Field(description="on all tasks, for what few tasks show")] = False,
        weak: Annotated[bool, Field(description="also hints that are mostly accidents")] = False,
    ) -> str:
        """What separates passing from failing runs of a kind of task, or of all tasks that use a function: ranked, each
        as a guard to try, with the values that runs gave there. Counted on the open half of the tasks."""
        chosen = {"kind": kind or None, "function": function or None}

        def explain() -> str:
            reports = explain_kind(self.run_set, **chosen, limit=limit, on_all=everything)
            return write_explanations(reports, with_weak=weak)

        return _answer(explain)

    def query_runs(self, sql: Annotated[str, Field(description="one SELECT for DuckDB")]) -> str:
        """Run one SELECT over all runs, as tab-separated rows. Read-only. At most 200 rows come back, so count and
        group."""
        return _answer(lambda: _table_text(self.tables, sql))

    def try_guard(
        self,
        guard: Annotated[str, Field(description="such as response(App.a, App.b) when App.a[amount > 500]")],
        kind: Annotated[str, Field(description="only tasks of this kind; empty for all")] = "",
        confirm: Annotated[bool, Field(description="hold it against the tasks kept back as well")] = False,
        everything: Annotated[bool, Field(description="count on all tasks; nothing can be confirmed then")] = False,
    ) -> str:
        """Test a guard on the open half of the tasks: who kept and broke it, by outcome, and which condition would
        sharpen it. With confirm, hold it against the half kept back, once: each such look makes the next proof
        harder."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        request = TrialRequest(guard, kind or None, confirm, everything, log=self.log, by=self.name, at=at)
        return _answer(lambda: write_trial(try_on(self.run_set, request)))

    def show_cards(self) -> str:
        """The Skill Cards that the bank holds already: id, title, rule and guards."""
        return _answer(lambda: _write_cards(self.desk.bank()) or "The bank holds no Skill Cards yet.")

    def propose_card(
        self,
        title: Annotated[str, Field(description="short and imperative")],
        when: Annotated[str, Field(description="the situation in which it applies")],
        rule: Annotated[str, Field(description="what to do there, with the values that are conventions of the house")],
        guards: Annotated[list[str], Field(description="the rule as guards that were tried")] = [],  # noqa: B006
        check: Annotated[str, Field(description="where no guard can say it: SQL that selects run_id and keeps")] = "",
        kinds: Annotated[list[str], Field(description="without guard and check: kinds of tasks it is for")] = [],  # noqa: B006
        reason: Annotated[str, Field(description="what in the runs speaks for it, in counts")] = "",
        solves: Annotated[str, Field(description="what goes wrong without it")] = "",
        completion: Annotated[list[str], Field(description="what must hold at the end; default: the guards")] = [],  # noqa: B006
        recovery: Annotated[str, Field(description="what to do when it was missed")] = "",
        functions: Annotated[list[str], Field(description="App.function; default: those of the guards")] = [],  # noqa: B006
        tags: list[str] = [],  # noqa: B006
        ability: str = "",
        replaces: Annotated[list[str], Field(description="ids of cards that this one takes the place of")] = [],  # noqa: B006
        carry_out_edits: Annotated[bool, Field(description="carry out the edit of a card that was suggested")] = False,
    ) -> str:
        """Propose one card. It is checked on all runs and set beside the cards of the bank. Refusals give reasons to
        act on; an edit of a card that is there waits until it is proposed again with carry_out_edits."""
        card = {
            "title": title, "when": when, "rule": rule, "guards": guards, "check": check, "kinds": kinds,
            "reason": reason, "solves": solves,
            "completion": completion, "recovery": recovery, "functions": functions, "tags": tags,
            "ability": ability or None, "replaces": replaces,
        }  # fmt: skip
        return _answer(
            lambda: write_reply(self.desk.propose(parse_proposal(card, "card"), carry_out_edits)), is_recorded=False
        )


INSTRUMENTS: tuple[Callable[..., str], ...] = (
    Instruments.show_kinds,
    Instruments.show_runs,
    Instruments.explain_runs,
    Instruments.query_runs,
    Instruments.try_guard,
    Instruments.show_cards,
    Instruments.propose_card,
)


def read_skill() -> str:
    """The Agent Skill that says how to work with the instruments."""
    return (files("contramem") / "study" / "skill" / "SKILL.md").read_text(encoding="utf-8")


def read_instructions() -> str:
    """The skill without its header, for whoever has no skills."""
    return read_skill().partition("---\n\n")[2]


def _table_text(tables: RunTables, sql: str) -> str:
    answer = tables.query(sql)
    rows = ["\t".join(answer.columns), *("\t".join(map(_cell, row)) for row in answer.rows[:MAX_ROWS])]
    if (more := len(answer.rows) - MAX_ROWS) > 0:
        rows.append(f"({more:,}{' or more' if answer.is_cut else ''} further rows are not shown: count or group.)")
    return "\n".join(rows)


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split("\t")).replace("\n", "\\n")


def _write_cards(bank: Bank) -> str:
    return "\n".join(
        line
        for card in bank.skills
        for line in (
            f"{card.card_id} {card.title}",
            f"  {card.skill.core_rule}",
            *(f"  {text}" for text in card.guards),
        )
    )


def _answer(ask: Callable[[], str], *, is_recorded: bool = True) -> str:
    """What runs say, between data marks. What can be mended is told as an answer; a bug stays an error."""
    try:
        text = ask()
    except ContramemError as error:
        return f"Not done: {error}"
    if not is_recorded:
        return text
    if len(text) > MAX_ANSWER_CHARS:
        cut = fence("recorded", text[:MAX_ANSWER_CHARS])
        return f"{cut}\n(cut here: {len(text):,} characters in all. Ask for less at a time.)"
    return fence("recorded", text)
