"""Provenance: which decision brought each sentence of a card, and which tasks and sources stand behind it.

It is worked out from the ledger, where decisions keep the runs they rest on. Frozen banks and exports hold none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.bank.bank import BankEntry, Change
from contramem.bank.card import Card, SkillDelta
from contramem.bank.fields import SKILL_FIELDS
from contramem.bank.ledger import LedgerEntry


class SentenceSource(NamedTuple):
    """Where a sentence of a card comes from."""

    field: str
    text: str
    decision: int
    """The number of the decision that brought it. 0: the ledger does not tell."""
    by: str
    tasks: tuple[str, ...]
    """Of the runs behind that decision and behind later ones that let the sentence stand."""
    sources: tuple[str, ...]


def trace_sentences(entry: BankEntry, ledger: Sequence[LedgerEntry]) -> list[SentenceSource]:
    """Every sentence of a card with what stands behind it, in the order of its fields. `ledger` are the decisions about
    the card, oldest first."""
    changes = [
        (decided, change)
        for decided in ledger
        for change in decided.decision.changes
        if change.card_id == entry.card.card_id
    ]
    return [_trace(field, text, changes) for field, text in sentences_of(entry.card)]


def sentences_of(card: Card) -> Iterator[tuple[str, str]]:
    """(field, text) of everything that a card says in words."""
    if isinstance(card, SkillDelta):
        for field in SKILL_FIELDS:
            yield from ((field.name, text) for text in field.texts(card))
        return
    yield "what_it_does", card.what_it_does
    for argument in card.arguments:
        yield "arguments", f"{argument.name}: {argument.meaning}, {argument.form}"
    yield "returns", card.returns
    yield from (("usage_rules", text) for text in card.usage_rules)
    yield from (("common_mistakes", text) for text in card.common_mistakes)
    if card.side_effects:
        yield "side_effects", card.side_effects


def _trace(field: str, text: str, changes: Sequence[tuple[LedgerEntry, Change]]) -> SentenceSource:
    behind = changes[_find_first(field, text, changes) :]
    tasks, sources = set[str](), set[str]()
    for decided, change in behind:
        runs = decided.decision.runs
        # Function Cards rest on all calls that were seen, so their decisions name no runs of their own.
        tasks.update({run.task for run in runs} or change.after.support.tasks)
        sources.update({run.source for run in runs} or change.after.support.sources)
    number, by = (behind[0][0].number, str(behind[0][0].decision.by)) if behind else (0, "")
    return SentenceSource(field, text, number, by, tuple(sorted(tasks)), tuple(sorted(sources)))


def _find_first(field: str, text: str, changes: Sequence[tuple[LedgerEntry, Change]]) -> int:
    """The last change that brought the sentence in; what was taken out and came back counts from then."""
    first = 0
    for place, (_, change) in enumerate(changes):
        had = change.before is not None and (field, text) in sentences_of(change.before.card)
        if not had and (field, text) in sentences_of(change.after.card):
            first = place
    return first
