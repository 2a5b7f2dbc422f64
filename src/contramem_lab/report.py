"""The report of an experiment: the paper's tables for your own runs, as HTML, Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from contramem.evaluate.compare import Comparison
from contramem.evaluate.report import (
    FlipRow,
    Item,
    Listing,
    Manifest,
    Page,
    ReportTable,
    Section,
    as_html,
    between,
    flip_chart,
    inputs_of,
    number,
    percent,
    points,
)
from contramem.evaluate.report.table import Cell, Row
from contramem.evaluate.report.tables import p_value, verdict
from contramem_lab.jobs import ResultFolder
from contramem_lab.opened import OpenedExperiment
from contramem_lab.paper import Layout, paper_sections, tables_by_file
from contramem_lab.results import ArmResult, Results
from contramem_lab.split import list_separated


def write_report(folder: ResultFolder, opened: OpenedExperiment, results: Results) -> None:
    """results.json, report.html, report.md and tables/*.csv."""
    folder.write_json("results.json", results.as_json())
    paper = paper_sections(folder, results, layout_of(opened, results)) if results.cells else []
    page = report_page(opened, results, paper)
    folder.write("report.html", as_html(page))
    folder.write("report.md", "\n".join([f"# {page.title}\n", f"{page.verdict}\n", *_markdown(page)]))
    for table in (*tables(results), *tables_by_file(paper).values()):
        folder.write(f"tables/{table.label}.csv", table.as_csv())
    if paper:
        folder.write("paper.md", "\n".join(table.as_markdown() for table in tables_by_file(paper).values()))


def layout_of(opened: OpenedExperiment, results: Results) -> Layout:
    """Targets and abilities in the order of the file."""
    config = opened.config
    there = {ability for cell in results.cells for ability in cell.by_ability}
    named = (*config.split.abilities, *config.environment.appworld.datasets)
    abilities = [ability for ability in named if ability in there]
    sources = config.sources.collect or config.sources.only or tuple(config.targets)
    return Layout(
        tuple(config.targets),
        tuple(sources),
        (*abilities, *sorted(there - set(abilities))),
        "reference" if config.conditions.on == "reference" else "held-out",
    )


def _markdown(page: Page) -> Iterator[str]:
    for section in page.sections:
        yield f"## {section.title}\n"
        yield from (f"{text}\n" for text in (section.lede, *section.notes) if text)
        for listing in section.listings:
            yield f"{listing.title}: {', '.join(item.name for item in listing.items) or listing.empty}\n"
        yield from (table.as_markdown() for table in section.tables)


def report_page(opened: OpenedExperiment, results: Results, paper: Sequence[Section] = ()) -> Page:
    """The page, with the finding first."""
    config = opened.config
    kept = ", ".join(list_separated(config.split.by))
    notes = [f"Before anything ran, held-out tasks were looked for among what teaches, by {kept}: none was found."]
    if config.split.by == "task":
        notes.append("The split is by task: tasks of one scenario are on both sides.")
    sections = [
        Section("What was found",
                tables=[table for table in tables(results) if table.label == "success"],
                listings=[_listing(results)] if results.not_made else (), notes=[*notes, *results.notes]),
        *_comparisons(results),
        *paper,
        Section("What it takes", tables=[t for t in tables(results) if t.label in ("runtime", "construction")]),
    ]  # fmt: skip
    inputs = inputs_of("sources", opened.source_paths())
    manifest = Manifest(
        f"contramem lab experiment run {opened.file.path.name}",
        inputs,
        config.seed,
        more=(("config", opened.file.digest),),
    )
    return Page(config.name, headline(results), sections, manifest, subtitle=_subtitle(opened))


def _subtitle(opened: OpenedExperiment) -> str:
    held_out = sum(len(fold.held_out) for fold in opened.folds)
    config = opened.config
    return f"{held_out} held-out tasks, {len(config.targets)} targets, {len(config.conditions.run)} conditions"


def _listing(results: Results) -> Listing:
    return Listing("Not made", [Item(reason) for reason in results.not_made])


def headline(results: Results) -> str:
    """The finding in one sentence."""
    for target, by_condition in results.comparisons.items():
        if "contramem" in by_condition:
            return f"{target}, contramem: {verdict(by_condition['contramem'])}"
    return "No condition was compared."


def tables(results: Results) -> list[ReportTable]:
    """All tables that have content."""
    tables_ = []
    if results.cells:
        tables_ += [success_table(results), runtime_table(results)]
    if results.memories:
        tables_.append(construction_table(results))
    return tables_


AGAINST = ("Points", "95 % interval", "Gained", "Lost", "Exact p")
_NOTE = "Points, flips and p: against no memory, the same tasks and trials."


def success_table(results: Results) -> ReportTable:
    """Success by target, condition and ability, as in the paper's main table, with flips against no memory."""
    abilities = sorted({ability for cell in results.cells for ability in cell.by_ability})
    ability_columns = abilities if len(abilities) > 1 else []
    rows: list[Row] = []
    sections = []
    for target in targets(results):
        sections.append(len(rows))
        for cell in _of(results, target):
            shares = [percent(_share(cell, ability)) for ability in ability_columns]
            rows.append([cell.condition, target, number(cell.runs), *shares, *_overall(results, cell)])
    header = ("Condition", "Target", "Runs", *ability_columns, "Overall %", *AGAINST)
    align = "ll" + "r" * (len(header) - 2)
    marks = frozenset(sections[1:])
    return ReportTable("Success", header, rows, align=align, sections=marks, notes=(_NOTE,), label="success")


def target_table(results: Results, target: str) -> ReportTable:
    """The same for one target, narrow enough for a terminal."""
    rows: list[Row] = [[cell.condition, number(cell.runs), *_overall(results, cell)] for cell in _of(results, target)]
    return ReportTable(target, ("Condition", "Runs", "Success %", *AGAINST), rows)


def targets(results: Results) -> list[str]:
    return sorted({cell.target for cell in results.cells})


def _of(results: Results, target: str) -> list[ArmResult]:
    return [cell for cell in results.cells if cell.target == target]


def _overall(results: Results, cell: ArmResult) -> list[Cell | str]:
    comparison = results.comparisons.get(cell.target, {}).get(cell.condition)
    return [percent(cell.success, "strong"), *_against(comparison)]


def _share(cell: ArmResult, ability: str) -> float | None:
    passed, runs = cell.by_ability.get(ability, (0, 0))
    return passed / runs if runs else None


def _against(comparison: Comparison | None) -> list[Cell | str]:
    if comparison is None:
        return ["", "", "", "", ""]
    interval = comparison.interval
    return [
        points(comparison.difference),
        between(None if interval is None else (interval.low, interval.high)),
        number(comparison.gained, tone="good" if comparison.gained else "dim"),
        number(comparison.lost, tone="bad" if comparison.lost else "dim"),
        p_value(comparison.mcnemar.exact_p),
    ]


def runtime_table(results: Results) -> ReportTable:
    """What runs cost, as in the paper's table of held-out runtime (a)."""
    rows: list[Row] = [
        [cell.target, cell.condition, percent(cell.success), number(cell.shown_tokens, 0), number(cell.tokens, 0),
         number(cell.model_calls, 1), number(cell.agent_events, 1), number(cell.hung), number(cell.cost_usd, 2)]
        for cell in sorted(results.cells, key=lambda cell: cell.target)
    ]  # fmt: skip
    header = (
        "Target",
        "Condition",
        "Success %",
        "Memory tokens",
        "Target tokens",
        "Calls",
        "Events",
        "Hung",
        "Cost (USD)",
    )
    return ReportTable(
        "Held-out runtime", header, rows, align="ll" + "r" * (len(header) - 2), label="runtime",
        notes=("Tokens, calls and events: means per run. Memory tokens: all that a run was shown. Cost: of all runs.",),
    )  # fmt: skip


def construction_table(results: Results) -> ReportTable:
    """What making the memories cost, as in the paper's table (b)."""
    rows: list[Row] = []
    for facts in results.memories:
        if facts.reason:
            continue
        made = facts.construction
        cost, asked = made.get("cost_usd"), made["tokens_in"] + made["tokens_out"]
        name = f"{facts.condition} ({facts.target})" if facts.target else facts.condition
        rows.append([name, str(facts.fold + 1), number(facts.items), facts.unit, number(facts.tokens), str(made["by"]),
                     number(made["trajectories"]), number(made["calls"]), number(asked),
                     number(cost, 2), facts.sha256[:12]])  # fmt: skip
    header = (
        "Memory",
        "Fold",
        "Items",
        "Unit",
        "Tokens",
        "By",
        "Runs",
        "Calls",
        "Call tokens",
        "Cost (USD)",
        "SHA-256",
    )
    return ReportTable("Construction", header, rows, align="lrrlrlrrrrl", label="construction")


def _comparisons(results: Results) -> Iterator[Section]:
    for target, by_condition in results.comparisons.items():
        flips = [
            FlipRow(name, comparison.gained_tasks, comparison.harmed_tasks) for name, comparison in by_condition.items()
        ]
        yield Section(
            f"What changed for {target}",
            listings=list(_list_harmed(by_condition.items())),
            figures=[flip_chart("Tasks that changed", flips, name="Condition")],
            lede=_name_unharmed(by_condition),
            notes=[f"{name}: {verdict(comparison)}" for name, comparison in by_condition.items()],
        )


def _name_unharmed(by_condition: Mapping[str, Comparison]) -> str:
    names = [name for name, comparison in by_condition.items() if not comparison.harmed_tasks]
    return f"No task was harmed by {', '.join(names)}." if names else ""


def _list_harmed(compared: Iterable[tuple[str, Comparison]]) -> Iterator[Listing]:
    for name, comparison in compared:
        lost = {flip.task: (flip.base, flip.memory) for flip in comparison.flips if flip.change == "lost"}
        items = [Item(task, places=lost.get(task, ())) for task in comparison.harmed_tasks]
        if items:
            yield Listing(f"Harmed by {name}", items, tone="bad")
