"""Tasks and runs in the explorer: start page, lists, one task as a picture, one run, its labels, and search."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby

import msgspec
from starlette.responses import RedirectResponse, Response

from contramem.bank.card import SkillCard
from contramem.bank.rows import card_row, count_unreviewed, decision_row
from contramem.collection.browse import RUNS, TASKS, RunGroup, RunRow, Stored
from contramem.contrast.align import (
    align,
    best_cites,
    common_app,
    describe_effort,
    first_partings,
    group_partings,
    nearest,
    partings,
    rank_signals,
    reference_first,
)
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step
from contramem.evaluate.evidence import (
    Example,
    cards_of_signal,
    cards_taught,
    find_unkept_cards,
    show_by_example,
    surest_cards,
)
from contramem.server.listing import Listing, export_rows
from contramem.server.pages import Visit, missing
from contramem.traces.labels import PASSED
from contramem.traces.trajectory import Event

EXAMPLES_TRIED = 12
MAX_SOURCE_COLUMNS = 5
"""With more sources, a task shows one square per source."""
MAX_SQUARES = 40
MAX_EVENTS = 400
MAX_RETURNED_CHARS = 20_000

# Start page


def home(visit: Visit) -> Response:
    """What is here, and where to begin."""
    bank, index = visit.project.current().bank, visit.project.runs
    recent = visit.project.store.ledger_page(visit.project.snapshot.decision + 1, 6)
    return visit.page(
        "home.html",
        example=None if visit.project.is_indexing else _find_example(visit),
        tasks=visit.project.mask(index.select(TASKS, {}, limit=8)),
        task_count=index.count_rows(TASKS, {}),
        run_count=index.count,
        sources=index.groups("source")[:12],
        functions=len(bank.functions),
        skills=len(bank.skills),
        abilities=Counter(card.ability for card in bank.skills).most_common(12),
        unreviewed=count_unreviewed(bank),
        recent=[decision_row(entry, bank) for entry in recent],
        live=visit.project.live.counts(),
    )


def _find_example(visit: Visit) -> Example | None:
    """Of the surest cards, the first that a task here shows."""
    for entry in surest_cards(visit.project.current().bank)[:EXAMPLES_TRIED]:
        decisions = visit.project.store.ledger(entry.card.card_id)
        tasks = dict.fromkeys(run.task for decision in decisions for run in decision.decision.runs)
        for packet in filter(None, map(visit.project.packet, tasks)):
            if isinstance(entry.card, SkillCard) and (example := show_by_example(entry.card, packet)):
                return example
    return None


# Lists

TASK_LIST = Listing("tasks", ("outcome", "ability"))
RUN_LIST = Listing("runs", ("outcome", "source", "ability", "ended", "label"))


def tasks(visit: Visit) -> Response:
    """Tasks with their pass rates by source, clearest contrast first."""
    index, sources = visit.project.runs, visit.project.runs.groups("source")
    strip = len(sources) > MAX_SOURCE_COLUMNS
    return TASK_LIST.page(
        visit, Stored(index, TASKS, visit.query("q")), visit.project.mask, rates=index.rates,
        sources=sorted(sources[:MAX_SQUARES], key=_best_first) if strip else sources, strip=strip,
    )  # fmt: skip


def _best_first(source: RunGroup) -> tuple[float, str]:
    return -source.passed / max(source.passed + source.failed, 1), source.name


def runs(visit: Visit) -> Response:
    """All recorded runs, and how far the labels of people agree with their verdicts."""
    labels = visit.project.labels
    if visit.query("format") == "labels":
        headers = {"content-disposition": 'attachment; filename="labels.csv"'}
        return Response(labels.as_csv(), media_type="text/csv", headers=headers)
    rows = Stored(visit.project.runs, RUNS, visit.query("q"))
    return RUN_LIST.page(visit, rows, agreement=visit.project.runs.agreement(), labels=labels)


# One run


def run(visit: Visit) -> Response:
    """One run, event by event. `at` is the event that a link refers to."""
    project, found = visit.project, _find_run(visit)
    if found is None:
        return missing(visit, "There is no such run among the runs that this server was started with.")
    row, packet, attempt = found
    trajectory = packet.recorded[attempt.letter]
    steps = _steps(visit, packet, attempt)
    if visit.query("format") == "json":
        content = msgspec.json.encode(trajectory) if visit.show_values else msgspec.json.encode(steps)
        return Response(content, media_type="application/json")
    other = nearest(attempt, [run for run in packet.passing if run is not attempt] or [attempt])
    cited: dict[int, list[str]] = {}
    for each in rank_signals(packet):
        for cite in each.signal.cites:
            if cite.run == attempt.letter:
                cited.setdefault(cite.position, []).append(each.signal.statement)
    chosen = RUN_LIST.chosen(visit)
    previous, following = project.runs.neighbours(row, chosen)
    return visit.page(
        "run.html", packet=packet, attempt=attempt, row=row, steps=steps[:MAX_EVENTS], more=len(steps) - MAX_EVENTS,
        cited=cited, at=visit.number("at", -1), effort=describe_effort(trajectory), previous=previous,
        following=following, chosen=chosen, other=None if other is attempt else other, labels=[*PASSED, "none"],
        differences=[] if other is attempt else list(partings(attempt, other)),
        broken=find_unkept_cards(project.current().bank, packet, attempt),
    )  # fmt: skip


def _find_run(visit: Visit) -> tuple[RunRow, Packet, PacketRun] | None:
    """The run of an address: by its id, or by task, source and trial."""
    asked = visit.form or visit.request.query_params
    named = [asked.get(name, "") for name in ("id", "task", "source")]
    row, trial = visit.project.runs.find_run(named[0], named[1], named[2], asked.get("run", "0")) or (None, "")
    packet = visit.project.packet(row.task) if row else None
    for attempt in packet.runs if packet else ():
        own = packet.provenance[attempt.letter] if packet else None
        if row and packet and own and (own.source, own.run) == (row.source, trial):
            return row, packet, attempt
    return None


def label(visit: Visit) -> Response:
    """Keep a person's verdict on a run, and show the next run of the list that it was chosen from."""
    found = _find_run(visit)
    if found is None:
        return missing(visit, "There is no such run among the runs that this server was started with.")
    row, chosen = found[0], {facet: visit.form.get(f"in.{facet}", "") for facet in RUN_LIST.facets}
    following = visit.project.runs.neighbours(row, chosen)[1] or row
    name = visit.project.runs.label_name(row)
    visit.project.labels.set(name, visit.form.get("label", ""), visit.token.name)
    visit.project.runs.label({name: visit.project.labels.by_run.get(name, "none")})
    return RedirectResponse(visit.url("run", **visit.run_query(following), **chosen), 303)


