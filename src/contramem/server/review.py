"""Review in the browser: the same checks and the same ledger as `contramem bank review`.

A form contains the digest of what its reader saw. If somebody else decided in the meantime, nothing is recorded and
nothing is lost: the page comes back with both texts.
"""

from __future__ import annotations

import hashlib
import json

from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from contramem.bank import acts
from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Card, FunctionCard, SkillDelta
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Decision, LedgerEntry
from contramem.errors import ContramemError
from contramem.server.card_pages import card_row, count_unreviewed, find_related_cards, guard_rows
from contramem.server.ledger_page import decided, decision_row, ledger, notice
from contramem.server.pages import Visit, missing
from contramem.validate.by_hand import doubts

VERDICTS: dict[str, acts.Verdict] = {"accept": "ACCEPT", "mute": "MUTE", "pin": "PIN", "reject": "REJECT"}


class ChangedMeanwhile(Exception):
    """Somebody else has decided about the card since the page was made."""


def digest_of(entry: BankEntry) -> str:
    """A digest of what a reader saw of a card."""
    return hashlib.sha256(entry.model_dump_json().encode()).hexdigest()[:16]


def review(visit: Visit) -> Response:
    """The next card that no person has reviewed, or the named one."""
    return _form(visit, visit.query("id"))


def _form(visit: Visit, card_id: str, *, problem: str = "", draft: str = "", status: int = 200) -> Response:
    bank = visit.project.current().bank
    waiting = acts.to_review(bank)
    made = decided(visit)
    note = notice(made) + _doubts(made, bank)
    entry = bank.entries.get(card_id) if card_id else next(iter(waiting), None)
    if entry is None:
        return missing(visit, "There is no such card.") if card_id else visit.page("reviewed.html", note=note)
    place = next((number for number, other in enumerate(waiting) if other.card.card_id == entry.card.card_id), None)
    following = waiting[place + 1] if place is not None and place + 1 < len(waiting) else None
    history = visit.project.store.ledger(entry.card.card_id)
    return visit.page(
        "review.html", status,
        entry=entry, card=entry.card, row=card_row(entry), is_skill=not isinstance(entry.card, FunctionCard),
        guards=guard_rows(entry), seen=digest_of(entry), left=count_unreviewed(bank), note=note, problem=problem,
        text=draft or editable_text(entry.card), editing=bool(draft), following=following,
        decided=made.number if made else 0, related=find_related_cards(bank, entry),
        history=[decision_row(item, entry.card.card_id) for item in reversed(history)][:8],
        similar=_similar(bank, entry),
    )  # fmt: skip


def decide(visit: Visit) -> Response:
    """Record a person's answer and show the next card."""
    form = visit.form
    card_id, answer = form.get("card", ""), form.get("answer", "")
    try:
        entry = visit.project.record(lambda bank: _decision(visit, bank), reviewer(visit), "review")
    except ChangedMeanwhile:
        problem = "Somebody else decided about this card while you were reading. Nothing of yours was recorded; below "
        problem += "is the card as it is now" + (", and your own text is in the editor." if answer == "edit" else ".")
        return _form(
            visit, card_id, problem=problem, draft=form.get("text", "") if answer == "edit" else "", status=409
        )
    except ValidationError as error:
        return _form(visit, card_id, problem=f"Not saved: {complaint(error)}.", draft=form.get("text", ""), status=422)
    except ContramemError as error:
        return _form(visit, card_id, problem=f"Not saved: {error}", draft=form.get("text", ""), status=422)
    return RedirectResponse(visit.url("review", decided=entry.number), 303)


def undo(visit: Visit) -> Response:
    """Undo a decision by recording a new one."""
    number, from_review = visit.form.get("decision", ""), visit.form.get("to") == "review"
    by = acts.person(reviewer(visit))
    try:
        entries = visit.project.store.ledger()
        entry = visit.project.record(
            lambda bank: acts.revert(entries, bank, int(number) if number.isdigit() else 0, by, visit.form["reason"]),
            reviewer(visit),
            "undo",
        )
    except ContramemError as error:
        problem = f"Not undone: {error}"
        return _form(visit, "", problem=problem, status=422) if from_review else ledger(visit, problem, 422)
    return RedirectResponse(visit.url("review" if from_review else "ledger", decided=entry.number), 303)


def reviewer(visit: Visit) -> str:
    """The name for the ledger: the token's, or the one a person gives on their own machine."""
    own_name = visit.form.get("by", "").strip()[:60]
    return visit.token.name if visit.token.sha256 else own_name or visit.token.name


def _decision(visit: Visit, bank: Bank) -> Decision:
    form, by = visit.form, acts.person(reviewer(visit))
    card_id, answer, reason = form.get("card", ""), form.get("answer", ""), form.get("reason", "")
    entry = bank.find(card_id)
    if digest_of(entry) != form.get("seen"):
        raise ChangedMeanwhile
    if answer in VERDICTS:
        return acts.judge(bank, card_id, VERDICTS[answer], by, reason)
    if answer == "merge":
        return acts.merge(bank, card_id, [form.get("with", "")], by, reason)
    return acts.edit(bank, card_id, form_of(entry.card).model_validate_json(form.get("text", "")), by, reason)


def form_of(card: Card) -> type[FunctionCard] | type[SkillDelta]:
    return FunctionCard if isinstance(card, FunctionCard) else SkillDelta


def editable_text(card: Card) -> str:
    """The editable part of a card, as JSON."""
    fields = {name for name in form_of(card).model_fields if name != "version"}
    return json.dumps(card.model_dump(mode="json", include=fields), ensure_ascii=False, indent=2)


def _similar(bank: Bank, entry: BankEntry) -> list[tuple[str, str]]:
    """Cards of the same ability, those that share most functions first: candidates for a merge."""
    if isinstance(entry.card, FunctionCard):
        return []
    own = {*entry.card.functions_used}
    others = [card for card in bank.skills_of(entry.card.ability) if card.card_id != entry.card.card_id]
    others.sort(key=lambda card: (-len(own & {*card.functions_used}), card.card_id))
    return [(card.card_id, card.title) for card in others[:12]]


def _doubts(entry: LedgerEntry | None, bank: Bank) -> str:
    """Objections of the checks to a person's words. The words stay nevertheless."""
    if entry is None or entry.decision.operation != "EDIT":
        return ""
    complaints = [str(doubt) for change in entry.decision.changes for doubt in doubts(change.after.card, bank)]
    return f" Saved as you wrote it, but note: {' '.join(complaints)}" if complaints else ""
