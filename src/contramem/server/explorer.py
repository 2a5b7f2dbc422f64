"""The explorer: start page, tasks, runs and search. One function per page."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from starlette.responses import RedirectResponse, Response

from contramem.contrast.packet import Packet
from contramem.server.card_pages import card_row, count_unreviewed
from contramem.server.contrast_page import find_cards_taught, find_recorded_event, mask_event
from contramem.server.ledger_page import decision_row
from contramem.server.listing import PAGE, Paging, export_rows
from contramem.server.pages import Visit, missing
from contramem.server.run_index import ORDERS, RunGroup, TaskQuery, TaskRow

EXAMPLES_TRIED = 6
MAX_SOURCE_COLUMNS = 5
"""With more sources, a task shows one square per source."""
MAX_SQUARES = 40


class Example(NamedTuple):
    """One task from its runs to a card, for first-time visitors."""

    row: TaskRow
    signal: str
    card_id: str
    card: str


def home(visit: Visit) -> Response:
    """What is here, and where to begin."""
    bank = visit.project.current().bank
    index = visit.project.runs
    recent = visit.project.store.ledger_page(visit.project.snapshot.decision + 1, 6)
    rows = index.mask(index.tasks(limit=8))
    return visit.page(
        "home.html",
        example=_find_example(visit, rows),
        tasks=rows,
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


def _find_example(visit: Visit, rows: list[TaskRow]) -> Example | None:
    """The first of the clearest contrasts that taught a card; preferably one whose text is not masked."""
    for row in sorted(rows[:EXAMPLES_TRIED], key=lambda row: "<TEXT" in (row.masked or "<TEXT")):
        packet = visit.project.runs.packet(row.task) if row.contrastive else None
        cards = find_cards_taught(visit, packet) if packet and packet.signals else []
        if packet and cards:
            return Example(row, packet.signals[0].statement, *cards[0])
    return None


class TaskExport(NamedTuple):
    """A task in a file."""

    task: str
    ability: str
    runs: int
    passed: int
    failed: int


def tasks(visit: Visit) -> Response:
    """Tasks with their pass rates by source, clearest contrast first."""
    query = TaskQuery(visit.query("q"), visit.query("ability"), visit.query("outcome"), visit.query("order"))
    index, offset = visit.project.runs, visit.number("from")
    total = index.task_count(query)
    if visit.query("format"):
        tasks = index.tasks(query, limit=total)
        rows = [TaskExport(row.task, row.ability, row.runs, row.passed, row.failed) for row in tasks]
        if (file := export_rows(visit, "tasks", rows)) is not None:
            return file
    page, sources = index.mask(index.tasks(query, offset, PAGE)), index.sources()
    return visit.page(
        "tasks.html",
        rows=page,
        rates=index.rates(row.task for row in page),
        sources=_best_first(sources) if len(sources) > MAX_SOURCE_COLUMNS else sources,
        strip=len(sources) > MAX_SOURCE_COLUMNS,
        abilities=index.abilities(),
        query=query,
        outcomes=index.outcome_counts(query),
        orders=ORDERS,
        paging=Paging(offset, PAGE, total),
    )


def _best_first(sources: list[RunGroup]) -> list[RunGroup]:
    def rank(source: RunGroup) -> tuple[float, str]:
        return -source.passed / max(source.passed + source.failed, 1), source.name

    return sorted(sources[:MAX_SQUARES], key=rank)


def run(visit: Visit) -> Response:
    """One run, event by event. `at` is the event that a link refers to."""
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


def _letter(visit: Visit, packet: Packet) -> str | None:
    source, trial = visit.query("source"), visit.query("run", "0")
    letters = [letter for letter, who in packet.provenance.items() if (who.source, who.run) == (source, trial)]
    return letters[0] if letters else None


def search(visit: Visit) -> Response:
    """Cards, tasks, sources, functions and decisions that contain every word."""
    words = visit.query("q").strip()
    wanted = words.lower().split()[:8]
    snapshot, index = visit.project.current(), visit.project.runs
    ids = [card_id for card_id, text in sorted(snapshot.texts.items()) if all(word in text for word in wanted)]
    sources = [row for row in index.sources() if all(word in row.name.lower() for word in wanted)]
    if words.isdigit() and int(words) <= snapshot.decision:
        return RedirectResponse(visit.url("ledger", before=int(words) + 1), 303)
    return visit.page(
        "search.html",
        words=words,
        cards=[card_row(snapshot.bank.entries[card_id]) for card_id in ids[:25]] if words else [],
        card_count=len(ids) if words else 0,
        tasks=index.mask(index.tasks(TaskQuery(words), limit=25)) if words else [],
        task_count=index.task_count(TaskQuery(words)) if words else 0,
        sources=sources[:10] if words else [],
        functions=index.functions(words, limit=25) if words else [],
        decisions=[decision_row(entry) for entry in visit.project.store.search_ledger(wanted, limit=25)],
    )
