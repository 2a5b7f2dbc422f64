"""Provenance: which decision added each sentence of a card, and which tasks and sources support it.

It is computed from the ledger, where each decision lists its runs. Frozen banks and exports contain none of it.
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
    """The number of the decision that added it; 0 if the ledger does not show it."""
    by: str
    tasks: tuple[str, ...]
    """The tasks of that decision's runs, and of later decisions that kept the sentence."""
    sources: tuple[str, ...]


def trace_sentences(entry: BankEntry, ledger: Sequence[LedgerEntry]) -> list[SentenceSource]:
    """Every sentence of a card with its provenance, in the order of the fields. `ledger` are the decisions about the
    card, oldest first."""
    changes = [
        (decided, change)
        for decided in ledger
        for change in decided.decision.changes
        if change.card_id == entry.card.card_id
    ]
    return [_trace(field, text, changes) for field, text in sentences_of(entry.card)]


def sentences_of(card: Card) -> Iterator[tuple[str, str]]:
    """(field, text) of every text of a card."""
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
    relevant = changes[_find_first(field, text, changes) :]
    tasks, sources = set[str](), set[str]()
    for decided, change in relevant:
        runs = decided.decision.runs
        # Function Cards are built from all calls, so their decisions name no runs of their own.
        tasks.update({run.task for run in runs} or change.after.support.tasks)
        sources.update({run.source for run in runs} or change.after.support.sources)
    number, by = (relevant[0][0].number, str(relevant[0][0].decision.by)) if relevant else (0, "")
    return SentenceSource(field, text, number, by, tuple(sorted(tasks)), tuple(sorted(sources)))


def _find_first(field: str, text: str, changes: Sequence[tuple[LedgerEntry, Change]]) -> int:
    """The index of the change that added the sentence; the last one, if it was removed and added again."""
    first = 0
    for place, (_, change) in enumerate(changes):
        had = change.before is not None and (field, text) in sentences_of(change.before.card)
        if not had and (field, text) in sentences_of(change.after.card):
            first = place
    return first
