"""A comparison as a page: first the verdict, then the harmed tasks, then everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from contramem.evaluate.cards import Cards
from contramem.evaluate.compare import Comparison, Flip, Part
from contramem.evaluate.pairs import Pairing
from contramem.evaluate.report.charts.flips import FlipRow, flip_chart
from contramem.evaluate.report.charts.intervals import Estimate, IntervalRow, interval_chart
from contramem.evaluate.report.comparison_tables import (
    card_notes,
    cards_table,
    effort_table,
    events_table,
    success_table,
)
from contramem.evaluate.report.manifest import Manifest
from contramem.evaluate.report.page import Item, Listing, Page, Section, Tile, Tone
from contramem.evaluate.report.paper_tables import flips_table
from contramem.evaluate.stats import MIN_TASKS, Interval
from contramem.evaluate.verdict import Finding, finding, points, verdict

_TONES: dict[Finding, Tone] = {"helps": "good", "harms": "bad"}


@dataclass(frozen=True)
class Extras:
    """Optional additions to the page."""

    cards: Cards | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of cards by id, if a bank is known."""
    sections: Sequence[Section] = ()
    """Sections to add at the end, such as the history of the bank."""


def comparison_page(comparison: Comparison, pairing: Pairing, manifest: Manifest, extras: Extras | None = None) -> Page:
    """The whole report of a comparison."""
    extras = extras or Extras()
    sections = [_harm(comparison), _success(comparison), _effort(comparison, pairing)]
    if extras.cards is not None:
        sections.append(_cards(extras.cards, extras.titles))
    return Page(
        title="What memory changed" if comparison.by_source else "Two agents compared",
        subtitle=_subtitle(comparison),
        verdict=verdict(comparison),
        tone=_TONES.get(finding(comparison), "open"),
        tiles=tuple(_tiles(comparison)),
        not_known=tuple(_not_known(comparison, extras.cards)),
        sections=[*sections, *extras.sections, _method(comparison)],
        manifest=manifest,
    )


def _subtitle(comparison: Comparison) -> str:
    base, memory = (_few(names) for names in (comparison.sources.base, comparison.sources.memory))
    if not comparison.by_source:
        return (
            f"First side: {base}. Second side: {memory}. n = {_count(comparison)}. The sides are different agents, so "
            "this compares agents, not memory."
        )
    return f"Without memory: {base}. With memory: {memory}. n = {_count(comparison)}."


def _count(part: Part) -> str:
    return _of(part) if part.pairs == part.tasks else f"{_of(part)}, {part.pairs:,} pairs of runs"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _tiles(comparison: Comparison) -> Iterator[Tile]:
    success = comparison.success
    sure = "no interval" if comparison.interval is None else f"{_points(comparison.interval)} (95 %)"
    change = comparison.difference
    tone = _TONES.get(finding(comparison), "open")
    yield Tile(
        "Success", f"{100 * success.base:.1f} → {100 * success.memory:.1f} %", f"{points(change)} points; {sure}",
        "" if tone == "open" else tone,
    )  # fmt: skip
    harmed, gained = len(comparison.harmed_tasks), len(comparison.gained_tasks)
    yield Tile("Harmed", f"{harmed:,}", f"of {_of(comparison)}", "bad" if harmed else "")
    yield Tile("Gained", f"{gained:,}", f"of {_of(comparison)}", "good" if gained else "")
    events = comparison.agent_events
    if events is not None:
        yield Tile("Agent events a run", f"{events.base:.1f} → {events.memory:.1f}", f"{events.pairs:,} pairs of runs")


def _of(part: Part) -> str:
    return f"{part.tasks:,} task{'s' if part.tasks != 1 else ''}"


def _points(interval: Interval) -> str:
    return f"{points(interval.low)} to {points(interval.high)}"


def _not_known(comparison: Comparison, cards: Cards | None) -> Iterator[str]:
    few = [name for name, part in comparison.by_ability.items() if part.tasks < MIN_TASKS]
    if comparison.tasks < MIN_TASKS:
        yield f"How sure the difference is: fewer than {MIN_TASKS} tasks give no interval (n/a)."
    elif few:
        yield f"How sure it is for {_few(few)}: fewer than {MIN_TASKS} tasks of an ability give no interval (n/a)."
    if comparison.mcnemar.exact_p is None:
        yield "Whether chance did it: no outcome changed, so there is nothing to test (n/a)."
    missing = [
        name
        for name, effort in (
            ("model calls", comparison.model_calls), ("tokens", comparison.tokens), ("cost", comparison.cost_usd),
        )
        if effort is None
    ]  # fmt: skip
    if missing:
        yield f"{_join_names(missing).capitalize()}: no pair of runs has it on both sides (n/a)."
    if comparison.left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in comparison.left_out.items())
        yield f"How these runs would have counted, which were left out: {reasons}."
    if cards is None:
        yield "Which cards were shown: no inject log was given (--injections LOG)."


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _harm(comparison: Comparison) -> Section:
    harmed = set(comparison.harmed_tasks)
    rows = [FlipRow(name, *_list_flips(comparison.flips, name)) for name in comparison.by_ability]
    what = "Each square is one pair of runs" if comparison.pairs > comparison.tasks else "Each square is one task"
    chart = flip_chart("Flips by ability", rows, name="Ability", caption=f"{what}; pointing at it gives the name.")
    return Section(
        "Harmed and gained tasks",
        _harm_lede(comparison),
        listings=[
            Listing(
                "Harmed",
                _items(comparison.flips, harmed),
                "bad",
                f"No task passes less often {comparison.side_names.phrases.memory}.",
            ),
            Listing(
                "Gained",
                [Item(task) for task in comparison.gained_tasks],
                "good",
                "No task passes more often.",
                open_up_to=0,
            ),
        ],
        figures=[chart] if comparison.flips else (),
        tables=[flips_table(comparison)],
    )


