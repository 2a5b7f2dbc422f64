"""Cards, guards and decisions as rows of lists, and a card as the fields of a form: for pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Card, FunctionCard, SkillCard, SkillDelta
from contramem.bank.ledger import LedgerEntry
from contramem.bank.show import FieldDifference, field_differences, saying
from contramem.errors import GuardError
from contramem.guards.guard import parse_guard


class CardRow(NamedTuple):
    """One card in a list."""

    card_id: str
    kind: str
    title: str
    ability: str
    about: str
    """What a function does, or when a skill applies."""
    status: str
    tasks: int
    guards: int
    reviewed: bool
    grade: str


def card_row(entry: BankEntry) -> CardRow:
    card, common = entry.card, (entry.status, len(entry.support.tasks))
    if isinstance(card, SkillCard):
        return CardRow(card.card_id, "skill", card.title, card.ability, card.applies_when, *common, len(card.guards),
                       entry.reviewed, entry.support.grade or "")  # fmt: skip
    return CardRow(card.card_id, "function", card.tool, "", card.what_it_does, *common, 0, entry.reviewed, "")


def find_related_cards(bank: Bank, entry: BankEntry) -> list[CardRow]:
    """Skill Cards that name the function, or the Function Cards that a skill names."""
    if isinstance(entry.card, FunctionCard):
        tool = entry.card.tool
        cards = [skill.card_id for skill in bank.skills if tool in skill.functions_used]
    else:
        cards = [f"function::{tool}" for tool in entry.card.functions_used]
    return [card_row(bank.entries[card_id]) for card_id in cards[:20] if card_id in bank.entries]


def count_unreviewed(bank: Bank) -> int:
    return sum(entry.served and not entry.reviewed for entry in bank.entries.values())


class GuardRow(NamedTuple):
    """A guard, in words and in numbers."""

    text: str
    sentence: str
    counts: dict[str, int]
    """By the name that COUNTED gives a count. Empty if the card has none."""


def guard_rows(entry: BankEntry) -> list[GuardRow]:
    rows = []
    for text in entry.card.guards if isinstance(entry.card, SkillCard) else ():
        try:
            sentence = parse_guard(text).sentence
        except GuardError:
            sentence = "This guard can't be read by this version."
        counts = entry.support.guard_counts.get(text)
        rows.append(GuardRow(text, sentence, counts.by_name() if counts else {}))
    return rows


class DecisionRow(NamedTuple):
    """A decision in a list."""

    number: int
    at: str
    operation: str
    accepted: bool
    by: str
    kind: str
    reason: str
    cards: tuple[tuple[str, str], ...]
    """Id and text."""
    differences: tuple[FieldDifference, ...]
    status: str
    can_undo: bool


def decision_row(entry: LedgerEntry, bank: Bank, card_id: str | None = None) -> DecisionRow:
    """`can_undo`: it changed cards, and nothing was decided about them since."""
    decision = entry.decision
    changes = [change for change in decision.changes if card_id in (None, change.card_id)]
    change = changes[0] if changes else None
    before, after = (change.before, change.after) if change else (None, None)
    moved = f"{before.status} → {after.status}" if before and after and before.status != after.status else ""
    return DecisionRow(
        entry.number,
        entry.at[:19].replace("T", " "),
        decision.operation or "",
        decision.accepted,
        str(decision.by),
        decision.by.kind,
        decision.reason,
        tuple((change.card_id, saying(change.after.card)) for change in decision.changes)
        or tuple((name, name) for name in decision.card_ids),
        field_differences(before.card, after.card) if before and after else (),
        moved,
        bool(decision.changes) and all(bank.entries.get(each.card_id) == each.after for each in decision.changes),
    )


# A card as the fields of a form

FIXED = ("version", "card_id", "tool", "app", "function", "ability")
"""Fields of a card that nobody edits."""
FIELD = "field."
_CHOICES = {True: "yes", False: "no", None: "unknown"}


class EditField(NamedTuple):
    """A field of a card in a form."""

    name: str
    """FIELD and its path in the schema: `field.arguments.0.meaning`."""
    label: str
    value: str
    kind: Literal["text", "lines", "choice"]
    """`lines` has one item a line; `choice` is yes, no or unknown."""


def edit_fields(card: Card, form: Mapping[str, str]) -> Iterator[EditField]:
    """The editable fields of a card, with what a form says instead."""
    for path, value in _leaves(card.model_dump(mode="json", exclude=set(FIXED))):
        shown = "\n".join(value) if isinstance(value, list) else value if isinstance(value, str) else _CHOICES[value]
        kind: Literal["text", "lines", "choice"] = "choice"
        if isinstance(value, list | str):
            kind = "lines" if isinstance(value, list) else "text"
        parts = [_name(card, part) for part in path.split(".")]
        yield EditField(FIELD + path, " ".join(parts).replace("_", " "), form.get(FIELD + path, shown), kind)


def text_from_fields(card: Card, form: Mapping[str, str]) -> FunctionCard | SkillDelta:
    """The card with what a form says. Raises ValidationError if it may not be said."""
    kind = FunctionCard if isinstance(card, FunctionCard) else SkillDelta
    fields = card.model_dump(mode="json", include=set(kind.model_fields))
    for field in edit_fields(card, form):
        *outer, name = field.name.removeprefix(FIELD).split(".")
        place: Any = fields
        for part in outer:
            place = place[int(part)] if part.isdigit() else place[part]
        lines = [line.strip() for line in field.value.splitlines() if line.strip()]
        choice = {"yes": True, "no": False}.get(field.value)
        place[name] = lines if field.kind == "lines" else field.value.strip() if field.kind == "text" else choice
    return kind.model_validate_json(json.dumps(fields))


def _name(card: Card, part: str) -> str:
    return card.arguments[int(part)].name if part.isdigit() and isinstance(card, FunctionCard) else part


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Texts, lists of texts and choices of a card, each with its path."""
    if isinstance(value, dict):
        for name, child in value.items():
            if name != "name":  # of an argument: the tool's
                yield from _leaves(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, child in enumerate(value):
            yield from _leaves(child, f"{path}.{number}")
    elif path != "arguments":  # of a function without any
        yield path, value
