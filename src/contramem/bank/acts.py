"""What people can do to a bank: accept, edit, mute, pin, reject, merge, revert, import edits, and roll back.

Each act on a card is a decision in the ledger. The quorum acts like a person, by its own rule.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from contramem.bank.bank import GRADES, Bank, BankEntry, Change, Merge, Status
from contramem.bank.card import FunctionCard, SkillCard, SkillDelta, same_text
from contramem.bank.frozen import FrozenBank, FrozenCard, FrozenSkill, frozen_card, frozen_line, load_frozen, thaw
from contramem.bank.ledger import Act, Attribution, Decision, LedgerEntry
from contramem.bank.show import field_differences
from contramem.bank.store import Store
from contramem.errors import GuardError, UsageError
from contramem.guards.guard import parse_guard
from contramem.whole_file import replacing

Verdict: TypeAlias = Literal["ACCEPT", "MUTE", "PIN", "REJECT"]

_STATUS: dict[Verdict, Status] = {"MUTE": "muted", "PIN": "pinned", "REJECT": "retired"}
_PAST_TENSE: dict[Verdict, str] = {"ACCEPT": "accepted", "MUTE": "muted", "PIN": "pinned", "REJECT": "rejected"}


def person(name: str) -> Attribution:
    return Attribution(kind="person", name=name)


def to_review(bank: Bank) -> tuple[BankEntry, ...]:
    """The served cards whose present text no person has reviewed: Skill Cards first, the least certain first."""
    entries = (bank.entries[card.card_id] for card in bank.cards)
    return tuple(sorted((entry for entry in entries if not entry.reviewed), key=_certainty))


def _certainty(entry: BankEntry) -> tuple[bool, int, int, str]:
    grade = entry.support.grade
    known = len(GRADES) - GRADES.index(grade) if grade else 0
    return isinstance(entry.card, FunctionCard), known, len(entry.support.tasks), entry.card.card_id


def judge(bank: Bank, card_id: str, verdict: Verdict, by: Attribution, reason: str = "") -> Decision:
    """A person's verdict on the present text of a card."""
    entry = bank.find(card_id)
    after = entry.model_copy(update={"status": _STATUS.get(verdict, entry.status), "reviewed": True})
    return _act(verdict, entry, after, by, reason or f"{_PAST_TENSE[verdict]} by {by}")


def edit(bank: Bank, card_id: str, text: SkillDelta | FunctionCard, by: Attribution, reason: str = "") -> Decision:
    """Replace the text of a card by a person's. Raises GuardError if a new guard does not parse."""
    entry = bank.find(card_id)
    refuse_unreadable_guards(text, entry)
    # What calls show is not what the person says: freezing compares the facts with guards, and would reword the text.
    support = entry.support.model_copy(update={"arguments": {}})
    after = entry.rewrite(text, support).model_copy(update={"reviewed": True})
    return _act("EDIT", entry, after, by, reason or f"edited by {by}")


def merge(bank: Bank, retained_id: str, other_ids: Iterable[str], by: Attribution, reason: str = "") -> Decision:
    """Merge Skill Cards that a person considers the same rule: one keeps its text, the others are retired."""
    entry = bank.find(retained_id)
    if not isinstance(entry.card, SkillCard):
        raise UsageError(f"{entry.card.card_id} is a Function Card; only Skill Cards can be merged.")
    targets = tuple(dict.fromkeys([entry.card.card_id, *(bank.find(name).card.card_id for name in other_ids)]))
    if len(targets) < 2:
        raise UsageError("a merge needs two different cards.")
    reason = reason or f"merged by {by}"
    patch = Merge(delta_index=0, target_card_ids=targets, retained_card_id=targets[0], reason=reason)
    changes = bank.plan(patch, entry.card.ability)
    return Decision(operation="MERGE", reason=reason, by=by, ability=entry.card.ability, patch=patch, changes=changes)


def refuse_unreadable_guards(text: SkillDelta | FunctionCard, entry: BankEntry | None) -> None:
    """Raise GuardError for a guard that does not parse, because agents would silently ignore it. Guards that the card
    already had are accepted: a later version may have written them."""
    old_guards = entry.card.guards if entry and isinstance(entry.card, SkillCard) else ()
    for guard in text.guards if isinstance(text, SkillDelta) else ():
        if guard not in old_guards:
            parse_guard(guard)


