"""A comparison for readers: as a page (the verdict, the harmed tasks, everything else), on a terminal, and for a pull
request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.bank.ledger import LedgerEntry
from contramem.bank.show import BankDifference
from contramem.evaluate.cards import Cards
from contramem.evaluate.compare import Comparison, Flip, Part
from contramem.evaluate.pairs import Pairing
from contramem.evaluate.report.charts import Bar, Estimate, FlipRow, IntervalRow, bar_chart, flip_chart, interval_chart
from contramem.evaluate.report.page import Item, Listing, Manifest, Page, Section, Tile, Tone
from contramem.evaluate.report.table import in_markdown
from contramem.evaluate.report.tables import (
    Finding,
    card_notes,
    cards_table,
    effort_table,
    events_table,
    finding,
    flips_table,
    in_points,
    p_value,
    points_text,
    success_table,
    verdict,
)
from contramem.evaluate.stats import MIN_TASKS

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
    sure = "no interval" if comparison.interval is None else f"{in_points(comparison.interval)} (95 %)"
    change = comparison.difference
    tone = _TONES.get(finding(comparison), "open")
    yield Tile(
        "Success", f"{100 * success.base:.1f} → {100 * success.memory:.1f} %", f"{points_text(change)} points; {sure}",
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
            *_not_compared(comparison),
        ],
        figures=[chart] if comparison.flips else (),
        tables=[flips_table(comparison)],
    )


def _not_compared(comparison: Comparison) -> Iterator[Listing]:
    """The tasks that only one side ran, with the side."""
    sides, unpaired = comparison.side_names.labels, comparison.unpaired
    items = [
        Item(task, name)
        for name, tasks in ((sides.base, unpaired.base), (sides.memory, unpaired.memory))
        for task in tasks
    ]
    if items:
        yield Listing(NOT_COMPARED, items, "", "Every task was run on both sides.", open_up_to=0)


NOT_COMPARED = "Run on one side only, so not compared"


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
    return IntervalRow(name, estimates, points_text(part.difference))


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


# The history of a bank

_REFUSED = "refused"
_KINDS = {"ADD": "good", "RETIRE": "bad", _REFUSED: "bad", "NOOP": "plain"}


def evolution_section(ledger: Sequence[LedgerEntry], where: str) -> Section:
    """A section with the operations of a store's ledger."""
    counts = Counter(_operation(entry) for entry in ledger)
    served: Counter[bool] = Counter()
    for change in (change for entry in ledger for change in entry.decision.changes):
        was_served = change.before is not None and change.before.served
        served[isinstance(change.after.card, FunctionCard)] += change.after.served - was_served
    bars = [Bar(name, count, kind=_KINDS.get(name, "memory")) for name, count in counts.most_common()]
    refused = "Refused: a check did not let it in." if counts[_REFUSED] else ""
    return Section(
        "How the bank came about",
        f"{where}: {len(ledger):,} decisions. In service now: {served[True]:,} Function Cards and "
        f"{served[False]:,} Skill Cards.",
        figures=[bar_chart("Decisions", bars, measure="decisions", name="Operation", caption=refused)],
    )


def _operation(entry: LedgerEntry) -> str:
    return entry.decision.operation or _REFUSED if entry.decision.accepted else _REFUSED


# A pull request that changes a bank

LISTED = 30
"""How many names of each kind are listed; the rest is counted."""


def pull_request_text(comparison: Comparison, difference: BankDifference | None) -> str:
    """`difference` is between the bank before and the bank of the runs with memory; None leaves cards out."""
    return "\n".join([*_changed_tasks(comparison), *(_changed_cards(difference) if difference is not None else ()), ""])


def _changed_tasks(comparison: Comparison) -> Iterator[str]:
    yield "## Memory: what changes"
    yield ""
    yield in_markdown(verdict(comparison))
    yield ""
    for title, change in (("Tasks gained", "gained"), ("Tasks harmed", "lost")):
        tasks = sorted({flip.task for flip in comparison.flips if flip.change == change})
        yield from _list_names(title, [f"`{task}`" for task in tasks])


