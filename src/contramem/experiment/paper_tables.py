"""The paper's tables and figures for one's own experiment: what it has no runs for is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from contramem.bank.card import SkillCard
from contramem.bank.frozen import load_frozen
from contramem.bank.store import open_store
from contramem.evaluate.report import Bar, Figure, ReportTable, Section, bar_chart, number, percent, unknown
from contramem.evaluate.report.cells import Cell
from contramem.evaluate.report.evolution import evolution_section
from contramem.evaluate.report.table import Row
from contramem.evaluate.stats import mcnemar
from contramem.evaluate.verdict import p_value
from contramem.experiment.folder import ResultFolder
from contramem.experiment.memory import BANK
from contramem.experiment.results import ArmResult, Results

OURS, NONE = "contramem", "none"
MAIN = (NONE, "self", OURS)
COMPONENTS = ("self", "multi-rollout", "function-only", "skill-only", OURS)
BASELINES = ("append-only", "raw", "awm", "ace")
SPLITS = ("test_normal", "test_challenge")


def paper_sections(folder: ResultFolder, results: Results, sources: Sequence[str]) -> list[Section]:
    """All tables and figures that the results allow. `sources` are the targets whose runs were learned from."""
    abilities = sorted({ability for cell in results.cells for ability in cell.by_ability})
    tables = [
        main_table(results, abilities, sources),
        *([completion_table(results, abilities)] if set(abilities) & set(SPLITS) else []),
        component_table(results, abilities),
        pairwise_table(results),
        card_table(folder, results),
        events_table(results, abilities),
    ]
    figures = [success_figure(results, abilities, sources), baseline_figure(results), events_figure(results)]
    return [
        Section("The paper's tables", tables=[table for table in tables if table.rows]),
        Section("The paper's figures", figures=[figure for figure in figures if figure is not None]),
        *_evolutions(folder),
    ]


def main_table(results: Results, abilities: Sequence[str], sources: Sequence[str]) -> ReportTable:
    """Table 1: success by ability, the mean over abilities, the mean over source targets, and pooled flips."""
    rows: list[Row] = []
    marks = []
    for target in sorted({cell.target for cell in results.cells}):
        marks.append(len(rows))
        for cell in _cells(results, target, MAIN):
            rows.append([target, cell.condition, *(percent(_share(cell, name)) for name in abilities),
                         percent(_macro(cell, abilities))])  # fmt: skip
    marks.append(len(rows))
    for condition in MAIN:
        cells = [cell for cell in results.cells if cell.condition == condition and cell.target in sources]
        if len(cells) > 1:
            rows.append(["source macro", condition, *(percent(_mean_share(cells, name)) for name in abilities),
                         percent(mean(_macro(cell, abilities) or 0.0 for cell in cells))])  # fmt: skip
    rows += _pooled_flips(results, abilities)
    header = ("Target", "Condition", *abilities, "Macro %")
    return ReportTable("Table 1: held-out success", header, rows, align="ll" + "r" * (len(abilities) + 1),
                       sections=frozenset(marks[1:]), label="paper-1",
                       notes=("Macro: abilities count alike. Flips: gained/lost, all targets together.",))  # fmt: skip


def _pooled_flips(results: Results, abilities: Sequence[str]) -> Iterator[Row]:
    """All targets together, contramem against none, with McNemar's test."""
    compared = [by[OURS] for by in results.comparisons.values() if OURS in by]
    if not compared:
        return
    cells: list[Cell | str] = []
    gained_all = lost_all = 0
    for ability in abilities:
        parts = [comparison.by_ability[ability] for comparison in compared if ability in comparison.by_ability]
        gained, lost = sum(part.gained for part in parts), sum(part.lost for part in parts)
        gained_all, lost_all = gained_all + gained, lost_all + lost
        cells.append(f"{gained}/{lost}")
    yield ["pooled flips", OURS, *cells, f"{gained_all}/{lost_all}"]
    test = mcnemar(gained_all, lost_all)
    yield ["McNemar", OURS, *("" for _ in abilities), p_value(test.exact_p)]