def search(visit: Visit) -> Response:
    """Cards, tasks, sources, functions and decisions that contain every word."""
    words = visit.query("q").strip()
    wanted = words.lower().split()[:8]
    snapshot, index = visit.project.current(), visit.project.runs
    ids = [card_id for card_id, text in sorted(snapshot.texts.items()) if all(word in text for word in wanted)]
    sources = [row for row in index.groups("source") if all(word in row.name.lower() for word in wanted)]
    if words.isdigit() and 0 < int(words) <= snapshot.decision:
        return RedirectResponse(visit.url("ledger", q=words), 303)
    decisions = visit.project.store.search_ledger(wanted, limit=25)
    return visit.page(
        "search.html",
        words=words,
        cards=[card_row(snapshot.bank.entries[card_id]) for card_id in ids[:25]] if words else [],
        card_count=len(ids) if words else 0,
        tasks=visit.project.mask(index.select(TASKS, {}, words, limit=25)) if words else [],
        task_count=index.count_rows(TASKS, {}, words) if words else 0,
        sources=sources[:10] if words else [],
        functions=index.functions(words, limit=25) if words else [],
        decisions=[decision_row(entry, snapshot.bank) for entry in decisions],
    )


# A task as a picture: runs as columns, actions as rows, and the events that separate them marked

