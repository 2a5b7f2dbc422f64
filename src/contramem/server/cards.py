"""Cards in the explorer: the list, one card with everything known about it, the ledger as a timeline, and review.

Review makes the same checks and the same ledger as `contramem cards review`. A form contains the digest of what its
reader saw. If somebody else decided in the meantime, nothing is recorded and nothing is lost: the page comes back with
both texts."""

from __future__ import annotations

import hashlib

from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from contramem.bank import acts
from contramem.bank.bank import COUNTED, GRADES, Bank, BankEntry
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Decision, LedgerEntry
from contramem.bank.rows import (
    DecisionRow,
    card_row,
    count_unreviewed,
    decision_row,
    edit_fields,
    find_related_cards,
    guard_rows,
    text_from_fields,
)
from contramem.bank.show import trace_sentences
from contramem.bank.store import DecisionSummary
from contramem.collection.browse import InMemory
from contramem.errors import ContramemError, GuardError
from contramem.evaluate.evidence import GuardedRun, find_guarded_runs
from contramem.guards.guard import parse_guard, relevant_functions
from contramem.server.compare import effects_of
from contramem.server.listing import Listing
from contramem.server.pages import Visit, missing
from contramem.validate.by_hand import doubts

# The ledger


def decided(visit: Visit) -> LedgerEntry | None:
    """The decision that the address names. What a page says about it comes from the ledger, never from the address."""
    number = visit.number("decided")
    return next((entry for entry in visit.project.store.ledger_page(number + 1, 1) if entry.number == number), None)


def notice(entry: LedgerEntry | None) -> str:
    """What was done by a decision that was just made."""
    if entry is None:
        return ""
    if entry.decision.reverts:
        return f"Decision {entry.number} undoes decision {entry.decision.reverts}."
    return f"Decision {entry.number}: {(entry.decision.operation or '').lower()} {', '.join(entry.decision.card_ids)}."


LEDGER = Listing("ledger", ("operation", "outcome", "kind", "cards"))


