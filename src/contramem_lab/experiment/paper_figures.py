"""The paper's figures for your own experiment: 1, 3, A1, A2 and B1. Figures without runs are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean

from contramem.bank.card import Card
from contramem.bank.frozen import load_frozen
from contramem.bank.store import open_store
from contramem.evaluate.report import Bar, Figure, ReportTable, Section, bar_chart
from contramem.evaluate.report.comparison import evolution_section
from contramem.inject.budget import text_of
from contramem.traces.read import read_traces
from contramem_lab.experiment.card_chart import card_panels
from contramem_lab.experiment.folder import ResultFolder
from contramem_lab.experiment.memory import BANK
from contramem_lab.experiment.paper_tables import BASELINES, LABELS, MAIN, NONE, OURS, Layout, all_tables
from contramem_lab.experiment.results import ArmResult, Results


def paper_sections(folder: ResultFolder, results: Results, layout: Layout) -> list[Section]:
    """All tables and figures that the results allow."""
    figures = [
        success_figure(results, layout),
        baseline_figure(results, layout),
        events_figure(results, layout),
        card_figure(folder),
    ]
    return [
        Section("The paper's tables", tables=all_tables(folder, results, layout)),
        Section("The paper's figures", figures=[figure for figure in figures if figure is not None]),
        *_evolutions(folder),
    ]


def tables_by_file(sections: Sequence[Section]) -> dict[str, ReportTable]:
    """The tables by the name of their file."""
    return {table.label: table for section in sections for table in section.tables if table.label}


def success_figure(results: Results, layout: Layout) -> Figure | None:
    """Figure 1: held-out success over the source targets."""
    bars = []
    for ability in layout.abilities:
        for condition in MAIN:
            shares = [_share(cell, ability) for cell in results.cells
                      if cell.condition == condition and cell.target in layout.sources]  # fmt: skip
            values = [share for share in shares if share is not None]
            if values:
                kind = {NONE: "base", OURS: "memory"}.get(condition, "plain")
                bars.append(Bar(f"{ability}, {LABELS.get(condition, condition)}", 100 * mean(values), kind=kind))
    if not bars:
        return None
    return bar_chart("Figure 1: success over the source targets", bars, measure="success %", name="Ability", digits=1)


def baseline_figure(results: Results, layout: Layout) -> Figure | None:
    """Figure 3: contramem and the other memories."""
    order = {target: number for number, target in enumerate(layout.targets)}
    if not any(cell.condition in BASELINES[1:-1] for cell in results.cells):
        return None
    bars = [
        Bar(f"{cell.target}, {LABELS.get(cell.condition, cell.condition)}",
            None if cell.success is None else 100 * cell.success, kind="memory" if cell.condition == OURS else "base")
        for cell in sorted(results.cells, key=lambda cell: order.get(cell.target, 0))
        if cell.condition in BASELINES
    ]  # fmt: skip
    return bar_chart("Figure 3: other memories", bars, measure="success %", name="Memory", digits=1)


def events_figure(results: Results, layout: Layout) -> Figure | None:
    """Figure A2: mean agent events per held-out task, by ability."""
    bars = []
    for ability in layout.abilities:
        for condition in (NONE, OURS):
            parts = [cell.parts[ability] for cell in results.cells
                     if cell.condition == condition and ability in cell.parts]  # fmt: skip
            if parts:
                kind = "memory" if condition == OURS else "base"
                events = mean(part.agent_events for part in parts)
                bars.append(Bar(f"{ability}, {LABELS.get(condition, condition)}", events, kind=kind))
    if not bars:
        return None
    return bar_chart("Figure A2: agent events", bars, measure="events a run", name="Ability", digits=1)


def card_figure(folder: ResultFolder) -> Figure | None:
    """Figure B1: one Function Card and one Skill Card as agents read them, the ones shown most often."""
    cards = {card.card_id: card for path in sorted(folder.memory.glob(f"fold-*/{OURS}/{BANK}"))
             for card in load_frozen(path).cards}  # fmt: skip
    runs = read_traces(sorted((folder.runs / OURS).rglob("*.jsonl"))) if (folder.runs / OURS).is_dir() else ()
    counts = Counter(card_id for run in runs for memory in run.guidance for card_id in memory.cards)
    chosen: dict[str, Card] = {}
    for card_id in sorted(cards, key=lambda name: (-counts[name], name)):
        chosen.setdefault(cards[card_id].kind, cards[card_id])
    texts = {name: text_of(chosen[kind]).lines
             for kind, name in (("function", "Function Card"), ("skill", "Skill Card")) if kind in chosen}  # fmt: skip
    return card_panels("Figure B1: cards as agents read them", texts) if texts else None


def _evolutions(folder: ResultFolder) -> Iterator[Section]:
    """Figure A1: how contramem's bank evolved."""
    for path in sorted((folder.memory / "stores").glob("contramem-*.db")):
        with open_store(str(path)) as store:
            ledger = store.ledger()
        if ledger:
            section = evolution_section(ledger, path.name)
            yield Section(f"Figure A1: {section.title.lower()}", section.lede, figures=section.figures)


def _share(cell: ArmResult, ability: str) -> float | None:
    passed, runs = cell.by_ability.get(ability, (0, 0))
    return passed / runs if runs else None
