"""The pages about cards: the list with its filters, and one card with everything known about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from starlette.responses import Response

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.provenance import trace_sentences
from contramem.errors import GuardError
from contramem.guards.guard import parse_guard
from contramem.server.export import export_rows
from contramem.server.ledger_page import decision_row
from contramem.server.pages import Paging, Visit, missing

PAGE = 50
RUNS_LISTED = 40
GRADES = ("enforced", "proven", "observed")
NO_SENTENCES = ("tags", "functions_used")
"""Fields that cannot be wrong."""


class CardRow(NamedTuple):
    """One card in a list."""

    card_id: str
    kind: str
    title: str
    ability: str
    about: str
    """What a function does, or when a skill applies."""
    status: str
    tasks: int
    guards: int
    reviewed: bool
    grade: str


ORDERS: dict[str, Callable[[CardRow], Any]] = {
    "kind": lambda row: (row.kind != "skill", -row.tasks, row.card_id),
    "title": lambda row: (row.title.lower(), row.card_id),
    "tasks": lambda row: (-row.tasks, row.card_id),
    "guards": lambda row: (-row.guards, row.card_id),
    "grade": lambda row: (GRADES.index(row.grade) if row.grade in GRADES else len(GRADES), row.card_id),
}
"""How a list of cards can be sorted; by default, Skill Cards that most tasks support come first."""
FACETS = ("kind", "status", "grade", "ability")


def cards(visit: Visit) -> Response:
    """The cards of the bank, filtered and sorted, with the counts of the other filters."""
    words, order = visit.query("q"), visit.query("order", "kind")
    chosen = {facet: visit.query(facet) for facet in FACETS}
    rows = list(_find_rows(visit, words))
    selected = sorted((row for row in rows if _fits(row, chosen)), key=ORDERS.get(order, ORDERS["kind"]))
    if (file := export_rows(visit, "cards", selected)) is not None:
        return file
    offset = visit.number("from")
    return visit.page(
        "cards.html", rows=selected[offset : offset + PAGE], words=words, order=order, chosen=chosen,
        facets={facet: _count(rows, chosen, facet) for facet in FACETS}, paging=Paging(offset, PAGE, len(selected)),
    )  # fmt: skip


def _find_rows(visit: Visit, words: str) -> Iterator[CardRow]:
    """Every card, retired ones included, that contains all the words."""
    snapshot, wanted = visit.project.current(), words.lower().split()
    for card_id, entry in snapshot.bank.entries.items():
        if not wanted or all(word in snapshot.texts[card_id] for word in wanted):
            yield card_row(entry)


def _fits(row: CardRow, chosen: dict[str, str], but: str = "") -> bool:
    if but != "status" and not chosen["status"] and row.status == "retired":
        return False  # retired cards are shown only on request
    return all(not value or facet == but or getattr(row, facet) == value for facet, value in chosen.items())


def _count(rows: Iterable[CardRow], chosen: dict[str, str], facet: str) -> list[tuple[str, int]]:
    """How many cards each value of a facet would show, keeping the other filters."""
    counts = Counter(getattr(row, facet) for row in rows if _fits(row, chosen, but=facet))
    return [(value, count) for value, count in counts.most_common(30) if value]


def card_row(entry: BankEntry) -> CardRow:
    card, common = entry.card, (entry.status, len(entry.support.tasks))
    if isinstance(card, SkillCard):
        return CardRow(card.card_id, "skill", card.title, card.ability, card.applies_when, *common, len(card.guards),
                       entry.reviewed, entry.support.grade or "")  # fmt: skip
    return CardRow(card.card_id, "function", card.tool, "", card.what_it_does, *common, 0, entry.reviewed, "")


def card(visit: Visit) -> Response:
    """One card in full: its text, its evidence, the runs that taught it, and its history."""
    bank = visit.project.current().bank
    entry = bank.entries.get(visit.query("id"))
    if entry is None:
        return missing(visit, "There is no such card in this bank.")
    entries = visit.project.store.ledger(entry.card.card_id)
    runs = list(dict.fromkeys(run for decision in entries for run in decision.decision.runs))
    return visit.page(
        "card.html",
        entry=entry,
        row=card_row(entry),
        card=entry.card,
        is_skill=isinstance(entry.card, SkillCard),
        guards=guard_rows(entry),
        runs=runs[:RUNS_LISTED],
        more_runs=max(0, len(runs) - RUNS_LISTED),
        known_tasks=_find_known_tasks(visit, [*(run.task for run in runs[:RUNS_LISTED]), *entry.support.tasks[:12]]),
        history=[decision_row(decision, entry.card.card_id) for decision in reversed(entries)],
        sentences=[sentence for sentence in trace_sentences(entry, entries) if sentence.field not in NO_SENTENCES],
        related=find_related_cards(bank, entry),
    )


def _find_known_tasks(visit: Visit, tasks: list[str]) -> set[str]:
    """The tasks whose runs can be opened here."""
    return {task for task, _ in visit.project.runs.rates(set(tasks))} if tasks else set()


class GuardRow(NamedTuple):
    """A guard, in words and in numbers."""

    text: str
    sentence: str
    held: int | None
    broken: int | None
    contradicted: int | None


def guard_rows(entry: BankEntry) -> list[GuardRow]:
    rows = []
    for text in entry.card.guards if isinstance(entry.card, SkillCard) else ():
        try:
            sentence = parse_guard(text).sentence
        except GuardError:
            sentence = "This guard can't be read by this version."
        counts = entry.support.guard_counts.get(text)
        numbers = (counts.held, counts.broken, counts.contradicted) if counts else (None, None, None)
        rows.append(GuardRow(text, sentence, *numbers))
    return rows


def find_related_cards(bank: Bank, entry: BankEntry) -> list[CardRow]:
    """Skill Cards that name the function, or the Function Cards that a skill names."""
    if isinstance(entry.card, FunctionCard):
        tool = entry.card.tool
        cards = [skill.card_id for skill in bank.skills if tool in skill.functions_used]
    else:
        cards = [f"function::{tool}" for tool in entry.card.functions_used]
    return [card_row(bank.entries[card_id]) for card_id in cards[:20] if card_id in bank.entries]
