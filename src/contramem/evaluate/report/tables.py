"""A comparison in words that claim no more than the interval supports, and as tables: the same on a terminal, on a page
and in a paper (Experiments, A.2, A.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from contramem.evaluate.cards import CardEffect, Cards, RunOutcomes
from contramem.evaluate.compare import Comparison, Effort, Macro, Part
from contramem.evaluate.pairs import WithAndWithout
from contramem.evaluate.report.table import (
    Cell,
    ReportTable,
    Row,
    better,
    between,
    difference_cell,
    number,
    percent,
    points,
    unknown,
    with_sign,
)
from contramem.evaluate.stats import MIN_TASKS, Interval, ends

# Words

Finding: TypeAlias = Literal["helps", "harms", "unclear", "unchanged", "too little data"]
ALPHA = 0.05


def finding(part: Part) -> Finding:
    """Memory helps or harms only if both the interval over tasks and the exact test say so."""
    if part.gained == part.lost == 0:
        return "unchanged"
    if part.interval is None or part.mcnemar.exact_p is None:
        return "too little data"
    if part.mcnemar.exact_p < ALPHA and part.interval.low > 0:
        return "helps"
    if part.mcnemar.exact_p < ALPHA and part.interval.high < 0:
        return "harms"
    return "unclear"


def verdict(comparison: Comparison) -> str:
    """What changed and how certain it is, in one sentence; a second warns if the sides differ in more than memory."""
    result = finding(comparison)
    if result == "unchanged":
        return f"No outcome changed on {_tasks(comparison)}: these runs show neither help nor harm."
    sentence = f"{_describe_change(comparison)}; {_how_sure(comparison, result)}."
    return sentence if comparison.by_source else f"{sentence} {NOT_ONE_SOURCE}"


NOT_ONE_SOURCE = "The two sides are not runs of one source: the model or agent may be the reason, not memory."


def _describe_change(part: Comparison) -> str:
    base, memory = (round(share * part.pairs) for share in (part.success.base, part.success.memory))
    of = _tasks(part) if part.pairs == part.tasks else f"{part.pairs} runs ({_tasks(part)})"
    instead = "as many as without" if base == memory else f"instead of {base}"
    flips = f"{part.gained} gained, {part.lost} lost, {points_text(part.difference)} points"
    side = "With memory" if part.by_source else "On the second side"
    return f"{side} {memory} of {of} pass, {instead} ({flips})"


def _how_sure(part: Comparison, result: Finding) -> str:
    if result == "too little data":
        few = f"with fewer than {MIN_TASKS} tasks" if part.tasks < MIN_TASKS else "as every task changed the same way"
        return f"{few} there is no interval, so treat it as an anecdote"
    assert part.interval is not None, "finding() asks for one"
    where = f"95 % interval {in_points(part.interval)} points, exact p {p_value(part.mcnemar.exact_p)}"
    if result == "unclear":
        open_ = "whether memory helps or harms" if part.by_source else "which side is better"
        return f"that is within what chance gives, so it is open {open_} ({where})"
    so = (
        f"memory {result} here" if part.by_source else f"that side is {'better' if result == 'helps' else 'worse'} here"
    )
    return f"that is more than chance gives, so {so} ({where})"


def _tasks(part: Part) -> str:
    return "1 task" if part.tasks == 1 else f"{part.tasks} tasks"


def points_text(share: float) -> str:
    """A difference of shares in percentage points, always with its sign."""
    return with_sign(100 * share, 1)


def in_points(interval: Interval) -> str:
    return f"{points_text(interval.low)} to {points_text(interval.high)}"


def p_value(p: float | None) -> str:
    """Three significant digits, or `n/a`."""
    if p is None:
        return "n/a"
    return f"{p:.3g}" if p >= 0.0001 else f"{p:.2e}"


# Tables


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
    """For each card, the outcomes of runs that were shown it and of the paired runs without memory, and the tasks that
    were gained and lost."""
    has_held_out = any(effect.held_out.runs for effect in cards.effects)
    has_interval = any(effect.interval for effect in cards.effects)
    header = ("Card", "Tasks", "Passed", "Failed", "Base passed", "Base failed", "Gained", "Lost")
    rows: list[Row] = [
        [
            _card_name(effect, titles or {}), number(effect.tasks), *_count_outcomes(effect.shown),
            *_count_outcomes(effect.base),
            *flip_counts(effect.tasks_gained, effect.tasks_lost),
            *((_points_between(effect.interval),) if has_interval else ()),
            *(_count_outcomes(effect.held_out) if has_held_out else ()),
        ]
        for effect in cards.effects
    ]  # fmt: skip
    more = (*(("Points",) if has_interval else ()), *(("Held-out passed", "Held-out failed") if has_held_out else ()))
    return ReportTable(
        "Runs that were shown a card",
        (*header, *more),
        rows,
        notes=(
            "A card is shown where it fits, beside others: a gain or a loss with it need not be its doing. Base: the "
            "paired runs without memory. Gained and lost: tasks."
            + (
                " Held out: runs at the same tasks that were chosen by lot to be shown nothing." if has_held_out else ""
            ),
        ),
        label="cards",
    )


def _points_between(interval: Interval | None) -> Cell:
    return between((interval.low, interval.high) if interval else None, digits=0)


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


# The paper's tables

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