def revert(ledger: Iterable[LedgerEntry], bank: Bank, number: int, by: Attribution, reason: str = "") -> Decision:
    """Undo one decision: its cards become what they were before, a text as a new version. A card that it added is
    retired. A reverted decision comes back if its REVERT is reverted.

    Later decisions on the same cards that still stand must be reverted first, so that nothing is undone unnoticed.
    """
    entries = {entry.number: entry for entry in ledger}
    if number not in entries:
        raise UsageError(f"there is no decision {number} (the last is {max(entries, default=0)}).")
    undone = entries[number].decision
    if not undone.changes:
        what = f"{undone.operation or 'decision'} {number} {'changed nothing' if undone.accepted else 'was refused'}"
        raise UsageError(f"{what}, so there is nothing to revert.")
    undone_by = _find_undone(entries)
    if number in undone_by:
        raise UsageError(f"decision {number} was undone by decision {undone_by[number]} already.")
    _refuse_if_built_upon(undone, [entry for entry in entries.values() if entry.number > number], undone_by)
    return Decision(
        operation="REVERT",
        reverts=number,
        reason=reason or f"decision {number} ({undone.operation}) reverted by {by}",
        by=by,
        ability=undone.ability,
        changes=tuple(_undo(change, bank.entries[change.card_id]) for change in undone.changes),
    )


def _find_undone(entries: Mapping[int, LedgerEntry]) -> dict[int, int]:
    """The decisions that are undone, each with the standing decision that undid it. A REVERT that is undone itself
    undoes nothing."""
    undone_by: dict[int, int] = {}
    for number, entry in sorted(entries.items(), reverse=True):
        if entry.decision.reverts is not None and number not in undone_by:
            undone_by.setdefault(entry.decision.reverts, number)
    return undone_by


def _refuse_if_built_upon(undone: Decision, later: Sequence[LedgerEntry], undone_by: Mapping[int, int]) -> None:
    """Raise UsageError if a later decision on the same cards stands. An undone one and its REVERT cancel out."""
    cancelled = {*undone_by, *undone_by.values()}
    for card_id in (change.card_id for change in undone.changes):
        of_card = [e.number for e in later if any(change.card_id == card_id for change in e.decision.changes)]
        if standing := [str(number) for number in of_card if number not in cancelled]:
            raise UsageError(
                f"{card_id} was changed again by decision {', '.join(standing)}. Revert the later decisions first, the "
                "last one before the others."
            )


def _undo(change: Change, now: BankEntry) -> Change:
    """From the card as it is `now` to what it was before a change. Between the two, only versions have moved on."""
    if change.before is None:
        return Change(before=now, after=now.model_copy(update={"status": "retired", "reviewed": True}))
    before = change.before.card
    version = now.card.version if same_text(before, now.card) else now.card.version + 1
    card = before.model_copy(update={"version": version})
    return Change(before=now, after=change.before.model_copy(update={"card": card}))


def _act(
    operation: Literal["EDIT"] | Verdict, entry: BankEntry, after: BankEntry, by: Attribution, reason: str
) -> Decision:
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else None
    change = Change(before=entry, after=after)
    return Decision(operation=operation, reason=reason, by=by, ability=ability, changes=(change,))


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


QUORUM = Attribution(kind="rules", name="quorum")


def hold_to_quorum(store: Store, least: int) -> Bank:
    """Record the decisions of the quorum and return the bank. A quorum of 1 changes nothing."""
    if least > 1:
        with store.writing("build"):
            store.record(*quorum_decisions(store.bank(), store.ledger(), least))
    return store.bank()


def quorum_decisions(bank: Bank, ledger: Sequence[LedgerEntry], least: int) -> list[Decision]:
    """Mute cards with fewer than `least` sources, and unmute cards that the quorum muted and that now have enough."""
    muted_by: dict[str, Attribution] = {}
    for decided in ledger:
        if decided.decision.operation == "MUTE":
            muted_by.update(dict.fromkeys(decided.decision.card_ids, decided.decision.by))
    decisions = []
    for card_id, entry in sorted(bank.entries.items()):
        if entry.status == "active" and not entry.has_quorum(least):
            decisions.append(_decide(entry, "MUTE", least))
        elif entry.status == "muted" and muted_by.get(card_id) == QUORUM and entry.has_quorum(least):
            decisions.append(_decide(entry, "ACCEPT", least))
    return decisions


