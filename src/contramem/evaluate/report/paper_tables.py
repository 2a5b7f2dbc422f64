"""The paper's tables (Experiments, A.2, A.7) for the user's own runs, for Markdown, LaTeX or CSV."""

from __future__ import annotations

from contramem.evaluate.cards import Cards
from contramem.evaluate.compare import Comparison, Effort, Part
from contramem.evaluate.report.cells import Cell, between, number, percent, points, unknown
from contramem.evaluate.report.comparison_tables import (
    abilities_of,
    cards_table,
    ends,
    events_table,
    success_table,
)
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.verdict import p_value

MAX_COLUMNS = 7
"""With more abilities than this, they are rows instead of columns."""


def paper_tables(comparison: Comparison, cards: Cards | None = None) -> tuple[ReportTable, ...]:
    """All tables that apply to the comparison."""
    tables = [_success_by_ability(comparison), flips_table(comparison), events_table(comparison)]
    tables.append(runtime_table(comparison, cards))
    if comparison.completion is not None:
        tables.append(_completion(comparison))
    if cards is not None:
        tables.append(cards_table(cards))
    if comparison.flips:
        tables.append(_flips_table(comparison))
    return tuple(tables)


def _success_by_ability(comparison: Comparison) -> ReportTable:
    """Like the paper's main table: abilities as columns, the better side in bold, the gain in parentheses."""
    parts = comparison.by_ability
    if len(parts) > MAX_COLUMNS:
        return success_table(comparison)
    columns = [part.success for part in parts.values()]
    macro = comparison.macro
    labels = comparison.side_names.labels
    gain = f"{percent(macro.success.memory)} ({points(macro.difference)})"
    rows: list[Row] = [
        [
            labels.base,
            *(_best(column.base, column.memory) for column in columns),
            _best(macro.success.base, macro.success.memory),
        ],
        [
            labels.memory,
            *(_best(column.memory, column.base) for column in columns),
            Cell(gain, 100 * macro.success.memory, "strong" if macro.difference > 0 else ""),
        ],
    ]
    counts = ", ".join(f"{name} {part.tasks}" for name, part in parts.items())
    notes = (f"Tasks: {counts}. Overall averages the abilities. Bold: the better side; parentheses: points gained.",)
    return ReportTable("Success rates (%)", ("Method", *parts, "Overall"), rows, notes=notes, label="success")


def _best(share: float, other: float) -> Cell:
    return percent(share, "strong" if share > other else "")


def flips_table(comparison: Comparison) -> ReportTable:
    """The number of pairs gained and lost, and the results of the tests."""
    named = [*abilities_of(comparison).items(), ("All tasks", comparison)]
    rows: list[Row] = [
        [
            name, number(part.tasks), number(part.pairs), number(part.gained), number(part.lost),
            points(part.difference), between(ends(part.interval)), *_tests(part),
        ]
        for name, part in named
    ]  # fmt: skip
    last = len(rows) - 1
    header = ("Ability", "Tasks", "Pairs", "Gained", "Lost", "Points", "95 % interval", "McNemar χ²", "Exact p")
    return ReportTable(
        "Flips: pairs of runs whose outcome changed", header, rows,
        notes=("Interval: bootstrap over tasks. χ² without continuity correction.",),
        strong=frozenset({last}), sections=frozenset({last} if last else ()), label="flips",
    )  # fmt: skip


def _tests(part: Part) -> tuple[Cell, Cell]:
    chi2, p = part.mcnemar.chi2, part.mcnemar.exact_p
    return number(chi2, 1), unknown() if p is None else Cell(p_value(p), p)


def runtime_table(comparison: Comparison, cards: Cards | None = None) -> ReportTable:
    """Like the paper's runtime table (A.7 a): both sides of every ability, with the cost of a run."""
    rows: list[Row] = []
    sections = []
    labels = comparison.side_names.labels
    for name, part in [*abilities_of(comparison).items(), ("Aggregate", comparison)]:
        sections.append(len(rows))
        for place, label in enumerate((labels.base, labels.memory)):
            rows.append([name, label, *_runtime(part, place, cards if name == "Aggregate" else None)])
    header = (
        "Ability", "Method", "Success (%)", "Memory tok.", "Target tok./run (k)", "Calls/run", "Events/run",
        "Cost (USD)",
    )  # fmt: skip
    notes = (
        "Cost is the sum over the pairs in which both sides know it, the other columns are means per run. n/a: the "
        "traces do not say. Memory tokens come from the inject log. Short failing runs are cheap: read with success.",
    )
    return ReportTable(
        "Runtime", header, rows, align="ll" + "r" * 6, notes=notes, sections=frozenset(sections[1:]), label="runtime"
    )


def _runtime(part: Part, place: int, cards: Cards | None) -> list[Cell]:
    def mean(effort: Effort | None, digits: int, scale: float = 1) -> Cell:
        return unknown() if effort is None else number(scale * _side(effort, place), digits)

    shares = (part.success.base, part.success.memory)
    memory_tokens = 0.0 if place == 0 else cards.memory_tokens if cards else None
    cost = part.cost_usd
    total = None if cost is None else _side(cost, place) * cost.pairs
    return [
        _best(shares[place], shares[1 - place]), number(memory_tokens), mean(part.tokens, 1, 0.001),
        mean(part.model_calls, 1), mean(part.agent_events, 1), number(total, 2),
    ]  # fmt: skip


def _side(effort: Effort, place: int) -> float:
    return effort.memory if place else effort.base


def _completion(comparison: Comparison) -> ReportTable:
    done = comparison.completion
    assert done is not None, "the caller checks"
    change = done.tgc.memory - done.tgc.base
    labels = comparison.side_names.labels
    rows: list[Row] = [
        [labels.base, _best(done.tgc.base, done.tgc.memory), _best(done.sgc.base, done.sgc.memory), "–"],
        [labels.memory, _best(done.tgc.memory, done.tgc.base), _best(done.sgc.memory, done.sgc.base), points(change)],
    ]
    notes = (
        f"Task (TGC) and scenario (SGC) goal completion (%) over {done.tasks} tasks in {done.scenarios} scenarios.",
    )
    return ReportTable("Goal completion", ("Method", "TGC", "SGC", "Δ Base"), rows, notes=notes, label="completion")


def _flips_table(comparison: Comparison) -> ReportTable:
    lost_first = sorted(comparison.flips, key=lambda flip: flip.change != "lost")
    rows: list[Row] = [[flip.task, flip.ability, flip.trial, flip.change] for flip in lost_first]
    return ReportTable(
        "Tasks whose outcome changed", ("Task", "Ability", "Trial", "Change"), rows, align="llll", label="tasks"
    )
