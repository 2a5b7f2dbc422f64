"""Topics: what each conversation is about: a kind of task with different outcomes, or all small kinds together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contramem.study.ask import KindReport, list_kinds
from contramem.study.run_set import RunSet

MIN_TASKS = 2
"""The number of tasks from which a kind gets its own conversation. With one task, nothing can be confirmed on
another."""
MAX_LISTED = 40


class Topic(NamedTuple):
    """What one conversation is about."""

    name: str
    text: str
    """The text for the model."""


def choose_topics(run_set: RunSet) -> list[Topic]:
    """Kinds with passing and failing runs, largest first; the small ones together at the end."""
    telling = [report for report in list_kinds(run_set) if 0 < report.passed < report.runs]
    large = [report for report in telling if len(report.tasks) >= MIN_TASKS]
    small = [report for report in telling if len(report.tasks) < MIN_TASKS]
    topics = [Topic(report.kind, f"the kind `{report.kind}`\n{_describe(report)}") for report in large]
    return [*topics, *([_together(small)] if small else [])]


def _together(reports: Sequence[KindReport]) -> Topic:
    lines = [f"`{report.kind}`: {_describe(report)}" for report in reports[:MAX_LISTED]]
    more = f"\nand {len(reports) - MAX_LISTED} more (`show_kinds` lists them)" if len(reports) > MAX_LISTED else ""
    return Topic("small kinds", f"{len(reports)} kinds of one task each\n" + "\n".join(lines) + more)


def _describe(report: KindReport) -> str:
    functions = ", ".join(report.functions)
    return (
        f"{len(report.tasks)} tasks, {report.runs} runs, {report.passed} passed. Functions: {functions or 'none'}. "
        f"A request: {report.example[:400]!r}"
    )
