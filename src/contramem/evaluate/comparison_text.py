"""A comparison for a terminal: tables, the changed tasks by name, and the verdict. Prints nothing itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from contramem.evaluate.cards import Cards
from contramem.evaluate.compare import Comparison
from contramem.evaluate.report.comparison_tables import card_notes, cards_table, effort_table, success_table
from contramem.evaluate.verdict import Finding, finding, p_value, verdict

NAMED = 40
"""How many tasks are listed by name; `--json` has all."""
_COLOURS: dict[Finding, str] = {"helps": "green", "harms": "red"}


def as_table(comparison: Comparison, abilities: bool = False, cards: Cards | None = None) -> RenderableType:
    """The comparison as a renderable. `abilities` adds a row for each, `cards` a table of their effects."""
    return Group(*_parts(comparison, abilities, cards))


def _parts(comparison: Comparison, abilities: bool, cards: Cards | None) -> Iterator[RenderableType]:
    yield _heading(comparison)
    yield success_table(comparison, abilities).as_rich()
    yield effort_table(comparison).as_rich()
    yield from _list_tasks("Gained", "+", "green", comparison.gained_tasks)
    yield from _list_tasks("Harmed", "−", "red", comparison.harmed_tasks)
    if cards is not None:
        yield from _cards(cards)
    for line in _notes(comparison):
        yield Text(line, style="dim")
    yield Text(f"\n{verdict(comparison)}", style=f"bold {_COLOURS.get(finding(comparison), 'yellow')}")


def _heading(comparison: Comparison) -> Text:
    tried = f"{comparison.tasks} tasks, {comparison.pairs} pairs of runs"
    by = "task, source and trial" if comparison.by_source else "task and trial"
    sources = comparison.sources
    second = "  with memory " if comparison.by_source else "  second side "
    text = Text.assemble(("base ", "bold"), _few(sources.base), (second, "bold"), _few(sources.memory))
    return text.append(f"\n{tried}, paired by {by}", style="dim")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _list_tasks(title: str, sign: str, colour: str, tasks: Sequence[str]) -> Iterator[RenderableType]:
    yield Text(f"{title} ({len(tasks)})", style=f"bold {colour}")
    names = [Text(f"{sign} {task}", style=colour, no_wrap=True) for task in tasks[:NAMED]]
    yield Padding(Columns(names, padding=(0, 3, 0, 0), column_first=True), (0, 0, 0, 2))
    if len(tasks) > NAMED:
        yield Text(f"  and {len(tasks) - NAMED} more; --json lists all", style="dim")


def _cards(cards: Cards) -> Iterator[RenderableType]:
    table = cards_table(cards)
    if cards.effects:
        yield table.as_rich()
    for line in (*table.notes, *card_notes(cards)):
        yield Text(line, style="dim")


def _notes(comparison: Comparison) -> Iterator[str]:
    yield ""
    tested = comparison.mcnemar
    if tested.chi2 is not None:
        yield f"McNemar chi-square {tested.chi2:.1f}, exact p {p_value(tested.exact_p)}"
    if comparison.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in comparison.left_out.items())
        yield f"Runs left out: {reasons}"
