"""The story of a card for people: its rule, the runs that taught it and the decisions that shaped it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from contramem.bank.bank import BankEntry
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.card_list import saying
from contramem.bank.difference import BankDifference, FieldDifference, field_differences
from contramem.bank.ledger import Decision, LedgerEntry, RunRef
from contramem.bank.provenance import trace_sentences
from contramem.bank.render import card_panel, visible
from contramem.bank.support import COUNTED

RUNS_SHOWN = 12
SENTENCE_SHOWN = 60
SOURCES_SHOWN = 3


def card_story(entry: BankEntry, entries: Sequence[LedgerEntry]) -> RenderableType:
    """The card, its status, its runs and its decisions, from top to bottom."""
    parts: list[RenderableType] = [card_panel(entry.card), _standing(entry)]
    runs = list(dict.fromkeys(run for entry in entries for run in entry.decision.runs))
    if runs:
        parts += ["", _runs_table(runs)]
    if entries:
        parts += ["", Text("Where each sentence comes from", style="bold"), _sentences_table(entry, entries)]
        parts += ["", Text("Decisions that shaped it", style="bold"), decisions_table(entries, entry.card.card_id)]
    return Group(*parts)


def _standing(entry: BankEntry) -> Text:
    card = entry.card
    where = f" · {card.ability}" if isinstance(card, SkillCard) else ""
    lines = [f"{card.card_id}{where} · {entry.status} · version {card.version}"]
    if entry.support.tasks or entry.support.sources:
        lines.append(f"Rests on {entry.support}.")
    for guard in card.guards if isinstance(card, SkillCard) else ():
        counts = entry.support.guard_counts.get(guard)
        said = counts.by_name() if counts else {}
        counted = "".join(f"\n  {name} {number}: {COUNTED[name]}" for name, number in said.items())
        lines.append(f"Guard {guard}{counted}")
    return Text(visible("\n".join(lines)))


def _runs_table(runs: Sequence[RunRef]) -> Group:
    table = Table("task", "source", "outcome", "events", "file", box=None, pad_edge=False, header_style="dim")
    for run in runs[:RUNS_SHOWN]:
        outcome = {True: Text("passed", "green"), False: Text("failed", "red"), None: Text("unknown")}[run.passed]
        events = ", ".join(map(str, run.events))
        table.add_row(Text(visible(run.task)), Text(visible(run.source)), outcome, events, Text(visible(run.origin)))
    more = [Text(f"and {len(runs) - RUNS_SHOWN} more (--json lists all)")] if len(runs) > RUNS_SHOWN else []
    return Group(Text("Runs that taught it", style="bold"), table, *more)


def _sentences_table(entry: BankEntry, entries: Sequence[LedgerEntry]) -> Table:
    table = Table("sentence", "decision", "tasks", "sources", box=None, pad_edge=False, header_style="dim")
    for sentence in trace_sentences(entry, entries):
        text = sentence.text if len(sentence.text) <= SENTENCE_SHOWN else f"{sentence.text[:SENTENCE_SHOWN]}…"
        sources = ", ".join(sentence.sources) if len(sentence.sources) <= SOURCES_SHOWN else str(len(sentence.sources))
        table.add_row(
            Text(visible(text)), str(sentence.decision or ""), str(len(sentence.tasks)), Text(visible(sources))
        )
    return table


def decisions_table(entries: Iterable[LedgerEntry], card_id: str | None = None) -> Table:
    """Decisions with their reasons. For one card, with the fields each changed; otherwise with the cards concerned."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("#", "when", "operation", "by", *(() if card_id else ("card",)), "reason"):
        table.add_column(column, no_wrap=column not in ("by", "card", "reason"), overflow="fold")
    for entry in entries:
        decision = entry.decision
        operation = decision.operation or ""
        label = Text(operation) if decision.accepted else Text(f"{operation} refused".strip(), style="red")
        reason = Text(visible(decision.reason))
        if card_id and (fields := _list_changed_fields(entry, card_id)):
            reason.append(f" [{', '.join(fields)}]", style="dim")
        about = [] if card_id else [_about(decision)]
        table.add_row(str(entry.number), entry.at[:19], label, Text(visible(str(decision.by))), *about, reason)
    return table


def _about(decision: Decision) -> Text:
    """The cards that a decision changed or, if it changed none, the candidate."""
    names: tuple[str, ...] = decision.card_ids
    if not names and decision.candidate:
        names = (decision.candidate.tool if isinstance(decision.candidate, FunctionCard) else decision.candidate.title,)
    return Text(visible("\n".join(name.removeprefix("function::") for name in names)))


def _list_changed_fields(entry: LedgerEntry, card_id: str) -> list[str]:
    change = next((change for change in entry.decision.changes if change.card_id == card_id), None)
    if change is None or change.before is None:
        return []
    status = [f"status: {change.after.status}"] if change.before.status != change.after.status else []
    return status + [pair.field for pair in field_differences(change.before.card, change.after.card)]


def difference_text(difference: BankDifference) -> Text:
    """Added, removed and changed cards, with the old text in red above the new text in green."""
    text = Text()
    for sign, style, cards in (("-", "red", difference.removed), ("+", "green", difference.added)):
        for card in cards:
            text.append(f"{sign} {visible(card.card_id)}  {visible(saying(card))}\n", style=style)
    for changed in difference.changed:
        text.append(f"~ {visible(changed.left.card_id)}  {visible(saying(changed.right))}\n", style="bold")
        for pair in changed.fields:
            text.append_text(_field_difference(pair))
    text.rstrip()
    return text


def _field_difference(pair: FieldDifference) -> Text:
    text = Text(f"    {pair.field}\n", style="dim")
    for sign, style, words in (("-", "red", pair.left), ("+", "green", pair.right)):
        for line in words.splitlines():
            text.append(f"      {sign} {visible(line)}\n", style=style)
    return text


def entry_json(entry: LedgerEntry) -> dict[str, Any]:
    return {"number": entry.number, "at": entry.at, **entry.decision.model_dump(mode="json")}
