"""The paper's tables and figures for your own experiment. Those without runs are left out."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from markupsafe import Markup

from contramem.bank.card import Card
from contramem.bank.frozen import load_frozen
from contramem.bank.store import open_store
from contramem.evaluate.report import Bar, Figure, ReportTable, Section, bar_chart, number, percent, points, unknown
from contramem.evaluate.report.charts import WIDTH, drawing, tag, text
from contramem.evaluate.report.comparison import evolution_section
from contramem.evaluate.report.table import Cell, Row, difference_cell, with_sign
from contramem.evaluate.report.tables import p_value
from contramem.evaluate.stats import mcnemar
from contramem.inject.guidance import text_of
from contramem.traces.read import read_traces
from contramem_lab.jobs import ResultFolder
from contramem_lab.memory import BANK
from contramem_lab.results import ArmResult, Results

OURS, NONE = "contramem", "none"
MAIN = (NONE, "self", OURS)
COMPONENTS = (NONE, "self", "multi-rollout", "function-only", "skill-only", OURS)
BASELINES = (NONE, "raw", "awm", "ace", OURS)
SPLITS = ("test_normal", "test_challenge")
LABELS = {
    NONE: "No memory",
    "self": "Self memory",
    "multi-rollout": "Multi-rollout",
    "function-only": "Function Cards only",
    "skill-only": "Skill Cards only",
    "append-only": "Append-only",
    "raw": "Raw retrieval",
    "awm": "AWM",
    "ace": "ACE",
}
Scores = Sequence[float | None]


@dataclass(frozen=True)
class Layout:
    """The order of targets and abilities, and which targets are sources."""

    targets: tuple[str, ...]
    sources: tuple[str, ...]
    abilities: tuple[str, ...]
    split: str = "held-out"

    @property
    def unseen(self) -> tuple[str, ...]:
        return tuple(target for target in self.targets if target not in self.sources)


def all_tables(folder: ResultFolder, results: Results, layout: Layout) -> list[ReportTable]:
    """Every table that the results allow."""
    is_appworld = bool(set(layout.abilities) & set(SPLITS))
    tables = [
        completion_table(results, layout) if is_appworld else main_table(results, layout),
        ablation_table("Table 3: sources and components", "paper-3", results, COMPONENTS, layout),
        events_table(results, layout),
        hung_table(results, layout),
        curator_table(folder, results, layout),
        ablation_table("Table A5: other memories", "paper-a5", results, BASELINES, layout),
        pairwise_table(results),
        footprint_table(results, layout),
        construction_table(results),
    ]
    return [table for table in tables if table.rows]


def main_table(results: Results, layout: Layout) -> ReportTable:
    """Table 1 (A3 on the reference split): success of source targets, their mean, unseen targets, and flips."""
    rows: list[Row] = []
    marks = []
    for name, members in _groups(layout, "Source macro"):
        marks.append(len(rows))
        rows += _score_rows(name, {c: _scores(_cells(results, members, c), layout.abilities) for c in MAIN})
    marks.append(len(rows))
    rows += _pool_flips(results, layout.abilities)
    header = ("Target", "Method", *map(str.capitalize, layout.abilities), "Overall")
    title = "Table A3: reference-split success (%)" if layout.split == "reference" else "Table 1: held-out success (%)"
    notes = (
        "Overall: abilities count alike; in parentheses the gain over no memory. Flips: failure to pass / pass to "
        "failure against no memory, all targets together.",
    )
    return ReportTable(title, header, rows, align="ll" + "r" * (len(header) - 2), sections=frozenset(marks[1:]),
                       label="paper-1", notes=notes)  # fmt: skip


def _groups(layout: Layout, macro: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Source targets one by one, then together, then the targets that nothing was learned from."""
    seen = [target for target in layout.targets if target in layout.sources]
    yield from ((target, (target,)) for target in seen)
    if len(seen) > 1:
        yield macro, tuple(seen)
    yield from ((target, (target,)) for target in layout.unseen)


def _scores(cells: Sequence[ArmResult], abilities: Sequence[str]) -> Scores:
    """The share of each ability and their mean; for several targets, the means over them. Empty: no runs."""
    if not cells:
        return ()
    shares = [_mean(_share(cell, ability) for cell in cells) for ability in abilities]
    return [*shares, _mean(shares)]


def _score_rows(name: str, scores: Mapping[str, Scores]) -> Iterator[Row]:
    """One row per method. The best value of a column is bold; the last column has the gain over no memory."""
    there = {condition: values for condition, values in scores.items() if values}
    best = [_best(column) for column in zip(*there.values(), strict=True)]
    base = there.get(NONE, (None,))[-1]
    for condition, values in there.items():
        cells = [
            percent(value, "strong" if value is not None and value == top else "")
            for value, top in zip(values, best, strict=True)
        ]
        yield [name, LABELS.get(condition, condition), *cells[:-1], _with_gain(cells[-1], values[-1], base, condition)]


