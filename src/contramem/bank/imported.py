"""Imports an edited frozen bank, say from a pull request, into the store: a three-way merge of cards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from contramem.bank.acts import refuse_unreadable_guards
from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.difference import field_differences
from contramem.bank.frozen import FrozenBank, FrozenCard, FrozenSkill, frozen_card, frozen_line, thaw
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.errors import GuardError, UsageError


def find_base(bank: Bank, ledger: Iterable[LedgerEntry], sha256: str) -> Bank | None:
    """The newest past bank that freezes to this hash: the content of the file before it was edited.

    Undoes decision by decision. None if the file was not frozen from this ledger.
    """
    entries = dict(bank.entries)
    lines = {card_id: _line(entry) for card_id, entry in entries.items()}
    for entry in sorted(ledger, key=lambda entry: entry.number, reverse=True):
        if _sha256(lines) == sha256:
            return Bank(entries)
        for change in entry.decision.changes:
            entries.pop(change.card_id)
            if change.before is not None:
                entries[change.card_id] = change.before
            lines[change.card_id] = _line(change.before)
    return Bank(entries) if _sha256(lines) == sha256 else None


def import_edits(bank: Bank, base: Bank | None, file: FrozenBank, by: Attribution, name: str) -> tuple[Decision, ...]:
    """One decision for each card that the file edits, adds or drops, compared with the `base` it was frozen from.

    Cards that changed only in the bank are left alone. Without a base, nothing counts as dropped. Raises UsageError if
    cards changed differently on both sides or a guard does not parse; then nothing is imported.
    """
    ours, origin = _lines_in_service(bank), _lines_in_service(base or Bank())
    theirs = {card.card_id: card for card in file.cards}
    edited = [
        card_id
        for card_id in sorted({*ours, *theirs, *origin})
        if _editable(theirs.get(card_id)) not in (_editable(ours.get(card_id)), _editable(origin.get(card_id)))
    ]
    conflicts = [card_id for card_id in edited if _editable(ours.get(card_id)) != _editable(origin.get(card_id))]
    if conflicts:
        raise UsageError(
            f"{name}: {len(conflicts)} card(s) were changed both here and in the store: {', '.join(conflicts)}. "
            f"Nothing was imported. Freeze the store, make the edit in the new file and import that."
        )
    return tuple(_decision(bank.entries.get(card_id), theirs.get(card_id), by, name) for card_id in edited)


def _decision(entry: BankEntry | None, line: FrozenCard | None, by: Attribution, name: str) -> Decision:
    if line is not None:
        try:
            refuse_unreadable_guards(line, entry)
        except GuardError as error:
            raise UsageError(f"{name}: {line.card_id}: {error} Nothing was imported.") from error
    if line is None:
        assert entry is not None, "an edited card is in the bank or in the file"
        after, what = entry.model_copy(update={"status": "retired"}), "dropped"
    elif entry is None:
        after, what = thaw(line), "added"
    else:
        after = _reword(entry, line)
        what = _list_edited_fields(entry, line) if entry.served else "put back"
    return Decision(
        operation="IMPORT",
        reason=f"{what} in {name} by {by}",
        by=by,
        ability=after.card.ability if isinstance(after.card, SkillCard) else None,
        changes=(Change(before=entry, after=after.model_copy(update={"reviewed": True})),),
    )


def _reword(entry: BankEntry, line: FrozenCard) -> BankEntry:
    # The support of a card comes from runs, not from a text editor, so only the scope is taken from the file.
    scope = {"scope": line.scope} if isinstance(line, FrozenSkill) else {}
    after = entry.rewrite(thaw(line).card, entry.support.model_copy(update=scope))
    return after.model_copy(update={"status": entry.status if entry.served else "active"})


def _list_edited_fields(entry: BankEntry, line: FrozenCard) -> str:
    fields = [pair.field for pair in field_differences(frozen_card(entry), line)]
    return f"edited ({', '.join(fields)})"


def _lines_in_service(bank: Bank) -> Mapping[str, FrozenCard]:
    return {card.card_id: frozen_card(bank.entries[card.card_id]) for card in bank.cards}


def _editable(card: FrozenCard | None) -> dict[str, Any] | None:
    """The fields of a line that a person can edit; None if there is no line."""
    return card.model_dump(exclude={"version", "taught_by", "support", "single_source"}) if card else None


def _line(entry: BankEntry | None) -> tuple[tuple[bool, str, str], bytes] | None:
    """Sort key and bytes of a card's line in a frozen file; None if the file does not contain it."""
    if entry is None or not entry.served:
        return None
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else ""
    return (bool(ability), ability, entry.card.card_id), frozen_line(frozen_card(entry))


def _sha256(lines: Mapping[str, tuple[tuple[bool, str, str], bytes] | None]) -> str:
    return hashlib.sha256(b"".join(line for _, line in sorted(filter(None, lines.values())))).hexdigest()