def _changed_cards(difference: BankDifference) -> Iterator[str]:
    yield from _list_names("Cards added", [_name(card) for card in difference.added])
    yield from _list_names("Cards changed", [_name(pair.right) for pair in difference.changed])
    yield from _list_names("Cards retired", [_name(card) for card in difference.removed])


def _name(card: Card) -> str:
    return f"`{card.card_id}` {in_markdown(card.title)}" if isinstance(card, SkillCard) else f"`{card.card_id}`"


def _list_names(title: str, items: Sequence[str]) -> Iterator[str]:
    yield f"**{title}: {len(items)}**"
    yield ""
    for item in items[:LISTED]:
        yield f"- {item}"
    if len(items) > LISTED:
        yield f"- and {len(items) - LISTED} more"
    if items:
        yield ""


# A terminal

NAMED = 40
"""How many tasks are listed by name; `--json` has all."""
_TERMINAL_COLOURS: dict[Finding, str] = {"helps": "green", "harms": "red"}


def as_table(comparison: Comparison, abilities: bool = False, cards: Cards | None = None) -> RenderableType:
    """The comparison as a renderable. `abilities` adds a row for each, `cards` a table of their effects."""
    return Group(*_terminal_parts(comparison, abilities, cards))


def _terminal_parts(comparison: Comparison, abilities: bool, cards: Cards | None) -> Iterator[RenderableType]:
    yield _heading(comparison)
    yield success_table(comparison, abilities).as_rich()
    yield effort_table(comparison).as_rich()
    yield from _list_tasks("Gained", "+", "green", comparison.gained_tasks)
    yield from _list_tasks("Harmed", "−", "red", comparison.harmed_tasks)
    for listing in _not_compared(comparison):
        yield from _list_tasks(listing.title, "·", "yellow", [f"{item.name} ({item.detail})" for item in listing.items])
    if cards is not None:
        yield from _card_lines(cards)
    for line in _closing_lines(comparison):
        yield Text(line, style="dim")
    yield Text(f"\n{verdict(comparison)}", style=f"bold {_TERMINAL_COLOURS.get(finding(comparison), 'yellow')}")


def _heading(comparison: Comparison) -> Text:
    tried = f"{comparison.tasks} tasks, {comparison.pairs} pairs of runs"
    by = "task, source and trial" if comparison.by_source else "task and trial"
    sources = comparison.sources
    second = "  with memory " if comparison.by_source else "  second side "
    text = Text.assemble(("base ", "bold"), _few(sources.base), (second, "bold"), _few(sources.memory))
    return text.append(f"\n{tried}, paired by {by}", style="dim")


def _list_tasks(title: str, sign: str, colour: str, tasks: Sequence[str]) -> Iterator[RenderableType]:
    yield Text(f"{title} ({len(tasks)})", style=f"bold {colour}")
    names = [Text(f"{sign} {task}", style=colour, no_wrap=True) for task in tasks[:NAMED]]
    yield Padding(Columns(names, padding=(0, 3, 0, 0), column_first=True), (0, 0, 0, 2))
    if len(tasks) > NAMED:
        yield Text(f"  and {len(tasks) - NAMED} more; --json lists all", style="dim")


def _card_lines(cards: Cards) -> Iterator[RenderableType]:
    table = cards_table(cards)
    if cards.effects:
        yield table.as_rich()
    for line in (*table.notes, *card_notes(cards)):
        yield Text(line, style="dim")


def _closing_lines(comparison: Comparison) -> Iterator[str]:
    yield ""
    tested = comparison.mcnemar
    if tested.chi2 is not None:
        yield f"McNemar chi-square {tested.chi2:.1f}, exact p {p_value(tested.exact_p)}"
    if comparison.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in comparison.left_out.items())
        yield f"Runs left out: {reasons}"
