"""A comparison as tables, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contramem.evaluate.cards import CardEffect, Cards, RunOutcomes
from contramem.evaluate.compare import Comparison, Effort, Macro, Part
from contramem.evaluate.report.cells import Cell, better, between, difference_cell, number, percent, points, unknown
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.sides import WithAndWithout
from contramem.evaluate.stats import Interval


def success_table(comparison: Comparison, abilities: bool = True) -> ReportTable:
    """Success on each side, the difference and its interval; `abilities` adds a row for each."""
    rows: list[Row] = [[name, *_shares(part), *_flips(part)] for name, part in comparison.by_ability.items()]
    rows = rows if abilities else []
    total = len(rows)
    rows.append(["All tasks", *_shares(comparison), *_flips(comparison)])
    if len(comparison.by_ability) > 1:
        rows.append(["Macro", *_shares(comparison.macro)])
    if (done := comparison.completion) is not None:
        rows.append(["TGC", *_change(done.tgc), "", "", "", number(done.tasks)])
        rows.append(["SGC scenarios", *_change(done.sgc), "", "", "", number(done.scenarios)])
    columns = comparison.side_names.columns
    header = (
        "Success",
        f"{columns.base} %",
        f"{columns.memory} %",
        "Points",
        "95 % interval",
        "Gained",
        "Lost",
        "Tasks",
    )
    strong, sections = frozenset({total}), frozenset({total} if total else ())
    return ReportTable("Success", header, rows, strong=strong, sections=sections, label="success")


def abilities_of(comparison: Comparison) -> Mapping[str, Part]:
    """The abilities, if there are several; a single one would repeat the total."""
    return comparison.by_ability if len(comparison.by_ability) > 1 else {}


def _shares(part: Part | Macro) -> Iterator[Cell]:
    yield from _change(part.success)
    yield between(ends(part.interval))


def _change(success: WithAndWithout[float]) -> Iterator[Cell]:
    yield percent(success.base)
    yield percent(success.memory)
    yield points(success.memory - success.base)


def ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _flips(part: Part) -> Iterator[Cell]:
    yield from flip_counts(part.gained, part.lost)
    yield number(part.tasks)


def flip_counts(gained: int, lost: int) -> tuple[Cell, Cell]:
    return number(gained, tone="good" if gained else "dim"), number(lost, tone="bad" if lost else "dim")


def effort_table(comparison: Comparison) -> ReportTable:
    """Means per run, over the pairs for which both sides are known."""
    kinds: list[tuple[str, Effort | None, int]] = [
        ("Agent events", comparison.agent_events, 1),
        ("Agent events, where both passed", comparison.agent_events_passed, 1),
        ("Model calls", comparison.model_calls, 1),
        ("Tokens", comparison.tokens, 0),
        ("Cost (USD)", comparison.cost_usd, 4),
    ]
    rows: list[Row] = [
        [name, *_means(effort, digits), f"{effort.pairs} pairs"] for name, effort, digits in kinds if effort is not None
    ]
    hung = comparison.hung
    rows.append(["Hung runs", number(hung.base), number(hung.memory), difference_cell(hung.memory - hung.base)])
    columns = comparison.side_names.columns
    header = ("Per run", columns.base, columns.memory, "Difference", "Known for")
    return ReportTable("Per run", header, rows, label="effort")


def _means(effort: Effort | None, digits: int, *, coloured: bool = False) -> list[Cell]:
    if effort is None:
        return [unknown(), unknown(), unknown()]
    change = effort.memory - effort.base
    tone = better(change, "down") if coloured else ""
    return [number(effort.base, digits), number(effort.memory, digits), difference_cell(change, digits, tone)]


def cards_table(cards: Cards, titles: Mapping[str, str] | None = None) -> ReportTable:
    """For each card, the outcomes of runs that were shown it and of the paired runs without memory."""
    has_held_out = any(effect.held_out.runs for effect in cards.effects)
    header = ("Card", "Tasks", "Passed", "Failed", "Base passed", "Base failed", "Gained", "Lost")
    rows: list[Row] = [
        [
            _card_name(effect, titles or {}), number(effect.tasks), *_count_outcomes(effect.shown),
            *_count_outcomes(effect.base),
            *flip_counts(effect.gained, effect.lost),
            *(_count_outcomes(effect.held_out) if has_held_out else ()),
        ]
        for effect in cards.effects
    ]  # fmt: skip
    return ReportTable(
        "Runs that were shown a card",
        (*header, *(("Held-out passed", "Held-out failed") if has_held_out else ())),
        rows,
        notes=(
            "A card is shown where it fits, beside others: a gain or a loss with it need not be its doing. Base: the "
            "paired runs without memory."
            + (
                " Held out: runs at the same tasks that were chosen by lot to be shown nothing." if has_held_out else ""
            ),
        ),
        label="cards",
    )


def card_notes(cards: Cards) -> Iterator[str]:
    """How many runs were shown a card, held out, or missing from the inject log."""
    yield f"{cards.shown} of the runs with memory were shown a card" + (
        f", {cards.held_out} were held out." if cards.held_out else "."
    )
    if cards.not_in_log:
        yield f"Of {cards.not_in_log} run(s) with memory the log says nothing, or nothing that run ids tell apart."


def _card_name(effect: CardEffect, titles: Mapping[str, str]) -> str:
    title = titles.get(effect.card_id)
    return f"{title} ({effect.card_id})" if title else effect.card_id


def _count_outcomes(outcomes: RunOutcomes) -> tuple[Cell, Cell]:
    return number(outcomes.passed), number(outcomes.failed)


def events_table(comparison: Comparison) -> ReportTable:
    """Mean agent events by ability, as in the paper's efficiency table (A.2)."""
    rows: list[Row] = [
        [name, *_means(part.agent_events, 1, coloured=True), *_means(part.agent_events_passed, 1, coloured=True)]
        for name, part in abilities_of(comparison).items()
    ]
    whole = [*_means(comparison.agent_events, 1), *_means(comparison.agent_events_passed, 1)]
    passed = comparison.agent_events_passed
    sides = comparison.side_names
    first, second = sides.labels.base, sides.labels.memory
    return ReportTable(
        "Agent events per run",
        ("Ability", first, second, "Δ", f"{first}, both passed", f"{second}, both passed", "Δ, both passed"),
        [*rows, ["All tasks", *whole]],
        notes=(
            f"Negative Δ: fewer events {sides.phrases.memory}. A run that fails early is short, which is no saving: "
            f"the right half counts only the {passed.pairs if passed else 0} pairs that passed on both sides.",
        ),
        strong=frozenset({len(rows)}),
        sections=frozenset({len(rows)} if rows else ()),
        label="events",
    )
