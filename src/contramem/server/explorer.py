"""The explorer: tasks, runs, cards, the ledger and search. Each function answers one address."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from starlette.responses import HTMLResponse, RedirectResponse, Response

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.difference import FieldDifference, field_differences
from contramem.bank.ledger import LedgerEntry, RunRef
from contramem.bank.story import saying
from contramem.errors import GuardError
from contramem.monitor.guard import parse_guard
from contramem.server.contrast_page import find_recorded_event, mask_event
from contramem.server.pages import Paging, Visit

PAGE = 50
RUNS_LISTED = 40


def home(visit: Visit) -> Response:
    """What is here, and where to begin."""
    bank = visit.project.current().bank
    index = visit.project.runs
    recent = visit.project.store.ledger_page(visit.project.snapshot.decision + 1, 6)
    return visit.page(
        "home.html",
        tasks=index.tasks(limit=6),
        task_count=index.task_count(),
        run_count=index.count,
        sources=index.sources()[:12],
        functions=len(bank.functions),
        skills=len(bank.skills),
        abilities=Counter(card.ability for card in bank.skills).most_common(12),
        unreviewed=count_unreviewed(bank),
        recent=[decision_row(entry) for entry in recent],
        live=visit.project.live.counts(),
    )


def count_unreviewed(bank: Bank) -> int:
    return sum(entry.served and not entry.reviewed for entry in bank.entries.values())


def tasks(visit: Visit) -> Response:
    """Tasks with their pass rates by source, the sharpest contrast first."""
    words, ability, offset = visit.query("q"), visit.query("ability"), visit.number("from")
    index = visit.project.runs
    rows = index.tasks(words, ability, offset, PAGE)
    sources = index.sources()[:8]
    return visit.page(
        "tasks.html",
        rows=rows,
        rates=index.rates(row.task for row in rows),
        sources=sources,
        abilities=index.abilities(),
        words=words,
        ability=ability,
        paging=Paging(offset, PAGE, index.task_count(words, ability)),
    )


def run(visit: Visit) -> Response:
    """One run, event by event. `at` is the event that a link is about."""
    packet = visit.project.runs.packet(visit.query("task"))
    letter = _letter(visit, packet) if packet else None
    if packet is None or letter is None:
        return missing(visit, "There is no such run among the runs that this server was started with.")
    attempt = next(attempt for attempt in packet.runs if attempt.letter == letter)
    trajectory = packet.recorded[letter]
    events = [
        find_recorded_event(event) if visit.show_values else mask_event(step)
        for event, step in zip(trajectory.events, attempt.steps, strict=True)
    ]
    cited: dict[int, list[str]] = {}
    for signal in packet.signals:
        for cite in signal.cites:
            if cite.run == letter:
                cited.setdefault(cite.position, []).append(signal.statement)
    return visit.page(
        "run.html", packet=packet, attempt=attempt, identity=packet.provenance[letter], events=events, cited=cited,
        at=visit.number("at", -1),
    )  # fmt: skip


def _letter(visit: Visit, packet: Any) -> str | None:
    source, trial = visit.query("source"), visit.query("run", "0")
    letters = [letter for letter, who in packet.provenance.items() if (who.source, who.run) == (source, trial)]
    return letters[0] if letters else None


def cards(visit: Visit) -> Response:
    """The cards of the bank, filtered."""
    words, kind, status, ability = (visit.query(name) for name in ("q", "kind", "status", "ability"))
    snapshot, offset = visit.project.current(), visit.number("from")
    wanted = words.lower().split()
    entries = [
        entry
        for card_id, entry in sorted(snapshot.bank.entries.items())
        if (entry.status == status if status else entry.served)
        and (not kind or card_id.startswith(f"{kind}::"))
        and (not ability or getattr(entry.card, "ability", None) == ability)
        and all(word in snapshot.texts[card_id] for word in wanted)
    ]
    abilities = sorted({entry.card.ability for entry in snapshot.bank.entries.values()
                        if isinstance(entry.card, SkillCard)})  # fmt: skip
    return visit.page(
        "cards.html",
        rows=[card_row(entry) for entry in entries[offset : offset + PAGE]],
        words=words, kind=kind, status=status, ability=ability, abilities=abilities[:200],
        paging=Paging(offset, PAGE, len(entries)),
    )  # fmt: skip


class CardRow(NamedTuple):
    """One card in a list."""

    card_id: str
    kind: str
    title: str
    ability: str
    status: str
    tasks: int
    guards: int
    reviewed: bool
    grade: str


def card_row(entry: BankEntry) -> CardRow:
    card = entry.card
    is_skill = isinstance(card, SkillCard)
    return CardRow(
        card.card_id,
        "skill" if is_skill else "function",
        card.title if isinstance(card, SkillCard) else card.tool,
        card.ability if isinstance(card, SkillCard) else card.what_it_does,
        entry.status,
        len(entry.support.tasks),
        len(card.guards) if isinstance(card, SkillCard) else 0,
        entry.reviewed,
        grade_of(entry),
    )


def grade_of(entry: BankEntry) -> str:
    """How sure the bank is of a card, where it says so: enforced, proven or observed."""
    return str(getattr(entry.support, "grade", None) or getattr(entry, "grade", None) or "")


def card(visit: Visit) -> Response:
    """One card in full: what it says, what it rests on, the runs that taught it, and its history."""
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
        known_tasks=_find_known_tasks(visit, runs[:RUNS_LISTED]),
        history=[decision_row(decision, entry.card.card_id) for decision in reversed(entries)],
        related=find_related_cards(bank, entry),
        saying=saying,
    )


def _find_known_tasks(visit: Visit, runs: list[RunRef]) -> set[str]:
    """The tasks whose runs can be opened here."""
    return {task for task, _ in visit.project.runs.rates({run.task for run in runs})} if runs else set()


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


class DecisionRow(NamedTuple):
    """A decision in a list."""

    number: int
    at: str
    operation: str
    accepted: bool
    by: str
    kind: str
    reason: str
    cards: tuple[tuple[str, str], ...]
    """Id and what it says."""
    differences: tuple[FieldDifference, ...]
    status: str
    can_undo: bool


def decision_row(entry: LedgerEntry, card_id: str | None = None) -> DecisionRow:
    decision = entry.decision
    changes = [change for change in decision.changes if card_id in (None, change.card_id)]
    change = changes[0] if changes else None
    before, after = (change.before, change.after) if change else (None, None)
    moved = f"{before.status} → {after.status}" if before and after and before.status != after.status else ""
    return DecisionRow(
        entry.number,
        entry.at[:19].replace("T", " "),
        decision.operation or "",
        decision.accepted,
        str(decision.by),
        decision.by.kind,
        decision.reason,
        tuple((change.card_id, saying(change.after.card)) for change in decision.changes)
        or tuple((name, name) for name in decision.card_ids),
        field_differences(before.card, after.card) if before and after else (),
        moved,
        bool(decision.changes),
    )


def ledger(visit: Visit) -> Response:
    """Every decision, the newest first."""
    last = visit.project.current().decision
    before = min(visit.number("before", last + 1), last + 1)
    entries = visit.project.store.ledger_page(before, PAGE)
    older = entries[-1].number if entries and entries[-1].number > 1 else None
    newer = before + PAGE if before <= last else None
    return visit.page(
        "ledger.html", rows=[decision_row(entry) for entry in entries], older=older, newer=newer, last=last,
        note=visit.query("note"),
    )  # fmt: skip


def search(visit: Visit) -> Response:
    """Cards, tasks, sources, functions and decisions that hold every word."""
    words = visit.query("q").strip()
    wanted = words.lower().split()[:8]
    snapshot = visit.project.current()
    ids = [card_id for card_id, text in sorted(snapshot.texts.items()) if all(word in text for word in wanted)]
    sources = [row for row in visit.project.runs.sources() if all(word in row.source.lower() for word in wanted)]
    if words.isdigit() and int(words) <= snapshot.decision:
        return RedirectResponse(visit.url("ledger", before=int(words) + 1), 303)
    return visit.page(
        "search.html",
        words=words,
        cards=[card_row(snapshot.bank.entries[card_id]) for card_id in ids[:25]] if words else [],
        card_count=len(ids) if words else 0,
        tasks=visit.project.runs.tasks(words, limit=25) if words else [],
        task_count=visit.project.runs.task_count(words) if words else 0,
        sources=sources[:10] if words else [],
        functions=visit.project.runs.functions(words, limit=25) if words else [],
        decisions=[decision_row(entry) for entry in visit.project.store.search_ledger(wanted, limit=25)],
    )


def missing(visit: Visit, what: str) -> HTMLResponse:
    return visit.page("missing.html", 404, what=what)
