"""The measurements of conditions as a page and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from contramem.counting import ENCODING
from contramem.evaluate.report import Bar, Estimate, IntervalRow, Manifest, Page, Section, bar_chart, interval_chart
from contramem_lab.conditions.foreseen import OURS, RowForesight, compare_foresight
from contramem_lab.conditions.measure import Measurements
from contramem_lab.conditions.tables import average, average_cost, splits, write_tables
from contramem_lab.contest import MIN_PAIRS


def page(measured: Measurements, manifest: Manifest) -> Page:
    """The report."""
    compared = compare_foresight(measured)
    ours = next((row for row in compared if row.name == OURS), None)
    rows = [
        IntervalRow(row.name, [Estimate(row.score, *(row.interval or (None, None)))])
        for row in compared
        if row.score is not None
    ]
    bars = [
        Bar(row.name, row.mean_tokens, kind="memory" if row.name == OURS else "base") for row in measured.rows
    ]  # fmt: skip
    foresight, runtime, construction = write_tables(measured)
    return Page(
        title="Conditions on recorded runs",
        verdict=_verdict(ours),
        subtitle=f"{len(measured.rows)} ways to remember the same runs; {splits(measured)}.",
        sections=[
            Section(
                "Which memory tells passing runs from failing ones?",
                figures=[
                    interval_chart(
                        "Pairs ordered correctly",
                        rows,
                        kinds=("memory",),
                        measure="share of pairs ordered correctly",
                        span=(0.4, 1.0),
                        reference=0.5,
                        digits=3,
                    )
                ],
                tables=[foresight],
            ),
            Section(
                "What does a task get?",
                figures=[bar_chart("Memory tokens at task start", bars, measure="tokens, mean over held-out tasks")],
                tables=[runtime],
            ),
            Section("What did it take to build?", tables=[construction]),
        ],
        manifest=manifest,
        not_known=[f"{row.name}: {row.not_applicable}." for row in measured.rows if row.not_applicable],
    )


def _verdict(ours: RowForesight | None) -> str:
    if ours is None or ours.score is None or ours.difference is None:
        return "contramem was not compared."
    against = ours.difference
    sentence = f"contramem orders {ours.score:.3f} of the pairs correctly, {against.value:+.3f} against {against.to}"
    if against.interval is None or against.interval[0] <= 0 <= against.interval[1]:
        return f"{sentence}: these tasks do not show which is better."
    return f"{sentence}, the {'best' if against.value > 0 else 'better'} other memory."


def as_json(measured: Measurements) -> dict[str, Any]:
    """Every figure."""
    rows = {}
    for row in measured.rows:
        spent = average_cost(row.constructions)
        rows[row.name] = {
            "about": row.about,
            "not_applicable": row.not_applicable or None,
            "memory_tokens": {
                "median": row.median_tokens,
                "mean": row.mean_tokens,
                "mean_with_calls": row.mean_run_tokens,
                "whole": average([tokens for _, tokens in row.sizes]),
                "items": average([items for items, _ in row.sizes]),
                "unit": row.unit,
            },
            "construction": asdict(spent) if spent else None,
        }
    return {
        "tasks": measured.tasks,
        "pairs": measured.pairs,
        "descriptive_only": measured.pairs < MIN_PAIRS,
        "target": measured.target,
        "seed": measured.seed,
        "splits": measured.splits,
        "by": measured.by,
        "encoding": ENCODING,
        "conditions": rows,
        "foresight": {
            row.name: {k: v for k, v in asdict(row).items() if k != "name"} for row in compare_foresight(measured)
        },
    }