def _best(column: Scores) -> float | None:
    """None if all are equal."""
    values = {value for value in column if value is not None}
    return max(values) if len(values) > 1 else None


def _with_gain(cell: Cell, value: float | None, base: float | None, condition: str) -> Cell:
    if condition == NONE or value is None or base is None:
        return cell
    return Cell(f"{cell.text} ({with_sign(100 * (value - base), 1)})", cell.value, cell.tone)


def _pool_flips(results: Results, abilities: Sequence[str]) -> Iterator[Row]:
    """All targets together, contramem against none, with McNemar's test."""
    compared = [by_condition[OURS] for by_condition in results.comparisons.values() if OURS in by_condition]
    if not compared:
        return
    flips = []
    for ability in abilities:
        parts = [comparison.by_ability[ability] for comparison in compared if ability in comparison.by_ability]
        flips.append((sum(part.gained for part in parts), sum(part.lost for part in parts)))
    gained, lost = (sum(side) for side in zip(*flips, strict=True))
    yield ["Pooled flips", OURS, *(f"{won}/{given}" for won, given in flips), f"{gained}/{lost}"]
    test = mcnemar(gained, lost)
    chi2 = unknown() if test.chi2 is None else Cell(f"χ² = {test.chi2:.1f}", test.chi2)
    yield ["McNemar", "chi-square", *("" for _ in abilities), chi2]
    yield ["McNemar", "exact p", *("" for _ in abilities), p_value(test.exact_p)]


def completion_table(results: Results, layout: Layout) -> ReportTable:
    """Table 2: task and scenario goal completion by target and split, and over all targets."""
    splits = [name for name in SPLITS if name in layout.abilities]
    rows: list[Row] = []
    marks = []
    everyone = Layout(layout.targets, layout.targets, layout.abilities)
    for name, members in _groups(everyone, "Target macro"):
        marks.append(len(rows))
        base = _cells(results, members, NONE)
        for condition in MAIN:
            cells = _cells(results, members, condition)
            if cells:
                values = (value for split in splits for value in _goals(cells, base, split, condition))
                rows.append([name, LABELS.get(condition, condition), *values])
    header = ("Target", "Method", *(f"{goal} {name}" for name in splits for goal in ("TGC", "SGC", "Δ Base")))
    return ReportTable("Table 2: AppWorld goal completion (%)", header, rows, align="ll" + "r" * (len(header) - 2),
                       sections=frozenset(marks[1:]), label="paper-2",
                       notes=("TGC: tasks, SGC: scenarios all of whose tasks pass. Δ Base: TGC gain over no memory.",)
                       )  # fmt: skip


def _goals(cells: Sequence[ArmResult], base: Sequence[ArmResult], split: str, condition: str) -> tuple[Cell, ...]:
    tasks = _mean(_share(cell, split) for cell in cells)
    whole = [cell.scenarios.get(split, (0, 0)) for cell in cells]
    scenarios = _mean(passed / all_ if all_ else None for passed, all_ in whole)
    before = _mean(_share(cell, split) for cell in base)
    gain = None if tasks is None or before is None else tasks - before
    return percent(tasks), percent(scenarios), Cell("–") if condition == NONE else points(gain)


def ablation_table(title: str, label: str, results: Results, conditions: Sequence[str], layout: Layout) -> ReportTable:
    """Conditions side by side for the targets that ran more than the main ones, on the abilities that all ran."""
    arms = {target: [_cells(results, (target,), name) for name in conditions] for target in layout.targets}
    ran = {target: [cell for cells in groups for cell in cells] for target, groups in arms.items()}
    ran = {target: cells for target, cells in ran.items() if not {cell.condition for cell in cells} <= set(MAIN)}
    every = [cell for cells in ran.values() for cell in cells]
    abilities = [name for name in layout.abilities if all(_share(cell, name) is not None for cell in every)]
    rows: list[Row] = []
    marks = []
    for target, cells in ran.items():
        marks.append(len(rows))
        rows += _score_rows(target, {cell.condition: _scores([cell], abilities) for cell in cells})
    header = ("Target", "Memory variant", *map(str.capitalize, abilities), "Macro")
    return ReportTable(title, header, rows, align="ll" + "r" * (len(header) - 2), sections=frozenset(marks[1:]),
                       label=label, notes=("Macro: over the abilities that every variant ran.",))  # fmt: skip


