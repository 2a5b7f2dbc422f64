"""Propose: check proposed cards, compare them with those of the bank, and record the decision on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from contramem.bank.bank import Add, Amend, Bank, CardSupport, Merge, Narrow, Noop, Patch
from contramem.bank.card import MAX_LINE_CHARS, SkillCard, SkillDelta
from contramem.bank.frozen import complaint
from contramem.bank.ledger import Attribution, Decision, DecisionCost
from contramem.bank.store import Store
from contramem.chance import OutcomeTable
from contramem.errors import PatchError, UsageError
from contramem.grading import GRADE_WORDS, find_objection
from contramem.guards.guard import Guard
from contramem.study.proposal import Proposal
from contramem.study.proposal_checks import check_card, check_guard
from contramem.study.proposal_support import (
    add_support,
    cite_runs,
    find_ability,
    gather_support,
    grade_trials,
    identify_check,
)
from contramem.study.related_cards import RelatedCard, find_related_cards
from contramem.study.run_set import RunSet
from contramem.study.sql_check import SqlCheck, try_check
from contramem.study.tables import RunTables
from contramem.study.trial import Trial, try_guard
from contramem.study.trial_log import TrialLog

Fate: TypeAlias = Literal["accepted", "refused", "waiting"]


@dataclass(frozen=True)
class Reply:
    """The decision on one proposal."""

    title: str
    fate: Fate
    operation: str | None
    reasons: tuple[str, ...]
    """Why it was refused, what is suggested, or what the runs say about it."""
    card_ids: tuple[str, ...] = ()
    decision: int | None = None
    """Its number in the ledger."""


@dataclass(frozen=True)
class Proposer:
    """Who proposes, and what they tried before."""

    name: str
    run_set: RunSet
    log: TrialLog
    tables: RunTables | None = None
    """The runs in SQL, for cards that are checked by a query."""
    kind: Literal["person", "model"] = "person"
    version: str = ""
    """For a model: the digest of its prompt."""
    usage: DecisionCost = field(default_factory=DecisionCost)
    """The cost of the proposal."""
    charged: tuple[str, ...] = ()
    """Digests of the calls behind that cost."""

    @property
    def attribution(self) -> Attribution:
        return Attribution(kind=self.kind, name=self.name, version=self.version)


def propose(
    proposals: Sequence[Proposal | UsageError], store: Store, author: Proposer, confirm: Callable[[str], bool]
) -> list[Reply]:
    """Decide each proposal in turn. `confirm` is asked before an existing card is changed."""
    with store.writing("bank propose"):
        return [decide_proposal(proposal, store, author, confirm) for proposal in proposals]


def decide_proposal(
    proposal: Proposal | UsageError, store: Store, author: Proposer, confirm: Callable[[str], bool]
) -> Reply:
    """Decide one proposal, inside `store.writing(...)`."""
    if isinstance(proposal, UsageError):
        return Reply("", "refused", None, (str(proposal),))
    proposal = proposal.find_functions(author.run_set.functions)
    try:
        bank, delta = store.bank(), proposal.as_delta()
    except ValidationError as error:  # usually a guard that names something other than a function
        complaints = [check_guard(guard, author.run_set)[1] for guard in proposal.guards]
        return Reply(proposal.title, "refused", None, tuple(filter(None, complaints)) or (complaint(error),))
    try:
        trials, reasons = _check(proposal, bank, author)
        ability = proposal.ability or find_ability(trials, author.run_set, proposal.kinds)
    except UsageError as error:
        return Reply(proposal.title, "refused", None, (str(error),))
    if reasons:
        return _refuse(proposal, delta, ability, reasons, store, author)
    try:
        patch, question = _choose_patch(proposal, delta, bank, ability, author, trials)
    except UsageError as error:
        return _refuse(proposal, delta, ability, (str(error),), store, author)
    if question and not confirm(question):
        return Reply(proposal.title, "waiting", patch.operation, (question,), patch.target_card_ids)
    return _carry_out(patch, proposal, ability, trials, store, author)


def _check(proposal: Proposal, bank: Bank, author: Proposer) -> tuple[list[Trial], tuple[str, ...]]:
    functions = frozenset(card.tool for card in bank.functions)
    reasons = list(check_card(proposal, author.run_set, functions))
    trials = []
    for text in proposal.guards:
        trial, complaint = check_guard(text, author.run_set)
        if complaint:
            reasons.append(complaint)
        elif trial is not None:
            trials.append(trial)
    if proposal.check:
        trials.append(_try_check(proposal.check, author))
        reasons += filter(None, [find_objection(str(trials[-1].guard), trials[-1].counts)])
    if not proposal.guards and not proposal.check and not (proposal.reason and proposal.kinds):
        reasons.append(
            "It has neither a guard nor a check. State the rule as a guard, or give under `check` a query that selects "
            "run_id and keeps; where neither can be done, give a reason and the kinds of tasks that it is for: it then "
            "goes in without a grade."
        )
    return trials, tuple(reasons)


def _try_check(sql: str, author: Proposer) -> Trial:
    if author.tables is None:
        raise UsageError("`check` needs the runs as tables: pip install 'contramem[author]'.")
    return try_check(SqlCheck(sql), author.run_set, author.tables)


def _choose_patch(
    proposal: Proposal, delta: SkillDelta, bank: Bank, ability: str, author: Proposer, trials: Sequence[Trial]
) -> tuple[Patch, str]:
    """The smallest edit, and the question to ask before making it. Empty question: no existing card changes."""
    reason = proposal.reason or f"proposed by {author.name}"
    tried = _describe_trials(proposal, delta, author.log)
    reason = shorten(f"{reason} {tried}", MAX_LINE_CHARS, placeholder=" …")
    edit: dict[str, Any] = {"delta_index": 0, "reason": reason, "new_or_updated_card": delta}
    related = find_related_cards(delta, bank.skills_of(ability)) + _find_same_check(bank, ability, trials)
    if proposal.replaces:
        named = [bank.find(card_id).card.card_id for card_id in proposal.replaces]
        alike = [other.card.card_id for other in related if other.relation == "same"]
        targets = tuple(dict.fromkeys([*named, *alike]))
        return _replacement(targets, edit), f"{delta.title!r} takes the place of {', '.join(targets)}. Carry it out?"
    by_relation = {
        relation: [other.card for other in related if other.relation == relation] for _, relation, _ in related
    }
    if opposite := by_relation.get("opposite"):
        raise UsageError(
            f"It says the opposite of {opposite[0].card_id} ({opposite[0].title}). If that card is wrong, name it "
            "under `replaces`; if both hold, give each its condition."
        )
    if same := by_relation.get("same"):
        same = list({card.card_id: card for card in same}.values())
        if len(same) == 1 and _says_the_same(same[0], delta):
            if bank.entries[same[0].card_id].support.grade != grade_trials(trials, author.log):
                return _replacement((same[0].card_id,), edit), ""  # the words stay, and it has been confirmed since
            return Noop(delta_index=0, reason=reason, target_card_ids=(same[0].card_id,)), ""
        ids = tuple(card.card_id for card in same)
        verb = "is merged with" if len(ids) > 1 else "says the same as"
        return _replacement(ids, edit), f"{delta.title!r} {verb} {', '.join(ids)}. Give it these words?"
    if wider := by_relation.get("wider"):
        card_id = wider[0].card_id
        narrow = Narrow(target_card_ids=(card_id,), retained_card_id=card_id, **edit)
        return narrow, f"{card_id} ({wider[0].title}) says this without the condition. Narrow it?"
    if titled := [card.card_id for card in bank.skills_of(ability) if card.title.casefold() == delta.title.casefold()]:
        return _replacement(
            tuple(titled), edit
        ), f"{', '.join(titled)} has this title and another rule. Give it this one?"
    if narrower := by_relation.get("narrower"):
        raise UsageError(
            f"{narrower[0].card_id} ({narrower[0].title}) says this under a condition. Without it the rule reaches "
            "further; if it should, name that card under `replaces`."
        )
    return Add(**edit), ""


def _find_same_check(bank: Bank, ability: str, trials: Sequence[Trial]) -> list[RelatedCard]:
    """The cards whose query selects the same runs as that of the proposal."""
    checks = {identify_check(trial) for trial in trials if not isinstance(trial.guard, Guard)}
    return [
        RelatedCard(card, "same", None)
        for card in bank.skills_of(ability)
        if not checks.isdisjoint(bank.entries[card.card_id].support.guard_counts)
    ]


def _says_the_same(card: SkillCard, delta: SkillDelta) -> bool:
    """Word for word, in every field that an author may write."""
    return all(getattr(card, name) == getattr(delta, name) for name in SkillDelta.model_fields if name != "version")


def _replacement(ids: tuple[str, ...], edit: dict[str, Any]) -> Patch:
    if len(ids) == 1:
        return Amend(target_card_ids=ids, retained_card_id=ids[0], **edit)
    return Merge(target_card_ids=ids, retained_card_id=ids[0], **edit)


def _describe_trials(proposal: Proposal, delta: SkillDelta, log: TrialLog) -> str:
    """What was tried before, for the ledger."""
    if proposal.check:
        return f"[{SqlCheck(proposal.check)}]"
    if not delta.guards:
        return "[neither a guard nor a check: nobody has counted this]"
    tried, looks = log.count()
    proven = [guard for guard in delta.guards if (confirmation := log.confirmation(guard)) and confirmation.is_proven]
    if not tried:
        return ""
    grade = f"{len(proven)} of {len(delta.guards)} guards proven on tasks kept back"
    return f"[{tried} guards tried, {looks} held against tasks kept back; {grade}]"


def _carry_out(
    patch: Patch, proposal: Proposal, ability: str, trials: Sequence[Trial], store: Store, author: Proposer
) -> Reply:
    delta, bank = proposal.as_delta(), store.bank()
    support = gather_support(trials, author.run_set, author.log, proposal.kinds)
    try:
        changes = bank.plan(patch, ability, add_support(bank.combine_support(patch.target_card_ids), support))
    except PatchError as error:
        decision = _decision(patch.operation, delta, ability, str(error), author, accepted=False)
        (entry,) = store.record(decision, charged=author.charged)
        return Reply(delta.title, "refused", patch.operation, (str(error),), patch.target_card_ids, entry.number)
    decision = Decision(
        operation=patch.operation,
        reason=patch.reason,
        by=author.attribution,
        ability=ability,
        candidate=delta,
        patch=patch,
        changes=changes,
        runs=cite_runs(trials, author.run_set),
        usage=author.usage,
    )
    (entry,) = store.record(decision, charged=author.charged)
    counts = _describe_support(support, trials, author)
    return Reply(delta.title, "accepted", patch.operation, counts, decision.card_ids, entry.number)


def _describe_support(support: CardSupport, trials: Sequence[Trial], author: Proposer) -> tuple[str, ...]:
    """What the runs say about the card, in counts."""
    counts = [_describe_counts(trial.counts) for trial in trials]
    grade = GRADE_WORDS[support.grade] if support.grade else "It has no grade: nothing proves it."
    rule = trials[0].guard if trials else None
    if isinstance(rule, Guard) and support.grade != "proven" and author.log.confirmation(str(rule)) is None:
        grade += f" {_tell_whether_provable(rule, author)}"
    return (grade, *counts)


def _tell_whether_provable(rule: Guard, author: Proposer) -> str:
    kept_back = try_guard(rule, author.run_set.select(half="kept back"), author.run_set)
    if kept_back.least_chance > author.log.next_level():
        return "Too few tasks are kept back to prove it."
    return (
        "Confirm its first guard (try_guard with confirm, try --confirm) and propose it again: it may be proven then."
    )


def _describe_counts(counts: OutcomeTable) -> str:
    kept, broke = counts.kept_passed + counts.kept_failed, counts.broke_passed + counts.broke_failed
    return f"{counts.kept_passed} of {kept} runs that keep it passed, {counts.broke_passed} of {broke} that break it."


def _refuse(
    proposal: Proposal, delta: SkillDelta, ability: str, reasons: tuple[str, ...], store: Store, author: Proposer
) -> Reply:
    decision = _decision(None, delta, ability, " ".join(reasons), author, accepted=False)
    (entry,) = store.record(decision, charged=author.charged)
    return Reply(proposal.title, "refused", None, reasons, (), entry.number)


def _decision(
    operation: str | None, delta: SkillDelta, ability: str, reason: str, author: Proposer, accepted: bool
) -> Decision:
    by = author.attribution
    return Decision.model_validate(
        {
            "operation": operation,
            "accepted": accepted,
            "reason": reason,
            "by": by,
            "ability": ability,
            "candidate": delta,
            "usage": author.usage,
        }
    )