def _list_flips(flips: Iterable[Flip], ability: str) -> tuple[list[str], list[str]]:
    """The gained and the lost tasks of an ability."""
    tasks: dict[str, list[str]] = {"gained": [], "lost": []}
    for flip in flips:
        if flip.ability == ability:
            tasks[flip.change].append(flip.task)
    return tasks["gained"], tasks["lost"]


def _harm_lede(comparison: Comparison) -> str:
    if not comparison.flips:
        return "No outcome changed."
    harmed, gained = len(comparison.harmed_tasks), len(comparison.gained_tasks)
    sides = comparison.side_names.phrases
    return (
        f"An average can rise while single tasks break. Of {_of(comparison)}, {harmed:,} pass less often "
        f"{sides.memory} and {gained:,} more often. "
        f"Below each harmed task are its runs: {sides.base}, then {sides.memory}."
    )


def _items(flips: Iterable[Flip], tasks: set[str]) -> list[Item]:
    """One item per task, with the runs that changed."""
    by_task: dict[str, list[Flip]] = {}
    for flip in flips:
        if flip.task in tasks:
            by_task.setdefault(flip.task, []).append(flip)
    return [
        Item(
            task, flips_of_task[0].ability, tuple(place for flip in flips_of_task for place in (flip.base, flip.memory))
        )
        for task, flips_of_task in sorted(by_task.items())
    ]


def _success(comparison: Comparison) -> Section:
    rows = [_success_row(name, part) for name, part in comparison.by_ability.items()]
    if len(rows) > 1:
        rows.append(_success_row("All tasks", comparison))
    chart = interval_chart(
        "Success by ability", rows, series=_series(comparison), measure="runs that passed, %", name="Ability",
        span=(0, 100), notes="Points", caption=(
            "Bars are 95 % intervals of each side by itself (Wilson). Both sides ran the same tasks, so the interval "
            "of the difference, in the table below, says whether they differ."
        ),
    )  # fmt: skip
    return Section(
        "Success", figures=[chart], tables=[success_table(comparison, abilities=len(comparison.by_ability) > 1)]
    )


def _series(comparison: Comparison) -> tuple[str, str]:
    labels = comparison.side_names.labels
    return labels.base, labels.memory


def _success_row(name: str, part: Part) -> IntervalRow:
    sides = zip(
        (part.success.base, part.success.memory),
        (part.success_interval.base, part.success_interval.memory),
        strict=True,
    )
    estimates = [
        Estimate(100 * share, *((100 * around.low, 100 * around.high) if around else (None, None)))
        for share, around in sides
    ]
    return IntervalRow(name, estimates, points(part.difference))


def _effort(comparison: Comparison, pairing: Pairing) -> Section:
    changes = [pair.memory.agent_events - pair.base.agent_events for pair in pairing.pairs]
    fewer, more = sum(change < 0 for change in changes), sum(change > 0 for change in changes)
    return Section(
        "Effort",
        "Read it together with success: a run that fails early is short and cheap.",
        tables=[effort_table(comparison), events_table(comparison)],
        notes=[
            f"Of {len(changes):,} pairs of runs, {fewer:,} have fewer agent events "
            f"{comparison.side_names.phrases.memory}, {more:,} more, {len(changes) - fewer - more:,} as many."
        ],
    )


def _cards(cards: Cards, titles: Mapping[str, str]) -> Section:
    table = [cards_table(cards, titles)] if cards.effects else []
    return Section("Cards", " ".join(card_notes(cards)), tables=table)


def _method(comparison: Comparison) -> Section:
    by = "task, source and trial" if comparison.by_source else "task and trial"
    sides = comparison.side_names.phrases
    return Section(
        "How to read this",
        notes=[
            f"Runs were paired by {by}. A task is harmed when it passes less often {sides.memory} than {sides.base}.",
            "The verdict says “helps” or “harms” only when the 95 % interval of the difference (bootstrap over whole "
            "tasks) excludes zero and McNemar's exact p is below 0.05. Otherwise the question is open.",
            "n/a: there is no number, because nobody measured it or there is too little data. It is never a zero.",
            "Hung runs met a limit and never finalized. They count with the verifier's verdict and are shown apart: "
            f"{comparison.hung.base:,} {sides.base}, {comparison.hung.memory:,} {sides.memory}.",
        ],
    )