def completion_table(results: Results, abilities: Sequence[str]) -> ReportTable:
    """Table 2: task and scenario goal completion by target and split."""
    splits = [name for name in SPLITS if name in abilities]
    rows: list[Row] = [
        [target, cell.condition, *(value for name in splits for value in _goals(cell, name))]
        for target in sorted({cell.target for cell in results.cells})
        for cell in _cells(results, target, MAIN)
    ]
    header = ("Target", "Condition", *(f"{goal} {name}" for name in splits for goal in ("TGC", "SGC")))
    return ReportTable("Table 2: AppWorld", header, rows, align="ll" + "r" * (len(header) - 2), label="paper-2")


def _goals(cell: ArmResult, split: str) -> tuple[Cell, Cell]:
    whole, all_ = cell.scenarios.get(split, (0, 0))
    return percent(_share(cell, split)), percent(whole / all_ if all_ else None)


def component_table(results: Results, abilities: Sequence[str]) -> ReportTable:
    """Table 3: where the gain comes from."""
    rows: list[Row] = []
    for target in sorted({cell.target for cell in results.cells}):
        cells = _cells(results, target, COMPONENTS)
        if len(cells) > 2:  # self and contramem alone are in the main table
            rows += [[target, cell.condition, _runs_used(results, cell),
                      *(percent(_share(cell, name)) for name in abilities), percent(cell.success)]
                     for cell in cells]  # fmt: skip
    header = ("Target", "Condition", "Runs learned from", *abilities, "Overall %")
    return ReportTable("Table 3: sources and components", header, rows, align="ll" + "r" * (len(abilities) + 2),
                       label="paper-3")  # fmt: skip


def _runs_used(results: Results, cell: ArmResult) -> Cell:
    for facts in results.memories:
        if facts.condition == cell.condition and facts.target in (None, cell.target) and not facts.reason:
            return number(facts.construction["trajectories"])
    return unknown()


def pairwise_table(results: Results) -> ReportTable:
    """Every other memory against contramem, on the same tasks."""
    rows: list[Row] = [
        [target, condition, percent(pair.success.memory), percent(pair.success.base), f"{pair.lost}/{pair.gained}",
         p_value(pair.mcnemar.exact_p)]
        for target, by_condition in results.against_contramem.items()
        for condition, pair in by_condition.items()
    ]  # fmt: skip
    header = ("Target", "Other memory", "Its success %", "contramem %", "contramem gains/loses", "Exact p")
    return ReportTable("contramem against each other memory", header, rows, align="llrrrr", label="paper-pairwise")


def card_table(folder: ResultFolder, results: Results) -> ReportTable:
    """Cards of contramem and of append-only, by ability: what curation leaves out."""
    counts: dict[str, Counter[str]] = {}
    for condition in (OURS, "append-only"):
        for path in sorted(folder.memory.glob(f"fold-*/{condition}/{BANK}")):
            bank = load_frozen(path)
            of_bank = Counter(card.ability for card in bank.skills if isinstance(card, SkillCard))
            counts.setdefault(condition, Counter()).update(of_bank)
    abilities = sorted({ability for count in counts.values() for ability in count})
    rows: list[Row] = [
        [condition, *(number(count[ability]) for ability in abilities), number(count.total())]
        for condition, count in counts.items()
    ]
    header = ("Condition", *abilities, "Skill Cards")
    return ReportTable("Skill Cards by ability", header, rows, align="l" + "r" * (len(abilities) + 1),
                       label="paper-cards")  # fmt: skip