def events_table(results: Results, layout: Layout) -> ReportTable:
    """Table A2: agent events per run, paired, averaged over the targets."""
    rows: list[Row] = []
    means: list[tuple[float, float]] = []
    for ability in layout.abilities:
        sides = [
            part.agent_events
            for by_condition in results.comparisons.values()
            if OURS in by_condition and (part := by_condition[OURS].by_ability.get(ability)) is not None
        ]
        pairs = [(events.base, events.memory) for events in sides if events is not None]
        complete = [(base, memory) for base, memory in pairs if base is not None and memory is not None]
        if complete:
            base, memory = (mean(side) for side in zip(*complete, strict=True))
            means.append((base, memory))
            rows.append(_event_row(ability.capitalize(), base, memory))
    if means:
        rows.append(_event_row("Macro", *(mean(side) for side in zip(*means, strict=True))))
    return ReportTable("Table A2: agent events", ("Ability", "Avg No", "Avg Ours", "Δ"), rows,
                       sections=frozenset({len(rows) - 1}), strong=frozenset({len(rows) - 1}), label="paper-a2",
                       notes=("Reads and writes of apps, actions and observations of the agent.",))  # fmt: skip


def _event_row(name: str, base: float, memory: float) -> Row:
    return [name, number(base, 1), number(memory, 1), difference_cell(memory - base, 1)]


def hung_table(results: Results, layout: Layout) -> ReportTable:
    """Runs that met a limit and never finalized (A.2), if any."""
    rows: list[Row] = [
        [target, ability.capitalize(), number(part.hung.base), number(part.hung.memory)]
        for target, by_condition in results.comparisons.items() if OURS in by_condition
        for ability in layout.abilities
        if (part := by_condition[OURS].by_ability.get(ability)) is not None and (part.hung.base or part.hung.memory)
    ]  # fmt: skip
    return ReportTable("Hung runs", ("Target", "Ability", "No memory", "contramem"), rows, align="llrr",
                       label="paper-hung")  # fmt: skip


def curator_table(folder: ResultFolder, results: Results, layout: Layout) -> ReportTable:
    """Table A4: what curation removes, and the effect on success."""
    raw, curated = _count_skills(folder, "append-only"), _count_skills(folder, OURS)
    rows: list[Row] = []
    marks = []
    for target in layout.targets:
        appended, ours = (_cells(results, (target,), name) for name in ("append-only", OURS))
        if not appended or not ours:
            continue
        marks.append(len(rows))
        ran = [name for name in layout.abilities if _share(appended[0], name) is not None]
        for names, label in [*(((name,), name.capitalize()) for name in ran), (tuple(ran), "Total")]:
            before, after = (sum(count[name] for name in names) for count in (raw, curated))
            rows.append([target, label, number(before), number(after),
                         percent(1 - after / before if before else None),
                         _format_passed(appended[0], names), _format_passed(ours[0], names)])  # fmt: skip
    header = (
        "Target",
        "Ability",
        "Raw cards",
        "Curated cards",
        "Reduction %",
        "Append-only success",
        "Curated success",
    )
    return ReportTable("Table A4: the Curator", header, rows, align="llrrrrr", sections=frozenset(marks[1:]),
                       label="paper-a4")  # fmt: skip


def _count_skills(folder: ResultFolder, condition: str) -> Counter[str]:
    banks = map(load_frozen, sorted(folder.memory.glob(f"fold-*/{condition}/{BANK}")))
    return Counter(card.ability for bank in banks for card in bank.skills)


def _format_passed(cell: ArmResult, abilities: Sequence[str]) -> Cell:
    passed, runs = (sum(side) for side in zip(*(cell.by_ability.get(a, (0, 0)) for a in abilities), strict=True))
    return Cell(f"{passed}/{runs} ({100 * passed / runs:.1f}%)", 100 * passed / runs) if runs else unknown()


def pairwise_table(results: Results) -> ReportTable:
    """Every other memory against contramem, on the same tasks."""
    rows: list[Row] = [
        [target, LABELS.get(condition, condition), percent(pair.success.memory), percent(pair.success.base),
         f"{pair.gained} vs {pair.lost}", p_value(pair.mcnemar.exact_p)]
        for target, by_condition in results.against_contramem.items()
        for condition, pair in by_condition.items()
    ]  # fmt: skip
    header = ("Target", "Other memory", "contramem %", "Its success %", "Flips for vs against contramem", "Exact p")
    return ReportTable("contramem against each other memory", header, rows, align="llrrrr", label="paper-pairwise")