def ledger(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """Every decision, newest first."""
    words = visit.query("q").lower().split()
    wanted = [
        row for row in visit.project.summaries() if all(word in " ".join(map(str, row)).lower() for word in words)
    ]
    orders = {"newest": lambda row: -row.number, "oldest": lambda row: row.number}
    return LEDGER.page(
        visit, InMemory(wanted, orders), lambda rows: _full_rows(visit, rows), note=notice(decided(visit)),
        problem=problem, status=status,
    )  # fmt: skip


def _full_rows(visit: Visit, summaries: list[DecisionSummary]) -> list[DecisionRow]:
    bank, numbers = visit.project.current().bank, [row.number for row in summaries]
    together = len(numbers) == 1 or (numbers and max(numbers) - min(numbers) < 2 * len(numbers))
    pages = [(max(numbers), max(numbers) - min(numbers) + 1)] if together else [(number, 1) for number in numbers]
    found = {entry.number: entry for last, count in pages for entry in visit.project.store.ledger_page(last + 1, count)}
    return [decision_row(found[number], bank) for number in numbers]


# Cards

RUNS_LISTED = 40
NO_SENTENCES = ("tags", "functions_used")
"""Fields that cannot be wrong."""


CARDS = Listing("cards", ("kind", "status", "grade", "ability"))
_ORDERS = {
    "kind": lambda row: (row.kind != "skill", -row.tasks, row.card_id),  # skills that most tasks support come first
    "title": lambda row: (row.title.lower(), row.card_id),
    "tasks": lambda row: (-row.tasks, row.card_id),
    "guards": lambda row: (-row.guards, row.card_id),
    "grade": lambda row: (GRADES.index(row.grade) if row.grade in GRADES else len(GRADES), row.card_id),
}


def cards(visit: Visit) -> Response:
    """The cards of the bank that contain all the words."""
    snapshot, wanted = visit.project.current(), visit.query("q").lower().split()
    found = snapshot.bank.entries.items()
    rows = [card_row(entry) for card_id, entry in found if all(word in snapshot.texts[card_id] for word in wanted)]
    return CARDS.page(visit, InMemory(rows, _ORDERS, lambda row: row.status == "retired"))


def card(visit: Visit) -> Response:
    """One card in full: its text, its evidence, the runs that taught it, and its history."""
    bank = visit.project.current().bank
    entry = bank.entries.get(visit.query("id"))
    if entry is None:
        return missing(visit, "There is no such card in this bank.")
    entries = visit.project.store.ledger(entry.card.card_id)
    runs = list(dict.fromkeys(run for decision in entries for run in decision.decision.runs))
    return visit.page(
        "card.html",
        entry=entry,
        row=card_row(entry),
        card=entry.card,
        is_skill=isinstance(entry.card, SkillCard),
        guards=guard_rows(entry),
        counted=COUNTED,
        runs=runs[:RUNS_LISTED],
        more_runs=max(0, len(runs) - RUNS_LISTED),
        effects=[
            (sides, effect)
            for sides, compared in visit.project.compared.items()
            for effect in effects_of(visit.project, compared)
            if effect.card_id == entry.card.card_id
        ],
        known_tasks=_find_known_tasks(visit, [*(run.task for run in runs[:RUNS_LISTED]), *entry.support.tasks[:12]]),
        history=[decision_row(decision, bank, entry.card.card_id) for decision in reversed(entries)],
        sentences=[sentence for sentence in trace_sentences(entry, entries) if sentence.field not in NO_SENTENCES],
        related=find_related_cards(bank, entry),
    )


def _find_known_tasks(visit: Visit, tasks: list[str]) -> set[str]:
    """The tasks whose runs can be opened here."""
    return {task for task, _ in visit.project.runs.rates(set(tasks))} if tasks else set()


GUARDED = Listing("guard", ("verdict", "outcome", "source"))


def guard(visit: Visit) -> Response:
    """The runs behind the counts of a guard."""
    entry = visit.project.current().bank.entries.get(visit.query("id"))
    rows, number = guard_rows(entry) if entry else [], visit.number("guard")
    if entry is None or number >= len(rows):
        return missing(visit, "There is no such guard in this bank.")
    runs = guarded_runs(visit, rows[number].text)
    found = {name: sum(run.verdict == name for run in runs) for name in COUNTED}
    orders = {"task": lambda row: (row.task, row.source, row.trial), "source": lambda row: (row.source, row.task)}
    return GUARDED.page(
        visit, InMemory(runs, orders), card=entry.card, guard=rows[number], number=number, counted=COUNTED, found=found,
        asked_for={"id": visit.query("id"), "guard": number},
    )  # fmt: skip


def guarded_runs(visit: Visit, text: str) -> list[GuardedRun]:
    """What recorded runs did with a guard. Replayed once for as many runs as there are now."""
    index, kept = visit.project.runs, visit.project.guarded
    if (text, index.count) not in kept:
        try:
            parsed = parse_guard(text)
        except GuardError:
            return []
        tasks = map(visit.project.packet, index.tasks_calling(relevant_functions(parsed) or ()))
        kept[text, index.count] = list(find_guarded_runs(parsed, filter(None, tasks)))
    return kept[text, index.count]


# Review

VERDICTS: dict[str, acts.Verdict] = {"accept": "ACCEPT", "mute": "MUTE", "pin": "PIN", "reject": "REJECT"}


class ChangedMeanwhile(Exception):
    """Somebody else has decided about the card since the page was made."""


def digest_of(entry: BankEntry) -> str:
    """A digest of what a reader saw of a card."""
    return hashlib.sha256(entry.model_dump_json().encode()).hexdigest()[:16]


def review(visit: Visit) -> Response:
    """The next card that no person has reviewed, or the named one."""
    return _form(visit, visit.query("id"))


def _form(visit: Visit, card_id: str, *, problem: str = "", is_draft: bool = False, status: int = 200) -> Response:
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
        guards=guard_rows(entry), counted=COUNTED, seen=digest_of(entry), left=count_unreviewed(bank), note=note,
        problem=problem,
        fields=list(edit_fields(entry.card, visit.form if is_draft else {})), editing=is_draft, following=following,
        decided=made.number if made else 0, related=find_related_cards(bank, entry),
        history=[decision_row(item, bank, entry.card.card_id) for item in reversed(history)][:8],
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
        return _form(visit, card_id, problem=problem, is_draft=answer == "edit", status=409)
    except ValidationError as error:
        return _form(visit, card_id, problem=f"Not saved: {complaint(error)}.", is_draft=True, status=422)
    except ContramemError as error:
        return _form(visit, card_id, problem=f"Not saved: {error}", is_draft=answer == "edit", status=422)
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
    return acts.edit(bank, card_id, text_from_fields(entry.card, form), by, reason)


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
