"""The picture of a task: runs as columns, actions as rows, and the events that separate them marked."""

from __future__ import annotations

import json
from itertools import groupby, islice
from typing import Any, NamedTuple

from starlette.responses import Response

from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import differing_arguments
from contramem.contrast.step import Step
from contramem.server.pages import Visit
from contramem.traces.trajectory import Event

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