def _decide(entry: BankEntry, act: Act, least: int) -> Decision:
    seen = len(entry.support.sources)
    reason = f"Runs of {seen} source{'' if seen == 1 else 's'} show it; this bank serves what {least} or more show."
    after = entry.model_copy(update={"status": "muted" if act == "MUTE" else "active"})
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else None
    return Decision(
        operation=act, reason=reason, by=QUORUM, ability=ability, changes=(Change(before=entry, after=after),)
    )


_NAME = re.compile(r"(\d{6})-([0-9a-f]{12})\.jsonl")


class KeptBank(NamedTuple):
    number: int
    content: str
    """The first digits of the content hash."""
    path: Path


def kept_banks(served: Path) -> list[KeptBank]:
    """The kept banks, oldest first. The last is the served one, unless somebody replaced the file by hand."""
    folder = _folder(served)
    matches = [(match, path) for path in folder.glob("*.jsonl") if (match := _NAME.fullmatch(path.name))]
    return sorted(KeptBank(int(match[1]), match[2], path) for match, path in matches)


def serve_bank(served: Path, content: bytes, keep: int) -> None:
    """Write `content` where agents read it. Keep it and the last `keep` banks before it."""
    before = kept_banks(served)
    if served.exists() and not before:
        _keep(served, 1, served.read_bytes())
        before = kept_banks(served)
    _keep(served, before[-1].number + 1 if before else 1, content)
    _replace(served, content)
    for old in kept_banks(served)[: -(keep + 1)]:
        old.path.unlink(missing_ok=True)


def roll_back(served: Path, to: int | None = None) -> KeptBank:
    """Serve an earlier bank again: number `to`, or the last one before the current one that was never rolled back.

    `watch` does not serve the current one again.
    """
    if not served.exists():
        raise UsageError(f"{served}: there is no such bank.")
    current = load_frozen(served, allow_edited=True).header.content_sha256[:12]
    taken_back = read_taken_back(served)
    others = [bank for bank in kept_banks(served) if bank.content != current]
    if to is None:
        chosen = [bank for bank in _before(served, current) if bank.content not in taken_back][-1:]
    else:
        chosen = [bank for bank in others if bank.number == to]
    if not chosen:
        named = "" if to is None else f" {to}"
        numbers = ", ".join(str(bank.number) for bank in others)
        choice = f"--to takes {numbers}" if numbers else "none is kept"
        raise UsageError(f"{served}: there is no earlier bank{named} to go back to ({choice}).")
    content = chosen[0].path.read_bytes()
    load_frozen(chosen[0].path)  # raises if it is damaged
    with replacing(_folder(served) / "taken_back.json") as file:
        file.write(json.dumps(sorted({*taken_back, current})).encode())
    _replace(served, content)
    return chosen[0]


def _before(served: Path, current: str) -> list[KeptBank]:
    """The kept banks that were served before the current one; all others if the current one is not kept."""
    banks = kept_banks(served)
    last = max((bank.number for bank in banks if bank.content == current), default=None)
    return [bank for bank in banks if bank.content != current and (last is None or bank.number < last)]


def forget_banks(served: Path, content: bytes) -> int:
    """Write `content` where agents read it, and remove every kept bank. Returns how many were removed."""
    old_banks = kept_banks(served)
    for bank in old_banks:
        bank.path.unlink(missing_ok=True)
    _replace(served, content)
    return len(old_banks)


def read_taken_back(served: Path) -> frozenset[str]:
    """The content hashes of banks that were rolled back."""
    try:
        return frozenset(json.loads((_folder(served) / "taken_back.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return frozenset()


def _folder(served: Path) -> Path:
    return served.with_name(f"{served.name}.history")


def _keep(served: Path, number: int, content: bytes) -> None:
    folder = _folder(served)
    folder.mkdir(exist_ok=True)
    digits = json.loads(content.partition(b"\n")[0])["content_sha256"][:12]
    with replacing(folder / f"{number:06d}-{digits}.jsonl") as file:
        file.write(content)


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