def footprint_table(results: Results, layout: Layout) -> ReportTable:
    """Runtime of the memories of a target (A.7, a), on the abilities that all of them ran."""
    rows: list[Row] = []
    marks = []
    for target in layout.targets:
        cells = [cell for name in BASELINES[1:] for cell in _cells(results, (target,), name)]
        abilities = [name for name in layout.abilities if all(name in cell.parts for cell in cells)]
        if len(cells) < 2 or not abilities:
            continue
        for ability in abilities:
            marks.append(len(rows))
            rows += [_footprint_row(target, ability.capitalize(), cell.parts[ability]) for cell in cells]
        marks.append(len(rows))
        rows += [_footprint_row(target, "Aggregate", _together(cell, abilities)) for cell in cells]
    header = ("Target", "Ability", "Method", "Success %", "Memory tok.", "Target tok./task (k)", "Calls/task",
              "Events/task", "Cost (USD)")  # fmt: skip
    return ReportTable("Held-out runtime of memories", header, rows, align="lllrrrrrr", sections=frozenset(marks[1:]),
                       label="paper-runtime", notes=("Means of a run; cost of all runs.",))  # fmt: skip


def _together(cell: ArmResult, abilities: Sequence[str]) -> ArmResult:
    """The runs of these abilities as one: means over runs, sums of counts and cost."""
    parts = [cell.parts[ability] for ability in abilities]
    runs = sum(part.runs for part in parts)

    def per_run(values: Iterable[float | None]) -> float | None:
        weighted = [None if value is None else value * part.runs for value, part in zip(values, parts, strict=True)]
        return None if None in weighted else sum(value or 0 for value in weighted) / runs

    costs = [part.cost_usd for part in parts]
    return replace(
        cell,
        runs=runs,
        passed=sum(part.passed for part in parts),
        unknown=sum(part.unknown for part in parts),
        shown_tokens=per_run(part.shown_tokens for part in parts) or 0,
        agent_events=per_run(part.agent_events for part in parts) or 0,
        model_calls=per_run(part.model_calls for part in parts),
        tokens=per_run(part.tokens for part in parts),
        cost_usd=None if None in costs else sum(cost or 0 for cost in costs),
    )


def _footprint_row(target: str, ability: str, part: ArmResult) -> Row:
    tokens = None if part.tokens is None else part.tokens / 1000
    return [target, ability, LABELS.get(part.condition, part.condition), percent(part.success),
            number(part.shown_tokens), number(tokens, 1), number(part.model_calls, 1), number(part.agent_events, 1),
            number(part.cost_usd, 2)]  # fmt: skip


def construction_table(results: Results) -> ReportTable:
    """What construction took (A.7, b): skills and functions of contramem separately, if both were requested."""
    names = {"awm": "AWM workflows", "ace": "ACE playbook", "skill-only": "contramem Skill bank",
             "function-only": "Shared Function bank", OURS: "contramem together"}  # fmt: skip
    rows: list[Row] = []
    for condition, name in names.items():
        made = [facts.construction for facts in results.memories if facts.condition == condition and not facts.reason]
        if made:
            costs = [each.get("cost_usd") for each in made]
            rows.append([name, number(sum(each["calls"] for each in made)),
                         number(sum(each["tokens_in"] + each["tokens_out"] for each in made)),
                         number(None if None in costs else sum(cost or 0 for cost in costs), 2)])  # fmt: skip
    return ReportTable("Construction of memories", ("Build component", "Calls", "Tokens", "Cost (USD)"), rows,
                       label="paper-construction")  # fmt: skip


def _cells(results: Results, targets: Sequence[str], condition: str) -> list[ArmResult]:
    """The results of these targets under that condition; empty unless all of them have runs."""
    cells = [cell for cell in results.cells if cell.condition == condition and cell.target in targets]
    return cells if len(cells) == len(targets) else []


def _share(cell: ArmResult, ability: str) -> float | None:
    passed, runs = cell.by_ability.get(ability, (0, 0))
    return passed / runs if runs else None


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return mean(numbers) if numbers else None


LINE, MARGIN, CHARACTERS = 17, 14, 96


def card_panels(title: str, cards: Mapping[str, Sequence[str]]) -> Figure:
    """A figure with a panel for each card; `cards` maps names to lines."""
    parts: list[Markup] = []
    top = 0
    for place, (name, lines) in enumerate(cards.items()):
        written = [name, *(part for line in lines for part in textwrap.wrap(line, CHARACTERS) or [""])]
        height = LINE * len(written) + 2 * MARGIN
        parts += _panel(written, top, height, f"series-{place % 2}")
        top += height + MARGIN
    rows = [[name, line] for name, lines in cards.items() for line in lines]
    table = ReportTable(title, ("Card", "Line"), rows, align="ll")
    return Figure(
        title, drawing(title, top, *parts), table, "The cards of contramem that agents were shown most often."
    )


def _panel(written: Sequence[str], top: float, height: float, kind: str) -> Iterator[Markup]:
    yield tag(
        "rect", x="1", y=f"{top + 1}", width=f"{WIDTH - 2}", height=f"{height - 2}", rx="6", class_=f"panel {kind}"
    )
    for place, line in enumerate(written):
        style = "value" if place == 0 else "label"
        yield text(MARGIN, top + MARGIN + LINE * (place + 0.8), line, kind=style)


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
