"""A comparison as a terminal shows it: tables, the tasks by name, and the verdict. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contramem.evaluate.compare import Comparison, Effort, Macro, Part
from contramem.evaluate.sides import Sides
from contramem.evaluate.verdict import Finding, finding, in_points, p_value, points, signed, verdict

NAMED = 40
"""Tasks listed by name on a terminal; `--json` has all."""
_COLOURS: dict[Finding, str] = {"helps": "green", "harms": "red"}


def as_table(comparison: Comparison, abilities: bool = False) -> RenderableType:
    """Everything worth a glance; `abilities` adds a line for each."""
    return Group(*_parts(comparison, abilities))


def _parts(comparison: Comparison, abilities: bool) -> Iterator[RenderableType]:
    yield _heading(comparison)
    yield _success(comparison, abilities)
    yield _effort(comparison)
    yield from _named("Gained", "+", "green", comparison.gained_tasks)
    yield from _named("Harmed", "−", "red", comparison.harmed_tasks)
    for line in _notes(comparison):
        yield Text(line, style="dim")
    yield Text(f"\n{verdict(comparison)}", style=f"bold {_COLOURS.get(finding(comparison), 'yellow')}")


def _heading(comparison: Comparison) -> Text:
    tried = f"{comparison.tasks} tasks, {comparison.pairs} pairs of runs"
    by = "task, source and trial" if comparison.by_source else "task and trial"
    sources = comparison.sources
    text = Text.assemble(("base ", "bold"), _few(sources.base), ("  with memory ", "bold"), _few(sources.memory))
    return text.append(f"\n{tried}, paired by {by}", style="dim")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _success(comparison: Comparison, abilities: bool) -> Table:
    table = _table("Success", "Base %", "Memory %", "Points", "95 % interval", "Gained", "Lost", "Tasks")
    if abilities:
        for name, part in comparison.by_ability.items():
            table.add_row(name, *_shares(part), *_counts(part))
        table.add_section()
    table.add_row("All tasks", *_shares(comparison), *_counts(comparison), style="bold")
    if len(comparison.by_ability) > 1:
        table.add_row("Macro", *_shares(comparison.macro))
    if (done := comparison.completion) is not None:
        table.add_row("TGC", *_change(done.tgc), "", "", "", str(done.tasks))
        table.add_row("SGC", *_change(done.sgc), "", "", "", f"{done.scenarios} scenarios")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def _shares(part: Part | Macro) -> Iterator[Text]:
    yield from _change(part.success)
    yield Text("n/a", style="dim") if part.interval is None else Text(in_points(part.interval))


def _change(success: Sides[float]) -> Iterator[Text]:
    yield Text(f"{100 * success.base:.1f}")
    yield Text(f"{100 * success.memory:.1f}")
    difference = success.memory - success.base
    yield Text(points(difference), style="green" if difference > 0 else "red" if difference < 0 else "")


def _counts(part: Part) -> Iterator[Text]:
    yield Text(str(part.gained), style="green" if part.gained else "dim")
    yield Text(str(part.lost), style="red" if part.lost else "dim")
    yield Text(str(part.tasks))


def _effort(comparison: Comparison) -> Table:
    table = _table("Per run", "Base", "Memory", "Difference", "Known for")
    rows: list[tuple[str, Effort | None, int]] = [
        ("Agent events", comparison.agent_events, 1),
        ("Model calls", comparison.model_calls, 1),
        ("Tokens", comparison.tokens, 0),
        ("Cost (USD)", comparison.cost_usd, 4),
    ]
    for name, effort, digits in rows:
        if effort is not None:
            numbers = [f"{number:,.{digits}f}" for number in (effort.base, effort.memory)]
            table.add_row(name, *numbers, signed(effort.memory - effort.base, digits), f"{effort.pairs} pairs")
    hung = comparison.hung
    table.add_row("Hung runs", str(hung.base), str(hung.memory), signed(hung.memory - hung.base), "")
    return table


def _named(title: str, sign: str, colour: str, tasks: Sequence[str]) -> Iterator[RenderableType]:
    yield Text(f"{title} ({len(tasks)})", style=f"bold {colour}")
    names = [Text(f"{sign} {task}", style=colour, no_wrap=True) for task in tasks[:NAMED]]
    yield Padding(Columns(names, padding=(0, 3, 0, 0), column_first=True), (0, 0, 0, 2))
    if len(tasks) > NAMED:
        yield Text(f"  and {len(tasks) - NAMED} more; --json lists all", style="dim")


def _notes(comparison: Comparison) -> Iterator[str]:
    yield ""
    tested = comparison.mcnemar
    if tested.chi2 is not None:
        yield f"McNemar chi-square {tested.chi2:.1f}, exact p {p_value(tested.exact_p)}"
    if comparison.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in comparison.left_out.items())
        yield f"Runs left out: {reasons}"
