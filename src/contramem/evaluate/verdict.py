"""The result of a comparison in words that claim no more than the interval supports."""

from __future__ import annotations

from typing import Literal, TypeAlias

from contramem.evaluate.compare import Comparison, Part
from contramem.evaluate.report.cells import with_sign
from contramem.evaluate.stats import MIN_TASKS, Interval

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
    flips = f"{part.gained} gained, {part.lost} lost, {points(part.difference)} points"
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


def points(share: float) -> str:
    """A difference of shares in percentage points, always with its sign."""
    return with_sign(100 * share, 1)


def in_points(interval: Interval) -> str:
    return f"{points(interval.low)} to {points(interval.high)}"


def p_value(p: float | None) -> str:
    """Three significant digits, or `n/a`."""
    if p is None:
        return "n/a"
    return f"{p:.3g}" if p >= 0.0001 else f"{p:.2e}"
