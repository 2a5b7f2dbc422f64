"""A Markdown summary for a pull request that changes a bank: changed cards, gained tasks, harmed tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.bank.card import Card, SkillCard
from contramem.bank.difference import BankDifference
from contramem.evaluate.compare import Comparison
from contramem.evaluate.report.text import in_markdown
from contramem.evaluate.verdict import verdict

LISTED = 30
"""How many names of each kind are listed; the rest is counted."""


def pull_request_text(comparison: Comparison, difference: BankDifference | None) -> str:
    """`difference` is between the bank before and the bank of the runs with memory; None leaves cards out."""
    return "\n".join([*_tasks(comparison), *(_cards(difference) if difference is not None else ()), ""])


def _tasks(comparison: Comparison) -> Iterator[str]:
    yield "## Memory: what changes"
    yield ""
    yield in_markdown(verdict(comparison))
    yield ""
    for title, change in (("Tasks gained", "gained"), ("Tasks harmed", "lost")):
        tasks = sorted({flip.task for flip in comparison.flips if flip.change == change})
        yield from _list(title, [f"`{task}`" for task in tasks])


def _cards(difference: BankDifference) -> Iterator[str]:
    yield from _list("Cards added", [_name(card) for card in difference.added])
    yield from _list("Cards changed", [_name(pair.right) for pair in difference.changed])
    yield from _list("Cards retired", [_name(card) for card in difference.removed])


def _name(card: Card) -> str:
    return f"`{card.card_id}` {in_markdown(card.title)}" if isinstance(card, SkillCard) else f"`{card.card_id}`"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    yield f"**{title}: {len(items)}**"
    yield ""
    for item in items[:LISTED]:
        yield f"- {item}"
    if len(items) > LISTED:
        yield f"- and {len(items) - LISTED} more"
    if items:
        yield ""