MAX_ROWS, MAX_COLUMNS, MAX_SIGNALS = 80, 40, 24


def task(visit: Visit) -> Response:
    """Everything about one task on one page."""
    packet = visit.project.packet(visit.query("key"))
    if packet is None:
        return missing(visit, "There is no such task among the runs that this server has.")
    shown_runs, ranked, parted = _choose_columns(packet), rank_signals(packet), list(first_partings(packet))
    if visit.query("format") in ("csv", "json"):
        return export_rows(visit.query("format"), "signals", [each.row() for each in ranked])
    rows, taught = align(reference_first(shown_runs)), cards_taught(visit.project.current().bank, packet)
    return visit.page(
        "task.html",
        packet=packet,
        task_text=next(iter(packet.recorded.values())).task if visit.show_values else packet.task,
        sides=[(passed, list(runs)) for passed, runs in groupby(shown_runs, key=lambda run: run.passed)],
        hidden_runs=len(packet.runs) - len(shown_runs),
        rows=rows[:MAX_ROWS],
        app=common_app(rows),
        hidden_rows=max(0, len(rows) - MAX_ROWS),
        parted=group_partings(parted)[:MAX_SIGNALS],
        parts={(each.run, each.at.position) for each in parted if each.at},
        rejoins={(each.run, each.rejoins.position) for each in parted if each.rejoins},
        marked=best_cites(ranked),
        signals=[(each, list(cards_of_signal(taught, packet, each))) for each in ranked[:MAX_SIGNALS]],
        hidden_signals=max(0, len(ranked) - MAX_SIGNALS),
        effort=lambda letter: describe_effort(packet.recorded[letter]),
        cards=taught,
    )


def event(visit: Visit) -> Response:
    """One event alone, for the panel beside the picture."""
    packet = visit.project.packet(visit.query("task"))
    letter, position = visit.query("letter"), visit.number("at", -1)
    attempt = next((run for run in packet.runs if run.letter == letter), None) if packet else None
    steps = _steps(visit, packet, attempt) if packet and attempt else []
    step = next((step for step in steps if step.position == position), None)
    if packet is None or attempt is None or step is None:
        return missing(visit, "There is no such event.")
    here = [each for each in rank_signals(packet) if (letter, position) in each.signal.cites]
    parted = [
        each for each in first_partings(packet) if each.run == letter and each.at and each.at.position == position
    ]
    return visit.page("event.html", event=step, attempt=attempt, packet=packet, signals=here, parted=parted)


def _choose_columns(packet: Packet) -> list[PacketRun]:
    """All runs, or as many of each outcome as there is room for."""
    if len(packet.runs) <= MAX_COLUMNS:
        return list(packet.runs)
    groups = [list(runs) for _, runs in groupby(packet.runs, key=lambda run: run.passed)]
    return [run for runs in groups for run in runs[: MAX_COLUMNS // len(groups)]]


def _steps(visit: Visit, packet: Packet, attempt: PacketRun) -> list[Step]:
    """The events of a run, as recorded or with placeholders instead of values."""
    events = packet.recorded[attempt.letter].events
    return list(map(_as_recorded, events)) if visit.show_values else list(attempt.steps)


def _as_recorded(event: Event) -> Step:
    """An event with its values, in the form of one without."""
    content, error = (event.result.content, event.result.error or "") if event.result else ("", "")
    returned = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2, default=str)
    return Step(
        event.position, event.actor, event.kind, event.text, event.function, event.arguments, event.effect,
        returned=returned[:MAX_RETURNED_CHARS], error=error,
    )  # fmt: skip
