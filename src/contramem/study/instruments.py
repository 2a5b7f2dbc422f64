"""The instruments as tools that a model calls: over MCP, or in a build. Answers are text, short enough to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
from pydantic import Field

from contramem.bank.bank import Bank
from contramem.errors import ContramemError, UsageError
from contramem.prompts import fence
from contramem.study.ask import KindReport, TrialReport, TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.proposal import Proposal, parse_proposal
from contramem.study.propose import Reply
from contramem.study.report_json import explanation_json, trial_json
from contramem.study.run_set import RunSet
from contramem.study.side_by_side import lay_side_by_side
from contramem.study.tables import SCHEMA, RunTables

MAX_ROWS = 200
"""Rows of a query that one answer shows."""
MAX_LISTED = 8
"""Runs, tasks or kinds of one list; the rest is counted."""
MAX_ANSWER_CHARS = 24_000
MAX_EXAMPLE_CHARS = 240
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
        return _answer(lambda: [_kind_json(report) for report in list_kinds(self.run_set)])

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
    ) -> str:
        """What separates passing from failing runs of a kind of task, or of all tasks that use a function: ranked, each
        as a guard to try, with the values that runs gave there. Counted on the open half of the tasks."""
        chosen = {"kind": kind or None, "function": function or None}
        return _answer(
            lambda: [
                explanation_json(report)
                for report in explain_kind(self.run_set, **chosen, limit=limit, on_all=everything)
            ]
        )

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
        return _answer(lambda: _trial_text(try_on(self.run_set, request)))

    def show_cards(self) -> str:
        """The Skill Cards that the bank holds already: id, title, rule and guards."""
        return _answer(lambda: _cards_json(self.desk.bank()) or "The bank holds no Skill Cards yet.")

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
            lambda: vars(self.desk.propose(parse_proposal(card, "card"), carry_out_edits)), is_recorded=False
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


def _kind_json(report: KindReport) -> dict[str, Any]:
    return {
        "kind": report.kind,
        "tasks": len(report.tasks),
        "passed": f"{report.passed} of {report.runs}",
        "by_source": _rates(report),
        "functions": report.functions,
        "example": report.example[:MAX_EXAMPLE_CHARS],
    }


def _rates(report: KindReport) -> str:
    """How often each source passed; of many the best and the worst."""
    ranked = sorted(report.by_source.items(), key=lambda rated: (-rated[1][0] / rated[1][1], rated[0]))
    if len(ranked) > MAX_LISTED:
        ranked = [*ranked[:2], *ranked[-2:]]
    more = f", and {len(report.by_source) - len(ranked)} sources between" if len(ranked) < len(report.by_source) else ""
    return ", ".join(f"{source} {passed} of {runs}" for source, (passed, runs) in ranked) + more


def _table_text(tables: RunTables, sql: str) -> str:
    answer = tables.query(sql)
    rows = ["\t".join(answer.columns), *("\t".join(map(_cell, row)) for row in answer.rows[:MAX_ROWS])]
    if (more := len(answer.rows) - MAX_ROWS) > 0:
        rows.append(f"({more:,}{' or more' if answer.is_cut else ''} further rows are not shown: count or group.)")
    return "\n".join(rows)


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split("\t")).replace("\n", "\\n")


def _trial_text(report: TrialReport) -> dict[str, Any]:
    """The report with what it means. Counts by kind and source as rows, long lists cut and the rest counted."""
    rows = {"by_kind": report.trial.by_kind, "by_source": report.trial.by_source}
    short = {name: {key: list(counts) for key, counts in table.items()} for name, table in rows.items()}
    order = {"rows": "[kept and passed, kept and failed, broke and passed, broke and failed]"}
    values = {"advice": advise(report)} | trial_json(report) | order | short
    return {name: _shorten_list(value) for name, value in values.items()}


def advise(report: TrialReport) -> str:
    """What a trial means for whoever supposed the guard, and what to do next."""
    counts, confirmation = report.trial.counts, report.confirmation
    if confirmation is not None:
        if confirmation.is_proven:
            return "Proven on the tasks kept back. Propose it."
        if report.grade == "observed":
            return "Not proven, but no passing run of either half breaks it: propose it as observed if it makes sense."
        if confirmation.entry.judgement == "supported":
            return (
                f"The tasks kept back support it, but after {confirmation.looks} looks that is no proof. Look at the "
                "passing runs that break it; propose it if they are noise and the rule makes sense."
            )
        return "Not confirmed on the tasks kept back. Drop it, or find the condition that is missing."
    if report.trial.judgement == "never tried":
        return "No run does what it speaks about. Is the condition too narrow, or a name misspelt?"
    if report.trial.judgement == "contradicted":
        return "Passing runs break it: look at those under `contradicting` and find the condition that is missing."
    if not counts.broke_failed:
        return "No failing run breaks it, so it explains no failure."
    if counts.broke_passed:
        share = f"{counts.broke_passed} of {counts.passed} passing runs"
        return f"{share} break it. Look at them: an exception of the rule, or noise? If noise, confirm it as it is."
    if report.trial.judgement == "no difference":
        return (
            f"No passing run breaks it, but only {counts.broke_failed} failing do: chance could explain it. Confirm it."
        )
    return "No passing run breaks it, and chance hardly explains it. Confirm it."


def _shorten_list(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) > MAX_LISTED:
        return [*value[:MAX_LISTED], f"and {len(value) - MAX_LISTED:,} more"]
    if isinstance(value, Mapping) and len(value) > MAX_LISTED:
        first = dict(list(value.items())[:MAX_LISTED])
        return first | {"more": f"{len(value) - MAX_LISTED:,} more"}
    return value


def _cards_json(bank: Bank) -> list[dict[str, Any]]:
    return [
        {"card_id": card.card_id, "title": card.title, "rule": card.skill.core_rule, "guards": card.guards}
        for card in bank.skills
    ]


def _answer(ask: Callable[[], Any], *, is_recorded: bool = True) -> str:
    """What runs say, between data marks. What can be mended is told as an answer; a bug stays an error."""
    try:
        value = ask()
    except ContramemError as error:
        return f"Not done: {error}"
    text = value if isinstance(value, str) else _write_json(value)
    if not is_recorded:
        return text
    if len(text) > MAX_ANSWER_CHARS:
        cut = fence("recorded", text[:MAX_ANSWER_CHARS])
        return f"{cut}\n(cut here: {len(text):,} characters in all. Ask for less at a time.)"
    return fence("recorded", text)


def _write_json(value: Any) -> str:
    """A line for each item of a list, or for each field: readable, and without the cost of indents."""
    if isinstance(value, list):
        return "\n".join(msgspec.json.encode(item).decode() for item in value)
    return "\n".join(f"{name}: {msgspec.json.encode(field).decode()}" for name, field in value.items())