def events_table(results: Results, abilities: Sequence[str]) -> ReportTable:
    """Agent events of each run, without memory and with contramem, paired; and the runs that hung (A.2)."""
    rows: list[Row] = []
    for target, by_condition in results.comparisons.items():
        if OURS not in by_condition:
            continue
        for ability in abilities:
            part = by_condition[OURS].by_ability.get(ability)
            if part is not None and part.agent_events is not None:
                events = part.agent_events
                rows.append([target, ability, number(events.base, 1), number(events.memory, 1),
                             number(part.hung.base), number(part.hung.memory)])  # fmt: skip
    header = ("Target", "Ability", "Events, none", "Events, contramem", "Hung, none", "Hung, contramem")
    return ReportTable("Agent events", header, rows, align="llrrrr", label="paper-events")


def success_figure(results: Results, abilities: Sequence[str], sources: Sequence[str]) -> Figure | None:
    """Figure 1: held-out success over the source targets."""
    bars = []
    for ability in (*abilities, "macro"):
        for condition in MAIN:
            cells = [cell for cell in results.cells if cell.condition == condition and cell.target in sources]
            shares = [_macro(cell, abilities) if ability == "macro" else _share(cell, ability) for cell in cells]
            values = [share for share in shares if share is not None]
            if values:
                kind = {NONE: "base", OURS: "memory"}.get(condition, "plain")
                bars.append(Bar(f"{ability}, {condition}", 100 * mean(values), kind=kind))
    if not bars:
        return None
    return bar_chart("Figure 1: success over the source targets", bars, measure="success %", name="Ability", digits=1)


def baseline_figure(results: Results) -> Figure | None:
    """Figure 3: contramem beside the other memories."""
    wanted = (NONE, *BASELINES, OURS)
    bars = [
        Bar(f"{cell.target}, {cell.condition}", None if cell.success is None else 100 * cell.success,
            kind="memory" if cell.condition == OURS else "base")
        for cell in sorted(results.cells, key=lambda cell: cell.target)
        if cell.condition in wanted
    ]  # fmt: skip
    if not any(cell.condition in BASELINES for cell in results.cells):
        return None
    return bar_chart("Figure 3: other memories", bars, measure="success %", name="Memory", digits=1)


def events_figure(results: Results) -> Figure | None:
    """Figure A2: mean agent events per held-out task."""
    bars = [
        Bar(f"{cell.target}, {cell.condition}", cell.agent_events, kind="memory" if cell.condition == OURS else "base")
        for cell in sorted(results.cells, key=lambda cell: cell.target)
        if cell.condition in (NONE, OURS)
    ]
    if not bars:
        return None
    return bar_chart("Figure A2: agent events", bars, measure="events a run", name="Target", digits=1)


def _evolutions(folder: ResultFolder) -> Iterator[Section]:
    """Figure A1: how the bank of contramem came about."""
    for path in sorted((folder.memory / "stores").glob("contramem-*.db")):
        with open_store(str(path)) as store:
            ledger = store.ledger()
        if ledger:
            section = evolution_section(ledger, path.name)
            yield Section(f"Figure A1: {section.title.lower()}", section.lede, figures=section.figures)


def _cells(results: Results, target: str, conditions: Sequence[str]) -> list[ArmResult]:
    by_condition = {cell.condition: cell for cell in results.cells if cell.target == target}
    return [by_condition[condition] for condition in conditions if condition in by_condition]


def _share(cell: ArmResult, ability: str) -> float | None:
    passed, runs = cell.by_ability.get(ability, (0, 0))
    return passed / runs if runs else None


def _macro(cell: ArmResult, abilities: Sequence[str]) -> float | None:
    shares = [share for ability in abilities if (share := _share(cell, ability)) is not None]
    return mean(shares) if shares else None


def _mean_share(cells: Sequence[ArmResult], ability: str) -> float | None:
    shares = [share for cell in cells if (share := _share(cell, ability)) is not None]
    return mean(shares) if shares else None


def paper_tables(sections: Sequence[Section]) -> Mapping[str, ReportTable]:
    """The tables by the name of their file."""
    return {table.label: table for section in sections for table in section.tables if table.label}
