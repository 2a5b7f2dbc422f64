"""Tasks in the explorer: start page, tasks, one task as a picture, runs, events and search. One function per page."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby, islice
from typing import Any, NamedTuple

from starlette.responses import RedirectResponse, Response

from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import differing_arguments
from contramem.contrast.step import Step
from contramem.server.cards import card_row, count_unreviewed, decision_row
from contramem.server.listing import PAGE, Paging, export_rows
from contramem.server.pages import Visit, missing
from contramem.server.run_index import ORDERS, RunGroup, TaskQuery, TaskRow
from contramem.traces.trajectory import Event

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


# A task as a picture: runs as columns, actions as rows, and the events that separate them marked

MAX_ROWS, MAX_COLUMNS, MAX_SIGNALS = 80, 40, 24


class AlignmentCell(NamedTuple):
    """What one run did in one row."""

    letter: str
    symbol: str
    position: int
    passed: bool | None
    diverges: bool
    cited: bool


class Row(NamedTuple):
    """One action."""

    label: str
    writes: bool
    arguments: str
    cells: tuple[AlignmentCell | None, ...]


class EventView(NamedTuple):
    """One event as a page shows it."""

    position: int
    actor: str
    kind: str
    title: str
    effect: str
    arguments: str
    result: str
    error: str
    text: str
    tainted: bool


def task(visit: Visit) -> Response:
    """Everything about one task on one page."""
    packet = visit.project.runs.packet(visit.query("key"))
    if packet is None:
        return visit.page("missing.html", 404, what="There is no such task among the runs that this server has.")
    shown_runs = _choose_columns(packet)
    rows = align(reference_first(shown_runs))
    cited = {(cite.run, cite.position) for signal in packet.signals for cite in signal.cites}
    return visit.page(
        "task.html",
        packet=packet,
        task_text=next(iter(packet.recorded.values())).task if visit.show_values else packet.task,
        sides=[(passed, list(runs)) for passed, runs in groupby(shown_runs, key=lambda run: run.passed)],
        hidden_runs=len(packet.runs) - len(shown_runs),
        rows=[_row(row, shown_runs, _divergences(packet), cited) for row in rows[:MAX_ROWS]],
        hidden_rows=max(0, len(rows) - MAX_ROWS),
        signals=packet.signals[:MAX_SIGNALS],
        hidden_signals=max(0, len(packet.signals) - MAX_SIGNALS),
        runs={run.letter: packet.provenance[run.letter] for run in packet.runs},
        cards=find_cards_taught(visit, packet),
    )


def event(visit: Visit) -> Response:
    """One event alone, for the panel beside the picture."""
    packet = visit.project.runs.packet(visit.query("task"))
    letter, position = visit.query("letter"), visit.number("at", -1)
    attempt = next((run for run in packet.runs if run.letter == letter), None) if packet else None
    step = next((step for step in attempt.steps if step.position == position), None) if attempt else None
    if packet is None or attempt is None or step is None:
        return visit.page("missing.html", 404, what="There is no such event.")
    recorded = next(event for event in packet.recorded[letter].events if event.position == position)
    view = find_recorded_event(recorded) if visit.show_values else mask_event(step)
    signals = [signal for signal in packet.signals if (letter, position) in signal.cites]
    return visit.page(
        "event.html", event=view, attempt=attempt, identity=packet.provenance[letter], packet=packet, signals=signals
    )


def _choose_columns(packet: Packet) -> list[PacketRun]:
    """All runs, or as many of each outcome as there is room for."""
    if len(packet.runs) <= MAX_COLUMNS:
        return list(packet.runs)
    groups = [list(runs) for _, runs in groupby(packet.runs, key=lambda run: run.passed)]
    return [run for runs in groups for run in runs[: MAX_COLUMNS // len(groups)]]


def _divergences(packet: Packet) -> set[tuple[str, int]]:
    """Where failing runs diverge from the passing ones."""
    failing = {run.letter for run in packet.failing}
    return {
        (cite.run, cite.position)
        for signal in packet.signals if signal.kind == "first divergence"
        for cite in signal.cites if cite.run in failing
    }  # fmt: skip


def _row(
    row: AlignedStep, runs: list[PacketRun], divergences: set[tuple[str, int]], cited: set[tuple[str, int]]
) -> Row:
    reference = next(iter(row.steps.values()))
    cells = tuple(_cell(row, run, reference, divergences, cited) for run in runs)
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in reference.arguments.items())
    return Row(row.label, reference.effect in ("write", "finalize"), arguments, cells)


def _cell(
    row: AlignedStep, run: PacketRun, reference: Step, divergences: set[tuple[str, int]], cited: set[tuple[str, int]]
) -> AlignmentCell | None:
    step = row.steps.get(run.letter)
    if step is None:
        return None
    symbol = "✗" if step.error else "◐" if differing_arguments(reference, step) else "●"
    place = (run.letter, step.position)
    return AlignmentCell(run.letter, symbol, step.position, run.passed, place in divergences, place in cited)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 36 else f"{text[:35]}…"


def mask_event(step: Step) -> EventView:
    """An event with placeholders instead of values."""
    return EventView(
        step.position, step.actor, step.kind, step.label or step.function or step.kind, step.effect,
        _pretty(step.arguments), step.returned, step.error, step.text, step.tainted,
    )  # fmt: skip


def find_recorded_event(event: Event) -> EventView:
    """An event as recorded."""
    result = event.result
    content = "" if result is None else result.content if isinstance(result.content, str) else _pretty(result.content)
    return EventView(
        event.position, event.actor, event.kind, event.function or event.kind, event.effect,
        _pretty(event.arguments), str(content)[:20_000], (result.error or "") if result else "", event.text, False,
    )  # fmt: skip


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str) if value not in ({}, None) else ""


def find_cards_taught(visit: Visit, packet: Packet) -> list[tuple[str, str]]:
    """The cards that this task is evidence for: id and title."""
    keys = {packet.task_key, packet.task_id, *packet.identity}
    bank = visit.project.current().bank
    taught = (card for card in bank.skills if not keys.isdisjoint(bank.entries[card.card_id].support.tasks))
    return [(card.card_id, card.title) for card in islice(taught, 20)]
